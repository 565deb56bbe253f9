// SPDX-License-Identifier: MIT

package import CKuraSystem

// Programs that are started, and whom this process is connected to.

extension System {
  /// Connects to the agent that listens in a directory.
  static func connectAgent(in directory: String, patience: Int32) -> Int32 {
    unsafe kura_agent_connect(directory, patience)
  }

  /// The process that listens in a directory, and whether it is stopped.
  static func agentProcess(in directory: String) -> (process: Int32, isStopped: Bool) {
    var stopped: Int32 = 0
    let process = unsafe kura_agent_process(directory, &stopped)
    return (process, stopped == 1)
  }

  /// Holds the mark of the desktop program, beside an agent's socket.
  static func takeMark(in directory: String) -> Int32 {
    let parent = directory.utf8.lastIndex(of: UInt8(ascii: "/")).map { directory.utf8[..<$0] }
    let above = parent.flatMap { String($0) } ?? "/"
    return unsafe kura_mark_take(above, directory, directory + "/desktop.lock")
  }

  /// The process that holds that mark; 0 for none.
  static func markHolder(in directory: String) -> Int32 {
    unsafe kura_mark_holder(directory + "/desktop.lock")
  }

  /// Starts an agent that stays.
  static func startAgent(_ program: String, _ child: inout kura_child) -> Int32 {
    unsafe kura_start_agent(program, &child)
  }

  /// Starts an engine of our own.
  static func startEngine(
    _ program: String, isAside: Bool, _ child: inout kura_child
  ) -> Int32 {
    unsafe kura_start_engine(program, isAside ? 1 : 0, &child)
  }

  /// Starts a program to answer; nil where that fails.
  ///
  /// - Parameters:
  ///   - argument: Its only one.
  ///   - feeds: Whether its input is our socket, too.
  ///   - inherits: Whether it gets our environment.
  package static func startAsked(
    _ program: String, argument: String?, feeds: Bool, inherits: Bool
  ) -> kura_child? {
    var child = kura_child()
    let failed = unsafe kura_start_asked(
      program, argument, feeds ? 1 : 0, inherits ? 1 : 0, &child)
    return failed == 0 ? child : nil
  }

  /// Starts a program that answers what it is told; nil where that fails.
  ///
  /// - Parameter words: Its arguments, its own name first.
  package static func startAnswering(_ program: String, _ words: [String]) -> kura_child? {
    let arguments = block(words)
    var child = kura_child()
    let failed = unsafe kura_start_answering(program, arguments, arguments.count, &child)
    return failed == 0 ? child : nil
  }

  /// Starts a program of which all is heard that it says; nil where that fails.
  ///
  /// - Parameter words: Its arguments, its own name first.
  package static func startHeard(_ program: String, _ words: [String]) -> kura_child? {
    let arguments = block(words)
    var child = kura_child()
    let failed = unsafe kura_start_heard(program, arguments, arguments.count, &child)
    return failed == 0 ? child : nil
  }

  /// Starts a program that carries.
  ///
  /// - Parameters:
  ///   - words: Its arguments, its own name first.
  ///   - input: What it reads; -1: nothing.
  ///   - complaints: Where its errors go.
  /// - Returns: 0, or a negated errno.
  package static func startCarrying(
    _ program: String, _ words: [String], input: Int32, complaints: Int32,
    _ child: inout kura_child
  ) -> Int32 {
    let arguments = block(words)
    return unsafe kura_start_carrying(
      program, arguments, arguments.count, input, complaints, &child)
  }

  /// Starts a `kura` that is to ask the owner.
  ///
  /// - Parameters:
  ///   - words: Its arguments, its own name first.
  ///   - end: `KURA_OWNER_VALUE` or `KURA_OWNER_MESSAGES`.
  ///   - isApart: Whether it leaves our terminal alone.
  /// - Returns: 0, or a negated errno.
  static func startOwner(
    _ program: String, _ words: [String], end: Int32, isApart: Bool, _ child: inout kura_child
  ) -> Int32 {
    let arguments = block(words)
    return unsafe kura_start_owner(
      program, arguments, arguments.count, end, isApart ? 1 : 0, &child)
  }

  /// Starts a program that holds, reads or clears a clipboard; nil where that fails.
  ///
  /// - Parameters:
  ///   - words: Its arguments, its own name first.
  ///   - end: `KURA_CLIP_FEEDS` or `KURA_CLIP_LISTENS`.
  ///   - directory: Where its temporary files go.
  package static func startClipboard(
    _ program: String, _ words: [String], end: Int32, directory: String?
  ) -> kura_child? {
    let arguments = block(words)
    var child = kura_child()
    let failed = unsafe kura_clip_start(
      program, arguments, arguments.count, end, directory, &child)
    return failed == 0 ? child : nil
  }

  /// Goes on in a process of its own, too: there `process` is 0; in the caller `ready` reads a byte when
  /// that one is ready.
  package static func detach() -> (process: Int32, ready: Int32) {
    var ready: Int32 = -1
    let process = unsafe kura_clip_detach(&ready)
    return (process, ready)
  }

  /// Starts an editor.
  ///
  /// - Parameters:
  ///   - words: Its arguments, its own name first.
  ///   - passed: A descriptor that it gets; -1: none.
  /// - Returns: 0, or a negated errno.
  package static func startEditor(
    _ program: String, _ words: [String], terminal: Int32, passed: Int32,
    _ edited: inout kura_edited
  ) -> Int32 {
    let arguments = block(words)
    return unsafe kura_edit_start(
      program, arguments, arguments.count, terminal, passed, &edited)
  }

  /// Waits for an editor's end, or until a descriptor has something to read, which is true.
  package static func awaitEditor(_ edited: inout kura_edited, or other: Int32) -> Bool {
    unsafe kura_edit_await(&edited, other)
  }

  /// Stops an editor, and takes what it shows from the terminal.
  package static func coverEditor(_ edited: inout kura_edited) { unsafe kura_edit_cover(&edited) }

  /// Has a covered editor go on.
  package static func uncoverEditor(_ edited: inout kura_edited) {
    unsafe kura_edit_uncover(&edited)
  }

  /// Kills a covered editor.
  package static func dropEditor(_ edited: inout kura_edited) { unsafe kura_edit_drop(&edited) }

  /// Takes the terminal back from an editor that has ended.
  package static func endEditor(_ edited: inout kura_edited) { unsafe kura_edit_end(&edited) }

  /// Becomes the program that our arguments from one on call for.
  ///
  /// - Parameter variables: `NAME=VALUE` with a NUL behind each.
  static func execute(from first: Int, variables: Span<UInt8>, inherits: Bool) -> Int32 {
    unsafe variables.withUnsafeBytes {
      unsafe kura_execute(Int32(first), $0.baseAddress, $0.count, inherits ? 1 : 0)
    }
  }

  /// Becomes another program.
  ///
  /// - Parameter words: Its arguments, its own name first.
  /// - Returns: Only when that fails: a negated errno.
  package static func become(_ program: String, _ words: [String]) -> Int32 {
    let arguments = block(words)
    return unsafe kura_screen_become(program, arguments, arguments.count)
  }

  /// Words with a NUL behind each.
  static func block(_ words: [String]) -> [CChar] {
    var block: [CChar] = []
    for word in words { block += word.utf8.map { CChar(bitPattern: $0) } + [0] }
    return block
  }
}
