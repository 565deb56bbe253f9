// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraClient
internal import KuraStore

/// Runs the user's own rclone, once for each step: what it writes is taken, and what it complains of becomes an error.
///
/// A process a step costs 70 ms, and asks nothing of rclone but five commands that each of its releases has. One process for
/// all would have to be its server: that goes by a cache of names and a writer that takes what was cut off for whole.
struct RcloneProgram {
  /// Tells how a run ended.
  struct Outcome {
    var status: Int32
    var content: [UInt8]
    /// Whether it wrote more than was wanted, and was ended.
    var isMore: Bool
    var complaints: String
  }

  /// It tries a step twice more, since networks fail now and then, and then says so; the next meeting goes on.
  private static let options = [
    "--ask-password=false", "--retries=1", "--low-level-retries=3", "--contimeout=15s",
    "--timeout=60s",
  ]
  /// More complaints than this are not read: the last ones say it.
  private static let mostComplaints = 8_192

  /// How long a step may take, in ms: what drips, or waits for somebody, ends none by itself.
  private static let patience: UInt64 = 600_000

  /// Its file.
  let path: String
  private let longest: UInt64

  /// The first by PATH, as in a shell.
  init() throws(StoreError) {
    guard let path = Program.look(for: "rclone", System.environment("PATH")) else {
      throw .noProgram(name: "rclone", package: "rclone")
    }
    (self.path, longest) = (path, Self.patience)
    RcloneVariables.drop()
  }

  /// One at a path, that may take so long for a step, in ms.
  init(at path: String, patience: UInt64 = Self.patience) {
    (self.path, longest) = (path, patience)
  }

  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - words: Command, options, places.
  ///   - input: What it reads; nil: nothing.
  ///   - most: How much it may write.
  ///   - place: What is told of where it went wrong.
  func run(
    _ words: [String], input: [UInt8]? = nil, atMost most: Int, in place: String
  ) throws(StoreError) -> Outcome {
    let complaints = try InMemory.file([], place)
    // All of it is there before rclone starts: whenever this program ends, rclone has not half of it.
    let given = if let input { try InMemory.file(input, place) } else { FolderFile(owning: -1) }
    var child = kura_child()
    let failed = System.startCarrying(
      path, ["rclone"] + Self.options + words, input: given.descriptor,
      complaints: complaints.descriptor, &child)
    guard failed == 0 else { throw .system(errno: -failed, path: path) }
    let output = FolderFile(owning: child.descriptor)
    let end = Machine.clocks().monotonic + longest
    var content: [UInt8] = []
    switch read(output.descriptor, into: &content, atMost: most, until: end) {
    case .ended: break
    case .isMore:
      kura_clip_end(child.process)
      return Outcome(status: 0, content: [], isMore: true, complaints: "")
    case .hangs:
      kura_clip_end(child.process)
      throw Self.hangs(place)
    }
    let status = kura_child_wait(child.process, Self.rest(until: end))
    if status == -ETIMEDOUT {
      kura_clip_end(child.process)
      throw Self.hangs(place)
    }
    let size = lseek(complaints.descriptor, 0, SEEK_END)
    lseek(complaints.descriptor, max(0, size - Self.mostComplaints), SEEK_SET)
    let said = try complaints.read(atMost: Self.mostComplaints, in: place) ?? []
    return Outcome(
      status: status, content: content, isMore: false,
      complaints: String(decoding: said, as: UTF8.self))
  }
}

// MARK: - What it writes

extension RcloneProgram {
  private enum End { case ended, isMore, hangs }

  private static func hangs(_ place: String) -> StoreError {
    .unreachable(path: place, said: "rclone does not come to an end there")
  }

  private static func rest(until end: UInt64) -> Int32 {
    let now = Machine.clocks().monotonic
    return Int32(end > now ? end - now : 0)
  }

  private func read(
    _ descriptor: Int32, into content: inout [UInt8], atMost most: Int, until end: UInt64
  ) -> End {
    var room = [UInt8](repeating: 0, count: min(most + 1, 1 << 16))
    while true {
      let got = unsafe kura_asked_read(descriptor, &room, room.count, Self.rest(until: end), -1)
      if got == Int(KURA_ASKED_TIMEOUT) { return .hangs }
      guard got > 0 else { return .ended }
      content += room[..<got]
      if content.count > most { return .isMore }
    }
  }
}

// MARK: - What it complains of

extension RcloneProgram.Outcome {
  /// Whether it found nothing, which is no failure.
  var isNothing: Bool {
    // A directory that is not there, or a file.
    status == 3 || status == 4
      || status == 1
        && (complaints.contains("is a directory or doesn't exist")
          || complaints.contains("object not found"))
  }

  /// The words that tell each kind of failure, as rclone's back ends have them; the first kind that fits counts.
  private static let signs: [(Kind, [String])] = [
    (.unknown, ["didn't find section in config file", "didn't find backend called"]),
    // Of a certificate too "has expired" is said.
    (.untrusted, ["x509:"]),
    (
      .refused,
      [
        "401 ", "403 ", "unauthorized", "accessdenied", "access denied", "invalidaccesskeyid",
        "signaturedoesnotmatch", "invalid_grant", "permission denied", "couldn't decrypt",
        "unable to authenticate", "nocredentialproviders", "invalid credentials",
        "config password", "expired",
      ]
    ),
    (
      .full,
      ["507 ", "insufficient storage", "no space left", "quota", "insufficient space", "too large"]
    ),
    (.readOnly, ["read-only", "readonly", "read only", "405 "]),
    (.untrusted, ["certificate"]),
    (
      .unreachable,
      [
        "connection refused", "no such host", "timeout", "unreachable", "connection reset",
        "no route to host", "broken pipe", " eof", "tls handshake", "deadline exceeded",
        "server misbehaving", "502 ", "503 ", "504 ", "use of closed network connection",
      ]
    ),
  ]

  private enum Kind { case unknown, refused, full, readOnly, untrusted, unreachable }

  /// What its failure means.
  func error(in place: String) -> StoreError {
    let said = lastComplaint
    let words = complaints.lowercased()
    let kind = Self.signs.first { $0.1.contains { words.contains($0) } }?.0
    switch kind {
    case .unknown: return .unknown(path: place)
    case .refused: return .refused(path: place, said: said)
    case .full: return .full(path: place)
    case .readOnly: return .readOnly(path: place)
    case .untrusted: return .untrusted(path: place, said: said)
    case .unreachable: return .unreachable(path: place, said: said)
    case nil:
      let words = said.isEmpty ? "rclone ended with status \(status)" : said
      return .other(path: place, said: words)
    }
  }

  /// The last line that goes on with no other one, without the moment that it begins with.
  private var lastComplaint: String {
    let lines = complaints.split(separator: "\n").filter { !$0.hasPrefix("\t") }
    let line = lines.last.map(String.init) ?? ""
    let words = line.split(separator: " ", maxSplits: 2)
    guard words.count == 3, words[0].split(separator: "/").count == 3 else { return line }
    return String(words[2])
  }
}

/// Makes files that are in memory alone.
private enum InMemory {
  /// One with these bytes, to be read from its start.
  static func file(_ bytes: [UInt8], _ place: String) throws(StoreError) -> FolderFile {
    // An empty array has no address.
    let file = unsafe (bytes.isEmpty ? [0] : bytes).withUnsafeBytes { content in
      guard let start = content.baseAddress else { return -ENOMEM }
      return unsafe kura_memory_file(start, bytes.count)
    }
    guard file >= 0 else { throw .system(errno: -file, path: place) }
    return FolderFile(owning: file)
  }
}
