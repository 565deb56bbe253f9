// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Says how far it is with a finger that takes the cover of an unlocked vault away.
enum UncoveringFinger: Equatable {
  /// One may be asked for.
  case idle
  /// The reader waits for one: the agent's answer tells of a lock, too.
  case scanning
  /// Nobody touched it: the next key has one asked for again.
  case resting
  /// None is taken before the cover has gone.
  case over
}

extension Runner {
  /// Whether a finger is to be asked for, now that this is shown.
  func mayScan(_ model: borrowing Model) -> Bool {
    guard isUnlocked, finger == .idle, let cover = model.cover else { return false }
    return !cover.isLocked && !cover.isBusy
  }

  /// Has a finger asked for, in the place of what tells of a lock: this does so as well.
  ///
  /// - Returns: What follows where one was there at once.
  mutating func scan(_ model: inout Model) -> [Effect] {
    finger = .over
    do throws(ClientError) {
      var connection = try connect(.running)
      let isThere = try connection.beginFinger()
      watch = consume connection
      guard !isThere else { return uncover(&model) }
      finger = .scanning
      model.cover?.takesFinger = true
    } catch { refuse(error, &model) }
    return []
  }

  /// The agent said something while the reader waited.
  mutating func hearFinger(_ model: inout Model) -> [Effect] {
    finger = .over
    model.cover?.takesFinger = false
    guard var connection = watch.take() else { return [] }
    do throws(ClientError) {
      try connection.endFinger()
      watch = consume connection
      return uncover(&model)
    } catch {
      guard case .refused(let refusal) = error,
        refusal.failure == .fingerWrong || refusal.failure == .fingerUnfit
      else {
        look(&model, .running)
        return []
      }
      do throws(ClientError) { try begin(consume connection) } catch {
        look(&model, .running)
        return []
      }
      refuse(error, &model)
    }
    return []
  }

  private mutating func uncover(_ model: inout Model) -> [Effect] {
    guard let connection = watch.take() else { return [] }
    do throws(ClientError) { try begin(consume connection) } catch {
      look(&model, .running)
      return []
    }
    finger = .idle
    return model.uncover(now: Clock.boot())
  }

  /// Why no finger was taken is told, but not that the owner wants none.
  private mutating func refuse(_ error: ClientError, _ model: inout Model) {
    guard case .refused(let refusal) = error else { return }
    if case .fingerWrong(let left) = refusal {
      model.refuse(error.description, wait: 0, now: Clock.boot())
      if left > 0 { finger = .idle }
    }
    guard case .fingerUnfit(let fault) = refusal else { return }
    if fault == .timedOut {
      finger = .resting
    } else if fault != .off {
      model.message = error.description
    }
  }

  /// A key was pressed.
  mutating func wake() { if finger == .resting { finger = .idle } }

  /// The cover has gone, or goes: the reader is let go of.
  mutating func stopScan() {
    if finger == .scanning { watch = nil }
    finger = .idle
  }
}
