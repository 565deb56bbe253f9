// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Makes files in memory that no directory holds, for values that a program wants to read from a
/// file.
///
/// Each is a descriptor that stays open until the process ends or becomes another program.
public enum MemoryFile {
  /// An empty file, 0600, close-on-exec.
  ///
  /// - Parameter taken: Numbers that are not to be used; small ones never are.
  /// - Returns: Its descriptor. The corresponding C function is `memfd_create`.
  public static func create(besides taken: [Int32]) throws(FileError) -> Int32 {
    var least: Int32 = 10
    while true {
      let descriptor = kura_memory_file_create(least)
      try FileError.check(Int(descriptor))
      guard taken.contains(descriptor) else { return descriptor }
      Descriptor.close(descriptor)
      least = descriptor + 1
    }
  }

  /// Empties a file, to be written anew.
  public static func empty(_ descriptor: Int32) throws(FileError) {
    try FileError.check(Int(kura_memory_file_empty(descriptor)))
  }

  /// Makes a file's content final, for whoever opens it.
  public static func seal(_ descriptor: Int32) throws(FileError) {
    try FileError.check(Int(kura_memory_file_seal(descriptor)))
  }

  /// The path by which a process that has the file, whatever program it becomes, and those that it starts open it: one
  /// that leads through the process, since many programs hand no descriptors on.
  public static func path(_ descriptor: Int32, of process: Int32) -> String {
    "/proc/\(process)/fd/\(descriptor)"
  }
}
