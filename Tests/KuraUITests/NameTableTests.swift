// SPDX-License-Identifier: MIT

import Testing

@testable import KuraUI

private func names(_ list: ItemList) -> [String] {
  list.rows.map { $0.folder > 0 ? list.names.folder($0) : list.names.name($0.index) }
}

private func listing(_ names: [String]) -> ItemList {
  var list = ItemList()
  list.load(NameTable(names.map { ($0, []) }))
  return list
}

@Suite struct NameTableTests {
  @Test func `names stand sorted, and are found`() {
    let table = NameTable(["b", "a/x", "a", "日本"].map { ($0, []) })
    #expect((0..<4).map(table.name) == ["a", "a/x", "b", "日本"])
    #expect(table.place(of: Array("b".utf8)) == 2)
    #expect(NameTable().count == 0)
  }

  @Test func `folders are the parts between slashes`() {
    var list = listing(["mail/ada", "mail/bob/work", "mail/bob/home", "note", "mailbox"])
    list.toggleTree()
    #expect(names(list) == ["mail/", "mailbox", "note"])
    #expect(list.rows[0].count == 3)
    let entered = list.enter()
    #expect(entered)
    #expect(names(list) == ["mail/bob/", "mail/ada"])
    _ = list.enter()
    #expect(names(list) == ["mail/bob/home", "mail/bob/work"])
    _ = list.leave()
    #expect(list.selected == 0 && list.folder == "mail/")
    let left = [list.leave(), list.leave()]
    #expect(left == [true, false])
  }

  @Test func `the best match comes first`() {
    var list = listing(["github.com/ada", "gitlab.com/ada", "agitated", "com.example/lab"])
    list.look(for: "git")
    #expect(names(list).last == "agitated")
    list.look(for: "glab")
    #expect(names(list) == ["gitlab.com/ada"])
    list.look(for: "ADA hub")
    #expect(names(list) == ["github.com/ada"])
    list.look(for: "zzz")
    #expect(list.rows.isEmpty && list.name == nil)
  }

  @Test func `letters added find what a new search finds`() {
    let all = (0..<500).map { "folder\($0 % 7)/item-\($0)" }
    var stepwise = listing(all)
    for end in 1...4 { stepwise.look(for: String("it12".prefix(end))) }
    var once = listing(all)
    once.look(for: "it12")
    #expect(Set(names(stepwise)) == Set(names(once)))
    #expect(!once.rows.isEmpty)
  }

  @Test func `the chosen item is found again by a number alone`() {
    var list = listing(["a", "b", "c"])
    list.move(by: 1)
    list.forget()
    #expect(list.names.count == 0 && list.rows.isEmpty)
    list.load(NameTable(["0", "a", "b", "c"].map { ($0, []) }))
    #expect(list.name == "b")
  }

  @Test func `what is chosen is in view`() {
    var list = listing((0..<100).map { "item-\($0)" })
    list.move(by: 50)
    list.show(height: 10)
    #expect(list.top == 41)
    list.move(by: -100)
    list.show(height: 10)
    #expect(list.top == 0 && list.selected == 0)
    list.move(by: 1_000)
    list.show(height: 10)
    #expect(list.selected == 99 && list.top == 90)
  }
}
