// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Says what a vault wants done in a store, one after another, until it has met all that is there.
protocol StoreDialog: AnyObject {
  /// What came of it, at any time.
  var report: SyncReply { get }

  /// By what a key is entered that another machine gave the vault; nil where none was found, or not at the end.
  var entrance: JoinOffer? { get }

  /// Whether keys that machines gave the vault are to be brought together by one more.
  var unites: Bool { get }

  /// What is wanted next; nil where nothing is.
  ///
  /// - Parameter answer: What came of what was wanted last; nil at first and after ``SyncWish/nothing``.
  /// - Throws: ``VaultError/busy`` where it is to be asked again with the same answer; any other error ends it.
  func next(
    _ answer: SyncAnswer?, in vault: inout UnlockedVault
  ) throws(VaultError) -> SyncWish?
}

extension StoreDialog {
  var entrance: JoinOffer? { nil }
  var unites: Bool { false }
}

/// Keeps what a client is doing in a store for a vault, between one request and the next. It trusts the client with
/// nothing: an answer is what was asked for, or none.
final class StoreMeeting {
  /// Says how much of an answer a request has brought.
  enum Given {
    /// It goes on, and so many parts came.
    case part(UInt64)
    /// It is all there.
    case whole(SyncAnswer)
    /// Nothing can be done in the store any more.
    case failed
  }

  /// Whose lock ends it.
  let session: Session
  let dialog: any StoreDialog
  /// What the client does at present.
  private var wish = SyncWish.nothing
  private var parts: UInt64 = 0
  private var paths: [RemotePath] = []
  private var bytes: [UInt8] = []

  init(_ dialog: any StoreDialog, of session: Session) {
    self.dialog = dialog
    self.session = session
  }

  /// Has the client do something.
  func send(for wish: SyncWish) {
    self.wish = wish
    (parts, paths, bytes) = (0, [], [])
  }

  /// Takes an answer, or a part of it.
  ///
  /// - Throws: ``Refusal/malformed`` for one that is not for what the client was sent for.
  func take(_ given: SyncGivenRequest) throws(Refusal) -> Given {
    switch (given.answer, wish) {
    case (.names, .heads), (.names, .objects): try add(given.names)
    case (.bytes, .file(_, let most)): try add(given.bytes.bytes, most)
    case (.missing, .file) where parts == 0: return finish(.missing)
    case (.done, .write), (.done, .delete): return finish(.done)
    case (.kept, .delete): return finish(.kept)
    case (.failed, .heads), (.failed, .objects), (.failed, .file), (.failed, .write),
      (.failed, .delete):
      return .failed
    case (.names, _), (.bytes, _), (.missing, _), (.done, _), (.failed, .nothing), (.kept, _):
      throw .malformed
    }
    parts += 1
    guard !given.hasMore else { return .part(parts) }
    if given.answer == .names { return finish(.paths(paths)) }
    return finish(.file(bytes))
  }

  private func finish(_ answer: SyncAnswer) -> Given {
    send(for: .nothing)
    return .whole(answer)
  }

  private func add(_ names: KeyFields) throws(Refusal) {
    guard paths.count + names.count <= ProtocolLimit.storeNames else { throw .malformed }
    try names.forEach { name throws(Refusal) in
      guard let text = try? UTF8Span(validating: name.bytes),
        let path = RemotePath(String(copying: text)), isWanted(path)
      else { throw .malformed }
      paths.append(path)
    }
  }

  private func isWanted(_ path: RemotePath) -> Bool {
    switch (path, wish) {
    case (.head, .heads): true
    case (.object(let device, _), .objects(let wanted)): device == wanted
    case (.head, _), (.object, _): false
    }
  }

  private func add(_ more: Span<UInt8>, _ most: Int) throws(Refusal) {
    guard bytes.count + more.count <= most else { throw .malformed }
    // A piece comes in several parts, each a large one.
    if bytes.isEmpty, more.count == ProtocolLimit.storePiece { bytes.reserveCapacity(most) }
    bytes.append(bytes: more)
  }
}
