// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraStore
internal import KuraTerms

/// Runs the errands of the agent in a store, until there is none.
struct Meeting {
  /// What came of it.
  var report: SyncReply
  /// Why the store could not be used to the end; nil where it could.
  var failure: StoreError?

  /// Meets a store.
  ///
  /// - Parameters:
  ///   - compacts: Whether all is sealed anew.
  ///   - progress: Is told how many bytes went to and fro.
  init(
    _ connection: inout Connection, _ store: some Store, compacts: Bool = false,
    progress: (Int) -> Void = { _ in }
  ) throws(SyncFailure) {
    var moved = 0
    var failure: StoreError?
    var turn: StoreTurn
    do throws(ClientError) { turn = try connection.beginSync(compacts: compacts) } catch {
      throw SyncFailure(meeting: error)
    }
    while true {
      let errand: StoreErrand
      let bytes: [UInt8]
      switch turn {
      case .over(let report):
        if failure == nil {
          do throws(StoreError) { try store.settle() } catch { failure = error }
        }
        (self.report, self.failure) = (report, failure)
        return
      case .errand(let next, let given): (errand, bytes) = (next, given)
      }
      let result: Result
      do throws(StoreError) { result = try Self.run(errand, bytes, store) } catch {
        failure = error
        result = .word(.failed)
      }
      moved += bytes.count + result.count
      progress(moved)
      turn = try Self.give(result, to: &connection)
    }
  }

  /// Holds what came of an errand.
  private enum Result {
    case names([String])
    case bytes([UInt8])
    case word(StoreAnswer)

    var count: Int { if case .bytes(let bytes) = self { bytes.count } else { 0 } }
  }

  private static func give(
    _ result: Result, to connection: inout Connection
  ) throws(SyncFailure) -> StoreTurn {
    do throws(ClientError) {
      switch result {
      case .names(let names): return try connection.give(names: names)
      case .bytes(let bytes): return try connection.give(bytes: bytes)
      case .word(let word): return try connection.give(word)
      }
    } catch { throw SyncFailure(error) }
  }

  /// Does it. A name that is none is an error of the agent's: as if nothing could be done.
  private static func run(
    _ errand: StoreErrand, _ bytes: [UInt8], _ store: some Store
  ) throws(StoreError) -> Result {
    let name = String(decoding: errand.name, as: UTF8.self)
    if errand.kind == .list {
      if name == StorePlace.heads { return .names(try store.heads().map { $0.text }) }
      guard let device = StorePlace.device(at: name) else { return .word(.failed) }
      return .names(try store.objects(of: device).map { $0.text })
    }
    guard let place = StorePlace(name) else { return .word(.failed) }
    switch errand.kind {
    case .fetch:
      guard let bytes = try store.get(place, atMost: Int(errand.size)) else {
        return .word(.missing)
      }
      return .bytes(bytes)
    case .write: try store.put(place, bytes)
    case .delete: return .word(try store.delete(place) ? .done : .kept)
    case .list, .none: return .word(.failed)
    }
    return .word(.done)
  }
}
