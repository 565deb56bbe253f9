// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does what pass does to remove, rename and copy names and folders.
enum PassMoving {
  static func remove(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let usage = "rm [--recursive,-r] [--force,-f] NAME"
    let options = [PassWords.Option("r", "recursive"), PassWords.Option("f", "force")]
    let given = try PassWords(words, options, usage: usage, invocation)
    guard given.operands.count == 1 else {
      throw PassFront.refusal("usage: pass " + usage, invocation)
    }
    let name = try PassStore.path(given.operands[0], invocation)
    // What a variable that is not set leaves of a command line.
    guard !name.utf8.isEmpty else {
      throw PassFront.refusal(
        "an empty name would remove all that is there: name one folder after another.", invocation)
    }
    let isFolder = given.operands[0].utf8.last == UInt8(ascii: "/")
    var items: [String] = []
    if !isFolder, try store.has(store.prefix + name) {
      items = [store.prefix + name]
    }
    if items.isEmpty {
      items = try store.names(below: name).map {
        store.prefix + name + "/" + $0
      }
      guard !items.isEmpty else { throw store.missing(name, invocation) }
      guard given.has("r") else {
        throw PassFront.refusal(
          Diagnostic.shown(name) + " is a folder: -r removes all that is in it.", invocation)
      }
    }
    if !given.has("f"), kura_is_terminal(0) {
      try PassFront.ask(
        "Are you sure you would like to delete " + Diagnostic.shown(name) + "?", store, invocation)
    }
    try store.access.unlocked { connection throws(ClientError) in
      for item in items {
        do throws(ClientError) { try connection.remove(item) } catch {
          // Removed a moment ago, before a second passcode was asked for.
          guard case .refused(.notFound) = error, items.count > 1 else { throw error }
        }
      }
    }
    return .ok
  }

  static func move(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation, copies: Bool
  ) throws(CommandError) -> ExitStatus {
    let usage = (copies ? "cp" : "mv") + " [--force,-f] OLD NEW"
    let given = try PassWords(words, [PassWords.Option("f", "force")], usage: usage, invocation)
    guard given.operands.count == 2 else {
      throw PassFront.refusal("usage: pass " + usage, invocation)
    }
    for pair in try pairs(given.operands, store, invocation) {
      if !given.has("f") { try PassWriting.confirm(pair.new, store, invocation) }
      if copies {
        try copy(pair.old, to: pair.new, store)
      } else {
        _ = try store.access.owned(to: Purpose("rename", Diagnostic.shown(pair.old))) {
          connection, word throws(ClientError) in
          try connection.move(pair.old, to: pair.new, replacing: true, by: word)
        }
      }
    }
    return .ok
  }

  /// Finds out what a move or copy takes where: an item, or all of a folder; into a folder that is there, or is named
  /// with a `/`.
  private static func pairs(
    _ operands: [String], _ store: PassStore, _ invocation: borrowing Invocation
  ) throws(CommandError) -> [(old: String, new: String)] {
    let old = try PassStore.path(operands[0], invocation)
    var new = try PassStore.path(operands[1], invocation)
    let namesFolder = operands[0].utf8.last == UInt8(ascii: "/")
    var isItem = false
    if !namesFolder { isItem = try store.has(store.prefix + old) }
    var isInto = operands[1].utf8.last == UInt8(ascii: "/")
    if !isInto { isInto = try !store.names(below: new).isEmpty }
    if isInto, let last = old.utf8.split(separator: UInt8(ascii: "/")).last, let name = String(last)
    {
      new = new.utf8.isEmpty ? name : new + "/" + name
    }
    if isItem { return [(store.prefix + old, store.prefix + new)] }
    let names = try store.names(below: old)
    guard !names.isEmpty, !old.utf8.isEmpty else { throw store.missing(old, invocation) }
    guard !(new + "/").utf8.starts(with: (old + "/").utf8) else {
      throw PassFront.refusal(Diagnostic.shown(old) + " does not go into itself.", invocation)
    }
    return names.map { (store.prefix + old + "/" + $0, store.prefix + new + "/" + $0) }
  }

  private static func copy(
    _ old: String, to new: String, _ store: PassStore
  ) throws(CommandError) {
    guard let value = try PassReading.fetch(old, store) else { return }
    let item = try store.access.unlocked { connection throws(ClientError) in
      try connection.show(old).item
    }
    var flags: PutRequest.Flags = []
    if item.facts.kind == .otp { flags.insert(.otp) }
    // A copy is asked for as the original is.
    if item.facts.protection == .protected { flags.insert(.protect) }
    try PassWriting.put(value, new, store, flags: flags)
  }
}
