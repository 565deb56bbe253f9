// SPDX-License-Identifier: MIT

/// Walks over all attributes that an item ever had, as far as its meta knows: public, secret and deleted ones,
/// ascending by key.
struct KnownKeys: ~Escapable {
  /// Names the list that a key stands in.
  enum List {
    case attribute
    case secret
    case deleted
  }

  private var attributes: AttributeCursor
  private var secrets: SecretKeyCursor
  private var deleted: TrailKeys
  private let hasDeleted: Bool
  private var waits = (attribute: false, secret: false, deleted: false)
  private var next = (attribute: -1, secret: -1, deleted: -1)

  /// The list that the key stands in.
  private(set) var list = List.attribute

  /// - Parameters:
  ///   - meta: The item's meta.
  ///   - deletedKeys: The keys of the deleted ones, encoded; empty for none.
  @_lifetime(copy meta, copy deletedKeys)
  init(_ meta: MetaView, _ deletedKeys: Span<UInt8>) {
    attributes = meta.attributes.makeCursor()
    secrets = meta.makeSecretCursor()
    hasDeleted = !deletedKeys.isEmpty
    deleted = TrailKeys(hasDeleted ? deletedKeys : meta.bytes, from: 0, of: .plain)
    refill(.attribute)
    refill(.secret)
    refill(.deleted)
    isFresh = true
  }

  private var isFresh = false

  /// The key that the walk is at.
  var key: Span<UInt8> {
    @_lifetime(copy self) get {
      switch list {
      case .attribute: attributes.key
      case .secret: secrets.key
      case .deleted: deleted.key
      }
    }
  }

  /// Which of its list the key is.
  var index: Int {
    switch list {
    case .attribute: next.attribute
    case .secret: next.secret
    case .deleted: next.deleted
    }
  }

  /// Goes to the next key.
  ///
  /// - Returns: Whether there is one.
  mutating func advance() -> Bool {
    if !isFresh { refill(list) }
    isFresh = false
    guard waits.attribute || waits.secret || waits.deleted else { return false }
    list = waits.attribute ? .attribute : waits.secret ? .secret : .deleted
    if waits.secret, list != .secret, isAscending(secrets.key, key) { list = .secret }
    if waits.deleted, list != .deleted, isAscending(deleted.key, key) { list = .deleted }
    return true
  }

  /// Goes on in one of the lists.
  private mutating func refill(_ list: List) {
    switch list {
    case .attribute:
      waits.attribute = attributes.advance()
      next.attribute += 1
    case .secret:
      waits.secret = secrets.advance()
      next.secret += 1
    case .deleted:
      waits.deleted = hasDeleted && deleted.advance()
      next.deleted += 1
    }
  }
}
