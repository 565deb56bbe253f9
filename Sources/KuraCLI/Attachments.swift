// SPDX-License-Identifier: MIT

internal import KuraClient

/// Finds the items that are an item's files: those below its name, in the folder `attachments`.
enum Attachments {
  private static let folder = "/attachments/"

  /// Their names, item by item.
  ///
  /// - Parameter names: The items' own; the vault is looked through once for all of them.
  static func find(
    of names: [String], _ connection: inout Connection
  ) throws(ClientError) -> [String] {
    let wanted = names.map { $0 + folder }
    var found: [String] = []
    let order = ListOrder(prefix: wanted.count == 1 ? wanted[0] : "")
    try connection.listNames(order) { name throws(ClientError) in
      let name = String(repairing: name)
      if wanted.contains(where: { name.utf8.starts(with: $0.utf8) }) { found.append(name) }
    }
    return found
  }

  /// What such an item is called once the item that it belongs to has another name.
  static func name(_ name: String, of old: String, movedTo new: String) -> String {
    new + String(decoding: name.utf8.dropFirst(old.utf8.count), as: UTF8.self)
  }
}
