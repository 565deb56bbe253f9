// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Finds the items that are an item's files: those below its name, in the folder `attachments`.
enum Attachments {
  private static let folder = "/attachments/"

  /// How their names go on behind their item's, item by item.
  ///
  /// - Parameter names: The items' own; the vault is looked through once for all of them.
  static func find(
    of names: [String], _ connection: inout Connection
  ) throws(ClientError) -> [[String]] {
    var wanted: [[UInt8]] = []
    for name in names { wanted.append(Array((try stored(name, &connection) + folder).utf8)) }
    var found = [[String]](repeating: [], count: names.count)
    let order = ListOrder(
      prefix: names.count == 1 ? String(decoding: wanted[0], as: UTF8.self) : "")
    try connection.listNames(order) { name throws(ClientError) in
      for index in wanted.indices where starts(name, with: wanted[index]) {
        let start = wanted[index].count - folder.utf8.count
        found[index].append(String(repairing: name.extracting(droppingFirst: start)))
      }
    }
    return found
  }

  /// The names of those that were removed with an item: at the same time. None of an item that is there.
  static func removed(
    with name: String, _ connection: inout Connection
  ) throws(ClientError) -> [String] {
    let name = try stored(name, &connection)
    var files: [(name: String, time: UInt64)] = []
    var time: UInt64?
    try connection.list(ListOrder(flags: .deleted, prefix: name)) { item throws(ClientError) in
      if item.name.utf8.elementsEqual(name.utf8) { time = item.facts.modified }
      if item.name.utf8.starts(with: (name + folder).utf8) {
        files.append((item.name, item.facts.modified))
      }
    }
    return files.filter { $0.time == time }.map { $0.name }
  }

  /// An item's name as the vault has it, which writes accents in one way alone.
  private static func stored(
    _ name: String, _ connection: inout Connection
  ) throws(ClientError) -> String {
    guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
    var stored = name
    do throws(ClientError) {
      try connection.history(name) { item throws(ClientError) in stored = item.name }
    } catch {
      // What is not there is told by who changes it.
      guard case .refused(let refused) = error, refused.failure == .notFound else { throw error }
    }
    return stored
  }

  /// How many go with an item at most.
  static let most = ProtocolLimit.attributes

  /// Refuses to leave some of them behind.
  static func tooMany(_ count: Int, of name: String) -> CommandError {
    .failure(
      Diagnostic.shown(name) + " has \(count) files, and \(most) at most go with an item at once",
      hint: "nothing was changed; 'kura rm NAME' or 'kura mv OLD NEW' some of them first")
  }

  private static func starts(_ name: Span<UInt8>, with prefix: [UInt8]) -> Bool {
    guard name.count >= prefix.count else { return false }
    return prefix.indices.allSatisfy { name[$0] == prefix[$0] }
  }
}
