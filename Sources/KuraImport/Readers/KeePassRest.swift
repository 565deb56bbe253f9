// SPDX-License-Identifier: MIT

/// Tells what of a database of KeePass's is not taken, beside what has a place in the vault.
enum KeePassRest {
  // MARK: - Entries

  /// Takes what is left of an entry, and says what has no place.
  static func take(_ node: XMLNode, _ entry: inout SourceEntry) {
    for child in node.children {
      switch child.name {
      // Taken, or said of the whole.
      case "UUID", "Tags", "Times", "String", "Binary", "History", "IconID", "CustomIconUUID",
        "ForegroundColor", "BackgroundColor", "QualityCheck", "PreviousParentGroup":
        continue
      case "OverrideURL":
        entry.fields.append(.init(key: Array(child.name.utf8), value: child.text, isSecret: true))
      case "AutoType":
        if types(child) { entry.left.append(foreign(child.name)) }
      case "CustomData":
        if holds(child) { entry.left.append(foreign(child.name)) }
      case _:
        if !child.text.allSatisfy({ $0 <= 0x20 }) || !child.children.isEmpty {
          entry.left.append(Remark(reason: .unsupported, field: Array(child.name.utf8)))
        }
      }
    }
    for field in earlier(node) {
      entry.left.append(Remark(reason: .unsupported, field: Array("earlier ".utf8) + field))
    }
  }

  /// Whether what is to be typed into windows is another thing than KeePass's first.
  private static func types(_ node: XMLNode) -> Bool {
    !(node["DefaultSequence"]?.text ?? []).isEmpty || !node.all("Association").isEmpty
      || node["Enabled"]?.text == Array("False".utf8)
  }

  /// Whether a plugin keeps something there, other than when it was changed.
  private static func holds(_ node: XMLNode) -> Bool {
    node.all("Item").contains { $0["Key"]?.text != Array("_LAST_MODIFIED".utf8) }
  }

  /// The fields and files, but for passwords, that an entry once had otherwise, in order.
  private static func earlier(_ node: XMLNode) -> [[UInt8]] {
    var names: [[UInt8]] = []
    for kind in ["String", "Binary"] {
      let current = node.all(kind).map { content($0) }
      for old in (node["History"]?.all("Entry") ?? []).flatMap({ $0.all(kind) }) {
        let key = old["Key"]?.text ?? []
        let value = old["Value"]
        guard key != Array("Password".utf8), !current.contains(where: { $0 == content(old) }),
          value?.text.isEmpty == false || value?.attributes["Ref"] != nil, !names.contains(key)
        else { continue }
        names.append(key)
      }
    }
    return names
  }

  private static func content(_ field: XMLNode) -> [[UInt8]] {
    let value = field["Value"]
    return [
      field["Key"]?.text ?? [], value?.text ?? [], Array((value?.attributes["Ref"] ?? "").utf8),
    ]
  }

  // MARK: - Groups and the database

  /// Says of which notes of a group nothing is taken, and what plugins keep there.
  static func ofGroup(_ group: XMLNode) -> [Remark] {
    let head = Array("group ".utf8) + (group["Name"]?.text ?? []) + Array(": ".utf8)
    var left: [Remark] = []
    for name in ["Notes", "Tags"] where group[name]?.text.isEmpty == false {
      left.append(Remark(reason: .unsupported, field: head + Array(name.utf8)))
    }
    if group["DefaultAutoTypeSequence"]?.text.isEmpty == false {
      left.append(Remark(reason: .foreign, field: head + Array("AutoType".utf8)))
    }
    if let data = group["CustomData"], holds(data) {
      left.append(Remark(reason: .foreign, field: head + Array(data.name.utf8)))
    }
    return left
  }

  /// The same of the database.
  static func ofDatabase(_ meta: XMLNode?) -> [Remark] {
    var left: [Remark] = []
    if meta?["DatabaseDescription"]?.text.isEmpty == false {
      left.append(Remark(reason: .unsupported, field: Array("DatabaseDescription".utf8)))
    }
    return left
  }

  /// What pictures and colours of its own an entry or group has.
  static func looks(of node: XMLNode) -> Set<String> {
    // Those that an entry, a folder, its like with a lock, and the bin have at first.
    let plain = ["", "0", "48", "49", "43"]
    var looks: Set<String> = []
    let icon = String(decoding: node["IconID"]?.text ?? [], as: UTF8.self)
    if node["CustomIconUUID"] != nil || !plain.contains(icon) {
      looks.insert("icons")
    }
    for colour in ["ForegroundColor", "BackgroundColor"]
    where node[colour]?.text.isEmpty == false { looks.insert("colours") }
    return looks
  }

  private static func foreign(_ name: String) -> Remark {
    Remark(reason: .foreign, field: Array(name.utf8))
  }
}
