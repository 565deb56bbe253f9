// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura sync`: tells who shares the vault, or unlocks it and becomes the program that carries.
enum Sync {
  static let command = Command(
    "sync",
    [.init("init|join|enter|status|devices|compact|sql", .optional), .init("REMOTE", .optional)],
    abstract: "share the vault among your machines by a store",
    options: [
      Option(.label, .required("NAME"), help: "with init, join: call this machine NAME"),
      Option(.slots, .required("WHICH"), help: "with init: recovery, for no passcode there"),
      Option(.weak, help: "with init: although the passcode can be guessed"),
      Option(.recoveryKey, help: "with join, enter: ask for the recovery key"),
      Option(.recoveryKeyFile, .required("FILE"), help: "with join, enter: read it from FILE"),
      Option(.otherPasscodeFD, .required("N"), help: "with enter: the one of there"),
      Option(.otherPasscodeFile, .required("FILE"), help: "with enter: the one of there"),
      Option(.otherRecoveryKeyFile, .required("FILE"), help: "with enter: that of there"),
      Option(
        .remove, .required("NAME"), help: "with devices: take machine NAME out"),
      Option(.yes, help: "with --remove: do not ask whether to go on"),
      Option(.drop, help: "the same as --yes"),
      Option(.newRecoveryKeyFile, .required("OUT"), help: "with --remove: the new one (0600)"),
      Option(.noRecoveryKey, help: "with --remove: make none"),
      Option(.watch, help: "go on, whenever something changes here or there"),
      Option(.role, .required("NAME"), help: "with sql: a role for one machine"),
      Option.json,
    ] + Option.keyFiles + Option.chips,
    unlocking: .whenLocked, run: run)

  /// Names what can be done; nothing: to meet the store.
  private enum Action: String, CaseIterable {
    case initialize = "init"
    case join, enter, status, devices, compact, sql

    /// The options that it takes.
    var options: [OptionName] {
      switch self {
      case .initialize: [.label, .slots, .weak]
      case .join: [.label, .recoveryKey, .recoveryKeyFile]
      case .enter:
        [
          .otherPasscodeFD, .otherPasscodeFile, .otherRecoveryKeyFile, .recoveryKey,
          .recoveryKeyFile,
        ]
      case .status: [.json]
      case .devices: [.json, .remove] + Sync.removing
      case .compact: []
      case .sql: [.role]
      }
    }
  }

  /// The options that go with the removal of a machine.
  private static let removing: [OptionName] = [
    .yes, .drop, .newRecoveryKeyFile, .noRecoveryKey, .keyFile, .keyFileFD, .tpm, .codeFD,
    .codeFile, .fido2, .pinFD, .pinFile,
  ]

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let operands = invocation.arguments.operands
    let action = try operands.first.map { word throws(CommandError) in
      guard let action = Action.allCases.first(where: { $0.rawValue.utf8.elementsEqual(word) })
      else {
        throw .usage(
          "sync does not know " + Diagnostic.quoted(word),
          hint:
            "say init, join, enter, status, devices, compact or sql, or nothing to meet the store")
      }
      return action
    }
    try check(action, invocation.arguments)
    // No vault has anything to say to it.
    if action == .sql {
      return try become(["sql"] + (try invocation.text(.role).map { ["--role", $0] } ?? []))
    }
    let access = try invocation.agentAccess(verb: command.verb)
    if invocation.arguments.has(.watch) {
      // A vault that is locked is waited for.
      return try become(
        ["--vault", access.vault.name ?? access.vault.path, "--watch"]
          + (invocation.messages.isQuiet ? ["-q"] : []))
    }
    switch action {
    case .status: try showStatus(access, &invocation)
    case .devices:
      if let name = try invocation.text(.remove) { return try remove(name, access, &invocation) }
      try showDevices(access, &invocation)
    case .enter: return try enter(try program(), access, invocation)
    case .join: return try join(try program(), access, invocation)
    case .initialize, .compact, .sql, nil: return try carry(operands, access, invocation)
    }
    return .ok
  }

  private static func check(_ action: Action?, _ arguments: Arguments) throws(CommandError) {
    let verb = "sync" + (action.map { " " + $0.rawValue } ?? "")
    for option in command.options where arguments.has(option.name) {
      guard action?.options.contains(option.name) != true, action != nil || option.name != .watch
      else { continue }
      throw .usage(.optionUnexpected(option.name, verb: verb))
    }
    try parsing { () throws(UsageError) in try arguments.refuse(.remove, with: .json) }
    for option in removing where arguments.has(option) && !arguments.has(.remove) {
      throw .usage(.optionUnexpected(option, verb: verb))
    }
    let takesStore = action == .initialize || action == .join
    let count = takesStore ? 2 : action == nil ? 0 : 1
    guard arguments.operands.count == count else {
      throw .usage(
        verb + (takesStore ? " takes a store" : " takes nothing else"),
        hint: !takesStore
          ? "leave it out: the store is the one that 'kura sync init' or 'kura sync join' named"
          : action == .join
            ? "name a folder: 'kura sync join dir:FOLDER'"
            : "name a folder: 'kura sync init dir:FOLDER'")
    }
  }

  /// The program that carries.
  private static func program() throws(CommandError) -> String {
    guard let program = System.companion("kura-sync") else {
      throw .failure(
        "the program kura-sync is not installed beside kura",
        hint: "it is the package kura-sync; all else works without it")
    }
    return program
  }

  /// Becomes the program that carries.
  private static func become(_ words: [String]) throws(CommandError) -> ExitStatus {
    let program = try program()
    let failed = System.become(program, [program] + words)
    throw .client(.programUnstartable(path: program, errno: -failed))
  }

  /// The same for a vault that is unlocked first, with what the program is asked for.
  static func carry(
    _ operands: [[UInt8]], _ access: VaultAccess, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    var words = ["--vault", access.vault.name ?? access.vault.path]
    if invocation.messages.isQuiet { words.append("-q") }
    if let label = try invocation.text(.label) { words += ["--label", label] }
    if invocation.arguments.has(.weak) { words.append("--weak") }
    let slots = try Slots.wanted(invocation.arguments)
    if slots == .recovery { words += ["--slots", Slots.recovery.rawValue] }
    words.append("--")
    for operand in operands { words.append(try Invocation.text(operand)) }
    let status = try status(access)
    try slots?.check(status, access)
    return try become(words)
  }

  static func status(_ access: VaultAccess) throws(CommandError) -> SyncStatusReply {
    try access.unlocked { connection throws(ClientError) in try connection.syncStatus() }
  }

  /// Says of what is gone from the vault, or was there before it took the passcode, that the store still has it.
  ///
  /// - Parameter vault: The id of the one that was changed.
  static func tellOfStore(_ vault: [UInt8], _ messages: Messages) {
    guard hasStore(vault) else { return }
    messages.note("what the store has of it, sealed, is still there")
    messages.suggest("'kura sync compact' has all machines take it out")
  }

  /// Says of earlier values that are gone from the vault who has them yet: each machine has a history of its own.
  ///
  /// - Parameter vault: The id of the one that was changed.
  static func tellOfHistories(_ vault: [UInt8], _ messages: Messages) {
    guard hasStore(vault) else { return }
    messages.note("other machines have what was in their histories, and the store has it, sealed")
    messages.suggest("purge it there, too, then 'kura sync compact' takes it out of the store")
  }

  /// Says that a data key is a matter of this machine.
  ///
  /// - Parameter vault: The id of the one that was rotated.
  static func tellOfRotation(_ vault: [UInt8], _ messages: Messages) {
    guard hasStore(vault) else { return }
    messages.note("nothing that is in the store is renewed by that; 'kura rekey' does it there")
  }

  static func hasStore(_ vault: [UInt8]) -> Bool {
    guard let note = try? StoreNote.read(for: vault) else { return false }
    return !note.remote.isEmpty
  }

  /// What this machine has noted of the store of a vault; nil for none.
  static func note(_ access: VaultAccess) throws(CommandError) -> StoreNote? {
    let report = try access.unlocked { connection throws(ClientError) in try connection.status() }
    do throws(PathError) { return try StoreNote.read(for: report.vault) } catch {
      throw .path(error)
    }
  }
}

// MARK: - For people

extension Sync {
  private static func showStatus(
    _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    let status = try status(access)
    let note = try note(access)
    guard !invocation.arguments.has(.json) else {
      return try writeJSON(status, note, &invocation.output)
    }
    try invocation.output.write("store: ")
    try invocation.output.write(escaped: note?.remote ?? "none")
    guard status.isShared else {
      try invocation.output.write("\nnot shared\n")
      return invocation.messages.suggest("share it by a folder: 'kura sync init dir:FOLDER'")
    }
    let met = note?.met ?? 0
    try invocation.output.write(
      "\nmet: " + (met == 0 ? "never" : Moment.local(met)) + "\nwaiting: \(status.waiting)\n")
    try invocation.output.write(
      "slots in the store: " + (status.isSparing ? Slots.recovery.rawValue : "all") + "\n")
    try invocation.output.write("epoch: " + StorePlace.hexadecimal(status.epoch) + "\n")
    try invocation.output.write("heads: " + HeadWords.text(status.heads) + "\n")
    if !status.fingerprint.isEmpty {
      let fingerprint = StorePlace.hexadecimal(status.fingerprint)
      try invocation.output.write("fingerprint: " + fingerprint + "\n")
    }
    for notice in note?.notices ?? [] {
      let device = device(notice.device, status)
      try invocation.output.write(notice.notice.word + ": ")
      try invocation.output.write(escaped: name(device, among: status.devices))
      if device.heard > 0 { try invocation.output.write(", heard " + Moment.local(device.heard)) }
      try invocation.output.write("\n")
    }
  }

  /// What is known of a device by its id.
  private static func device(_ id: [UInt8], _ status: SyncStatusReply) -> SyncDevice {
    if let known = status.devices.first(where: { $0.device == id }) { return known }
    var device = SyncDevice()
    device.device = id
    return device
  }

  private static func showDevices(
    _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    let status = try status(access)
    guard !invocation.arguments.has(.json) else {
      return try writeDevicesJSON(status, &invocation.output)
    }
    for device in status.devices {
      try invocation.output.write(escaped: name(device, among: status.devices))
      let heard = device.heard == 0 ? "never heard" : "heard " + Moment.local(device.heard)
      try invocation.output.write(
        "\t\(device.number)\t" + (device.isThis ? "this machine" : heard)
          + (device.isBehind ? ", without the key of now" : "")
          + (device.isAwaited ? ", waited for" : "")
          + (device.isRemoved ? ", removed" : "") + "\n")
    }
    if !status.isShared { invocation.messages.note("the vault is not shared") }
  }

  /// What people call one of several; where others are called so too, its id follows.
  static func name(_ device: SyncDevice, among all: [SyncDevice]) -> String {
    let name = name(device.label, device.device)
    guard device.isNamesake(among: all) else { return name }
    return name + " (" + StorePlace.hexadecimal(device.device) + ")"
  }

  static func name(_ label: [UInt8], _ device: [UInt8]) -> String {
    label.isEmpty ? StorePlace.hexadecimal(device) : String(repairing: label.span)
  }
}

// MARK: - For programs

extension Sync {
  private static func writeJSON(
    _ status: SyncStatusReply, _ note: StoreNote?, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("shared", status.isShared)
    if let note { try output.member("store", note.remote) }
    if let met = note?.met, met > 0 { try output.member("met", moment: met) }
    try output.member("waiting", status.waiting)
    if status.isShared {
      try output.member("slots", status.isSparing ? Slots.recovery.rawValue : "all")
      try output.member("epoch-id", StorePlace.hexadecimal(status.epoch))
      try output.member("heads", HeadWords.text(status.heads))
    }
    if !status.fingerprint.isEmpty {
      try output.member("fingerprint", StorePlace.hexadecimal(status.fingerprint))
    }
    try output.key("notices")
    try output.openArray()
    for notice in note?.notices ?? [] {
      let known = device(notice.device, status)
      try output.openObject()
      try output.member("notice", notice.notice.word)
      try writeDevice(known.device, known.label, known.heard, &output)
      try output.closeObject()
    }
    try output.closeArray()
    try output.closeDocument()
  }

  private static func writeDevicesJSON(
    _ status: SyncStatusReply, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.key("devices")
    try output.openArray()
    for device in status.devices {
      try output.openObject()
      try writeDevice(device.device, device.label, device.heard, &output)
      try output.member("head", device.number)
      try output.member("this", device.isThis)
      try output.member("behind", device.isBehind)
      try output.member("awaited", device.isAwaited)
      try output.member("removed", device.isRemoved)
      try output.closeObject()
    }
    try output.closeArray()
    try output.closeDocument()
  }

  private static func writeDevice(
    _ device: [UInt8], _ label: [UInt8], _ heard: UInt64, _ output: inout Output
  ) throws(CommandError) {
    if !device.isEmpty { try output.member("device", StorePlace.hexadecimal(device)) }
    if !label.isEmpty { try output.member("label", String(repairing: label.span)) }
    if heard > 0 { try output.member("heard", moment: heard) }
  }
}
