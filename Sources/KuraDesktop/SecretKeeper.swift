// SPDX-License-Identifier: MIT

internal import Glibc
internal import SecureMemory

/// Reads what the desktop's keeper of secrets has, `org.freedesktop.secrets`, and never has it ask or unlock.
struct SecretKeeper {
  /// Holds what is said of a collection.
  struct Collection {
    let label: String
    let isLocked: Bool
    /// The paths of its items.
    let items: [String]
  }

  /// Holds what is said of an item; the secret stands elsewhere.
  struct Item: Equatable {
    var label = ""
    var attributes: [[String]] = []
    /// In seconds since 1970.
    var created: UInt64 = 0
    var modified: UInt64 = 0
    /// What the secret is, as `text/plain`.
    var type = ""
    var isLocked = false
  }

  private static let name = "org.freedesktop.secrets"
  private static let path = "/org/freedesktop/secrets"
  private static let interface = "org.freedesktop.Secret."

  private let bus: Bus
  private let session: String

  /// Begins a session with it, in which secrets come as they are.
  init(_ bus: Bus) throws(BusError) {
    let reply = try bus.call(
      Self.name, Self.path, Self.interface + "Service", "OpenSession",
      [.text("plain"), .variant("")])
    reply.skip()
    session = try Self.known(reply.text())
    self.bus = bus
  }

  /// Whether an error says that there is none, and that none can be started.
  static func isNobody(_ error: BusError) -> Bool {
    error.name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
      || ["ServiceUnknown", "NameHasNoOwner"].contains {
        error.name == "org.freedesktop.DBus.Error." + $0
      }
  }

  /// Whether an error says that something has gone meanwhile.
  private static func isGone(_ error: BusError) -> Bool {
    error.name == interface + "Error.NoSuchObject"
      || ["UnknownObject", "UnknownMethod", "UnknownInterface"].contains {
        error.name == "org.freedesktop.DBus.Error." + $0
      }
  }

  /// All of its collections.
  func collections() throws(BusError) -> [Collection] {
    let paths = try bus.property(Self.name, Self.path, Self.interface + "Service", "Collections")
    var collections: [Collection] = []
    for path in try Self.paths(paths) {
      let label = try property(path, "Label")
      let isLocked = try property(path, "Locked")
      guard label.enter(), let text = label.text(), isLocked.enter(), let flag = isLocked.flag()
      else {
        throw BusError(-EBADMSG)
      }
      let items = flag ? [] : try Self.paths(try property(path, "Items"))
      // The one of a session has no name.
      let name = text.isEmpty ? path.split(separator: "/").last.map { String($0) } ?? "" : text
      collections.append(Collection(label: name, isLocked: flag, items: items))
    }
    return collections
  }

  /// An item, and its secret where that is not locked.
  ///
  /// - Returns: Nil where it has gone meanwhile.
  func item(_ path: String, _ secret: inout SecretBuffer) throws(BusError) -> Item? {
    do throws(BusError) {
      var item = try facts(of: path)
      if item.isLocked { return item }
      do throws(BusError) { item.type = try read(path, into: &secret) } catch {
        guard error.name == Self.interface + "Error.IsLocked" else { throw error }
        item.isLocked = true
      }
      return item
    } catch {
      guard Self.isGone(error) else { throw error }
      return nil
    }
  }

  private func facts(of path: String) throws(BusError) -> Item {
    let reply = try bus.call(
      Self.name, path, "org.freedesktop.DBus.Properties", "GetAll",
      [.text(Self.interface + "Item")])
    var item = Item()
    guard reply.enter() else { throw BusError(-EBADMSG) }
    while reply.enter() {
      let key = reply.text()
      if reply.enter() {
        switch key {
        case "Label": item.label = try Self.known(reply.text())
        case "Locked": item.isLocked = try Self.known(reply.flag())
        case "Created": item.created = try Self.known(reply.number())
        case "Modified": item.modified = try Self.known(reply.number())
        case "Attributes": item.attributes = try Self.attributes(reply)
        case .some, nil: break
        }
        reply.leave()
      }
      reply.leave()
    }
    return item
  }

  private static func attributes(_ reply: BusMessage) throws(BusError) -> [[String]] {
    var attributes: [[String]] = []
    guard reply.enter() else { throw BusError(-EBADMSG) }
    while reply.enter() {
      attributes.append([try known(reply.text()), try known(reply.text())])
      reply.leave()
    }
    reply.leave()
    return attributes
  }

  /// Reads a secret: the session, what it was sealed with, itself, and its type.
  private func read(_ path: String, into secret: inout SecretBuffer) throws(BusError) -> String {
    let reply = try bus.call(
      Self.name, path, Self.interface + "Item", "GetSecret", [.path(session)])
    reply.wipesItself()
    guard reply.enter() else { throw BusError(-EBADMSG) }
    reply.skip()
    reply.skip()
    let isRead: Bool
    do throws(SecureMemoryError) { isRead = try reply.bytes(into: &secret) } catch {
      throw BusError(-ENOMEM)
    }
    guard isRead else { throw BusError(-EBADMSG) }
    return try Self.known(reply.text())
  }

  private func property(_ path: String, _ property: String) throws(BusError) -> BusMessage {
    try bus.property(Self.name, path, Self.interface + "Collection", property)
  }

  /// The paths in a variant, in an order that does not change.
  private static func paths(_ reply: BusMessage) throws(BusError) -> [String] {
    guard reply.enter(), reply.enter() else { throw BusError(-EBADMSG) }
    var paths: [String] = []
    while let path = reply.text() { paths.append(path) }
    return paths.sorted()
  }

  /// A value that must be there.
  private static func known<Value>(_ value: Value?) throws(BusError) -> Value {
    guard let value else { throw BusError(-EBADMSG) }
    return value
  }
}
