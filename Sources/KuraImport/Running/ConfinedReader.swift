// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import KuraTerms
internal import SecureMemory

/// Has a source read by a process that can do nothing else, and reads what that answers.
enum ConfinedReader {
  /// What such a process may take: 2 GiB, and five minutes of a processor.
  static let limits = kura_reader_limits(bytes: 2 << 30, seconds: 300)
  /// The longest answer.
  private static let most = 512 << 20

  /// Reads all of a descriptor.
  ///
  /// - Parameter password: What opens it; nil where none was given.
  static func read(
    _ descriptor: Int32, as format: ImportFormat, _ password: [UInt8]? = nil
  ) throws(ImportFailure) -> AnswerReader.Outcome {
    var answers: Int32 = -1
    let process = unsafe kura_reader_start(descriptor, limits, &answers)
    if process == 0 { serve(format, password) }
    guard process > 0 else {
      throw ImportFailure(
        .failure, "no process to read it could be made: " + SystemMessage.text(-process))
    }
    let bytes = take(answers, of: process)
    Descriptor.close(answers)
    let status = kura_reader_end(process)
    guard status == 0, let bytes else { throw failure(status) }
    return try outcome(bytes)
  }

  /// Reads bytes.
  static func read(
    _ bytes: [UInt8], as format: ImportFormat, _ password: [UInt8]? = nil
  ) throws(ImportFailure) -> AnswerReader.Outcome {
    let file = StoreFiles.inMemory(bytes)
    guard file >= 0 else {
      throw ImportFailure(.failure, "no memory for it: " + SystemMessage.text(-file))
    }
    defer { Descriptor.close(file) }
    return try read(file, as: format, password)
  }

  private static func outcome(_ bytes: [UInt8]) throws(ImportFailure) -> AnswerReader.Outcome {
    do throws(AnswerReader.Nonsense) { return try AnswerReader.read(bytes) } catch {
      throw ImportFailure(
        .failure, "what was read of it makes no sense", hint: "nothing was changed")
    }
  }

  private static func failure(_ status: Int32) -> ImportFailure {
    let why =
      status == KURA_READER_UNCONFINED
      ? "this system cannot confine the process that reads it"
      : "the process that read it was stopped: the file takes too much memory or time, or misuses it"
    return ImportFailure(.failure, why, hint: "nothing was changed")
  }

  /// All that the process answers; nil where that is too much.
  private static func take(_ answers: Int32, of process: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 65_536)
    while true {
      var span = room.mutableSpan
      let count = System.read(answers, into: &span)
      guard count > 0 else { return count == 0 ? bytes : nil }
      guard bytes.count + count <= most else {
        kura_reader_kill(process)
        return nil
      }
      bytes += room[..<count]
    }
  }

  // MARK: - In the process that reads

  private static func serve(_ format: ImportFormat, _ password: [UInt8]?) -> Never {
    var sink = EntrySink { bytes in
      do throws(FileError) { try Descriptor.write(bytes.span, to: 1) } catch { kura_reader_exit(1) }
    }
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 65_536)
    while true {
      var span = room.mutableSpan
      let count = System.read(0, into: &span)
      if count < 0 {
        sink.fail(ReadingFlaw(.readFailed))
        kura_reader_exit(0)
      }
      if count == 0 { break }
      bytes += room[..<count]
      guard bytes.count <= Source.most else {
        sink.fail(ReadingFlaw(.tooLarge))
        kura_reader_exit(0)
      }
    }
    Source.read(bytes, as: format, password: password, &sink)
    kura_reader_exit(0)
  }
}
