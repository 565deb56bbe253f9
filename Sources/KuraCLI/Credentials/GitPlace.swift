// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Names what git wants a credential for, and finds the items that have one:
/// `git/PROTOCOL/HOST[:PORT][/PATH]/USER`, each part as ``NamePart`` writes it.
struct GitPlace: Equatable, Sendable {
  /// The attribute, and git's word, for when a password expires.
  static let expiryKey = "password_expiry_utc"

  let scheme: [UInt8]
  let host: [UInt8]
  /// Given only where git is to tell the repositories of a host apart.
  let path: [UInt8]?
  var user: [UInt8]?

  /// The names of the place's items without the user.
  private var stem: String {
    var parts = [NamePart.encode(scheme), NamePart.encode(host)]
    if let path { parts.append(NamePart.encode(path)) }
    return parts.joined(separator: "/") + "/"
  }

  /// The item that is looked for, as people can be told.
  var wanted: String { user.map { name(of: $0) } ?? "git/" + stem + "USER" }

  /// The item of a user.
  func name(of user: [UInt8]) -> String { "git/" + stem + NamePart.encode(user) }

  /// The item that keeps the token by which a user's password is renewed.
  func refreshName(of user: [UInt8]) -> String {
    "git-refresh/" + stem + NamePart.encode(user)
  }

  /// The user that an item of this place is of; nil for another place's item. A place without a path
  /// has none of the items with one: they have a part more.
  func user(of name: String) -> [UInt8]? {
    let head = ("git/" + stem).utf8
    guard name.utf8.starts(with: head) else { return nil }
    return NamePart.decode(name.utf8.dropFirst(head.count))
  }
}

/// Weighs an item that may be what git wants.
struct GitCandidate: Equatable, Sendable {
  let user: [UInt8]
  let item: Item

  /// Whether it goes before another: the one that was changed last, as in git's own store; of two,
  /// the first by name.
  func precedes(_ other: GitCandidate) -> Bool {
    guard item.facts.modified == other.item.facts.modified else {
      return item.facts.modified > other.item.facts.modified
    }
    return item.name.utf8.lexicographicallyPrecedes(other.item.name.utf8)
  }

  /// When the password expires, in seconds of Unix time; nil for never.
  var expiry: UInt64? {
    guard let attribute = item.attributes.first(where: { $0.key == GitPlace.expiryKey }) else {
      return nil
    }
    return Decimal.parse(attribute.value[...])
  }

  /// Whether the password is of no more use.
  var isExpired: Bool { expiry.map { $0 <= Clock.unix() / 1_000 } ?? false }
}

extension GitPlace {
  /// The items of the place and the user, the best first.
  func candidates(_ connection: inout Connection) throws(ClientError) -> [GitCandidate] {
    if let user {
      guard let item = try connection.found(name(of: user)) else { return [] }
      return [GitCandidate(user: user, item: item)]
    }
    var found: [GitCandidate] = []
    let order = ListOrder(flags: .attributes, prefix: "git/" + stem)
    try connection.list(order) { item throws(ClientError) in
      guard let user = user(of: item.name) else { return }
      found.append(GitCandidate(user: user, item: item))
    }
    return found.sorted { $0.precedes($1) }
  }
}
