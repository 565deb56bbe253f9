// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Fills a folder with what pass reads: an entry a file, encrypted by gpg.
struct StoreFolder: ~Copyable {
  private let folder: NewFolder
  private let encryption: Encryption
  private var text: SecretBuffer
  /// The names that are others there, each with the other.
  private(set) var renamed: [(name: String, path: String)] = []

  /// Begins a store; nothing stands at its path before it is whole.
  static func begin(
    at path: String, _ encryption: Encryption
  ) throws(CommandError) -> StoreFolder {
    let folder = try writing(path) { () throws(FileError) in try NewFolder.begin(at: path) }
    let text = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
    let id = folder.path + "/.gpg-id"
    var file = try writing(id) { () throws(FileError) in try OutputFile.begin(at: id) }
    let lines = Array(encryption.recipients.map { $0 + "\n" }.joined().utf8)
    do throws(FileError) {
      try file.write(lines.span)
      try file.commit()
    } catch { throw .file(.write, path: path, errno: error.errno) }
    return StoreFolder(folder, encryption, text)
  }

  private init(
    _ folder: consuming NewFolder, _ encryption: Encryption, _ text: consuming SecretBuffer
  ) {
    self.folder = folder
    self.encryption = encryption
    self.text = text
  }

  /// Writes an entry, and a file for each of its attachments.
  ///
  /// - Parameter flaw: Is told of what has no line of its own.
  mutating func write(
    _ entry: borrowing ExportedEntry, flaw: (String, String) -> Void
  ) throws(CommandError) {
    // Somebody at the terminal ends it, and not what is half done.
    if kura_input_wait(-1, 0) == -EINTR { throw .prompt(.interrupted) }
    try fill(entry, flaw)
    if text.count > 0 {
      let path = try place(of: entry.item.name)
      try encryption.write(text.bytes, to: path)
    }
    for part in entry.parts where part.role == .attachment {
      let name = entry.item.name + "/attachments/" + part.label
      let path = try place(of: name)
      try encryption.write(entry.bytes(part), to: path)
    }
  }

  /// Puts the store at its path.
  consuming func commit(_ path: String) throws(CommandError) {
    do throws(FileError) { try folder.commit() } catch {
      throw .file(.write, path: path, errno: error.errno)
    }
  }
}

// MARK: - Places

extension StoreFolder {
  /// The file of an item, in folders that are there now.
  private mutating func place(of name: String) throws(CommandError) -> String {
    var parts = StorePath.parts(of: name)
    let last = parts.removeLast()
    var directory = ""
    for part in parts {
      directory += (directory.utf8.isEmpty ? "" : "/") + part
      do throws(FileError) { try folder.add(directory) } catch {
        throw .file(.write, path: directory, errno: error.errno)
      }
    }
    let head = directory.utf8.isEmpty ? "" : directory + "/"
    var (number, path) = (1, head + last)
    while System.fileKind(folder.path + "/" + path + ".gpg") != KURA_ABSENT {
      number += 1
      path = head + last + " (\(number))"
    }
    if !path.utf8.elementsEqual(name.utf8) { renamed.append((name, path)) }
    return folder.path + "/" + path + ".gpg"
  }
}

/// Turns an item's name into a path that stays below a store, and is seen there.
enum StorePath {
  /// Of the 255 bytes that a file's name has, without `.gpg` and what tells two of one name apart.
  private static let longest = 240

  /// The parts of the path, without `.gpg`.
  static func parts(of name: String) -> [String] {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"))
    var path: [String] = []
    for (index, part) in parts.enumerated() {
      let whole = Array(part)
      var count = min(whole.count, longest)
      // No half of a character stays.
      while count < whole.count, whole[count] & 0xC0 == 0x80 { count -= 1 }
      var bytes = Array(whole[..<count])
      // What begins with a dot is pass's own, or hidden.
      if bytes.first == UInt8(ascii: ".") { bytes.insert(UInt8(ascii: "_"), at: 0) }
      // A folder must not have the name of an item's file.
      let isFolder = index < parts.count - 1
      if isFolder, bytes.suffix(4).elementsEqual(".gpg".utf8) { bytes.append(UInt8(ascii: "_")) }
      path.append(String(decoding: bytes, as: UTF8.self))
    }
    return path
  }
}

// MARK: - Lines

extension StoreFolder {
  /// Makes an entry's text: the value, then a line a field, the code's URI, the notes.
  private mutating func fill(
    _ entry: borrowing ExportedEntry, _ flaw: (String, String) -> Void
  ) throws(CommandError) {
    text.removeAll()
    if let value = entry.first(.password) {
      try add(entry.bytes(value))
    } else if !entry.attributes.isEmpty || entry.parts.contains(where: { $0.role == .field }) {
      // The first line is the password's.
      try end()
    }
    for attribute in entry.attributes {
      try add(attribute.key, attribute.value.span, flaw)
    }
    for part in entry.parts where part.role == .field {
      try add(part.label, entry.bytes(part), flaw)
    }
    if let code = entry.first(.code) { try add(entry.bytes(code)) }
    if let notes = entry.first(.notes) { try add(entry.bytes(notes)) }
  }

  private mutating func add(
    _ key: String, _ value: Span<UInt8>, _ flaw: (String, String) -> Void
  ) throws(CommandError) {
    guard UTF8Scanner.isText(value) else { return flaw(key, "its value is no UTF-8 text") }
    for index in value.indices where value[index] == UInt8(ascii: "\n") {
      return flaw(key, "its value has several lines, and a field of pass's is one")
    }
    let head = Array((key + ": ").utf8)
    do throws(SecureMemoryError) {
      try text.append(head.span)
      try text.append(value)
    } catch { throw .outOfMemory }
    try end()
  }

  /// Adds lines, and a newline where they do not end in one.
  private mutating func add(_ lines: Span<UInt8>) throws(CommandError) {
    do throws(SecureMemoryError) { try text.append(lines) } catch { throw .outOfMemory }
    guard lines.isEmpty || lines[lines.count - 1] != UInt8(ascii: "\n") else { return }
    try end()
  }

  private mutating func end() throws(CommandError) {
    do throws(SecureMemoryError) { try text.append(UInt8(ascii: "\n")) } catch {
      throw .outOfMemory
    }
  }
}
