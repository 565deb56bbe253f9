// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraClient

private func facts(size: Int) -> ItemFacts {
  ItemFacts(
    revision: 2, size: UInt64(size), created: 1, modified: 2, protection: .standard, kind: .value)
}

struct ConnectionItemsTests {
  @Test(arguments: [0, 1, 5_000, 65_536])
  func `a short value comes in one piece`(_ size: Int) throws {
    let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 * 7) }
    try conversation { agent in
      try agent.greet()
      try agent.say {
        try $0.putGetReply(name: "a".utf8.span, facts: facts(size: size), value: value.span)
      }
    } client: { connection in
      var pieces: [[UInt8]] = []
      let told = try connection.get("a") { pieces.append(array($0)) }
      #expect(pieces == [value])
      #expect(told == facts(size: size))
    }
  }

  @Test func `a long value comes in parts, in order`() throws {
    let parts = (0..<20).map { [UInt8](repeating: UInt8($0), count: 65_536 - $0) }
    let size = parts.map(\.count).reduce(0, +)
    try conversation { agent in
      try agent.greet()
      try agent.say {
        try $0.putGetReply(name: "a".utf8.span, facts: facts(size: size), value: nil)
        for part in parts { try $0.putData(part.span, from: .agent) }
        try $0.putEnd()
      }
      _ = try agent.next(.request)
      try agent.say { try $0.putReply() }
    } client: { connection in
      var pieces: [[UInt8]] = []
      try connection.get("a", revision: 2) { pieces.append(array($0)) }
      #expect(pieces == parts)
      try connection.remove("a")
    }
  }

  @Test func `damage within a long value is told after what was whole`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say {
        try $0.putGetReply(name: "a".utf8.span, facts: facts(size: 100_000), value: nil)
        try $0.putData("part".utf8.span, from: .agent)
        try $0.putRefusal(.damaged(.text("a")), as: .end)
      }
    } client: { connection in
      var pieces: [[UInt8]] = []
      let error = failure { try connection.get("a") { pieces.append(array($0)) } }
      #expect(pieces == [Array("part".utf8)])
      #expect(error?.exitStatus == .integrity)
    }
  }

  @Test func `names come as they are, and a pause is told of behind each batch`() throws {
    try conversation { agent in
      try agent.greet()
      for names in [["b/1", "a"], ["\u{E9}"]] {
        try agent.say {
          let batch = try $0.openBatch()
          for name in names {
            let entry = try $0.openEntry(name: name.utf8.span, facts: facts(size: 1))
            try $0.closeCount(entry, 0)
          }
          try $0.closeBatch(batch, count: names.count)
        }
      }
      try agent.say { try $0.putEnd() }
    } client: { connection in
      var (names, shown) = ([String](), 0)
      try connection.listNames(
        idle: { shown = names.count },
        each: { names.append(String(decoding: array($0), as: UTF8.self)) })
      #expect(names == ["b/1", "a", "\u{E9}"])
      #expect([0, 2, 3].contains(shown))
    }
  }

  @Test func `a batch that is cut short is broken`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say {
        let batch = try $0.openBatch()
        let entry = try $0.openEntry(name: "a".utf8.span, facts: facts(size: 1))
        try $0.closeCount(entry, 0)
        try $0.closeBatch(batch, count: 2)
      }
    } client: { connection in
      var names: [String] = []
      let error = failure {
        try connection.listNames { names.append(String(decoding: array($0), as: UTF8.self)) }
      }
      #expect(error == .broken(.truncated))
      #expect(names == ["a"])
    }
  }

  @Test func `a long value that ends early is broken`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say {
        try $0.putGetReply(name: "a".utf8.span, facts: facts(size: 5), value: nil)
        try $0.putData("part".utf8.span, from: .agent)
        try $0.putEnd()
      }
    } client: { connection in
      let error = failure { try connection.get("a") { _ in } }
      #expect(error == .broken(.truncated))
    }
  }

  @Test func `what a sink throws ends the conversation`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say {
        try $0.putGetReply(name: "a".utf8.span, facts: facts(size: 1), value: "x".utf8.span)
      }
    } client: { connection in
      let error = failure {
        try connection.get("a") { _ throws(ClientError) in throw .output(ENOSPC) }
      }
      #expect(error == .output(ENOSPC))
    }
  }

  @Test func `an attribute`() throws {
    try conversation { agent in
      let request = try agent.greet()
      #expect(request.first == Verb.getAttribute.rawValue)
      try agent.say { try $0.putReply(AttributeReply("x.org".utf8.span)) }
    } client: { connection in
      let value = try connection.attribute("url", of: "a")
      #expect(array(value.bytes) == Array("x.org".utf8))
    }
  }

  @Test func `a list comes item by item`() throws {
    try conversation { agent in
      let request = try agent.greet()
      #expect(request[1] == ListRequest.Flags.attributes.rawValue)
      try agent.say { buffer in
        for start in [0, 100] {
          let batch = try buffer.openBatch()
          for number in start..<(start + 100) {
            let count = try buffer.openEntry(name: "n\(number)".utf8.span, facts: facts(size: 1))
            try buffer.putPair(key: "k".utf8.span, value: [UInt8(number)].span)
            try buffer.closeCount(count, 1)
          }
          try buffer.closeBatch(batch, count: 100)
        }
        try buffer.putEnd()
      }
    } client: { connection in
      var items: [Item] = []
      try connection.list(ListOrder(flags: .attributes)) { items.append($0) }
      #expect(items.map(\.name) == (0..<200).map { "n\($0)" })
      #expect(items[7].attributes == [Attribute(key: "k", value: [7])])
    }
  }

  @Test func `a list that is refused at once, or within`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putRefusal(.locked(LockNote(.idle))) }
      _ = try agent.next(.request)
      try agent.say { buffer in
        let batch = try buffer.openBatch()
        try buffer.putEntry(name: "a".utf8.span, facts: facts(size: 1))
        try buffer.closeBatch(batch, count: 1)
        try buffer.putRefusal(.damaged(.none), as: .end)
      }
    } client: { connection in
      #expect(failure { try connection.list { _ in } }?.exitStatus == .locked)
      var count = 0
      #expect(failure { try connection.list { _ in count += 1 } }?.exitStatus == .integrity)
      #expect(count == 1)
    }
  }

  @Test func `an item is shown with its revisions`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say { buffer in
        let frame = try buffer.openReply()
        let count = try buffer.openEntry(name: "a/é".utf8.span, facts: facts(size: 9))
        try buffer.putPair(key: "k".utf8.span, value: "v".utf8.span)
        try buffer.closeCount(count, 1)
        try buffer.closeShowReply(frame, revisions: ([1, 2] as [UInt64]).span)
      }
    } client: { connection in
      let shown = try connection.show("a/é")
      #expect(shown.item.name == "a/é")
      #expect(shown.item.facts == facts(size: 9))
      #expect(shown.revisions == [1, 2])
    }
  }
}
