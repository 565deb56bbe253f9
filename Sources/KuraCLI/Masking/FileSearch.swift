// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraMask
internal import SecureMemory

/// Notes in which lines of a text values stand.
struct ValueLines: ~Copyable, MaskedOutput {
  /// Says in which line of a text a value stands.
  struct Line {
    let number: UInt64
    let name: [UInt8]
  }

  private var line: UInt64 = 1
  /// Those since the last time that they were taken.
  private(set) var found: [Line] = []
  private var last: Line?

  mutating func show(_ text: Span<UInt8>) {
    for index in text.indices where text[index] == 0x0A { line += 1 }
  }

  mutating func hide(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    let next = Line(number: line, name: [UInt8](copying: name))
    if last?.number != next.number || last?.name != next.name { found.append(next) }
    last = next
    show(value)
  }

  mutating func take() -> [Line] {
    defer { found = [] }
    return found
  }
}

/// Finds in which lines of a text, which comes in parts, values stand.
struct LineFinder: ~Copyable {
  private var masker: Masker
  private var lines = ValueLines()

  init() throws(CommandError) {
    masker = try allocating { () throws(SecureMemoryError) in try Masker() }
  }

  /// Looks at a part.
  ///
  /// - Returns: Where it is certain by now.
  mutating func take(
    _ part: Span<UInt8>, _ set: borrowing NeedleSet
  ) throws(CommandError) -> [ValueLines.Line] {
    do throws(SecureMemoryError) { try masker.write(part, set, to: &lines) } catch {
      throw .outOfMemory
    }
    return lines.take()
  }

  /// Comes to the end.
  mutating func finish(_ set: borrowing NeedleSet) throws(CommandError) -> [ValueLines.Line] {
    do throws(SecureMemoryError) {
      try masker.finish(set, onlyWhole: true, to: &lines)
    } catch { throw .outOfMemory }
    return lines.take()
  }
}

/// Looks for values in files, and below directories.
struct FileSearch: ~Copyable {
  /// Whatever stands so deep leads round in a circle, or nowhere.
  private static let deepest = 128
  private static let step = 65_536

  private let messages: Messages
  private var input: SecretBuffer
  /// How many could not be read, which was said.
  private(set) var unread = 0

  init(_ messages: Messages) throws(CommandError) {
    let input = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: FileSearch.step)
    }
    self.messages = messages
    self.input = input
  }

  /// Looks into a file, or into all that stand below a directory: links are not followed, and what is neither is
  /// passed over. A path that is named itself may be a link.
  mutating func search(
    _ path: String, depth: Int = 0, _ set: borrowing NeedleSet,
    _ report: ([UInt8], ValueLines.Line) throws(CommandError) -> Void
  ) throws(CommandError) {
    let file: TextFile
    do throws(FileError) { file = try TextFile.open(path, followingLink: depth == 0) } catch {
      return skip(path, error)
    }
    switch file {
    case .text(let descriptor):
      defer { Descriptor.close(descriptor) }
      try read(descriptor, path, set, report)
    case .directory(let names):
      guard depth < FileSearch.deepest else { return skip(path, FileError(errno: ELOOP)) }
      for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        guard let text = String(validating: name, as: UTF8.self) else {
          skip(path + "/" + Diagnostic.shown(name), FileError(errno: EILSEQ))
          continue
        }
        try search(path + "/" + text, depth: depth + 1, set, report)
      }
    case .other: if depth == 0 { skip(path, FileError(errno: ENXIO)) }
    }
  }

  private mutating func read(
    _ descriptor: Int32, _ path: String, _ set: borrowing NeedleSet,
    _ report: ([UInt8], ValueLines.Line) throws(CommandError) -> Void
  ) throws(CommandError) {
    var finder = try LineFinder()
    var isMore = true
    while isMore {
      input.removeAll()
      do throws(FileError) {
        isMore = try Descriptor.read(descriptor, into: &input, upTo: FileSearch.step) > 0
      } catch { return skip(path, error) }
      let lines = isMore ? try finder.take(input.bytes, set) : try finder.finish(set)
      for line in lines { try report(Array(path.utf8), line) }
    }
  }

  private mutating func skip(_ path: String, _ error: FileError) {
    unread += 1
    messages.report(Diagnostic(.file(.read, path: path, errno: error.errno)))
  }
}
