// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds an item's value while it is edited, as it was and as it is to be.
struct EditedItem: ~Copyable {
  /// The longest text that is edited, in bytes.
  static let limit = 1 << 20

  private var order: PutOrder
  /// Whether there was no such item.
  let isNew: Bool
  private var original: SecretBuffer
  private var text: SecretBuffer

  /// Reads an item; one that is not there is new.
  static func fetch(
    _ name: String, _ access: VaultAccess, allowsEmpty: Bool
  ) throws(CommandError) -> EditedItem {
    var original = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 256)
    }
    let facts = try fetch(name, access, into: &original)
    var order = PutOrder(name: name)
    if allowsEmpty { order.flags.insert(.allowEmpty) }
    if let facts {
      order.replace(facts.revision)
      if facts.kind == .otp { order.flags.insert(.otp) }
    }
    return EditedItem(order, isNew: facts == nil, original: original, text: try copy(of: original))
  }

  private init(
    _ order: PutOrder, isNew: Bool, original: consuming SecretBuffer,
    text: consuming SecretBuffer
  ) {
    self.order = order
    self.isNew = isNew
    self.original = original
    self.text = text
  }

  private static func copy(
    of buffer: borrowing SecretBuffer
  ) throws(CommandError) -> SecretBuffer {
    var copy = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: buffer.count)
    }
    do throws(SecureMemoryError) { try copy.append(buffer.bytes) } catch { throw .outOfMemory }
    return copy
  }
}

// MARK: - The value

extension EditedItem {
  /// nil where there is no such item.
  private static func fetch(
    _ name: String, _ access: VaultAccess, into value: inout SecretBuffer
  ) throws(CommandError) -> ItemFacts? {
    var isLong = false
    let facts: ItemFacts
    do throws(CommandError) {
      facts = try access.reading(name).unlocked(authorizing: true) {
        connection throws(ClientError) in
        value.removeAll()
        return try connection.get(name, for: .edit) { part throws(ClientError) in
          isLong = isLong || value.count + part.count > limit
          if !isLong { try gather(part, &value) }
        }
      }
    } catch {
      guard case .client(.refused(let refused)) = error, refused.failure == .notFound else {
        throw error
      }
      return nil
    }
    if isLong { throw tooLong }
    guard isText(value) else {
      throw .failure(
        "the value is no text, and is not edited",
        hint: "'kura get -o FILE NAME' and 'kura put --file FILE NAME' take any bytes")
    }
    return facts
  }

  private static var tooLong: CommandError {
    .failure(
      "it is longer than what is edited: \(limit) bytes",
      hint: "'kura get -o FILE NAME' and 'kura put --file FILE NAME' take any length")
  }

  private static func gather(
    _ part: Span<UInt8>, _ value: inout SecretBuffer
  ) throws(ClientError) {
    do throws(SecureMemoryError) { try value.append(part) } catch { throw .outOfMemory }
  }

  /// An editor would change other bytes, each in its own way.
  private static func isText(_ value: borrowing SecretBuffer) -> Bool {
    let bytes = value.bytes
    return UTF8Scanner.isText(bytes) && !bytes.indices.contains { bytes[$0] == 0 }
  }
}

// MARK: - The text

extension EditedItem {
  /// Has a person edit the text. Nothing is left of it but in guarded memory.
  ///
  /// - Parameters:
  ///   - directory: One in memory; nil: the editor takes a descriptor.
  ///   - access: The vault, whose lock covers the editor.
  mutating func edit(
    with editor: Editor, in directory: String?, at terminal: Int32, _ access: VaultAccess
  ) throws(CommandError) {
    var mask = try TextMask.begin(access)
    var watch = try LockWatch.beginUnlocked(access)
    kura_editing_begin()
    defer { kura_editing_end() }
    var draft: Draft
    do throws(Draft.Refusal) { draft = try Draft.begin(in: directory) } catch {
      throw .draft(error, directory, editor)
    }
    do throws(FileError) { try draft.write(text.bytes) } catch {
      throw .file(.write, path: draft.path, errno: error.errno)
    }
    var running = try editor.start(draft, at: terminal)
    while running.wait(or: watch.descriptor) {
      // Where nobody tells of a lock any more, it is covered as by one.
      if !watch.isLocked(), let next = try? LockWatch.begin(access) {
        watch = next
        continue
      }
      guard let next = try hide(&draft, under: &running, &mask, access) else { throw Self.dropped }
      watch = next
    }
    if let complaint = editor.complaint(of: running.finish()) { throw complaint }
    do throws(FileError) { try draft.read(into: &text, limit: Self.limit) } catch {
      if error.errno == FileError.tooLarge { throw Self.tooLong }
      guard error.errno != ENOMEM else { throw .outOfMemory }
      throw .failure(
        "the editor left no file behind: " + editor.shownName, hint: Editor.unstored)
    }
    EditedText.settle(&text, after: original)
  }

  /// Covers the editor until the vault is unlocked.
  ///
  /// - Returns: What tells of the next lock; nil: a person has dropped the text.
  private mutating func hide(
    _ draft: inout Draft, under running: inout RunningEditor, _ mask: inout TextMask,
    _ access: VaultAccess
  ) throws(CommandError) -> LockWatch? {
    running.cover()
    // At a prompt, signals do as at any other.
    kura_editing_end()
    defer { kura_editing_begin() }
    // What cannot be taken away cannot be stored either; its end says why.
    try? draft.takeAway(into: &text, limit: Self.limit)
    mask.cover(&text, &original)
    guard let watch = try awaitUnlock(&mask, &running, access) else { return nil }
    do throws(FileError) { try draft.giveBack(text.bytes) } catch {
      throw .file(.write, path: draft.path, errno: error.errno)
    }
    running.uncover()
    return watch
  }

  /// Waits until both texts are readable again; nil where a person has dropped them.
  private mutating func awaitUnlock(
    _ mask: inout TextMask, _ running: inout RunningEditor, _ access: VaultAccess
  ) throws(CommandError) -> LockWatch? {
    do throws(CommandError) {
      while let watch = try access.askWhileCovered() {
        if try mask.uncover(&text, &original, access) { return watch }
      }
    } catch {
      running.drop()
      throw error
    }
    running.drop()
    return nil
  }

  static var dropped: CommandError {
    .failure("the text was dropped, and nothing is stored", .cancelled)
  }

  /// Whether there is nothing to store.
  var isUnchanged: Bool {
    EditedText.isSame(text.bytes, original.bytes) && (!isNew || text.count == 0)
  }

  var isEmpty: Bool { text.count == 0 }

  /// Stores the text, where the item is still as it was, or as was agreed to since.
  func store(_ access: VaultAccess) throws(CommandError) {
    guard Self.isText(text) else {
      throw .failure(
        "what the editor wrote is no text: it is not UTF-8, or has a NUL",
        hint: "'kura put --file FILE NAME' takes any bytes")
    }
    let order = order
    _ = try access.unlocked { connection throws(ClientError) in
      try connection.put(order, value: text.bytes)
    }
  }

  /// From here on, the text goes in the place of what an error says is there.
  mutating func agree(to error: CommandError) {
    guard case .client(.refused(let refusal)) = error else { return }
    if case .revisionConflict(let revision) = refusal { order.replace(revision) }
    if case .exists(let revision, _) = refusal { order.replace(revision) }
    if case .notFound = refusal { order.replace(0) }
  }
}

extension PutOrder {
  /// 0: there is no such item.
  fileprivate mutating func replace(_ revision: UInt64) {
    flags.insert(.ifRevision)
    self.revision = revision
  }
}

/// Undoes what an editor does to a text unasked.
enum EditedText {
  private static let newline = UInt8(ascii: "\n")

  /// Drops the newline that editors add at the end, where the value had none there.
  static func settle(_ text: inout SecretBuffer, after original: borrowing SecretBuffer) {
    if endsInNewline(text), !endsInNewline(original) { text.removeLast(1) }
  }

  private static func endsInNewline(_ text: borrowing SecretBuffer) -> Bool {
    text.count > 0 && text.bytes[text.count - 1] == newline
  }

  /// Whether both hold the same bytes.
  static func isSame(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    one.count == other.count && one.indices.allSatisfy { one[$0] == other[$0] }
  }
}
