// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import KuraFormat
import Testing

@testable import KuraVault

/// Whoever keeps the store has sealed files, their places and lengths, and when each comes or goes. What can be told from that is
/// guessed here as well as it can be, beside the truth; kura-security(7) has the figures.
@Suite struct `What a store learns` {
  private let machines: Machines
  private let spy: Spy

  init() throws {
    machines = try Machines(3) { try $0.put("item-000", [1]) }
    spy = Spy(machines.store)
    spy.begin()
  }

  /// What the page says after some words.
  private func page(_ words: String) throws -> Double {
    let path = URL(filePath: #filePath).appending(path: "../../../man/kura-security.7").standardized
    let text = try String(contentsOf: path, encoding: .utf8).replacing("\n", with: " ")
    let after = try #require(text.range(of: words), "\(words)").upperBound
    let digits = text[after...].drop { !$0.isNumber }.prefix {
      $0.isNumber || $0 == "." || $0 == ","
    }
    let number = String(digits.filter { $0 != "," })
    return try #require(Double(number))
  }

  /// A figure of the page holds, and is none that anything would hold.
  private func expect(_ worst: Double, _ words: String) throws {
    let told = try page(words)
    #expect(worst <= told && worst > told / 2, "\(words) \(told): it is \(worst)")
  }

  /// Changes a machine makes, and then its meeting: what the store gets to see of that.
  private func seen(_ machine: Int, _ values: [Int], from first: Int = 0) throws -> Spy.Meeting {
    try machines.all[machine].fill { vault throws in
      for (index, count) in values.enumerated() {
        let name = "item-" + String(1_000 + (first + index) % 1_000).dropFirst()
        try vault.upload(name, letters(count, seed: first + index))
      }
    }
    try machines.all[machine].meet(machines.store)
    return spy.look()
  }

  @Test func `is who writes, when, and whether there is anything new`() throws {
    let devices = try machines.all.map { try $0.settledDevice() }
    var (dice, right) = (SystemDice(seed: 5), 0)
    for step in 0..<24 {
      let machine = dice.below(3)
      let count = dice.below(3) == 0 ? 0 : 1 + dice.below(3)
      let met = try seen(machine, Array(repeating: 10, count: count), from: 10 * step)
      // Nothing at all is nobody.
      let isRight = met.writers.isEmpty || met.writers == [devices[machine]]
      if isRight, met.hasChanges == (count > 0) { right += 1 }
    }
    #expect(Double(right) == (try page("whether there was anything new: of 24 meetings")))
  }

  @Test func `is how long a value is, but for what it is padded by`() throws {
    let least = try seen(0, [1]).changed
    var (dice, short, long) = (SystemDice(seed: 9), 0.0, 0.0)
    for step in 1...60 {
      let bits = 1 + dice.below(17)
      let count = (1 << bits) + dice.below(1 << bits)
      let guess = max(1, try seen(0, [count], from: step).changed - least + 1)
      let error = Double(abs(guess - count))
      if guess < 4_096 {
        short = max(short, error)
      } else {
        long = max(long, error / Double(count))
      }
    }
    try expect(short, "below 4 KiB by up to")
    try expect(100 * long, "and above that by up to")
    let count = 3_000_001
    let guess = try seen(0, [count], from: 99).changed - least + 1
    try expect(100 * Double(abs(guess - count)) / Double(count), "one of 3 MB by")
  }

  @Test func `is not how many items there are, but how much they come to`() throws {
    // Whoever guesses knows what one item takes that has a value of 30 bytes.
    let (one, many) = (
      try seen(0, [30]).changed, try seen(0, Array(repeating: 30, count: 41)).changed
    )
    let each = Double(many - one) / 40
    var (dice, worst) = (SystemDice(seed: 3), 1.0)
    for step in 1...12 {
      let (count, length) = (5 + dice.below(40), 1 + dice.below([40, 400, 2_000][step % 3]))
      let met = try seen(0, Array(repeating: length, count: count), from: 100 + 50 * step)
      let guess = max(1, (Double(met.changed - one) / each).rounded() + 1)
      worst = max(worst, guess / Double(count), Double(count) / guess)
    }
    try expect(worst, "wrong by a factor of up to")
  }

  @Test func `is which slots there are, what a guess costs, and who gives the vault another key`()
    throws
  {
    let desk = machines.all[0]
    let device = try desk.settledDevice()
    func truth() throws -> [Spy.Slot] {
      let vault = try desk.unlock()
      let slots = vault.slots.map { Spy.Slot(kind: $0.kind.rawValue, cost: $0.kdf) }
      vault.fold()
      return slots
    }
    #expect(try spy.slots(of: device) == truth())
    let before = try #require(spy.epoch(of: device))
    #expect(try seen(1, [10]).newEpochs.isEmpty)
    try desk.fill { vault throws in
      let slots = try RekeySlots.cheap()
      try vault.complete(try vault.beginRekey(authorizedBy: desk.key(), slots, removing: []))
    }
    try desk.meet(machines.store)
    #expect(spy.look().newEpochs == [device])
    #expect(spy.epoch(of: device) != before)
    #expect(try spy.slots(of: device) == truth())
  }
}

/// Plays who keeps the store: it has nothing but what stands there, and kura-sync-format(5).
private final class Spy {
  /// Says what came in a meeting.
  struct Meeting {
    /// Whose files came or went.
    var writers: Set<DeviceID> = []
    /// Who wrote a head under a vault key that was not there before.
    var newEpochs: Set<DeviceID> = []
    /// How many bytes of packs and pieces came.
    var changed = 0

    var hasChanges: Bool { changed > 0 }
  }

  /// Says what a slot tells of itself.
  struct Slot: Equatable {
    let kind: UInt8
    let cost: KDFParameters?
  }

  private let store: TestStore
  private var epochs: Set<[UInt8]> = []

  init(_ store: TestStore) { self.store = store }

  /// Looks at all that stands there.
  func begin() {
    for path in store.files.keys { note(path) }
    _ = store.takeChanges()
  }

  /// - Returns: Whether it is a head under a vault key that was not there before.
  @discardableResult
  private func note(_ path: RemotePath) -> Bool {
    guard case .head(let device) = path, let epoch = epoch(of: device) else { return false }
    return epochs.insert(epoch).inserted
  }

  /// What came since the last look.
  func look() -> Meeting {
    var meeting = Meeting()
    for path in store.takeChanges() {
      meeting.writers.insert(path.writer)
      guard let bytes = store.files[path] else { continue }
      if case .head(let device) = path {
        if note(path) { meeting.newEpochs.insert(device) }
      } else if bytes[8] == 1 || bytes[8] == 2 {
        meeting.changed += bytes.count
      }
    }
    return meeting
  }

  func epoch(of device: DeviceID) -> [UInt8]? {
    store.files[.head(device)].map { Array($0[84..<100]) }
  }

  /// The slots in the header object that a device's head names.
  func slots(of device: DeviceID) throws -> [Slot] {
    let head = try #require(store.files[.head(device)])
    let object = try #require(store.files[.object(device, hash: Array(head[132..<164]))])
    let body = Array(object[RemoteObject.frameByteCount...])
    let header = try HeaderObject(decoding: body.span)
    return try header.slots.map { slot in
      let read = try SlotHeader(decoding: slot.header.span)
      return Slot(kind: read.kind.rawValue, cost: read.kdf)
    }
  }
}
