// SPDX-License-Identifier: MIT

import KuraAgent
import KuraProtocol
import SecureMemory
import Testing

@Suite struct ItemVerbTests {
  @Test func `an item that is not there is not found, by name`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let refused = try bench.ask(wire) { try $0.get("no/such") }
    #expect(refused.failure == .notFound)
    #expect(refused.refusal == .notFound(.text("no/such")))
  }

  @Test func `a name that breaks a rule is refused`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let refused = try bench.ask(wire) { try $0.put("a//b", "1") }
    #expect(refused.refusal == .nameInvalid(.emptyComponent))
  }

  @Test func `an item is replaced only where that is meant`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    #expect(try bench.ask(wire) { try $0.put("a", "2") }.failure == .exists)
    let reply = try bench.ask(wire) { try $0.put("a", "2", flags: .replace) }
    let put = try PutReply(reply: reply.payload.span)
    #expect(put.revision == 2 && put.replaced == 1)
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "2")
    #expect(try bench.ask(wire) { try $0.get("a", revision: 1) }.value == "1")
  }

  @Test func `a revision can be made a condition`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let new = try bench.ask(wire) { try $0.put("a", "1", flags: .ifRevision, revision: 0) }
    #expect(new.isOK)
    #expect(
      try bench.ask(wire) { try $0.put("a", "2", flags: .ifRevision, revision: 7) }.failure
        == .revisionConflict)
    #expect(try bench.ask(wire) { try $0.put("a", "2", flags: .ifRevision, revision: 1) }.isOK)
  }

  @Test func `an empty value has to be meant`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "") }.failure == .valueEmpty)
    #expect(try bench.ask(wire) { try $0.put("a", "", flags: .allowEmpty) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "")
  }

  @Test func `attributes are stored, read, changed and deleted`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1", attributes: [("user", "me"), ("url", "x")]) }
    let reply = try bench.ask(wire) { try $0.attribute("user", of: "a") }
    #expect(reply.payload.suffix(2) == Array("me".utf8)[...])
    let changed = try bench.ask(wire) {
      var set = try SecretBuffer(capacity: 16)
      var delete = try SecretBuffer(capacity: 16)
      try set.putPair(key: "user".utf8.span, value: "you".utf8.span)
      try delete.put16("url".utf8.span)
      try $0.putRequest(
        .attributes(
          .init(
            name: "a".utf8.span, ifRevision: 1, set: AttributeFields(set.bytes, count: 1),
            delete: KeyFields(delete.bytes, count: 1))))
    }
    #expect(try RevisionReply(reply: changed.payload.span).revision == 2)
    #expect(try bench.ask(wire) { try $0.attribute("url", of: "a") }.failure == .attributeNotFound)
    let gone = try bench.ask(wire) { try $0.attribute("url", of: "a") }
    #expect(gone.refusal == .attributeNotFound(.text("url")))
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
  }

  @Test func `show tells all but the value`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "one", attributes: [("k", "v")]) }
    _ = try bench.ask(wire) { try $0.put("a", "second", flags: .replace) }
    let reply = try bench.ask(wire) { try $0.show("a") }
    let show = try ShowReply(reply: reply.payload.span)
    #expect(show.entry.facts.revision == 2)
    #expect(show.entry.facts.size == 6)
    #expect(show.entry.attributes.count == 1)
    #expect(show.revisionNumbers == [1])
    #expect(!String(decoding: reply.payload, as: UTF8.self).contains("second"))
  }

  @Test func `a removed item is gone`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    #expect(try bench.ask(wire) { try $0.remove("a", ifRevision: 9) }.failure == .revisionConflict)
    #expect(try bench.ask(wire) { try $0.remove("a") }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .notFound)
    #expect(try bench.ask(wire) { try $0.remove("a") }.failure == .notFound)
  }

  @Test func `an item's files are changed with it or not at all, and the one in the way is told`()
    throws
  {
    let bench = try Bench()
    let wire = try bench.unlocked()
    for name in ["a", "a/x", "a/y", "b/y"] {
      _ = try bench.ask(wire) { try $0.put(name, "1", flags: name == "a/x" ? .protect : []) }
    }
    let taken = try bench.ask(wire) {
      try $0.move("a", "b", files: ["a/y": "b/y"], flags: [])
    }
    #expect(taken.refusal == .exists(revision: 1, .text("b/y")))
    let sealed = try bench.ask(wire) {
      try $0.move("a", "b", files: ["a/y": "b/y", "a/x": "b/x"], flags: .replace)
    }
    #expect(sealed.refusal == .ownerNeeded(.text("a/x")))
    let missing = try bench.ask(wire) { try $0.remove("a", files: ["a/x", "a/z"]) }
    #expect(missing.refusal == .notFound(.text("a/z")))
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK)
    #expect(try bench.ask(wire) { try $0.remove("a", files: ["a/x", "a/y"]) }.isOK)
    for name in ["a", "a/y"] {
      #expect(try bench.ask(wire) { try $0.get(name) }.failure == .notFound)
    }
    _ = try bench.ask(wire) { try $0.put("a/y", "2") }
    let there = try bench.ask(wire) { try $0.restore("a", files: ["a/x", "a/y"]) }
    #expect(there.refusal == .notDeleted(revision: 3, .text("a/y")))
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .notFound)
    #expect(try bench.ask(wire) { try $0.restore("a", files: ["a/x"]) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
  }

  @Test func `every setting is told`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let reply = try bench.ask(wire) { try $0.putRequest(.config(.init(.list, key: nil))) }
    let settings = try SettingValue.all(reply.payload.span)
    #expect(settings.map(\.key) == Setting.allCases.map(\.rawValue))
    #expect(settings.first?.value == Setting.idleTimeout.standard)
  }
}

// MARK: - Lists

extension ItemVerbTests {
  private func filled() throws -> (Bench, Wire) {
    let bench = try Bench()
    let wire = try bench.unlocked()
    for (name, user) in [("mail/work", "Ann"), ("mail/home", "Bob"), ("bank", "Ann")] {
      _ = try bench.ask(wire) { try $0.put(name, "x", attributes: [("user", user)]) }
    }
    _ = try bench.ask(wire) { try $0.put("old", "x") }
    _ = try bench.ask(wire) { try $0.remove("old") }
    return (bench, wire)
  }

  private func names(
    _ bench: Bench, _ wire: Wire, prefix: String = "", key: String = "", value: String = "",
    text: String = "", flags: ListRequest.Flags = []
  ) throws -> [String] {
    try wire.send {
      try $0.list(prefix: prefix, key: key, value: value, text: text, flags: flags)
    }
    var names: [String] = []
    while case let frame = try bench.reply(on: wire), frame.type == .data { names += frame.names }
    return names.sorted()
  }

  @Test func `a list names every item once`() throws {
    let (bench, wire) = try filled()
    #expect(try names(bench, wire) == ["bank", "mail/home", "mail/work"])
  }

  @Test func `a list can be of a prefix, an attribute or a text`() throws {
    let (bench, wire) = try filled()
    #expect(try names(bench, wire, prefix: "mail/") == ["mail/home", "mail/work"])
    #expect(try names(bench, wire, key: "user", value: "Ann") == ["bank", "mail/work"])
    #expect(try names(bench, wire, text: "WORK") == ["mail/work"])
    #expect(try names(bench, wire, text: "bob") == ["mail/home"])
    #expect(try names(bench, wire, text: "nothing like it") == [])
  }

  @Test func `deleted items stand in a list of their own`() throws {
    let (bench, wire) = try filled()
    #expect(try names(bench, wire, flags: .deleted) == ["old"])
  }

  @Test func `a prefix is brought to the normal form that names have`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("caf\u{e9}/x", "1") }
    #expect(try names(bench, wire, prefix: "cafe\u{301}") == ["caf\u{e9}/x"])
  }

  @Test func `a long list comes in batches and is whole`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    for number in 0..<600 { _ = try bench.ask(wire) { try $0.put("item/\(number)", "x") } }
    #expect(try names(bench, wire).count == 600)
  }

  @Test func `verify finds a whole vault whole`() throws {
    let (bench, wire) = try filled()
    try wire.send { try $0.putRequest(.verify) }
    var progress = 0
    while true {
      let frame = try bench.reply(on: wire)
      #expect(frame.type != .data)
      if frame.type == .progress { progress += 1 }
      if frame.type == .end {
        #expect(frame.isOK)
        break
      }
    }
    #expect(progress > 0)
  }
}

extension SecretBuffer {
  fileprivate mutating func move(
    _ name: String, _ new: String, files: KeyValuePairs<String, String>, flags: MoveRequest.Flags
  ) throws {
    let olds = try textList(files.map(\.key))
    let news = try textList(files.map(\.value))
    try putRequest(
      .move(
        .init(
          name: name.utf8.span, to: new.utf8.span, flags: flags,
          files: KeyFields(olds.bytes, count: files.count),
          newFiles: KeyFields(news.bytes, count: files.count))))
  }

  fileprivate mutating func remove(_ name: String, files: [String]) throws {
    let names = try textList(files)
    try putRequest(
      .remove(.init(name: name.utf8.span, files: KeyFields(names.bytes, count: files.count))))
  }

  fileprivate mutating func restore(_ name: String, files: [String]) throws {
    let names = try textList(files)
    try putRequest(
      .restore(.init(name: name.utf8.span, files: KeyFields(names.bytes, count: files.count))))
  }
}

private func textList(_ names: [String]) throws -> SecretBuffer {
  var list = try SecretBuffer(capacity: 16)
  for name in names { try list.put16(text: name) }
  return list
}
