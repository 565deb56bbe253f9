// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Having the owner asked at another terminal, where `kura approve` waits for that.
extension VaultAccess {
  /// Has the owner asked where somebody waits to be asked: nobody is asked at a terminal that the program that asks can
  /// type into, where there is another one. With `--wait` somebody may come to wait there.
  ///
  /// - Returns: Whether it was agreed to; false where nobody waits in time, or a script gives the passcode.
  func answered(
    _ names: [String], _ terms: GrantTerms, _ connection: inout Connection
  ) throws(CommandError) -> Bool {
    // From a room nobody is asked: what it may have is known already.
    guard !isPrivate, !asking.isGiven, !asking.isInRoom else { return false }
    if patience == nil {
      let questioner = try asking.questioner()
      guard questioner.canAsk else { return false }
    }
    let (told, words) = (messages, Self.words(names))
    var isAsked = false
    do throws(ClientError) {
      try connection.wish(
        names, terms, patience: patience ?? .max, ifAwaited: patience == nil
      ) {
        isAsked = true
        told.note("the owner is asked for " + words + " by 'kura approve'")
      }
      return true
    } catch {
      guard case .refused(let refused) = error else { throw .client(error) }
      let isFull = refused.failure == .tooBusy && patience == nil
      guard isFull || refused.failure == .protected || refused.failure == .unsupported else {
        throw .client(error)
      }
      if isFull { told.note("'kura approve' has no room for one more question; it stands here") }
      if isAsked, patience == nil { told.note("nobody answers at 'kura approve'; it stands here") }
      return false
    }
  }

  private static func words(_ names: [String]) -> String {
    names.count == 1 ? Diagnostic.shown(names[0]) : "\(names.count) items"
  }
}
