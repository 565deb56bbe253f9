// SPDX-License-Identifier: MIT

internal import Glibc
public import KuraFormat
internal import KuraStorage

/// Tells what there is to say of a key slot.
public struct SlotReport: Equatable, Sendable {
  /// Where it stands, 0 to 15.
  public let number: UInt8
  /// What opens it.
  public let kind: SlotKind
  /// What a guess at it costs; nil where nothing is derived.
  public let kdf: KDFParameters?
  /// Whether its owner put it out of use.
  public let isDisabled: Bool
  /// Whether it opens protected values.
  public let holdsProtectedHalf: Bool
  /// Whether it could be opened here.
  public let availability: SlotAvailability
  /// Where this machine looks for its key file by itself; nil where it does not.
  public let looked: KeyFilePlace?
  /// Whether that waits for a person.
  public let isHeld: Bool
  /// At how many characters this machine's prompts send its code; 0 for not by themselves.
  public let submitLength: UInt8
  /// Whether its security key makes sure who uses it.
  public let isVerified: Bool
  /// What only the sealed ring knows; nil while the vault is locked, and for a slot without a note.
  public let note: SlotNote?
}

extension LockedVault {
  /// The slots as their headers tell; nothing of it is authentic.
  public var slotReports: [SlotReport] {
    SlotReport.list(slotRows, SlotNotes(), options)
  }
}

extension UnlockedVault {
  /// The slots as the root vouches for them.
  ///
  /// - Throws: As every call that reads the vault.
  public mutating func slotReports() throws(VaultError) -> [SlotReport] {
    try reading { vault throws(VaultError) in
      var rows: [SlotRow] = []
      for row in vault.trust.slots { rows.append(try row.inUse(vault.keys)) }
      return SlotReport.list(
        rows, vault.keys.ring.notes, vault.options,
        disabled: vault.trust.slots.filter(\.isDisabled).map(\.number))
    }
  }
}

extension UnlockedVault {
  /// Whether the passcode that opened the vault is cheaper to guess than policy asks for, and nobody
  /// asked for that: it is worth wrapping anew, with the same passcode.
  ///
  /// The code of a `local` slot is not meant: what is to be guessed of it is its machine's secret.
  public var mayBeStrengthened: Bool {
    guard let row = trust.slots.first(where: { $0.number == unlockSlot }),
      let header = try? SlotHeader(decoding: row.header.span), header.kind == .passcode
    else { return false }
    let isMeant = keys.ring.notes[header.id]?.isWeakCostMeant ?? false
    return (header.kdf.map(KDFLimits.isWeak) ?? false) && !isMeant
  }
}

extension SlotReport {
  fileprivate static func list(
    _ rows: [SlotRow], _ notes: SlotNotes, _ options: VaultOptions, disabled: [UInt8] = []
  ) -> [SlotReport] {
    let devices = DeviceSecrets(stateDirectory: options.stateDirectory)
    let places = KeyFilePlaces(stateDirectory: options.stateDirectory)
    return rows.compactMap { row in
      guard let header = try? SlotHeader(decoding: row.header.span) else { return nil }
      let note = notes[header.id]
      let looked = header.kind == .keyFile ? places.look(for: header.id) : nil
      return SlotReport(
        number: row.number, kind: header.kind, kdf: header.kdf,
        isDisabled: row.isDisabled || disabled.contains(row.number),
        holdsProtectedHalf: !row.protected.isEmpty,
        availability: looked.map { options.availability(of: $0) }
          ?? availability(of: header, note, devices, options),
        looked: looked, isHeld: looked.map { places.isHeld($0.slot) } ?? false,
        submitLength: header.kind == .local ? devices.submitLength(of: header.id) : 0,
        isVerified: header.credential?.isVerified == true, note: note)
    }
  }

  private static func availability(
    of header: SlotHeader, _ note: SlotNote?, _ devices: DeviceSecrets, _ options: VaultOptions
  ) -> SlotAvailability {
    switch header.kind {
    case .passcode, .recoveryKey: return .here
    case .local: return devices.has(header.id) ? .here : .missing
    case .later: return .missing
    // Whether it is another machine's TPM shows when this one's is asked.
    case .tpm2:
      let known = KnownChips(stateDirectory: options.stateDirectory)
      return header.chip.map { known.has($0) } == true ? .here : .unknown
    // Whether the key is plugged in shows when it is asked.
    case .fido2, .disabled: return .unknown
    case .keyFile:
      guard let place = note?.place, !place.isEmpty else { return .unknown }
      return options.availability(at: place)
    }
  }
}
