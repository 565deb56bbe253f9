// SPDX-License-Identifier: MIT

import KuraProtocol
import KuraStore
import KuraTerms
import Testing

@testable import KuraSync

@Suite struct `What can be joined` {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private var remote: String { "dir:" + folder.path }

  private func id(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 16) }

  private func hash(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

  /// Leaves a head, and what it names.
  ///
  /// - Parameters:
  ///   - ancestors: Those of its epoch.
  ///   - header: The hash of the header; 0 for none.
  ///   - writes: Whether the objects are there, too.
  private func leave(
    _ device: UInt8, number: UInt64 = 1, epoch: UInt8 = 0xE1, ancestors: [UInt8] = [],
    header: UInt8 = 9, vault: UInt8 = 1, layout: UInt8 = 1, of owner: UInt8? = nil,
    writes: Bool = true
  ) throws {
    let store = try FolderStore(at: folder.path, of: id(1), makes: true)
    let record = hash(epoch)
    var head = Array("KURAHEAD".utf8) + [layout, 0, 0, 0] + id(vault) + id(device) + hash(3)
    head += (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    let (chains, ids) = Int(min(number, 1 << 32) - 1).quotientAndRemainder(dividingBy: 1_024)
    head += id(epoch) + record + hash(header) + [UInt8(chains & 0xFF), UInt8(chains >> 8 & 0xFF)]
    if chains <= 1_024 { head += [UInt8](repeating: 6, count: 32 * chains) }
    head += [UInt8(ids & 0xFF), UInt8(ids >> 8)] + [UInt8](repeating: 5, count: 16 * ids)
    try store.put(.head(device: id(owner ?? device)), head)
    guard writes else { return }
    let frame = Array("KURAOBJ1".utf8) + [3] + [UInt8](repeating: 0, count: 7) + id(epoch)
    let parents = ancestors.prefix(1).map { id($0) }
    let body =
      id(1) + id(device) + hash(4) + [UInt8(parents.count)] + parents.joined()
      + [UInt8(ancestors.count), 0] + ancestors.flatMap { id($0) } + [5, 6, 7]
    try store.put(.object(device: id(device), hash: record), frame + body)
    if header != 0 { try store.put(.object(device: id(device), hash: hash(header)), [header]) }
    try store.settle()
  }

  @Test func `is nothing where as many machines share it as a vault has`() throws {
    for device in 0..<255 { try leave(UInt8(device), writes: device == 0) }
    #expect(try !found().isEmpty)
    try leave(255, writes: false)
    #expect(failure()?.status == .exists)
    #expect(failure()?.hint?.contains("--remove NAME") == true)
  }

  /// What is found: the device of each head, and the header.
  private func found() throws -> [[UInt8]] {
    let store = try FolderStore(at: folder.path, of: id(1), makes: false)
    return try JoinSearch(store, of: id(1), at: remote).offers.map { [$0.head[28], $0.header[0]] }
  }

  private func failure() -> SyncFailure? {
    do throws(SyncFailure) {
      let (_, vault) = try Remote.joined(remote)
      let store: FolderStore
      do throws(StoreError) {
        store = try FolderStore(at: folder.path, of: vault, makes: false)
      } catch { return nil }
      _ = try JoinSearch(store, of: vault, at: remote)
      return nil
    } catch { return error }
  }

  @Test func `is the epoch that no other one follows`() throws {
    try leave(1, number: 9)
    try leave(2, epoch: 0xE2, ancestors: [0xE1], header: 7)
    #expect(try found() == [[2, 7]])
    try leave(3, epoch: 0xE3, ancestors: [0xE2, 0xE1], header: 8)
    #expect(try found() == [[3, 8]])
  }

  @Test func `has each header once, of who wrote most first`() throws {
    try leave(1, number: 3, header: 7)
    try leave(2, number: 300, header: 8)
    try leave(3, number: 2, header: 7)
    try leave(4, number: 900, header: 0)
    #expect(try found() == [[2, 8], [1, 7]])
    for device in 5..<20 as Range<UInt8> { try leave(device, number: 5, header: device) }
    #expect(try found().count == ProtocolLimit.offers)
  }

  @Test func `is as much as a request has room for, and what is larger keeps nobody from the rest`()
    throws
  {
    try leave(1)
    let store = try FolderStore(at: folder.path, of: id(1), makes: false)
    for device in 2..<6 as Range<UInt8> {
      try leave(device, number: 9, header: device)
      let place = StorePlace.object(device: id(device), hash: hash(device))
      try store.put(place, [UInt8](repeating: device, count: device == 2 ? 1 << 21 : 400_000))
    }
    try store.settle()
    let offers = try JoinSearch(store, of: id(1), at: remote).offers
    #expect(offers.map { $0.head[28] } == [3, 4, 1])
    let all = offers.reduce(0) { $0 + $1.head.count + $1.header.count + $1.record.count }
    #expect(all + ProtocolLimit.secret < ProtocolLimit.frame)
  }

  @Test func `is not kept away by who names another one's header beside a record of his own`()
    throws
  {
    try leave(1)
    try leave(2, number: 900, epoch: 0xE1)
    let store = try FolderStore(at: folder.path, of: id(1), makes: false)
    // Under a name of its own, it is another record of the epoch.
    var head = try #require(try store.get(.head(device: id(2)), atMost: 20_000))
    let place = StorePlace.object(device: id(2), hash: hash(0xE1))
    let record = try #require(try store.get(place, atMost: 1_000))
    head.replaceSubrange(100..<132, with: hash(0x77))
    try store.put(.head(device: id(2)), head)
    try store.put(.object(device: id(2), hash: hash(0x77)), record + [1])
    try store.settle()
    #expect(try found() == [[2, 9], [1, 9]])
  }

  @Test func `is of no head with another number than that of heads before it`() throws {
    try leave(1, number: 1_030, header: 7)
    let store = try FolderStore(at: folder.path, of: id(1), makes: false)
    let head = try #require(try store.get(.head(device: id(1)), atMost: 20_000))
    try leave(2, header: 7)
    try store.put(.object(device: id(2), hash: hash(7)), [8])
    try store.settle()
    for number in [0, 1_029, 1_031, 1 << 32, .max] as [UInt64] {
      var other = head
      other.replaceSubrange(28..<44, with: id(2))
      for place in 0..<8 { other[76 + place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
      try store.put(.head(device: id(2)), other)
      #expect(try found() == [[1, 7]], "\(number)")
    }
    #expect(ClearHead(head.dropLast()) == nil)
  }

  /// Whoever writes there can do that; what it costs is told, and a copy of the vault needs nothing of it.
  @Test func `is none where somebody says to follow its epoch, and what is left is told`() throws {
    try leave(1, number: 9)
    try leave(2, epoch: 0xE2, ancestors: [0xE1], header: 0)
    #expect(failure()?.text.contains("not all here yet, or was not written by kura") == true)
    #expect(failure()?.hint?.contains("'kura sync' on another machine") == true)
    try leave(2, number: 2, epoch: 0xE2, ancestors: [0xE1], header: 7)
    #expect(try found() == [[2, 7]])
  }

  @Test func `is among as many heads as a vault has, however many others there are`() throws {
    let root = StorePlace.root(of: id(1)) + "/heads/"
    try leave(1)
    for number in 0..<300 { try folder.write([1], to: root + "junk \(number)") }
    try folder.write(
      [UInt8](repeating: 0, count: 300_000), to: root + StorePlace.hexadecimal(id(0)))
    #expect(try found() == [[1, 9]])
    for number in 0..<255 as Range<UInt8> {
      try folder.write([1], to: root + StorePlace.hexadecimal(hash(0)[..<15] + [number]))
    }
    #expect(try found() == [[1, 9]])
    try folder.write([1], to: root + StorePlace.hexadecimal(hash(0)[..<15] + [255]))
    #expect(failure()?.text.contains("not all here yet") == true)
  }

  @Test func `says what to do next as another sync does, unless nothing is there`() {
    for error in [
      StoreError.noProgram(name: "rclone", package: "rclone"), .unknown(path: "x:"),
      .unprepared(path: "postgres://db"), .untrusted(path: "db", said: "x"),
    ] {
      #expect(SyncFailure(joining: error, at: remote).hint == SyncFailure(error, at: remote).hint)
    }
    let hint = SyncFailure(joining: .empty(path: "x"), at: remote).hint
    #expect(hint?.contains("'kura sync join'") == true)
  }

  @Test func `is no head of another vault, place or shape`() throws {
    try leave(1, vault: 2)
    try leave(2, of: 7)
    let root = StorePlace.root(of: id(1))
    try folder.write([1, 2, 3], to: root + "/heads/" + StorePlace.hexadecimal(id(9)))
    try folder.write([1], to: root + "/heads/" + StorePlace.hexadecimal(id(1)) + ".sync-conflict")
    #expect(failure()?.text.contains("not all here yet") == true)
    try leave(3)
    #expect(try found() == [[3, 9]])
  }

  @Test func `has to be here, and of this release`() throws {
    #expect(failure()?.text.contains("there is no vault in") == true)
    #expect(failure()?.status == .inputOutput)
    _ = try FolderStore(at: folder.path, of: id(1), makes: true)
    #expect(failure()?.text.contains("there is no vault in") == true)
    try leave(1, writes: false)
    #expect(failure()?.text.contains("not all here yet") == true)
    try leave(1, layout: 2)
    #expect(failure()?.text.contains("a later release") == true)
    try leave(2)
    #expect(failure() == nil)
  }

  @Test func `is cut off nowhere without being nothing`() throws {
    try leave(1, ancestors: [0xE0, 0xDF])
    let store = try FolderStore(at: folder.path, of: id(1), makes: false)
    let offer = try #require(try JoinSearch(store, of: id(1), at: remote).offers.first)
    for count in 0..<168 { #expect(ClearHead(Array(offer.head.prefix(count))) == nil) }
    #expect(ClearRecord(offer.record)?.ancestors == [id(0xE0), id(0xDF)])
    for count in 0..<(offer.record.count - 3) {
      #expect(ClearRecord(Array(offer.record.prefix(count))) == nil, "\(count)")
    }
  }

  @Test func `is one vault, of several the one that is named`() throws {
    try leave(1)
    let (one, vault) = try Remote.joined(remote)
    #expect(one.text == remote && vault == id(1))
    try folder.write([1], to: StorePlace.root(of: id(2)))
    #expect(try Remote.joined(remote).vault == id(1))
    _ = try FolderStore(at: folder.path, of: id(3), makes: true)
    let failure = #expect(throws: SyncFailure.self) { try Remote.joined(remote) }
    #expect(failure?.status == .ambiguous)
    let named = remote + "/" + StorePlace.root(of: id(3))
    #expect(failure?.hint?.contains(named) == true)
    let (two, meant) = try Remote.joined(named)
    #expect(two.text == remote && meant == id(3))
  }
}
