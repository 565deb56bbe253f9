// SPDX-License-Identifier: MIT

public import KuraFormat
internal import KuraStorage

/// Counts wrong tries at a vault on this machine, in a file.
///
/// Who is about to derive a key from a passcode holds it meanwhile, so that all engines of a user make one
/// try at a time, whichever of them was asked.
public struct TryFile: ~Copyable, Sendable {
  private let file: StateFile
  /// What is counted.
  public private(set) var record: TryRecord

  private init(file: consuming StateFile, record: TryRecord) {
    self.file = file
    self.record = record
  }

  /// Takes hold of the file; it is let go with this value, or when the process ends, however it ends.
  ///
  /// - Parameters:
  ///   - vault: The vault.
  ///   - directory: Where this machine's state stands; made with mode 0700 when missing.
  ///   - patience: Milliseconds to wait for another engine's try.
  /// - Throws: ``VaultError/busy`` when that one takes longer; anything else means that no try can be
  ///   counted.
  public static func hold(
    _ vault: VaultID, in directory: String, patience: Int
  ) throws(VaultError) -> TryFile {
    let file = try StatePlace.lock(name(of: vault), in: directory, patience: patience)
    let bytes: [UInt8]
    do { bytes = try file.read(TryRecord.fileByteCount) } catch {
      throw VaultError(error, ofState: name(of: vault), in: directory)
    }
    let record = try fromFormat(.header, TryRecord(file: bytes.span, vault: vault))
    return TryFile(file: file, record: record)
  }

  /// Writes what is counted in the place of the older record, and waits for the disk.
  ///
  /// - Parameter record: The one that was read, changed.
  /// - Throws: ``VaultError``; what was counted before stands.
  public mutating func write(_ record: TryRecord) throws(VaultError) {
    var next = record
    next.counter = self.record.counter &+ 1
    let bytes = try fromFormat(.header, next.encode())
    try fromStorage(file.write(bytes.span, at: next.offset, length: TryRecord.fileByteCount))
    self.record = next
  }

  /// What is counted at the moment, without waiting for a try that is under way.
  ///
  /// Where there is no file nothing was tried; one that cannot be read tells nothing.
  public static func look(at vault: VaultID, in directory: String) -> TryRecord {
    let place = try? StatePlace.file(name(of: vault), in: directory)
    let bytes = place.flatMap { try? StateFile.peek($0, TryRecord.fileByteCount) }
    guard let bytes, let record = try? TryRecord(file: bytes.span, vault: vault) else {
      return TryRecord(vault: vault)
    }
    return record
  }

  private static func name(of vault: VaultID) -> String { vault.hexadecimal + ".tries" }
}

extension ClockOrigin {
  /// What this process reads off the boot clock can be compared with.
  public static func current() -> ClockOrigin {
    ClockOrigin(
      boot: BootID(text: Machine.bootID()) ?? .zero, namespace: Machine.timeNamespace())
  }
}
