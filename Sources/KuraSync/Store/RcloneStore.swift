// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraStore
internal import KuraTerms

/// Keeps the files where rclone reaches: S3, WebDAV, SFTP and some seventy more.
///
/// A file is there whole or not at all where the store behind rclone has it so; of a head that was cut off others say that it
/// is not here yet.
struct RcloneStore: Store {
  private typealias Outcome = RcloneProgram.Outcome

  /// More than a line of a list has: two digits, a slash, a hash.
  private static let longestLine = 128

  /// What rclone calls the folder of the vault.
  let path: String
  private let above: String
  private let program: RcloneProgram
  private let isNew: Bool
  private let grain = TimeGrain()

  /// The store of a vault below a place.
  ///
  /// - Parameters:
  ///   - above: The place, as rclone has it.
  ///   - makes: Whether it is made where there is none: what cannot be written to is found out then.
  init(
    at above: String, of vault: [UInt8], makes: Bool, by program: RcloneProgram
  ) throws(StoreError) {
    let joint = above.hasSuffix(":") || above.hasSuffix("/") ? "" : "/"
    path = above + joint + StorePlace.root(of: vault)
    (self.above, self.program, isNew) = (above, program, makes)
    if makes { try check(try run(["mkdir", path]), path) }
  }

  func settle() {}

  func leave() { _ = try? program.run(["rmdir", path], atMost: 0, in: path) }

  func heads() throws(StoreError) -> [StorePlace] {
    let found = try names(in: StorePlace.heads).compactMap {
      StorePlace(StorePlace.heads + "/" + $0)
    }
    // Where a store has no folders, only what stands in it shows that it is the right one.
    if found.isEmpty, !isNew, try names(in: "").isEmpty { throw .empty(path: above) }
    return found
  }

  func objects(of device: [UInt8]) throws(StoreError) -> [StorePlace] {
    let below = StorePlace.objects(of: device)
    return try names(in: below, ["-R", "--fast-list"]).compactMap { StorePlace(below + "/" + $0) }
  }

  func get(_ place: StorePlace, atMost most: Int) throws(StoreError) -> [UInt8]? {
    let path = path + "/" + place.text
    let outcome = try program.run(["cat", "--count=\(most + 1)", path], atMost: most, in: path)
    if outcome.isMore || outcome.isNothing { return nil }
    try check(outcome, path)
    // Of what is not there a store without folders has nothing to say; nothing of ours is empty.
    return outcome.content.isEmpty ? nil : outcome.content
  }

  func put(_ place: StorePlace, _ bytes: [UInt8]) throws(StoreError) {
    // Whatever stands there: where a store tells no times, rclone takes two files of one size for the same.
    let path = path + "/" + place.text
    try check(try run(["rcat", "--size=\(bytes.count)", path], bytes), path)
  }

  func delete(_ place: StorePlace) throws(StoreError) -> Bool {
    let path = path + "/" + place.text
    let outcome = try run(["deletefile", path])
    if !outcome.isNothing { try check(outcome, path) }
    return true
  }

  func marks(but own: [UInt8]) throws(StoreError) -> [UInt8] {
    let lines = try names(in: StorePlace.heads, ["--max-depth=1", "--format=pst"])
    let others = lines.filter { $0.prefix { $0 != ";" } != StorePlace.hexadecimal(own)[...] }
    let list = Array(others.sorted().joined(separator: "\n").utf8)
    return list + [list.isEmpty ? 0 : grain.age(of: list, now: Machine.clocks().boot)]
  }

  /// The files below a name, as paths from there; none where there is nothing.
  private func names(
    in name: String, _ options: [String] = ["--max-depth=1"]
  ) throws(StoreError) -> [String] {
    let path = name.isEmpty ? path : path + "/" + name
    let most = ProtocolLimit.storeNames
    let kind = name.isEmpty ? [] : ["--files-only"]
    let outcome = try program.run(
      ["lsf"] + options + kind + [path], atMost: most * Self.longestLine, in: path)
    if outcome.isNothing { return [] }
    try check(outcome, path)
    let names = String(decoding: outcome.content, as: UTF8.self).split(separator: "\n")
    guard !outcome.isMore, names.count <= most else { throw .crowded(path: path) }
    return names.map(String.init)
  }

  /// Has rclone do something.
  private func run(_ words: [String], _ input: [UInt8]? = nil) throws(StoreError) -> Outcome {
    try program.run(words, input: input, atMost: 1 << 20, in: path)
  }

  private func check(_ outcome: Outcome, _ path: String) throws(StoreError) {
    guard outcome.status == 0 else { throw outcome.error(in: path) }
  }
}

/// Has what was seen be looked at again when it is older. A store tells times in seconds, or in minutes: what is written in the
/// same one as what was seen, and is as long, looks the same.
final class TimeGrain {
  /// When what is seen is older than a second, and than a minute, in ms.
  private static let ages: [UInt64] = [2_000, 62_000]

  private var seen: [UInt8] = []
  private var since: UInt64 = 0

  /// How many such times have passed since a list changed: each makes it another one.
  ///
  /// - Parameter now: In ms since the machine was started.
  func age(of list: [UInt8], now: UInt64) -> UInt8 {
    if list != seen { (seen, since) = (list, now) }
    return UInt8(Self.ages.count { now - since >= $0 })
  }
}
