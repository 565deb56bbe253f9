// SPDX-License-Identifier: MIT

import KuraTerms
import TestGround
import Testing

@testable import KuraImport

/// Exports with one thing wrong each, as `Fixtures/import/malformed.txt` has them.
@Suite struct MalformedTests {
  /// A line of that file.
  struct Row: Sendable, CustomTestStringConvertible {
    let format: ImportFormat
    let file: String
    let inner: String?
    let old: [UInt8]
    let new: [UInt8]
    let message: String

    var testDescription: String { "\(format.rawValue), \(file): \(message)" }

    init(_ line: Substring) throws {
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
      try #require(parts.count == 5)
      format = try #require(ImportFormat(rawValue: parts[0]))
      let names = parts[1].split(separator: "!").map { String($0) }
      (file, inner) = (names[0], names.count > 1 ? names[1] : nil)
      (old, new, message) = (Self.bytes(parts[2]), Self.bytes(parts[3]), parts[4])
    }

    private static func bytes(_ text: String) -> [UInt8] {
      var (bytes, rest) = ([UInt8](), text.utf8[...])
      while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
          bytes.append(byte)
          continue
        }
        switch next {
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "x"):
          bytes.append(UInt8(String(rest.prefix(2)) ?? "", radix: 16) ?? 0)
          rest = rest.dropFirst(2)
        default: bytes.append(next)
        }
      }
      return bytes
    }

    /// The export, with what is wrong in it.
    func made() throws -> [UInt8] {
      let whole = try fixture(file)
      guard let inner else { return try changed(whole) }
      let files = try Archive(whole).files
      _ = try #require(files[Array(inner)])
      return ZipFile.bytes(
        try files.map { name, content in
          .init(name.text, name.text == inner ? try changed(content) : content)
        })
    }

    private func changed(_ bytes: [UInt8]) throws -> [UInt8] {
      if old == Array("*") { return new }
      let places = bytes.indices.filter { bytes[$0...].starts(with: old) }
      try #require(places.count == 1, "\(old.text) stands there \(places.count) times")
      return bytes[..<places[0]] + new + bytes[(places[0] + old.count)...]
    }
  }

  static let rows: [Row] = {
    do {
      return try fixture("malformed.txt").text.split(separator: "\n")
        .filter { !$0.hasPrefix("#") }.map { try Row($0) }
    } catch {
      Issue.record(error)
      return []
    }
  }()

  private static let password = Array("export pass wörd")

  @Test(arguments: rows)
  func `what is wrong is said, and where`(_ row: Row) throws {
    guard case .flaw(let flaw) = try outcome(try row.made(), row.format, Self.password) else {
      Issue.record("it is taken")
      return
    }
    let failure = ImportFailure(flaw, in: row.format)
    #expect(failure.text == row.message)
    #expect(failure.hint?.hasPrefix("nothing was changed") == true)
  }

  @Test func `but for that one thing it would be taken`() throws {
    for row in Self.rows where row.inner == nil {
      guard case .whole = try outcome(try fixture(row.file), row.format, Self.password) else {
        Issue.record("\(row.file) is no \(row.format.rawValue)")
        continue
      }
    }
  }

  /// What each form has rules for; the flaws of archives are told in ``ArchiveTests``.
  private static func rules(of format: ImportFormat) -> Set<ReadingFlaw.Rule> {
    let json: Set<ReadingFlaw.Rule> = [.empty, .notUTF8, .notJSON, .tooDeep, .member]
    switch format {
    case .chromeCSV, .firefoxCSV, .appleCSV, .lastpassCSV, .keepassxcCSV:
      return [.empty, .notUTF8, .columnMissing, .columnTwice, .fieldCount, .quoting]
    case .dotenv: return [.empty, .notUTF8, .assignment, .quoting]
    case .jsonLines, .cxf: return json
    case .bitwardenJSON: return json.union([.accountBound, .costs, .wrongPassword, .sealBroken])
    case .protonJSON: return json.union([.encrypted, .pgp])
    case .onePUX: return json.union([.notArchive])
    case .keepassXML:
      return [.empty, .notUTF8, .notXML, .doctype, .packing, .member, .encrypted, .tooDeep]
    // Nobody but programs writes those.
    case .pass, .secretService: return []
    }
  }

  @Test(arguments: ImportFormat.allCases)
  func `each rule of each form has a file that breaks it`(_ format: ImportFormat) throws {
    var broken: Set<ReadingFlaw.Rule> = []
    for row in Self.rows where row.format == format {
      if case .flaw(let flaw) = try outcome(try row.made(), format, Self.password) {
        broken.insert(flaw.rule)
      }
    }
    #expect(broken == Self.rules(of: format))
  }

  @Test func `no source has more than is taken`() throws {
    let bytes = [UInt8](repeating: 0x61, count: Source.most + 1)
    for format in [ImportFormat.chromeCSV, .bitwardenJSON, .keepassXML] {
      #expect(try outcome(bytes, format) == .flaw(ReadingFlaw(.tooLarge)))
    }
    var sink = EntrySink { _ in }
    for _ in 0..<AnswerReader.mostEntries { try sink.take(SourceEntry()) }
    #expect(throws: ReadingFlaw(.tooManyEntries)) { try sink.take(SourceEntry()) }
  }

  /// What is of a type that it must not be is told, and what stands beside it is taken.
  @Test(
    arguments: [
      (
        .bitwardenJSON,
        "{\"items\":[{\"type\":1,\"name\":\"n\",\"notes\":[7],\"login\":{\"username\":{\"a\":1},\"password\":7,\"uris\":{\"a\":1},\"totp\":[[]]},\"fields\":[{\"name\":\"k\",\"value\":[1],\"type\":0}],\"passwordHistory\":7},{\"type\":3,\"name\":\"c\",\"card\":{\"number\":true,\"brand\":{\"b\":1}}},{\"type\":5,\"name\":\"s\",\"sshKey\":[]}]}",
        ["notes", "username", "totp", "uris", "value", "passwordHistory", "brand", "sshKey"],
        ["7", "true", ""]
      ),
      (
        .protonJSON,
        "{\"vaults\":{\"v\":{\"name\":\"\",\"items\":[{\"data\":{\"metadata\":{\"name\":\"n\",\"note\":[1]},\"type\":\"login\",\"extraFields\":[{\"fieldName\":\"k\",\"type\":\"text\",\"data\":{\"content\":[1]}},{\"fieldName\":\"l\",\"data\":7}],\"content\":{\"password\":\"p\",\"urls\":[\"u\",{\"a\":1}],\"itemEmail\":[1]}}},{\"data\":{\"metadata\":{\"name\":\"c\"},\"type\":\"wifi\",\"content\":7}}]}}}",
        ["note", "itemEmail", "urls", "k", "data", "content"], ["p", ""]
      ),
      (
        .cxf,
        "{\"version\":{\"major\":1},\"accounts\":[{\"items\":[{\"title\":\"n\",\"tags\":7,\"credentials\":[{\"type\":\"basic-auth\",\"username\":7,\"password\":{\"value\":\"p\"}},{\"type\":\"totp\",\"secret\":[1]},{\"type\":\"custom-fields\",\"fields\":{}}]}]}]}",
        ["tags", "username", "secret", "fields"], ["p"]
      ),
    ] as [(ImportFormat, String, [String], [String])])
  func `a member of another type is told, and no other is lost`(
    _ format: ImportFormat, _ text: String, _ told: [String], _ values: [String]
  ) throws {
    let left = try leavings(Array(text), format)
    #expect(left.filter { $0.reason == .remark(.invalid) }.map(\.field) == told)
    #expect(try items(Array(text), format).map(\.value.text) == values)
  }
}
