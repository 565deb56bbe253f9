// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

/// What a change leaves of who set what: the rules of the model of merging, on one item with its open conflicts.
@Suite struct TrailChangeTests {
  private let first = RevisionStamp(
    id: identifier(0x41), depth: 1, entry: RevisionEntry(device: identifier(1), counter: 1))
  private let here = RevisionStamp(
    id: identifier(0x42), depth: 2, entry: RevisionEntry(device: identifier(1), counter: 2))
  private let there = RevisionStamp(
    id: identifier(0x43), depth: 2, entry: RevisionEntry(device: identifier(2), counter: 1))

  /// A meta: attributes `c` and `url`, secret ones `b` and `pin`, deleted `a` and `old`. Value, `c`, `b` and `a`
  /// are open between two copies.
  private func meta() throws -> ItemMeta {
    let name = Array("n".utf8)
    var out = [2] + little(UInt64(10)) + little(UInt64(11)) + little(UInt64(5))
    out += little(UInt16(1)) + name + encoded([("c", "1"), ("url", "2")])
    out += secrets([("b", 3), ("pin", 4)])
    out += filled(0x44) + little(UInt64(3)) + little(UInt16(2))
    out += filled(1) + little(UInt64(3)) + filled(2) + little(UInt64(1))
    out += little(UInt16(0)) + little(UInt16(3))
    for stamp in [first, here, there] {
      let device = stamp.entry == there.entry ? 1 : 0
      out += little(UInt16(device)) + little(stamp.entry.counter) + little(stamp.depth)
      out += stamp.id.bytes
    }
    let (open, plain): ([UInt8], [UInt8]) = ([2, 3, 0, 2, 0], [1, 1, 0])
    out += open + open + open + plain + open + plain
    out += little(UInt16(2)) + little(UInt16(1)) + Array("a".utf8) + open
    out += little(UInt16(3)) + Array("old".utf8) + plain + little(UInt16(0))
    return try ItemMeta.decode(try secret(out), of: .second)
  }

  private func filled(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }

  private func secrets(_ pairs: [(String, UInt32)]) -> [UInt8] {
    little(UInt16(pairs.count))
      + pairs.flatMap { key, size in
        little(UInt16(key.utf8.count)) + Array(key.utf8) + little(size)
      }
  }

  private func keys(_ keys: [String]) -> [UInt8] {
    little(UInt16(keys.count)) + keys.flatMap { little(UInt16($0.utf8.count)) + Array($0.utf8) }
  }

  private struct Outcome {
    let value: [RevisionStamp]
    let name: [RevisionStamp]
    let fields: [String: [RevisionStamp]]
    let own: RevisionStamp
    let vector: RevisionVector
  }

  private struct NoTrail: Error {}

  /// The trail behind a change, as it is read again from the meta that it was written to.
  private func after(
    _ attributes: [(String, String)] = [("c", "1"), ("url", "2")],
    _ secretPairs: [(String, UInt32)] = [("b", 3), ("pin", 4)], edited: [String] = [],
    setsValue: Bool = false, setsName: Bool = false, settlesAll: Bool = false
  ) throws -> Outcome {
    let meta = try meta()
    guard let before = try meta.view.trail() else { throw NoTrail() }
    let lineage = try Lineage(
      identifier(0x50), at: RevisionEntry(device: identifier(7), counter: 9),
      after: [before.lineage])
    let (list, hidden, touched) = (encoded(attributes), secrets(secretPairs), keys(edited))
    let sorted = try Attributes(unsorted: list.span)
    let change = TrailChange(
      attributes: sorted.list, secrets: secretPairs.isEmpty ? Span() : hidden.span,
      edited: touched.span, setsValue: setsValue, setsName: setsName, settlesAll: settlesAll)
    let trail = try MetaTrail(after: before, of: meta.view, as: lineage, change)
    let name = Array("n".utf8)
    let written = try ItemMeta(
      name: name.span, created: 1, modified: 2, size: 3, attributes: sorted.list, trail: trail)
    guard let read = try written.view.trail() else { throw NoTrail() }
    return outcome(read, bytes(written.encoded), attributes.map(\.0), secretPairs.map(\.0))
  }

  private func outcome(
    _ trail: borrowing MetaTrail, _ meta: [UInt8], _ attributes: [String], _ secrets: [String]
  ) -> Outcome {
    var fields: [String: [RevisionStamp]] = [:]
    for (key, field) in zip(attributes, trail.attributes) { fields[key] = field }
    for (key, field) in zip(secrets, trail.secrets) { fields["secret " + key] = field }
    // The keys of deleted attributes are in the order of what was known before.
    let gone = ["a", "b", "c", "old", "pin", "url"].filter {
      !attributes.contains($0) && !secrets.contains($0)
    }
    for (key, field) in zip(gone, trail.deleted) { fields["no " + key] = field }
    #expect(gone.count == trail.deleted.count)
    return Outcome(
      value: trail.value, name: trail.name, fields: fields, own: trail.lineage.stamp,
      vector: trail.lineage.vector)
  }

  @Test func `a change follows all that there was, one deeper`() throws {
    let outcome = try after()
    #expect(outcome.own.depth == 4 && outcome.own.entry.counter == 9)
    #expect(outcome.vector.covers(there.entry) && outcome.vector.covers(outcome.own.entry))
    #expect(outcome.vector.counter(of: identifier(1)) == 3)
  }

  @Test func `what a change does not set stays as open as it was`() throws {
    let outcome = try after()
    let open = [there, here]
    #expect(outcome.value == open && outcome.name == open)
    #expect(
      outcome.fields == [
        "c": open, "url": [first], "secret b": open, "secret pin": [first], "no a": open,
        "no old": [first],
      ])
  }

  @Test func `what it sets replaces what was shown, and nothing beside that`() throws {
    let outcome = try after(edited: ["c", "pin"], setsValue: true)
    let own = outcome.own
    #expect(outcome.value == [own, here] && outcome.name == [there, here])
    #expect(outcome.fields["c"] == [own, here] && outcome.fields["url"] == [first])
    #expect(outcome.fields["secret b"] == [there, here])
    #expect(outcome.fields["secret pin"] == [own])
  }

  @Test func `a new name settles the name alone`() throws {
    let outcome = try after(setsName: true)
    #expect(outcome.name == [outcome.own] && outcome.value == [there, here])
  }

  @Test func `an attribute that goes, comes or becomes secret is the same one`() throws {
    let outcome = try after(
      [("a", "x"), ("new", "y")], [("c", 1), ("pin", 4)], edited: ["a", "c"])
    let own = outcome.own
    #expect(outcome.fields["a"] == [own, here] && outcome.fields["new"] == [own])
    #expect(outcome.fields["secret c"] == [own, here])
    #expect(outcome.fields["no b"] == [own, here] && outcome.fields["no url"] == [own])
    #expect(outcome.fields["no old"] == [first])
  }

  @Test func `a restored item leaves nothing open`() throws {
    let outcome = try after(settlesAll: true)
    let own = [outcome.own]
    #expect(outcome.value == own && outcome.name == own)
    #expect(outcome.fields.values.allSatisfy { $0 == own } && outcome.fields.count == 6)
  }

  @Test func `the oldest deletions are forgotten where there is no room`() throws {
    func lineage(_ id: UInt8, _ counter: UInt64) throws -> Lineage {
      try Lineage(
        identifier(id), at: RevisionEntry(device: identifier(1), counter: counter), after: [])
    }
    let name = Array("n".utf8)
    func attributes(_ range: Range<Int>) throws -> Attributes {
      let list = encoded(range.map { ("\($0)", "") })
      return try Attributes(unsorted: list.span)
    }
    func meta(
      _ list: AttributeList, _ trail: borrowing MetaTrail
    ) throws -> ItemMeta {
      try ItemMeta(
        name: name.span, created: 1, modified: 1, size: 0, attributes: list, trail: trail)
    }
    let old = try attributes(100..<300)
    let new = try attributes(300..<400)
    let trail = try MetaTrail(lineage(1, 1), attributeCount: 200)
    let before = try meta(old.list, trail)
    func replace(
      _ list: AttributeList, _ before: borrowing ItemMeta, _ id: UInt8, _ counter: UInt64
    ) throws -> ItemMeta {
      guard let trail = try before.view.trail() else { throw NoTrail() }
      let next = try Lineage(
        identifier(id), at: RevisionEntry(device: identifier(1), counter: counter),
        after: [trail.lineage])
      let change = TrailChange(attributes: list, secrets: Span(), edited: Span())
      return try meta(list, try MetaTrail(after: trail, of: before.view, as: next, change))
    }
    let second = try replace(new.list, before, 2, 2)
    let none = try attributes(0..<0)
    let third = try replace(none.list, second, 3, 3)
    guard let last = try third.view.trail() else { throw NoTrail() }
    #expect(last.deleted.count == 256)
    #expect(last.deleted.filter { $0 == [last.lineage.stamp] }.count == 100)
  }

  @Test func `no depth is damage, and no room for copies is told as that`() throws {
    let deep = Lineage(
      stamp: RevisionStamp(id: identifier(1), depth: 1 << 40, entry: first.entry))
    #expect(failure { _ = try Lineage(identifier(2), at: here.entry, after: [deep]) } == .damaged)
    let many = RevisionVector(
      (0..<512).map { number in
        let id = [UInt8](repeating: 9, count: 14) + little(UInt16(number))
        return RevisionEntry(device: DeviceID(id.span), counter: 1)
      })
    #expect(
      failure { _ = try Lineage(identifier(2), at: here.entry, after: [], purged: many) }
        == .tooManySides)
  }
}
