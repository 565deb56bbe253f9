// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraMask
internal import SecureMemory

/// Passes one stream of a command on, with names in the place of values.
struct MaskedStream: ~Copyable {
  /// How much is read at once.
  static let step = 65_536

  /// 1 for stdout, 2 for stderr.
  private let number: Int32
  private let messages: Messages
  private var masker: Masker
  private var shown: MaskedText
  /// How much of that was written.
  private var sent = 0
  /// Whether something is held back that nobody was given time to go on with.
  private(set) var isWaiting = false
  /// Whether what the command wrote was lost, which was said.
  private(set) var hasFailed = false

  init(_ number: Int32, _ messages: Messages) throws(CommandError) {
    let masker = try allocating { () throws(SecureMemoryError) in try Masker() }
    let shown = try allocating { () throws(SecureMemoryError) in try MaskedText() }
    self.number = number
    self.messages = messages
    self.masker = masker
    self.shown = shown
  }

  /// Reads what there is, which may be the end, to be passed on.
  ///
  /// - Parameter input: Room for ``step`` bytes, which goes through many hands.
  /// - Returns: How many bytes were read; nil where the stream has ended before.
  mutating func read(
    _ relay: borrowing kura_relay, _ set: borrowing NeedleSet, through input: inout SecretBuffer
  ) throws(CommandError) -> Int? {
    let descriptor = number == 1 ? relay.output : relay.errors
    guard descriptor >= 0 else { return nil }
    input.removeAll()
    var count = 0
    // A terminal that nobody has open any more answers with an error.
    do throws(FileError) {
      count = try Descriptor.read(descriptor, into: &input, upTo: MaskedStream.step)
    } catch {}
    do throws(SecureMemoryError) {
      if count > 0 {
        try masker.write(input.bytes, set, to: &shown)
      } else {
        try masker.finish(set, to: &shown)
      }
    } catch { throw .outOfMemory }
    isWaiting = count > 0 && masker.holds
    return count
  }

  /// Has a beginning of a value passed on that nothing follows: it may be a question.
  mutating func release(_ set: borrowing NeedleSet) throws(CommandError) {
    guard isWaiting else { return }
    isWaiting = false
    do throws(SecureMemoryError) { try masker.release(set, to: &shown) } catch {
      throw .outOfMemory
    }
  }

  /// Passes on what was read.
  ///
  /// - Returns: Whether all is written; false where the agent has something to say first.
  mutating func send(_ relay: inout kura_relay) -> Bool {
    let written = System.writeRelay(
      &relay, number, shown.bytes.bytes.extracting(droppingFirst: sent))
    if written >= 0, sent + written < shown.bytes.count {
      sent += written
      return false
    }
    shown.bytes.removeAll()
    sent = 0
    guard written < 0 else { return true }
    // Who does not read any more ends the command by its next write, as without us; so does a window that is closed.
    let isGone = written == Int(-EPIPE) || written == Int(-EIO) && relay.terminal >= 0
    if !isGone {
      hasFailed = true
      messages.report(Diagnostic(CommandError.output(Int32(-written))))
    }
    System.closeRelay(&relay, number)
    return true
  }

  /// Takes nothing more from the stream.
  func close(_ relay: inout kura_relay) { System.closeRelay(&relay, number) }
}
