// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraStore
internal import KuraTerms

/// Finds in a store what a new machine can begin a vault with: heads, and the objects that they name. It opens none of
/// them, and reads only what stands in the clear.
struct JoinSearch {
  /// As many heads as a vault has at most: what else stands there is not looked at.
  private static let mostHeads = 256
  /// How many bytes of what is found there is room for in a request, beside the longest secret.
  private static let room = ProtocolLimit.frame - ProtocolLimit.secret - 8_192

  /// What a machine may begin with, the likeliest first.
  let offers: [StoreOffer]

  /// Looks through the store of a vault.
  ///
  /// - Parameter remote: As people write it.
  init(_ store: any Store, of vault: [UInt8], at remote: String) throws(SyncFailure) {
    var (count, isNewer): (Int, Bool) = (0, false)
    var fronts: [ClearHead] = []
    var unread: StoreError?
    do throws(StoreError) {
      for place in try store.heads().sorted(by: { $0.text < $1.text }).prefix(Self.mostHeads) {
        guard case .head(let device) = place else { continue }
        count += 1
        let bytes: [UInt8]?
        do throws(StoreError) { bytes = try store.get(place, atMost: ClearHead.longest) } catch {
          // What of somebody else's cannot be read keeps nobody from the rest.
          guard error.isOfFile else { throw error }
          unread = error
          continue
        }
        guard let bytes else { continue }
        isNewer = isNewer || ClearHead.isNewer(bytes)
        guard let front = ClearHead(bytes), front.vault == vault, front.device == device else {
          continue
        }
        fronts.append(front)
      }
      offers = try Self.offers(fronts, store)
    } catch { throw SyncFailure(joining: error, at: remote) }
    guard fronts.count < Self.mostHeads else { throw .crowded(remote) }
    guard offers.isEmpty else { return }
    if let unread { throw SyncFailure(joining: unread, at: remote) }
    if isNewer { throw .newerStore(remote) }
    throw count == 0 ? .nothingToJoin(remote) : .notAllHere(remote)
  }

  /// Of the epochs that no other one follows each header that there is, those of the machines that wrote most first.
  private static func offers(
    _ fronts: [ClearHead], _ store: any Store
  ) throws(StoreError) -> [StoreOffer] {
    var found: [(front: ClearHead, record: ClearRecord)] = []
    for front in fronts {
      let place = StorePlace.object(device: front.device, hash: front.record)
      guard let bytes = try store.get(place, atMost: ClearRecord.longest),
        let record = ClearRecord(bytes), record.epoch == front.epoch
      else { continue }
      found.append((front, record))
    }
    let followed = Set(found.flatMap { $0.record.ancestors })
    let last = found.filter { !followed.contains($0.front.epoch) && $0.front.hasHeader }
      .sorted { $0.front.number > $1.front.number }
    var (offers, room, known): ([StoreOffer], Int, Set<[UInt8]>) = ([], Self.room, [])
    for (front, record) in last where offers.count < ProtocolLimit.offers {
      // Who names the header of another one beside a record of his own keeps nobody from that.
      let name = front.header + front.record
      let rest = room - front.bytes.count - record.bytes.count
      guard rest > 0, !known.contains(name) else { continue }
      let place = StorePlace.object(device: front.device, hash: front.header)
      guard let header = try store.get(place, atMost: rest) else { continue }
      known.insert(name)
      room = rest - header.count
      offers.append(StoreOffer(head: front.bytes, header: header, record: record.bytes))
    }
    return offers
  }
}

/// Reads what stands in the clear at the beginning of a head: see kura-sync-format(5).
struct ClearHead {
  static let longest = 262_144
  private static let magic = Array("KURAHEAD".utf8)
  private static let layout: [UInt8] = [1, 0, 0, 0]
  /// How many heads stand in a chain.
  private static let block = 1_024

  let bytes: [UInt8]
  let vault: [UInt8]
  let device: [UInt8]
  let number: UInt64
  let epoch: [UInt8]
  /// The hash of the epoch's record.
  let record: [UInt8]
  /// The hash of the header; zeros for none.
  let header: [UInt8]

  var hasHeader: Bool { header.contains { $0 != 0 } }

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 164, bytes.starts(with: Self.magic), Self.layout == Array(bytes[8..<12])
    else { return nil }
    self.bytes = bytes
    (vault, device) = (Array(bytes[12..<28]), Array(bytes[28..<44]))
    number = bytes[76..<84].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    (epoch, record, header) = (
      Array(bytes[84..<100]), Array(bytes[100..<132]), Array(bytes[132..<164])
    )
    // Nobody goes before the others by a number that no head has which names all before it.
    guard let before = Self.before(bytes), number == UInt64(before) + 1 else { return nil }
  }

  /// How many heads of its device it names; nil where that is cut off.
  private static func before(_ bytes: [UInt8]) -> Int? {
    func count(at place: Int) -> Int? {
      bytes.count >= place + 2 ? Int(bytes[place]) | Int(bytes[place + 1]) << 8 : nil
    }
    guard let chains = count(at: 164), let ids = count(at: 166 + 32 * chains),
      bytes.count >= 168 + 32 * chains + 16 * ids, chains <= block, ids < block
    else { return nil }
    return block * chains + ids
  }

  /// Whether a later release wrote it.
  static func isNewer(_ bytes: [UInt8]) -> Bool {
    bytes.count >= 12 && bytes.starts(with: magic) && Array(bytes[8..<12]) != layout
  }
}

/// Reads what stands in the clear in the record of an epoch, likewise.
struct ClearRecord {
  static let longest = 131_072
  private static let magic = Array("KURAOBJ1".utf8) + [3, 0, 0, 0, 0, 0, 0, 0]

  let bytes: [UInt8]
  let epoch: [UInt8]
  /// The epochs that it follows.
  let ancestors: [[UInt8]]

  init?(_ bytes: [UInt8]) {
    // The frame, the vault, its maker and the maker's key stand before the parents.
    guard bytes.count > 96, bytes.starts(with: Self.magic) else { return nil }
    let start = 97 + 16 * Int(bytes[96]) + 2
    guard bytes.count >= start else { return nil }
    let count = Int(bytes[start - 2]) | Int(bytes[start - 1]) << 8
    guard bytes.count >= start + 16 * count else { return nil }
    self.bytes = bytes
    epoch = Array(bytes[16..<32])
    ancestors = (0..<count).map { Array(bytes[(start + 16 * $0)..<(start + 16 * $0 + 16)]) }
  }
}

// MARK: - Which vault

extension Remote {
  /// Reads what people write of a store that a vault is to be joined from: a place with one, or the vault's own.
  ///
  /// - Returns: The store, and the vault.
  static func joined(_ text: String) throws(SyncFailure) -> (Remote, vault: [UInt8]) {
    let remote = try Remote(text)
    if let named = try remote.above { return named }
    let vaults: [[UInt8]]
    do throws(StoreError) { vaults = try remote.vaults() } catch {
      throw SyncFailure(joining: error, at: remote.text)
    }
    guard let vault = vaults.first else { throw .nothingToJoin(remote.text) }
    guard vaults.count == 1 else { throw .severalVaults(vaults, at: remote.text) }
    return (remote, vault)
  }

  /// The vaults of which it has something, in the order of their ids.
  func vaults() throws(StoreError) -> [[UInt8]] {
    switch kind {
    case .folder(let path): return try FolderStore.vaults(at: path)
    case .rclone(let place): return try RcloneStore.vaults(at: place, by: RcloneProgram())
    case .postgres:
      let none = [UInt8](repeating: 0, count: StorePlace.identifierByteCount)
      return try store(of: none, makes: false).vaults()
    }
  }

  /// The store above a vault's own place, and the vault; nil where this is none.
  private var above: (Remote, vault: [UInt8])? {
    get throws(SyncFailure) {
      guard let end = text.lastIndex(where: { $0 == "/" || $0 == ":" }),
        let vault = StorePlace.vault(at: String(text[text.index(after: end)...]))
      else { return nil }
      let place = text[..<end]
      // What stands before a colon, or is a root, needs it.
      let isWhole = text[end] == "/" && !place.hasSuffix(":")
      return (try Remote(isWhole ? String(place) : String(text[...end])), vault)
    }
  }
}

extension FolderStore {
  /// The vaults of which something stands in a folder, in the order of their ids.
  static func vaults(at above: String) throws(StoreError) -> [[UInt8]] {
    let outer = try FolderHandle(at: above)
    return try outer.names(in: above).sorted().compactMap { name in
      guard let vault = StorePlace.vault(at: name) else { return nil }
      // A file or a link of that name is nothing.
      return (try? outer.folder(name, in: above)) == nil ? nil : vault
    }
  }
}

extension RcloneStore {
  /// The same of what rclone reaches.
  static func vaults(
    at above: String, by program: RcloneProgram
  ) throws(StoreError) -> [[UInt8]] {
    let outcome = try program.run(
      ["lsf", "--dirs-only", "--max-depth=1", above], atMost: 1 << 20, in: above)
    if outcome.isNothing { throw .missing(path: above) }
    guard outcome.status == 0 else { throw outcome.error(in: above) }
    let names = String(decoding: outcome.content, as: UTF8.self).split(separator: "\n").sorted()
    return names.compactMap { StorePlace.vault(at: String($0.hasSuffix("/") ? $0.dropLast() : $0)) }
  }
}

// MARK: - What goes wrong

extension StoreError {
  /// Whether it is about the one file, and the next one may do.
  fileprivate var isOfFile: Bool {
    if case .denied = self { return true }
    if case .system = self { return true }
    return false
  }
}

extension SyncFailure {
  static func nothingToJoin(_ remote: String) -> SyncFailure {
    SyncFailure(
      .inputOutput, "there is no vault in " + SyncWords.harmless(remote),
      hint: "is it carried here, and does 'kura sync status' name it on another machine?")
  }

  static func crowded(_ remote: String) -> SyncFailure {
    SyncFailure(
      .exists,
      "as many machines as a vault has at most share it already by "
        + SyncWords.harmless(remote),
      hint: "nothing was made; 'kura sync devices' on one of them says when each was last heard, "
        + "and 'kura sync devices --remove NAME' there takes one out, whose place is free once all others "
        + "have met the store")
  }

  static func notAllHere(_ remote: String) -> SyncFailure {
    SyncFailure(
      .inputOutput,
      "what it takes to join is not all here yet, or was not written by kura: "
        + SyncWords.harmless(remote),
      hint: "wait until it is carried here; 'kura sync' on another machine writes what is missing")
  }

  static let passcodesThere = SyncFailure(
    .denied, "this vault is shared with its passcodes already, and slots of them are in the store",
    hint: "nothing was changed; 'kura clone OUT' makes another vault of it, and "
      + "'kura --vault OUT sync init --slots recovery REMOTE' shares that by its recovery key alone"
  )

  static func newerStore(_ remote: String) -> SyncFailure {
    SyncFailure(
      .failure, "a later release of kura wrote what is in " + SyncWords.harmless(remote),
      hint: "use that release here, too; nothing was made")
  }

  static func severalVaults(_ vaults: [[UInt8]], at remote: String) -> SyncFailure {
    let place = SyncWords.harmless(remote) + "/"
    let names = vaults.prefix(8).map { StorePlace.root(of: $0) }
    return SyncFailure(
      .ambiguous, "there are \(vaults.count) vaults in " + SyncWords.harmless(remote),
      hint: "name the one that is meant: "
        + names.map { "'kura sync join " + place + $0 + "'" }.joined(separator: ", or "))
  }
}
