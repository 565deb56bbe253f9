// SPDX-License-Identifier: MIT

/// Takes the fields of 1Password's sections, each an object that says by its one member what kind it is.
enum OnePasswordField {
  /// Takes a field of a section.
  ///
  /// - Parameters:
  ///   - category: Of the item: bank accounts and papers have their numbers in fields that nobody hides there.
  ///   - files: Those of the archive.
  static func take(
    _ field: JSONValue, _ category: [UInt8], _ files: [[UInt8]: [UInt8]],
    _ entry: inout SourceEntry
  ) {
    let id = String(decoding: field["id"]?.text ?? [], as: UTF8.self)
    let title = field["title"]?.text ?? []
    let key = title.isEmpty ? Array(id.utf8) : title
    guard let (kind, value) = field["value"]?.members?.first, value != .null else { return }
    // What is no text where it must be one is said.
    func text() -> [UInt8] { entry.taken(value, as: key) ?? [] }
    func add(_ text: [UInt8], isSecret: Bool) {
      guard !text.isEmpty else { return }
      entry.fields.append(.init(key: key, value: text, isSecret: isSecret))
    }
    func invalid() { entry.left.append(Remark(reason: .invalid, field: key)) }
    switch String(decoding: kind, as: UTF8.self) {
    case "concealed", "creditCardNumber":
      let text = text()
      if entry.value == nil, values.contains(id), !text.isEmpty {
        entry.value = text
      } else {
        add(text, isSecret: true)
      }
    case "totp":
      let text = text()
      if entry.seed.isEmpty { entry.seed = text } else { add(text, isSecret: true) }
    case "string", "menu":
      let text = text()
      if entry.user.isEmpty, users.contains(id) {
        entry.user = text
      } else {
        add(text, isSecret: papers.contains(String(decoding: category, as: UTF8.self)))
      }
    case "url", "phone", "gender", "creditCardType": add(text(), isSecret: false)
    case "email": add(value["email_address"]?.text ?? text(), isSecret: false)
    case "date":
      if let seconds = value.whole {
        add(Timestamp.day(seconds), isSecret: false)
      } else {
        invalid()
      }
    case "monthYear": if let month = month(value) { add(month, isSecret: false) } else { invalid() }
    case "address": add(address(value), isSecret: false)
    case "sshKey": takeKey(value, key, &entry)
    case "file": attach(value, files, &entry)
    case "reference": entry.left.append(Remark(reason: .foreign, field: key))
    case _: entry.left.append(Remark(reason: .unsupported, field: key))
    }
  }

  /// Takes a file that the archive has, by the id and the name that the item says.
  static func attach(
    _ file: JSONValue, _ files: [[UInt8]: [UInt8]], _ entry: inout SourceEntry
  ) {
    guard file != .null else { return }
    let name = file["fileName"]?.text ?? []
    let id = file["documentId"]?.text ?? []
    guard let bytes = files[Array("files/".utf8) + id + Array("__".utf8) + name] else {
      return entry.left.append(Remark(reason: .invalid, field: name))
    }
    entry.attachments.append(.init(name: name, bytes: bytes))
  }

  /// What an item is about, in categories that have it in a section.
  private static let values: Set<String> = [
    "ccnum", "credential", "password", "pop_password", "wireless_password",
  ]

  private static let users: Set<String> = ["pop_username", "username"]

  /// Bank accounts, driver's licences, passports, social security numbers and medical records.
  private static let papers: Set<String> = ["101", "103", "106", "108", "113"]

  /// `202612` is a month.
  private static func month(_ value: JSONValue) -> [UInt8]? {
    guard case .number(let digits) = value, digits.count == 6 else { return nil }
    return Array(digits.prefix(4)) + [UInt8(ascii: "-")] + Array(digits.suffix(2))
  }

  private static func address(_ value: JSONValue) -> [UInt8] {
    let lines = ["street", "city", "state", "zip", "country"].compactMap { value[$0]?.text }
    return Array(lines.filter { !$0.isEmpty }.joined(separator: Array(", ".utf8)))
  }

  private static func takeKey(_ value: JSONValue, _ key: [UInt8], _ entry: inout SourceEntry) {
    let metadata = value["metadata"]
    if let text = value["privateKey"]?.text ?? metadata?["privateKey"]?.text, !text.isEmpty {
      if entry.value == nil {
        entry.value = text
      } else {
        entry.fields.append(.init(key: key, value: text, isSecret: true))
      }
    }
    for name in ["publicKey", "fingerprint"] {
      guard let text = metadata?[name]?.text, !text.isEmpty else { continue }
      entry.fields.append(.init(key: Array(name.utf8), value: text, isSecret: false))
    }
  }
}
