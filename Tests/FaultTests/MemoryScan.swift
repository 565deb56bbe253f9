// SPDX-License-Identifier: MIT

import CMemoryScan
import Foundation

/// Secrets, and where at least 16 bytes of one of them stand.
final class Canaries {
  private let raw: OpaquePointer
  private var names: [String] = []

  /// - Parameter secrets: What each is called in a report, and its bytes, 16 at least.
  init(_ secrets: [(name: String, bytes: [UInt8])]) {
    raw = memory_canaries_create()
    for secret in secrets {
      precondition(secret.bytes.count >= 16 && Set(secret.bytes).count > 8, "a canary is random")
      memory_canaries_add(raw, secret.bytes, secret.bytes.count)
      names.append(secret.name)
    }
  }

  deinit { memory_canaries_destroy(raw) }

  /// What stands in bytes, and where.
  func hits(in bytes: UnsafeRawBufferPointer, called place: String) -> [String] {
    guard let start = bytes.baseAddress else { return [] }
    let memory = start.assumingMemoryBound(to: UInt8.self)
    var hits: [String] = []
    var next = 0
    var number: Int32 = 0
    while hits.count < 8 {
      let found = memory_scan(raw, memory, bytes.count, next, &number)
      if found < 0 { break }
      hits.append("\(names[Int(number)]) in \(place)+\(found)")
      next = found + 64
    }
    return hits
  }

  /// What stands in files below a directory, their names and what links point to included.
  func hits(below directory: String) throws -> [String] {
    var hits: [String] = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
      let path = directory + "/" + name
      hits += name.utf8.map { $0 }.withUnsafeBytes { self.hits(in: $0, called: "name of \(path)") }
      var facts = stat()
      guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { continue }
      hits += try Bytes.read(path).withUnsafeBytes { self.hits(in: $0, called: path) }
    }
    return hits
  }
}

/// The memory of another process, as root reads it.
struct Memory {
  let process: pid_t

  /// What stands in every mapping that can be read: heap, stacks, arenas, files.
  ///
  /// - Returns: The hits, and how many bytes were looked at.
  func hits(_ canaries: Canaries) throws -> (hits: [String], byteCount: Int) {
    var (hits, total): ([String], Int) = ([], 0)
    try forEachMapping { mapping, bytes in
      total += bytes.count
      hits += canaries.hits(in: bytes, called: mapping.name)
    }
    return (hits, total)
  }

  /// What a word can be guessed by in memory that can be written: a fast hash of it, keyed by what stands
  /// there, too, or not at all.
  ///
  /// - Returns: Where such a hash stands, and its key; nil when there is none.
  func hash(of word: [UInt8]) throws -> String? {
    var memory: [UInt8] = []
    try forEachMapping { mapping, bytes in
      if mapping.isWritable { memory += bytes.prefix(bytes.count & ~7) }
    }
    // As it is, and behind the number of its kind.
    for prefix in [[], [1], [3], [4]] as [[UInt8]] {
      var key = -1
      let found = memory_find_hash(
        memory, memory.count, prefix + word, prefix.count + word.count, &key)
      guard found > -2 else { throw SystemFailure(call: "memory for the search", number: ENOMEM) }
      if found >= 0 { return "hash behind \(prefix) at \(found), its key at \(key)" }
    }
    return nil
  }

  private func forEachMapping(_ body: (Mapping, UnsafeRawBufferPointer) -> Void) throws {
    let file = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemFailure(call: "open mem", number: errno) }
    defer { close(file) }
    for mapping in try mappings() {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: mapping.size, alignment: 16)
      defer { buffer.deallocate() }
      var count = 0
      while count < mapping.size {
        let part = pread(
          file, buffer.baseAddress! + count, mapping.size - count, off_t(mapping.start + count))
        // A guard page, or a page of a file that is shorter.
        if part <= 0 { break }
        count += part
      }
      body(mapping, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  private struct Mapping {
    let start: Int
    let size: Int
    let name: String
    let isWritable: Bool
  }

  private func mappings() throws -> [Mapping] {
    // A String of a file in /proc ends after the first few kilobytes.
    let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/maps"))
    let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
      // Names stand in a column of their own.
      let name =
        fields.count > 5 ? String(fields[5].drop { $0 == " " }) : "anonymous memory"
      guard fields[1].hasPrefix("r"), ends.count == 2, !name.hasPrefix("[v") else { return nil }
      return Mapping(
        start: ends[0], size: ends[1] - ends[0], name: "\(name) at \(fields[0])",
        isWritable: fields[1].hasPrefix("rw"))
    }
  }
}

/// A process that stops at its very end, when its memory can still be read. All calls on one thread.
final class LastMoment {
  private let process: pid_t

  init(of process: pid_t) throws {
    self.process = process
    let result = memory_trace(process)
    guard result == 0 else { throw SystemFailure(call: "ptrace", number: -result) }
  }

  /// Waits for it.
  func await() throws {
    let result = memory_trace_await(process)
    guard result == 0 else { throw SystemFailure(call: "the traced end", number: -result) }
  }

  deinit { memory_trace_end(process) }
}
