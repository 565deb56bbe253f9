// SPDX-License-Identifier: MIT

package import CKuraSystem

// Paths, and what stands there.

extension System {
  /// What stands at a path: `KURA_ABSENT`, `KURA_REGULAR`, `KURA_OTHER`, or a negated errno.
  package static func fileKind(_ path: String) -> Int32 { unsafe kura_file_kind(path) }

  /// Whether a file can be executed by us.
  package static func isExecutable(_ path: String) -> Bool {
    unsafe kura_is_executable(path) == 1
  }

  /// Whether a path and a descriptor are the same thing that can be read once only.
  package static func isSameStream(_ path: String, _ descriptor: Int32) -> Bool {
    unsafe kura_is_same_stream(path, descriptor)
  }

  /// Opens a file for reading.
  static func open(_ path: String) -> Int32 { unsafe kura_file_open(path) }

  /// Opens a regular file of just that size to read.
  static func openRegular(_ path: String, size: UInt64) -> Int32 {
    unsafe kura_file_open_regular(path, size)
  }

  /// Gives a file another name, one that nothing has.
  static func move(_ from: String, to: String) -> Int32 { unsafe kura_file_move(from, to) }

  /// Gives a file a second name, one that nothing has.
  static func link(_ path: String, as second: String) -> Int32 {
    unsafe kura_file_link(path, second)
  }

  /// Puts a file in the place of another one, in one step.
  static func replace(_ path: String, with file: String) -> Int32 {
    unsafe kura_file_replace(file, path)
  }

  /// Whether two paths are names of one file.
  static func isSameFile(_ one: String, _ other: String) -> Bool {
    unsafe kura_file_same(one, other) != 0
  }

  /// Removes a file.
  static func remove(_ path: String) -> Int32 { unsafe kura_file_remove(path) }

  /// Makes a directory and those above it.
  package static func makeDirectory(_ path: String) -> Int32 { unsafe kura_directory_make(path) }

  /// Makes a directory beside a path, called like it and more; its path, or a negated errno.
  static func beginDirectory(_ wanted: String) -> (path: String, failed: Int) {
    var bytes = [CChar](repeating: 0, count: Int(KURA_PATH_CAPACITY))
    let count = unsafe kura_directory_begin(wanted, &bytes, bytes.count)
    guard count > 0 else { return ("", count) }
    return (String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self), 0)
  }

  /// Makes a directory where there is none.
  static func addDirectory(_ path: String) -> Int32 { unsafe kura_directory_add(path) }

  /// Removes a directory and all in it.
  static func clearDirectory(_ path: String) -> Int32 { unsafe kura_directory_clear(path) }

  /// Makes all that stands in a directory last.
  static func settleDirectory(_ path: String) -> Int32 { unsafe kura_directory_settle(path) }

  /// Makes the names in a directory last.
  static func syncDirectory(_ path: String) -> Int32 { unsafe kura_directory_sync(path) }

  /// Opens a regular file.
  static func openText(_ path: String, follows: Bool) -> Int32 {
    unsafe kura_text_open(path, follows ? 1 : 0)
  }

  /// Who owns a file.
  static func owner(_ path: String) -> Int64 { unsafe kura_owner(path) }

  /// A file or directory; nil for nothing.
  static func place(_ path: String) -> kura_place? {
    var place = kura_place()
    return unsafe kura_place_look(path, &place) == 0 ? place : nil
  }

  /// The clocks, at one time.
  static func moment() -> kura_moment {
    var now = kura_moment()
    unsafe kura_moment_now(&now)
    return now
  }

  /// The names of whatever stands in a directory, in no order; none where there is no directory.
  package static func names(in path: String) throws(FileError) -> [[UInt8]] {
    var failed: Int32 = 0
    guard let directory = unsafe kura_directory_open(path, &failed) else {
      if failed == ENOENT { return [] }
      throw FileError(errno: failed)
    }
    defer { unsafe kura_directory_close(directory) }
    var names: [[UInt8]] = []
    var bytes = [UInt8](repeating: 0, count: 256)
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes { room in
        guard let start = room.baseAddress else { return 0 }
        return unsafe kura_directory_next(directory, start, room.count)
      }
      try FileError.check(count)
      if count == 0 { return names }
      names.append(Array(bytes[..<count]))
    }
  }

  /// Notes which process is given an answer.
  package static func noteAnswer(in directory: String, _ answer: UInt64) -> Int32 {
    unsafe kura_answer_note(directory, answer)
  }

  /// Takes the file at a path for this process as long as it runs.
  package static func takeClipboard(_ path: String, in directory: String) -> Int32 {
    unsafe kura_clip_take(directory, path)
  }

  /// Keeps a terminal's settings, and hands every key on; nil where that fails.
  package static func beginTerminal(_ descriptor: Int32) -> kura_terminal_keys? {
    var keys = kura_terminal_keys()
    return unsafe kura_terminal_begin(descriptor, &keys) == 0 ? keys : nil
  }

  /// Whether a program can show itself on a terminal that a path names.
  package static func canShow(on terminal: String) -> Bool {
    unsafe kura_can_show_on(terminal) == 1
  }

  /// Whether a program needs a terminal to show itself.
  package static func asksOnTerminal(_ program: String) -> Bool {
    unsafe kura_asks_on_terminal(program) == 1
  }
}

// MARK: - Files that appear whole

extension System {
  /// Begins a file.
  static func beginOutput(_ path: String, _ output: inout kura_output) -> Int32 {
    unsafe kura_output_begin(path, &output)
  }

  /// Makes it appear.
  static func commitOutput(_ output: inout kura_output) -> Int32 {
    unsafe kura_output_commit(&output)
  }

  /// Leaves what stood there as it was.
  static func abandonOutput(_ output: kura_output) {
    var output = output
    unsafe kura_output_abandon(&output)
  }
}

// MARK: - Drafts

extension System {
  /// Whether drafts can be kept in a directory.
  static func checkDraft(_ directory: String) -> Int32 { unsafe kura_draft_check(directory) }

  /// Wipes the drafts that nobody works at any more.
  static func sweepDrafts(_ directory: String) { unsafe kura_draft_sweep(directory) }

  /// Begins an empty draft.
  static func beginDraft(in directory: String?, _ draft: inout kura_draft) -> Int32 {
    unsafe kura_draft_begin(directory, &draft)
  }

  /// Makes a directory for files that a command is given.
  static func beginFolder(in directory: String, _ folder: inout kura_draft) -> Int32 {
    unsafe kura_draft_begin_folder(directory, &folder)
  }

  /// An empty file in such a directory.
  static func addFile(_ name: String, to folder: kura_draft) -> Int32 {
    unsafe withUnsafePointer(to: folder) { unsafe kura_draft_add($0, name) }
  }

  /// Opens what stands there now.
  static func readDraft(_ draft: kura_draft) -> Int32 {
    var draft = draft
    return unsafe kura_draft_read(&draft)
  }

  /// Overwrites and removes it.
  static func emptyDraft(_ draft: inout kura_draft) -> Int32 { unsafe kura_draft_empty(&draft) }

  static func settleDraft(_ draft: kura_draft, _ file: Int32) {
    unsafe withUnsafePointer(to: draft) { unsafe kura_draft_settle($0, file) }
  }

  static func endDraft(_ draft: kura_draft) {
    var draft = draft
    unsafe kura_draft_end(&draft)
  }
}
