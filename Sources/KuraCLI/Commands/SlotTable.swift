// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Prints what `kura slot list` shows: one line a slot. What is enabled and what is available are
/// two facts.
enum SlotTable {
  static func write(
    _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in try arguments.refuse(.json, with: .long) }
    let slots = try slots(access)
    if arguments.has(.json) {
      return try writeJSON(slots, &invocation.output)
    }
    let isLong = arguments.has(.long)
    let chip = isLong ? try chip(slots, access) : nil
    for slot in slots.all {
      try write(slot, isAuthentic: slots.isAuthentic, &invocation.output)
      guard isLong else { continue }
      for line in slot.facts.thiefWords(chip) { try invocation.output.write("    " + line + "\n") }
    }
    guard !slots.isAuthentic else { return }
    try invocation.output.flush()
    invocation.messages.note(
      "the vault is locked: labels and times are sealed, and nothing of this is proved")
  }

  /// A locked vault is unlocked for it only with what a script gives.
  private static func slots(_ access: VaultAccess) throws(CommandError) -> Slots {
    guard access.asking.hasGivenPasscode else {
      var connection = try access.connectRunningOrOwn()
      return try running { () throws(ClientError) in try connection.slots() }
    }
    return try access.unlocked { connection throws(ClientError) in
      // What a locked vault refuses; the slots it would list.
      _ = try connection.settings()
      return try connection.slots()
    }
  }
}

extension SlotTable {
  /// How this machine's TPM holds, where a slot is of it; nil where that cannot be told now.
  private static func chip(
    _ slots: Slots, _ access: VaultAccess
  ) throws(CommandError) -> ChipFacts? {
    guard slots.all.contains(where: { $0.facts.takesChipCode && $0.facts.availability == .here })
    else { return nil }
    var connection = try access.connectRunningOrOwn()
    do throws(ClientError) { return try connection.chip() } catch {
      guard case .refused = error else { throw .client(error) }
      return nil
    }
  }
}

// MARK: - For people

extension SlotTable {
  private static func write(
    _ slot: Slot, isAuthentic: Bool, _ output: inout Output
  ) throws(CommandError) {
    let facts = slot.facts
    try output.write(
      HelpText.pad("\(facts.number)", 4) + HelpText.pad(facts.kind.name, 14)
        + HelpText.pad(facts.standing, 9) + HelpText.pad(facts.availability.words, 16))
    try output.write(facts.created == 0 ? "-" : Moment.local(facts.created))
    if !slot.label.utf8.isEmpty {
      try output.write("  ")
      try output.write(escaped: slot.label)
    }
    let remarks = facts.remarks
    if !remarks.isEmpty { try output.write("  (" + joined(remarks) + ")") }
    if !slot.place.utf8.isEmpty {
      try output.write("  ")
      try output.write(escaped: slot.place)
    }
    try output.write("\n")
  }

  private static func joined(_ words: [String]) -> String {
    words.dropFirst().reduce(words.first ?? "") { $0 + ", " + $1 }
  }
}

extension SlotFacts {
  /// Whether its owner put it out of use.
  var isDisabled: Bool { flags.contains(.disabled) }

  /// Whether it is in use, in a word.
  fileprivate var standing: String {
    if isDisabled { return "disabled" }
    return flags.contains(.enabled) ? "enabled" : "refused"
  }

  /// What is not the rule.
  fileprivate var remarks: [String] {
    var remarks: [String] = []
    if flags.contains(.opened) { remarks.append("opened the vault") }
    if flags.contains(.weak) {
      remarks.append(flags.contains(.weakMeant) ? "weak, as asked for" : "weak")
    }
    guard kind != .disabled else { return remarks }
    if flags.contains(.tried) { remarks.append("tried by itself") }
    if kind == .local, size > 0 { remarks.append("sent at its last character") }
    let isUsual = (kind == .passcode || kind == .recoveryKey) == flags.contains(.withProtected)
    if !isUsual {
      remarks.append(
        flags.contains(.withProtected) ? "opens protected values" : "opens no protected values")
    }
    return remarks
  }
}

extension Slot {
  /// The slot in a few words: whether it is enabled and whether it is available, apart.
  var words: String {
    let standing = facts.standing
    return "\(facts.number) " + facts.kind.name + ", "
      + (standing == "refused" ? "refused until the passcode has worked" : standing) + ", "
      + facts.availability.words
  }
}

extension SlotAvailability {
  /// The state in words.
  var words: String {
    switch self {
    case .here: "available"
    case .missing: "not here"
    case .unknown: "not known"
    }
  }
}

// MARK: - For programs

extension SlotTable {
  private static func writeJSON(
    _ slots: Slots, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("authentic", slots.isAuthentic)
    try output.key("slots")
    try output.openArray()
    for slot in slots.all { try writeJSON(slot, &output) }
    try output.closeArray()
    try output.closeDocument()
  }

  static func writeJSON(_ slot: Slot, _ output: inout Output) throws(CommandError) {
    let facts = slot.facts
    try output.openObject()
    try output.member("number", UInt64(facts.number))
    try output.member("kind", facts.kind.name)
    try output.member("enabled", facts.flags.contains(.enabled))
    try output.member("disabled", facts.flags.contains(.disabled))
    try output.member("available", facts.availability.name)
    if facts.created > 0 {
      try output.member("created", moment: facts.created)
      try output.member("label", slot.label)
    }
    if !slot.place.utf8.isEmpty { try output.member("place", slot.place) }
    try output.member("auto", facts.flags.contains(.tried))
    try output.member("submit", facts.kind == .local ? facts.size : 0)
    if facts.kind == .fido2 { try output.member("verified", facts.isVerified) }
    try output.member("opened", facts.flags.contains(.opened))
    try output.member("opens-protected", facts.flags.contains(.withProtected))
    if facts.cost.passes > 0 {
      try output.member("kdf-memory", facts.cost.memory)
      try output.member("kdf-passes", UInt64(facts.cost.passes))
      try output.member("weak", facts.flags.contains(.weak))
      try output.member("weak-meant", facts.flags.contains(.weakMeant))
    }
    try output.closeObject()
  }
}
