// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura config`: shows and changes the policy kept inside the sealed vault.
enum Config {
  static let command = Command(
    "config", [.init("KEY", .optional), .init("VALUE", .optional)],
    abstract: "show or change the policy kept in the vault",
    options: [Option.json] + Option.recoveryKeys,
    unlocking: .whenLocked, run: run)

  /// The settings of this release.
  static let keys: [Setting] = [
    .idleTimeout, .maxSession, .lockOnSleep, .historyDepth, .reuseWindow,
    .eraseLocalAfter, .logEntries, .fingerprint, .logSync,
  ]

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let operands = invocation.arguments.operands
    let change = try parsing { () throws(UsageError) in
      (
        key: try operands.first.map { text throws(UsageError) in try Self.key(text) },
        value: try operands.count > 1 ? value(operands[1], of: try Self.key(operands[0])) : nil
      )
    }
    let access = try invocation.access()
    if let key = change.key, let value = change.value {
      if invocation.arguments.has(.json) {
        throw .usage(.optionUnexpected(.json, verb: "config KEY VALUE"))
      }
      _ = try access.owned(to: Purpose(purpose(of: key))) { connection, word throws(ClientError) in
        try connection.set(key, to: value, by: word)
      }
      if key == .fingerprint, value != 0 { try noteFinger(access, invocation.messages) }
    } else {
      try show(change.key, access, &invocation)
    }
    return .ok
  }

  private static func key(_ text: [UInt8]) throws(UsageError) -> Setting {
    guard let key = keys.first(where: { $0.name.utf8.elementsEqual(text) }) else {
      throw UsageError(
        "there is no setting " + Diagnostic.quoted(text), hint: "'kura config' lists the settings")
    }
    return key
  }
}

extension Config {
  /// What the owner's word is for where a looser setting takes it.
  private static func purpose(of key: Setting) -> String {
    switch key {
    case .idleTimeout, .maxSession: "allow longer sessions"
    case .lockOnSleep: "stay unlocked in sleep"
    case .historyDepth: "keep fewer revisions"
    case .reuseWindow: "open a protected item again unasked"
    case .logSync, .logEntries: "keep less of the log"
    case .eraseLocalAfter: "change when codes end"
    case .fingerprint: "change whether a finger does"
    }
  }
}

extension Config {
  /// Says why no finger can be taken here now, where that is so: what is wanted and what is there are two facts.
  private static func noteFinger(
    _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) {
    var connection = try access.connectRunningOrOwn()
    do throws(ClientError) { _ = try connection.beginFinger() } catch {
      guard let fault = FingerWords.fault(error) else { return }
      messages.note("no finger is taken now: " + fault.text)
    }
  }
}

// MARK: - Values

extension Config {
  private static func value(_ text: [UInt8], of key: Setting) throws(UsageError) -> UInt64 {
    let value: UInt64? =
      switch key.unit {
      case .milliseconds: TimeSpan(text)?.milliseconds
      case .count: Decimal.parse(text[...])
      case .flag: flag(text)
      }
    guard let value, key.range.contains(value) else { throw .notAConfigValue(key, text) }
    return value
  }

  private static func flag(_ text: [UInt8]) -> UInt64? {
    if text.elementsEqual("on".utf8) { return 1 }
    return text.elementsEqual("off".utf8) ? 0 : nil
  }

  /// The values a setting can have, in words.
  static func range(of key: Setting) -> String {
    switch key.unit {
    case .flag: "on or off"
    case .count: "a number from \(key.range.lowerBound) to \(key.range.upperBound)"
    case .milliseconds:
      "a length of time from " + TimeSpan(milliseconds: key.range.lowerBound).text + " to "
        + TimeSpan(milliseconds: key.range.upperBound).text
    }
  }

  static func text(_ value: UInt64, of key: Setting) -> String {
    switch key.unit {
    case .milliseconds: TimeSpan(milliseconds: value).text
    case .count: "\(value)"
    case .flag: value == 0 ? "off" : "on"
    }
  }

  private static func show(
    _ key: Setting?, _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    let settings = try access.unlocked { connection throws(ClientError) in
      guard let key else { return try connection.settings() }
      return [SettingValue(key: key.rawValue, value: try connection.setting(key))]
    }
    let isJSON = invocation.arguments.has(.json)
    if isJSON { try invocation.output.openDocument() }
    for setting in settings {
      guard let known = Setting(rawValue: setting.key), keys.contains(known) else { continue }
      if isJSON {
        try write(known, setting.value, &invocation.output)
      } else {
        let label = key == nil ? HelpText.pad(known.name, 20) : ""
        try invocation.output.write(label + text(setting.value, of: known) + "\n")
      }
    }
    if isJSON { try invocation.output.closeDocument() }
  }

  private static func write(
    _ key: Setting, _ value: UInt64, _ output: inout Output
  ) throws(CommandError) {
    guard key.unit == .flag else { return try output.member(key.name, value) }
    try output.member(key.name, value != 0)
  }
}
