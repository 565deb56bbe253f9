// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Writes a file that appears whole, with mode 0600, or not at all.
///
/// What stood at its path stays until ``commit()``; a pipe or a device that stands there is
/// written to as it is, and so is a
/// descriptor named as `/dev/stdout` or `/dev/fd/N`. Without a commit nothing is left behind, whatever ends the process.
public struct OutputFile: ~Copyable {
  private var output: kura_output

  /// Begins a file; nothing is seen of it yet.
  public static func begin(at path: String) throws(FileError) -> OutputFile {
    var output = kura_output()
    try FileError.check(Int(System.beginOutput(path, &output)))
    return OutputFile(output: output)
  }

  deinit { System.abandonOutput(output) }

  /// Where it is written; it stays this file's.
  public var descriptor: Int32 { output.descriptor }

  /// Writes more of it.
  public mutating func write(_ bytes: Span<UInt8>) throws(FileError) {
    try Descriptor.write(bytes, to: output.descriptor)
  }

  /// Puts it, whole and durable, in the place of what stood there.
  ///
  /// - Throws: ``FileError``; what stood there stays.
  public consuming func commit() throws(FileError) {
    // What a commit ends holds nothing for the deinit to take back.
    try FileError.check(Int(System.commitOutput(&output)))
  }
}
