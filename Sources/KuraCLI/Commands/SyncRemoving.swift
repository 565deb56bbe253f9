// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura sync devices --remove`: takes a machine out by giving the vault another key.
extension Sync {
  static func remove(
    _ name: String, _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let status = try status(access)
    let device = try device(called: name, in: status)
    let shown = Diagnostic.shown(self.name(device, among: status.devices))
    try Rekey.rekey(&invocation, removing: device.device)
    let messages = invocation.messages
    messages.note(shown + " shares the vault no longer; what it has it keeps")
    var connection = try access.connect()
    tellOfLoss(&connection, messages)
    let others = status.devices.filter {
      !$0.isThis && !$0.isRemoved && $0.device != device.device
    }
    for other in others {
      let place = Diagnostic.shown(self.name(other, among: status.devices))
      messages.note(
        "until 'kura sync enter' was run on " + place + ", what is stored there can be read by "
          + shown)
    }
    guard try note(access) != nil else { return .ok }
    return try carry([], access, invocation)
  }

  /// Says what who has the lost machine may yet learn from the store.
  private static func tellOfLoss(_ connection: inout Connection, _ messages: Messages) {
    guard sparesStore(&connection) != true else {
      return messages.note(
        "the others enter by the new recovery key, and nobody who has the machine by its passcode: keep it out"
          + " of the store all the same")
    }
    messages.note(
      "who has it and learns the passcode opens what the store has: keep it out of the store, and "
        + "if the passcode may be known or guessed, change it by 'kura passcode' and run "
        + "'kura rekey' then")
  }

  /// The machine that is meant: by its label, or its id.
  private static func device(
    called name: String, in status: SyncStatusReply
  ) throws(CommandError) -> SyncDevice {
    let wanted = Array(name.utf8)
    let sharing = status.devices.filter { !$0.isRemoved }
    // Whatever somebody calls another machine, an id is one's own.
    let exact = sharing.filter {
      StorePlace.hexadecimal($0.device).utf8.elementsEqual(name.utf8)
    }
    let found = exact.isEmpty ? sharing.filter { $0.label == wanted } : exact
    let shown = Diagnostic.shown(name)
    guard let device = found.first else {
      throw .failure(
        "no machine that shares the vault is called " + shown,
        hint: "'kura sync devices' lists them", .notFound)
    }
    guard found.count == 1 else {
      throw .failure(
        "\(found.count) machines are called " + shown,
        hint: "name the one that is meant by its id: 'kura sync devices --json' has it",
        .ambiguous)
    }
    guard !device.isThis else {
      throw .failure(
        "this machine cannot take itself out",
        hint: "do it on another one; 'kura rekey' alone gives the vault another key", .denied)
    }
    return device
  }
}
