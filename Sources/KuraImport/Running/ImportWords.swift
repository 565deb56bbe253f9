// SPDX-License-Identifier: MIT

internal import KuraTerms

/// Words what an import does, and what it leaves, for people; nothing in it is secret.
enum ImportWords {
  /// A text of the source or the vault that no terminal obeys.
  static func harmless(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
        shown.append("\u{FFFD}")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// A line of what would be done.
  static func line(_ step: Plan.Step, givesCodes: Bool) -> String {
    let name = harmless(step.item.name)
    let kind = givesCodes ? " (codes)" : ""
    switch step.action {
    case .new: return "new " + name + kind
    case .same: return "same " + name
    case .skip: return "skip " + name + ": the vault has another one of that name"
    case .protected: return "skip " + name + ": the vault's takes the passcode"
    case .rename(let wanted): return "new " + name + kind + ", in place of " + harmless(wanted)
    case .replace: return "replace " + name
    case .merge(let isNewer):
      return "merge " + name + (isNewer ? ": the source's is newer" : ": the vault's stays on top")
    }
  }

  /// A line of what is not taken.
  static func line(_ leaving: Leaving, in format: ImportFormat) -> String {
    var parts: [String] = []
    if leaving.place != 0 { parts.append(format.placeWord + " \(leaving.place)") }
    if !leaving.entry.isEmpty { parts.append(harmless(leaving.entry)) }
    if !leaving.field.isEmpty { parts.append(harmless(leaving.field)) }
    return parts.joined(separator: ", ") + ": " + words(leaving.reason)
  }

  private static func words(_ reason: Leaving.Reason) -> String {
    switch reason {
    case .remark(.unsupported): "not taken: Kura has no place for it"
    case .remark(.foreign): "not taken: it is of use to that program alone"
    case .remark(.tooLong): "not taken: it has more than \(ImportedItem.longest >> 20) MiB"
    case .remark(.invalid): "not taken: it breaks the rules of its kind"
    case .remark(.trashed): "not taken: it was thrown away there"
    case .remark(.empty): "not taken: it is empty"
    case .remark(.sealed): "not taken: gpg does not decrypt it"
    case .remark(.link): "not taken: it is a link, and what it leads to stands elsewhere"
    case .remark(.locked):
      "not taken: it is locked; unlock it where it is kept, and import once more"
    case .remark(.noCode): "kept as it is: no codes can be made of it"
    case .renamed(let name): "its name breaks a rule: it becomes " + harmless(name)
    case .skipped: "not taken: the vault has another one of that name"
    case .protectedThere: "not taken: the vault's takes the passcode"
    case .pastBeyond(let count):
      "the oldest \(count) not taken: the vault keeps no more, by its setting history-depth"
    case .pastOfSame(let count):
      "\(count) not taken: the vault's item stays as it is; --on-duplicate merge adds them"
    case .vaultsStays: "not taken: the vault's item has another one, which stays"
    case .pastAttributes:
      "their attributes are not taken: the values alone join the vault's history"
    case .twice: "not taken again: the same stands before it"
    }
  }

  /// What is said of a vault that would be taken over.
  static let toBeTakenOver =
    "the vault would get format 2, which releases before 0.2.0 cannot open; a copy of it as it is would be put beside it"

  /// What is said of a vault that was taken over.
  static func takenOver(_ copy: String) -> String {
    "the vault has format 2 now, which releases before 0.2.0 cannot open; a copy of it as it was is "
      + harmless(copy)
  }

  /// What was done, in one line.
  static func summary(_ plan: Plan, isDry: Bool) -> String {
    var counts = [0, 0, 0, 0]
    for step in plan.steps {
      switch step.action {
      case .new, .rename: counts[0] += 1
      case .replace, .merge: counts[1] += 1
      case .same: counts[2] += 1
      case .skip, .protected: counts[3] += 1
      }
    }
    let (new, over) = isDry ? ("to be stored", "to be stored over") : ("stored", "stored over")
    let words = [new, over, "there already", "left as the vault has them"]
    let parts = zip(counts, words).filter { $0.0 > 0 }
    guard let first = parts.first else { return "there is nothing to import" }
    let items = "\(first.0) " + (first.0 == 1 ? "item " : "items ") + first.1
    return ([items] + parts.dropFirst().map { "\($0) " + $1 }).joined(separator: ", ")
  }
}
