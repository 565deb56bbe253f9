// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Names what a caller of keyring wants a password for, and finds the items that have one.
struct KeyringPlace: Equatable, Sendable {
  let service: [UInt8]
  /// Says whose password is wanted; nil where any user's will do.
  let user: [UInt8]?

  /// - Parameter needsUser: Whether a call without a user is a mistake.
  init(_ words: KeyringWords, needsUser: Bool) throws(CommandError) {
    guard words.operands.count > (needsUser ? 2 : 1) else {
      throw .usage(needsUser ? "keyring needs a service and a user" : "keyring needs a service")
    }
    guard words.operands.count < 4 else {
      throw .usage("keyring takes no more than a service and a user")
    }
    self.init(service: words.operands[1], user: words.operands.count > 2 ? words.operands[2] : nil)
    guard !service.isEmpty else { throw .usage("the service of keyring has no name") }
  }

  /// Writes a URL without the `/` at its end: some callers drop it, some add it.
  init(service: [UInt8], user: [UInt8]?) {
    let mark = Array("://".utf8)
    let isURL = service.indices.contains { service[$0...].starts(with: mark) }
    let isEnded = isURL && service.last == UInt8(ascii: "/")
    self.service = isEnded ? service.dropLast() : service
    self.user = user
  }

  private var stem: String { "keyring/" + NamePart.encode(service) + "/" }

  /// The item of a user.
  func name(of user: [UInt8]) -> String { stem + NamePart.encode(user) }

  /// The user whose password was changed last; of two, the first by name.
  func lastUser(_ connection: inout Connection) throws(ClientError) -> [UInt8]? {
    var best: (user: [UInt8], modified: UInt64)?
    try connection.list(ListOrder(flags: [], prefix: stem)) { item throws(ClientError) in
      guard let user = NamePart.decode(item.name.utf8.dropFirst(stem.utf8.count)) else { return }
      let modified = item.facts.modified
      if let held = best {
        guard modified >= held.modified else { return }
        if modified == held.modified, !user.lexicographicallyPrecedes(held.user) { return }
      }
      best = (user, modified)
    }
    return best?.user
  }
}
