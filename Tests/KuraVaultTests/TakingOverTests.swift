// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `A vault that is taken over` {
  @Test func `keeps everything, and a copy of what it was stands beside it`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("a", "2")
    try vault.upload("long", pattern(70_000))
    var edits = AttributeEdits()
    try edits.set(Array("k".utf8).span, to: Array("v".utf8).span)
    try vault.setAttributes(Array("a".utf8).span, edits)
    try vault.put("gone", "x")
    try vault.remove(Array("gone".utf8).span)
    vault.fold()
    let before = try file.content()
    vault = try file.unlock()
    let copy = try #require(try vault.takeOver())
    #expect(copy == file.path + ".format-1")
    #expect(vault.format == .second)
    #expect(try vault.findings() == [])
    #expect(try vault.getText("a") == "2")
    #expect(try vault.get("a", revision: 1) == Array("1".utf8))
    #expect(try vault.revisions("a") == [1, 2])
    #expect(try vault.get("long") == pattern(70_000))
    #expect(try vault.attributes(of: "a") == ["k": "v"])
    #expect(try vault.takeOver() == nil)
    vault.fold()
    #expect(try Data(contentsOf: URL(filePath: copy)) == before)
    vault = try file.unlock()
    #expect(vault.format == .second)
    try vault.put("a", "3")
    #expect(try vault.revisions("a") == [1, 2, 3])
    #expect(try vault.getText("a") == "3")
    #expect(try vault.findings() == [])
  }
}
