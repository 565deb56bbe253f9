// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// What kura-security(7) says is kept in memory, and how much of it at most, is what the source says.
///
/// That it is gone at a lock is held by the memory scans: the story `memory`, which reads the agent's
/// whole memory after lists, batches, values and the log, and `MemoryTests`.
@Suite struct CacheTests {
  /// A number of the page, and the constant it comes from.
  struct Limit: Sendable, CustomTestStringConvertible {
    /// The item of the page's list.
    var subject: String
    /// The words there, `N` standing for the number.
    var words: String
    var file: String
    /// The code, `N` standing for the number.
    var code: String
    var testDescription: String { "\(subject): \(words)" }
  }

  static let limits = [
    Limit(
      subject: "verified nodes", words: "at most N of",
      file: "KuraVault/Tree/NodeCache", code: "static let places = N"),
    Limit(
      subject: "pages of the file", words: "no fewer than N and",
      file: "KuraStorage/PageCache", code: "static let fewestBytes = N"),
    Limit(
      subject: "pages of the file", words: "and at most N bytes of",
      file: "KuraStorage/PageCache", code: "static let mostBytes = N"),
    Limit(
      subject: "pages of the file", words: "room for N bytes",
      file: "KuraStorage/PageCache", code: "static let batchBytes = N"),
    Limit(
      subject: "a list on its way", words: "At most N opened",
      file: "KuraVault/Items/Listing", code: "static let sizes = 64...N"),
    Limit(
      subject: "a list on its way", words: "at most N bytes",
      file: "KuraVault/Items/ItemSlice", code: "static let enoughBytes = N"),
    Limit(
      subject: "a batch on its way", words: "at most N in",
      file: "KuraVault/Batch/PutBatch", code: "static let mostItems = N"),
    Limit(
      subject: "a batch on its way", words: "next N the",
      file: "KuraVault/Batch/BatchWriting", code: "static let batchSlice = N"),
    Limit(
      subject: "a batch on its way", words: "in N bytes",
      file: "KuraProtocol/Frames/ProtocolVersion", code: "static let frame = N"),
    Limit(
      subject: "a large value on its way", words: "at most N pieces",
      file: "KuraVault/Items/Upload", code: "static let batch = N"),
    Limit(
      subject: "a large value on its way", words: "going out, N that",
      file: "KuraVault/Items/ChunkReader", code: "static let sliceCount = N"),
    Limit(
      subject: "a large value on its way", words: "of N bytes",
      file: "KuraFormat/Item/ItemBody", code: "static let chunkByteCount = N"),
    Limit(
      subject: "a check on its way", words: "at most N findings",
      file: "KuraVault/Check/Finding", code: "static let limit = N"),
    Limit(
      subject: "the log on its way", words: "N bytes of",
      file: "KuraVault/AccessLog/LogFile", code: "static let windowCount = N"),
    Limit(
      subject: "requests and replies", words: "at most N clients",
      file: "KuraAgent/Loop/AgentConfiguration", code: "var connections = N"),
    Limit(
      subject: "requests and replies", words: "more than N bytes",
      file: "KuraAgent/Loop/Boxes", code: "static let most = N"),
    Limit(
      subject: "entries of the access log", words: "At most N in",
      file: "KuraVault/AccessLog/AccessLog", code: "static let mostWaiting = N"),
    Limit(
      subject: "entries of the access log", words: "in N bytes",
      file: "KuraVault/AccessLog/AccessLog", code: "static let mostWaitingBytes = N"),
    Limit(
      subject: "a store", words: "at most N bytes",
      file: "KuraFormat/Remote/RemoteMemory", code: "static let longest = N"),
    Limit(
      subject: "a store", words: "at most N devices",
      file: "KuraFormat/Vault/DeviceTable", code: "static let most = N"),
    Limit(
      subject: "what is to be swept", words: "for N at a time",
      file: "KuraVault/Check/OrphanSearch", code: "static let candidateLimit = N"),
    Limit(
      subject: "wrong credentials", words: "last N at",
      file: "KuraVault/Machine/KnownMistakes", code: "static let limit = N"),
  ]

  @Test(arguments: limits)
  func `a limit of the page is the constant of the source`(_ limit: Limit) throws {
    let text = try #require(Self.paragraphs()[limit.subject], "no such item in the page")
    let written = try #require(Self.number(limit.words, in: text), "not there: \(limit.words)")
    let source = try DocumentTests.text("Sources/\(limit.file).swift")
    let constants = Self.numbers(limit.code, in: source)
    #expect(!constants.isEmpty, "not in the source: \(limit.code)")
    #expect(Set(constants) == [written], "\(limit.file): \(limit.code)")
  }

  @Test func `the page counts the statements, and the nodes and tags in bytes`() throws {
    let page = try Self.paragraphs()
    let query = try DocumentTests.text("Sources/KuraStorage/Query.swift")
    let cases = try #require(query.firstMatch(of: /enum Query[^{]*\{(?<cases>[^}]*?)\/\/\//)).cases
    let count = cases.replacing("case", with: ",").split(separator: ",")
      .filter { $0.contains(where: \.isLetter) }.count
    #expect(Self.number("At most N prepared", in: page["statements"] ?? "") == count)
    let nodes = page["verified nodes"] ?? ""
    let places = try #require(Self.number("at most N of", in: nodes))
    let bytes = try #require(Self.number("of N bytes", in: nodes))
    let kibibytes = try #require(Self.number("than N KiB", in: nodes))
    #expect(bytes == 64 * 32, "a node has 64 digests of 32 bytes")
    // A tag and a digest.
    #expect(Self.number("item, N bytes", in: page["a new tree on its way"] ?? "") == 16 + 32)
    #expect(places * (bytes + MemoryLayout<UInt64?>.stride) < kibibytes * 1024)
  }

  @Test func `each item of the page is held to the source, or named here as one without a number`()
    throws
  {
    let held = Set(Self.limits.map(\.subject)).union(["statements", "a new tree on its way"])
    #expect(Set(try Self.paragraphs().keys) == held.union(["prompts"]))
  }

  @Test func `a number that is not the source's is found`() {
    #expect(Self.number("at most N of", in: "so many, at most 1,126 of them") == 1126)
    #expect(Self.number("at most N of", in: "at most many of them") == nil)
    #expect(Self.numbers("let most = N", in: "let most = 4_096; let most = 7") == [4096, 7])
  }

  /// The items of the list in the page's section, by their heads.
  private static func paragraphs() throws -> [String: String] {
    let page = try DocumentTests.text("man/kura-security.7")
    let section = try #require(
      page.split(separator: ".Ss What the agent keeps while unlocked\n").last)
    let list = try #require(section.split(separator: "\n.El").first)
    var items: [String: String] = [:]
    for part in list.split(separator: ".It Sy ").dropFirst() {
      let lines = part.split(separator: "\n")
      items[String(lines[0])] = lines.dropFirst().joined(separator: " ")
    }
    return items
  }

  private static func number(_ words: String, in text: String) -> Int? {
    numbers(words, in: text).first
  }

  private static func numbers(_ words: String, in text: String) -> [Int] {
    let parts = words.components(separatedBy: "N").map(NSRegularExpression.escapedPattern)
    let pattern = parts.joined(separator: "([0-9][0-9,_]*)")
    guard let expression = try? NSRegularExpression(pattern: pattern) else { return [] }
    let all = NSRange(text.startIndex..., in: text)
    return expression.matches(in: text, range: all).compactMap { match in
      Range(match.range(at: 1), in: text).flatMap { Int(text[$0].filter(\.isNumber)) }
    }
  }
}
