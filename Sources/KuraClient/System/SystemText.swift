// SPDX-License-Identifier: MIT

internal import CKuraSystem

// What the system answers in text: names, paths, arguments, variables.

extension System {
  /// The file of the running program.
  package static func programPath() throws(FileError) -> [UInt8] {
    try unsafe text { unsafe kura_program_path($0, $1) }
  }

  /// The path of a program beside this one, or where it is installed; nil where it is not. Never by PATH: what stands
  /// there first would get a passcode.
  package static func companion(_ name: String) -> String? {
    guard let path = try? programPath(), let own = String(validating: path, as: UTF8.self),
      let directory = parent(of: own)
    else { return nil }
    let candidates = [
      directory + "/" + name, (parent(of: directory) ?? "") + "/libexec/kura/" + name,
    ]
    return candidates.first { isExecutable($0) }
  }

  private static func parent(of path: String) -> String? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    return String(path[..<slash])
  }

  /// The name of the program that started this one.
  package static func parentName() throws(FileError) -> [UInt8] {
    try unsafe text { unsafe kura_parent_name($0, $1) }
  }

  /// The programs above this one, up to the one that leads the session.
  package static func ancestors() -> Ancestors {
    var way: Int32 = 0
    let bytes = try? unsafe text { unsafe Int(kura_ancestor_names($0, $1, &way)) }
    // A program may call itself nothing.
    let names = (bytes ?? []).split(separator: 0, omittingEmptySubsequences: false).dropLast()
    return Ancestors(names.map { Array($0) }, above: Ancestors.Above(way))
  }

  /// The working directory.
  package static func currentDirectory() throws(FileError) -> [UInt8] {
    try unsafe text { unsafe kura_current_directory($0, $1) }
  }

  /// The path of what stands at a path, links followed.
  package static func realPath(_ path: String) throws(FileError) -> [UInt8] {
    try unsafe text { unsafe kura_real_path(path, $0, $1) }
  }

  /// The name of the file that a program really is, links followed.
  package static func realName(_ program: String) throws(FileError) -> [UInt8] {
    try unsafe text(room: 256) { unsafe kura_real_name(program, $0, $1) }
  }

  /// The terminal's own name, such as `pts/3`.
  package static func terminalName(_ descriptor: Int32) throws(FileError) -> [UInt8] {
    try unsafe text(room: 64) { unsafe Int(kura_terminal_name(descriptor, $0, $1)) }
  }

  /// Where a symbolic link leads; empty for nowhere.
  package static func linkTarget(_ path: String) throws(FileError) -> [UInt8] {
    try unsafe text { unsafe kura_link_target(path, $0, $1) }
  }

  /// Our user's home directory by passwd(5); empty for none.
  static func passwdHome() throws(FileError) -> [UInt8] {
    try unsafe text { unsafe kura_passwd_home($0, $1) }
  }

  /// The name of a group by group(5); empty for none.
  package static func groupName(_ group: UInt32) throws(FileError) -> [UInt8] {
    try unsafe text { unsafe kura_group_name(group, $0, $1) }
  }

  /// The directory that a login makes for our user; empty where it is not there or not ours alone.
  static func sessionDirectory(home: String) throws(FileError) -> [UInt8] {
    try unsafe text { unsafe kura_session_directory(home, $0, $1) }
  }

  /// The path by which an editor opens a draft.
  static func draftPath(_ draft: kura_draft, in directory: String?) throws(FileError) -> [UInt8] {
    var draft = draft
    return try unsafe text { unsafe kura_draft_path(&draft, directory, $0, $1) }
  }

  /// A local time by strftime(3); empty when it has more than 128 bytes.
  static func localTime(_ milliseconds: UInt64, _ format: String) throws(FileError) -> [UInt8] {
    try unsafe text(room: 128) { unsafe kura_local_time(milliseconds, format, $0, $1) }
  }

  /// What an errno means, in English.
  static func errorText(_ number: Int32) -> String {
    unsafe String(cString: kura_error_text(number))
  }

  /// A variable of the environment; nil where it is unset or empty.
  package static func environment(_ name: String) -> String? {
    guard let value = unsafe kura_environment(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }

  /// Whether a variable's value is UTF-8.
  static func isText(_ name: String) -> Bool {
    guard let value = unsafe kura_environment(name) else { return true }
    return unsafe String(validatingCString: value) != nil
  }

  /// What the build linked into the programs, as `NAME=VERSION` with commas between.
  package static func linked() -> String { unsafe String(cString: kura_linked()) }

  /// Shows each variable of the environment, as `NAME=VALUE`.
  package static func visitVariables(_ body: (Span<UInt8>) -> Void) {
    var index: Int32 = 0
    while let text = unsafe kura_variable(index) {
      index += 1
      let start = unsafe UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self)
      body(unsafe Span(_unsafeStart: start, count: strlen(text)))
    }
  }

  /// What the program was started with, its own name first, byte for byte.
  package static func arguments() -> [[UInt8]] {
    var words: [[UInt8]] = []
    for index in 0..<max(kura_argument_count(), 0) {
      guard let text = unsafe kura_argument(index) else { continue }
      let bytes = unsafe UnsafeBufferPointer(start: text, count: strlen(text))
      words.append(unsafe bytes.map { UInt8(bitPattern: $0) })
    }
    return words
  }

  /// Has SIGINT write some bytes to stderr before it ends the process.
  package static func interruptSays(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe kura_interrupt_says(start, bytes.count)
    }
  }

  /// The bytes that a call writes into a room; those of a path, where none is said.
  private static func text(
    room: Int = Int(KURA_PATH_CAPACITY), _ call: (UnsafeMutablePointer<CChar>, Int) -> Int
  ) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: room)
    let count = unsafe bytes.withUnsafeMutableBytes { room in
      guard let start = room.baseAddress else { return 0 }
      return unsafe call(start.assumingMemoryBound(to: CChar.self), room.count)
    }
    try FileError.check(count)
    bytes.removeLast(room - min(count, room))
    return bytes
  }
}

// MARK: - Texts from bytes

extension String {
  /// The text of UTF-8 bytes that are no secret; what is none is replaced by U+FFFD.
  package init(repairing bytes: Span<UInt8>) {
    if let valid = try? UTF8Span(validating: bytes) {
      self = String(copying: valid)
    } else {
      self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }
}

// MARK: - Patterns

extension System {
  /// Makes a pattern the one that is matched against; false: it is none.
  package static func usePattern(
    _ text: String, ignoresCase: Bool, isExtended: Bool
  ) -> Bool {
    unsafe kura_pattern_use(text, ignoresCase ? 1 : 0, isExtended ? 1 : 0) != 0
  }

  /// Whether a text that ends with a NUL, or a part of it, matches.
  package static func matchesPattern(_ text: Span<UInt8>) -> Bool {
    unsafe text.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      return unsafe kura_pattern_matches(start.assumingMemoryBound(to: CChar.self)) != 0
    }
  }
}
