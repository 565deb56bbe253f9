// SPDX-License-Identifier: MIT

internal import KuraMask
internal import SecureMemory

/// Gathers values to be found in texts, and counts those that are not looked for.
struct NeedleReading: ~Copyable {
  private var set: NeedleSet
  /// Of protected items that were not read.
  var closed = 0
  var short = 0
  var long = 0

  init(set: consuming NeedleSet) { self.set = set }

  mutating func add(_ value: Span<UInt8>, _ name: Span<UInt8>) throws(CommandError) {
    let outcome: NeedleSet.Outcome
    do throws(SecureMemoryError) { outcome = try set.add(value, named: name) } catch {
      throw .outOfMemory
    }
    switch outcome {
    case .added, .known: break
    case .tooShort: short += 1
    case .tooLong: long += 1
    }
  }

  /// What finds them; that some are not found is said.
  consuming func finish(_ messages: Messages) throws(CommandError) -> NeedleSet {
    note(short, "of less than 6 bytes not looked for: too much would look like them", messages)
    note(long, "of more than 65,536 bytes not looked for", messages)
    note(closed, "of protected items not looked for: --protected reads them, too", messages)
    var set = set
    set.finish()
    return set
  }

  private func note(_ count: Int, _ words: String, _ messages: Messages) {
    if count > 0 { messages.note("\(count) " + (count == 1 ? "value " : "values ") + words) }
  }
}
