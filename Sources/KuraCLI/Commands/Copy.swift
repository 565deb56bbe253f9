// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura copy`: puts a value into the clipboard, for a while.
enum Copy {
  static let command = Command(
    "copy", [.init("NAME")], abstract: "copy a value to the clipboard, and clear it after 45 s",
    options: [
      Option(.attribute, .required("KEY"), help: "an attribute in place of the value"),
      Option(.otp, help: "only a one-time code, of an item that gives some"),
      Option(.clear, .required("TIME"), help: "clear the clipboard after TIME, or never"),
      Option(.to, .required("WHERE"), help: "wayland, x11 or osc52; at first what there is"),
    ],
    unlocking: .whenLocked, run: run)

  /// How long a value stays, in ms, where nothing is said.
  private static let standardTime: UInt64 = 45_000

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let time = try parsing { () throws(UsageError) in
      try arguments.refuse(.otp, with: .attribute)
      return try Self.time(arguments)
    }
    let wanted = try Get.Wanted(invocation)
    if arguments.has(.otp), wanted.isAttribute { throw .usage(.conflict(.otp, .attribute)) }
    let wantsCode = arguments.has(.otp) || wanted.part == .code
    let clipboard = try Clipboard.choose(arguments.value(.to), invocation.variables)
    if case .terminal = clipboard, time != nil, arguments.has(.clear) {
      throw .usage(
        "a terminal's clipboard cannot be read back, so Kura does not clear it",
        hint: "leave out --clear, or say --clear never, and copy something else afterwards")
    }
    let access = try wanted.access(invocation)
    var value = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 256) }
    let isCode = try fetch(
      wanted, access, wantsCode: wantsCode, limit: clipboard.limit, into: &value)
    if isCode, !wantsCode {
      invocation.messages.note("this is the one-time code, not the secret that it is made of")
    }
    try hand(value, to: clipboard, for: time, access, invocation.messages)
    return .ok
  }

  /// Copies a text where the environment says, for so many ms.
  static func hand(
    _ value: borrowing SecretBuffer, for time: UInt64, _ access: VaultAccess,
    _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let clipboard = try Clipboard.choose(nil, invocation.variables)
    try hand(value, to: clipboard, for: time, access, invocation.messages)
  }

  private static func hand(
    _ value: borrowing SecretBuffer, to clipboard: Clipboard, for time: UInt64?,
    _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) {
    switch clipboard {
    case .terminal(let terminal):
      try terminal.send(value.bytes)
      messages.note(words(terminal))
    case .display(let tool): try hold(value, with: tool, until: time, access, messages)
    }
  }

  /// nil for never.
  private static func time(_ arguments: Arguments) throws(UsageError) -> UInt64? {
    guard let text = arguments.value(.clear) else { return standardTime }
    for never in ["never", "0", "0s"] where never.utf8.elementsEqual(text) { return nil }
    return try arguments.duration(.clear)
  }
}

// MARK: - The value

extension Copy {
  private static let otherWay = "'kura get -o FILE NAME' writes it as it is"

  /// - Returns: Whether it is a one-time code: what makes codes is nothing to be pasted, and leaves the
  ///   vault by `get` alone.
  private static func fetch(
    _ wanted: Get.Wanted, _ access: VaultAccess, wantsCode: Bool, limit: Int,
    into value: inout SecretBuffer
  ) throws(CommandError) -> Bool {
    var (isLong, isCode) = (false, wantsCode)
    try access.unlocked(authorizing: true) { connection throws(ClientError) in
      value.removeAll()
      if wanted.part == .value, !isCode {
        isCode = try connection.show(wanted.name).item.facts.kind == .otp
      }
      if isCode { return try connection.appendOneTimeCode(of: wanted.name, to: &value) }
      try wanted.fetch(&connection, revision: 0, for: .copy) { part throws(ClientError) in
        isLong = isLong || value.count + part.count > limit
        if !isLong { try gather(part, &value) }
      }
    }
    if isLong {
      throw .failure(
        "the value is longer than what can be copied there: \(limit) bytes", hint: otherWay)
    }
    try check(&value)
    return isCode
  }

  private static func gather(
    _ part: Span<UInt8>, _ value: inout SecretBuffer
  ) throws(ClientError) {
    do throws(SecureMemoryError) { try value.append(part) } catch { throw .outOfMemory }
  }

  /// Only text is pasted; a line's end would send off what it is pasted into.
  private static func check(_ value: inout SecretBuffer) throws(CommandError) {
    if value.count > 0, value.bytes[value.count - 1] == UInt8(ascii: "\n") { value.removeLast(1) }
    let bytes = value.bytes
    if bytes.isEmpty { throw .failure("there is nothing to copy: the value is empty") }
    guard UTF8Scanner.isText(bytes), !bytes.indices.contains(where: { bytes[$0] == 0 }) else {
      throw .failure("the value is no text, and is not copied", hint: otherWay)
    }
  }
}

// MARK: - A display

extension Copy {
  private static func hold(
    _ value: borrowing SecretBuffer, with tool: ClipboardTool, until time: UInt64?,
    _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) {
    let isSecretKnown = tool.knowsSecrets()
    let mark = try ValueMark()
    var marked = mark
    marked.take(value.bytes)
    try tool.hold(value.bytes, isSecretKnown: isSecretKnown)
    let place =
      "copied to the clipboard of " + tool.kind.display.name + " by " + tool.kind.rawValue
      + (isSecretKnown ? " as a secret" : "")
    guard let time else {
      Clearer.endOther(of: tool)
      return messages.note(place + "; it is not cleared")
    }
    let clearer = Clearer(
      tool: tool, mark: mark, tag: marked.tag(), deadline: Clock.boot() + time, access: access)
    guard try clearer.start(messages) else {
      return messages.warn(place + ", and cannot be cleared: no process could be started")
    }
    messages.note(
      place + "; it is cleared in " + TimeSpan(milliseconds: time).words
        + (access.isPrivate ? "" : ", and when the vault is locked"))
  }

  private static func words(_ terminal: TerminalClipboard) -> String {
    let through =
      switch terminal.wrapping {
      case .none: ""
      case .tmux: " through tmux, which must have allow-passthrough on"
      case .screen: " through screen"
      }
    return "sent to the terminal (OSC 52)" + through
      + "; whether it took it cannot be known, nor is it cleared: copy something else afterwards"
  }
}
