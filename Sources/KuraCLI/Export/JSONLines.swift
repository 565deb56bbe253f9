// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes items as the lines that `put --batch` takes, a revision a line, the oldest first.
enum JSONLines {
  /// The longest value: in base64, and with all the attributes that there can be, it fits a line.
  static let longest = 2_800_000
  /// A longer one is base64, whatever it holds: of a text each character could take six.
  private static let longestText = 65_536

  /// Writes all revisions of an item, or none.
  ///
  /// - Returns: Why it cannot be written; nil: it was.
  static func write(
    _ name: String, _ items: inout ExportedItems, _ value: inout SecretBuffer,
    _ output: inout Output
  ) throws(CommandError) -> String? {
    let revisions = try items.revisions(of: name)
    for revision in revisions where revision.facts.size > longest {
      return
        "revision \(revision.facts.revision) has \(revision.facts.size) bytes, and a line holds "
        + "\(longest); 'kura get NAME' writes it"
    }
    for (index, told) in revisions.enumerated() {
      guard told.facts.kind != .deleted else {
        try open(told, name, &output)
        try output.closeDocument()
        continue
      }
      let isCurrent = index == revisions.count - 1
      let item = try items.read(
        name, revision: isCurrent ? 0 : told.facts.revision, into: &value, limit: longest)
      try open(item, name, &output)
      try output.attributes(of: item)
      try write(value, &output)
      try output.closeDocument()
    }
    return nil
  }

  private static func open(
    _ item: Item, _ name: String, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("name", name)
    try output.member("created", moment: item.facts.created)
    try output.member("modified", moment: item.facts.modified)
    try output.member("class", item.facts.protection.name)
    try output.member("kind", item.facts.kind.name)
  }

  private static func write(
    _ value: borrowing SecretBuffer, _ output: inout Output
  ) throws(CommandError) {
    guard value.count > longestText else {
      return try output.member("value", bytes: value.bytes)
    }
    try output.key("value")
    try output.element(base64: value.bytes)
  }
}
