// SPDX-License-Identifier: MIT

import Foundation

/// One vector: an SQL script whose leading comment lines say what it is and what must come of it.
///
/// `Tests/reference/vector_file.py` lists the fields.
struct VectorFile: Sendable {
  let name: String
  private let script: [UInt8]
  private var fields: [String: String] = [:]
  private var ownLines: [String] = []
  private let base: Box?

  private final class Box: Sendable {
    let vector: VectorFile
    init(_ vector: VectorFile) { self.vector = vector }
  }

  init(_ name: String) throws {
    self.name = name
    script = try Bytes.read("\(Repository.vectors)/\(name).sql")
    var start = 0
    while script[start...].starts(with: Array("-- ".utf8)) {
      let end = script[start...].firstIndex(of: UInt8(ascii: "\n")) ?? script.count
      let line = String(decoding: script[start + 3..<end], as: UTF8.self)
      let colon = line.range(of: ": ") ?? line.endIndex..<line.endIndex
      let (key, value) = (String(line[..<colon.lowerBound]), String(line[colon.upperBound...]))
      if key == "item" || key == "old" { ownLines.append(line) } else { fields[key] = value }
      start = end + 1
    }
    base = try fields["base"].map { Box(try VectorFile($0)) }
  }

  var expect: String { fields["expect"] ?? "" }

  /// The `item: …` and `old: …` lines that a reader must agree with.
  var lines: [String] { ownLines.isEmpty ? base?.vector.lines ?? [] : ownLines }

  /// A field of its own or of its base; the three kinds of secrets go together.
  func field(_ key: String) -> String? {
    let secrets = [
      "passcode-hex", "recovery-key", "key-file-hex", "tpm-code-hex", "fido2-salt-hex",
    ]
    if let value = fields[key] { return value }
    if secrets.contains(key), secrets.contains(where: { fields[$0] != nil }) { return nil }
    return base?.vector.field(key)
  }

  /// Writes the vault file that it describes.
  func build(at path: String) throws {
    if let file = fields["file-hex"] {
      try Bytes.write(Bytes.fromHex(file), to: path)
      return
    }
    try Bytes.write([], to: path)
    let database = try Database(path)
    try database.run("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;")
    for script in scripts { try database.run(script) }
  }

  private var scripts: [[UInt8]] { (base?.vector.scripts ?? []) + [script] }

  /// The name of every vector there is.
  static let names: [String] = {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: Repository.vectors)) ?? []
    return files.filter { $0.hasSuffix(".sql") }.map { String($0.dropLast(4)) }.sorted()
  }()
}

/// Where the package lies.
enum Repository {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  static let vectors = root + "/Fixtures/vectors/vault"
  static let reference = root + "/Tests/reference"
}
