// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Sees to it that a new recovery key is kept: in a file, or by a person who types its last group
/// back.
struct RecoveryKeeper: ~Copyable {
  /// Says where it is kept.
  enum Place: Equatable, Sendable {
    case nowhere, terminal
    case file(String)
  }

  let place: Place
  private var file: OutputFile?
  private var isKept = false

  /// Makes sure that it can be kept before it is made: no file is overwritten, and somebody looks
  /// at the terminal.
  init(_ place: Place, _ questioner: borrowing Questioner) throws(CommandError) {
    self.place = place
    file = nil
    switch place {
    case .nowhere: break
    case .terminal: if !questioner.hasTerminal { throw .noInteraction(.recoveryKeyShown) }
    case .file(let path):
      try CommandError.requireFree(path, for: .file)
      file = try writing(path) { () throws(FileError) in try OutputFile.begin(at: path) }
    }
  }

  /// Keeps the key.
  ///
  /// - Parameter failure: Why it could not be kept.
  /// - Returns: Whether it is kept.
  mutating func keep(
    _ key: Span<UInt8>, _ questioner: inout Questioner, _ failure: inout CommandError?
  ) -> Bool {
    do throws(CommandError) {
      switch place {
      case .nowhere: break
      case .terminal: try Self.show(key, &questioner)
      case .file(let path): try write(key, path)
      }
    } catch { failure = error }
    isKept = failure == nil
    return isKept
  }

  /// Says of a file with the key of a vault that was not made that it opens nothing.
  ///
  /// - Parameters:
  ///   - vault: Where that vault would be.
  ///   - error: Why it was not made; after some nobody knows whether it was.
  func noteUnused(_ vault: String, after error: ClientError, _ messages: Messages) {
    guard isKept, case .file(let path) = place, !error.leavesEndOpen, isFree(vault) else { return }
    messages.warn("the recovery key in " + Diagnostic.shown(path) + " opens nothing: delete it")
  }

  private func isFree(_ path: String) -> Bool {
    do throws(CommandError) {
      try CommandError.requireFree(path, for: .file)
      return true
    } catch { return false }
  }
}

// MARK: - Places

extension RecoveryKeeper {
  private mutating func write(_ key: Span<UInt8>, _ path: String) throws(CommandError) {
    guard var file = file.take() else { return }
    let newline: [1 of UInt8] = [UInt8(ascii: "\n")]
    do throws(FileError) {
      try file.write(key)
      try file.write(newline.span)
      try file.commit()
    } catch { throw .file(.write, path: path, errno: error.errno) }
  }

  private static func show(
    _ key: Span<UInt8>, _ questioner: inout Questioner
  ) throws(CommandError) {
    questioner.prompt?.beginPassage()
    questioner.prompt?.say("\nThis recovery key opens the vault when the passcode is forgotten.")
    questioner.prompt?.say("It is shown this once: write it down, and keep it apart.\n")
    questioner.prompt?.say(secret: key)
    questioner.prompt?.endLine()
    for _ in 0..<3 {
      if isLastGroup(try lastGroup(&questioner), of: key) {
        questioner.prompt?.erasePassage()
        return
      }
      questioner.prompt?.say("That is not its last group, look again.")
    }
    throw .mismatch(.recoveryKey)
  }

  private static func lastGroup(
    _ questioner: inout Questioner
  ) throws(CommandError) -> SecretBytes {
    defer { questioner.endLine() }
    return try questioner.ask("its last group, to show that you have it: ", isHidden: false)
  }

  /// Compares as recovery keys are read: small letters are capitals, O is 0, I and L are 1.
  static func isLastGroup(
    _ answer: borrowing SecretBytes, of key: Span<UInt8>
  ) -> Bool {
    let typed = answer.bytes
    let dash = key.indices.last { key[$0] == UInt8(ascii: "-") } ?? -1
    let group = key.extracting((dash + 1)..<key.count)
    var next = 0
    for index in typed.indices where typed[index] != 0x20 && typed[index] != UInt8(ascii: "-") {
      guard next < group.count, plain(typed[index]) == group[next] else { return false }
      next += 1
    }
    return next == group.count && next > 0
  }

  private static func plain(_ byte: UInt8) -> UInt8 {
    let capital = byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte & 0xDF : byte
    return switch capital {
    case UInt8(ascii: "O"): UInt8(ascii: "0")
    case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
    default: capital
    }
  }
}
