// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Keeps on this machine who writes a shared vault: what the file says to be written by that one was written here, also
/// where this machine was cut off before it had noted that state.
///
/// It proves nothing of a file that this machine has seen at a later state, or elsewhere.
private struct WriterNote {
  private static let byteCount = 16

  private let directory: String
  private let name: String
  /// What stands there while the writer goes on.
  private let mark: [UInt8]

  init(
    of writer: WriterID, in vault: VaultID, _ stateDirectory: String, by keys: borrowing Keyring
  ) throws(VaultError) {
    (directory, name) = (stateDirectory + "/device", vault.hexadecimal + ".writer")
    do throws(CryptoError) {
      var hash = try KeyedHash(key: keys.remote, byteCount: Self.byteCount)
      let bytes = Array("kura1/writer".utf8) + writer.bytes
      hash.update(bytes.span)
      mark = hash.finalize().bytes
    } catch { throw VaultError(error, about: .root) }
  }

  /// Whether it is the one that was noted last.
  var isNoted: Bool {
    guard let place = try? StatePlace.file(name, in: directory), (try? place.checkFile()) != nil,
      let bytes = try? StateFile.peek(place, Self.byteCount + 1)
    else { return false }
    return bytes == mark
  }

  /// Notes it; it is on the disk when this returns.
  func write() throws(StorageError) {
    try FilePlace.makeDirectory(directory)
    let draft = try StatePlace.file(name + ".new", in: directory)
    draft.remove()
    try draft.createFile()
    try draft.overwrite(with: mark.span)
    try draft.sibling(name).replace(with: draft)
  }
}

extension UnlockedVault {
  /// Whether this machine wrote the state at hand, after the one that it noted last.
  ///
  /// - Parameter seen: What it noted last, of this place.
  func isWritten(after seen: SeenRecord?) -> Bool {
    guard let seen, seen.isOwn, seen.epoch < trust.root.epoch, trust.copies?.remote != nil,
      seen.path == noted(path: place.path),
      options.memory?.state(of: id)?.epoch ?? 0 <= trust.root.epoch
    else { return false }
    let note = try? WriterNote(of: trust.root.writer, in: id, options.stateDirectory, by: keys)
    return note?.isNoted == true
  }

  /// Notes who writes, before the first change of a shared vault; a machine that can keep no state goes without.
  mutating func noteWriter() {
    // Another engine notes itself over this one.
    let isNoted = isWriterNoted && trust.root.writer == writer
    guard !isNoted, trust.copies?.remote != nil else { return }
    isWriterNoted = true
    try? WriterNote(of: writer, in: id, options.stateDirectory, by: keys).write()
  }
}
