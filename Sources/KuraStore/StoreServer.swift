// SPDX-License-Identifier: MIT

internal import KuraTerms

/// Serves a store to kura-sync, until that is gone.
package struct StoreServer {
  private let pipe: StorePipe
  private var store: (any Store)?

  /// One that answers by a pipe.
  package init(_ pipe: StorePipe) { self.pipe = pipe }

  /// Does what is wished for.
  ///
  /// - Parameter open: Opens the store of a vault.
  package mutating func run(
    open: (_ remote: String, _ vault: [UInt8], _ makes: Bool) throws(StoreError) ->
      any Store
  ) {
    while true {
      while let store, store.bell >= 0 {
        // What came along with an answer was read with it, and rings no more. A store that is gone is told by the end.
        guard let isNew = try? store.answerBell() else { return }
        if isNew, !pipe.send(StoreFrame(.news)) { return }
        if pipe.waits(besides: store.bell) { break }
      }
      guard let wish = pipe.receive()?.wish else { return }
      var reply: StoreReply
      do throws(StoreError) {
        if case .open(let remote, let vault, let makes) = wish {
          store = try open(remote, vault, makes)
          reply = .done
        } else if let store {
          reply = try Self.answer(wish, by: store)
        } else {
          return
        }
      } catch { reply = .failed(error) }
      guard pipe.send(StoreFrame(reply)) else { return }
    }
  }

  private static func answer(
    _ wish: StoreWish, by store: any Store
  ) throws(StoreError) -> StoreReply {
    switch wish {
    case .heads: return .places(try store.heads())
    case .objects(let device): return .places(try store.objects(of: device))
    case .get(let place, let most):
      return if let bytes = try store.get(place, atMost: most) { .bytes(bytes) } else { .nothing }
    case .put(let place, let bytes): try store.put(place, bytes)
    case .delete(let place): return try store.delete(place) ? .done : .nothing
    case .settle: try store.settle()
    case .leave: store.leave()
    case .vaults: return .bytes(Array(try store.vaults().joined()))
    case .marks(let own): return .bytes(try store.marks(but: own))
    case .watch:
      try store.watch()
      return store.tellsAll ? .done : .nothing
    case .open: break
    }
    return .done
  }
}
