// SPDX-License-Identifier: MIT

/// Keeps each use of a key apart from every other: the one table of labels.
public enum Label: Sendable {
  /// One-use key and commitment of a ciphertext.
  case seal
  /// From the vault key; each followed by the vault id.
  case name, ring, tree, root, seen, log
  /// From a slot's secret; each followed by the vault id and the slot's header.
  case keyEncryptionKey, protectedKeyEncryptionKey
  /// A slot's secret; each followed by the slot's salt.
  case recoveryKey, keyFile
  /// A slot's secret from a device secret and a short code.
  case deviceSecret
  /// From what Argon2id made of a code: what a TPM is shown for its secret, and what that is mixed with; each followed by
  /// the vault id and the slot's id.
  case chipCode, chipMix
  /// A slot's secret from that of a TPM, with a code and without one.
  case chip, chipAlone
  /// What a security key is asked for, with no key; followed by the ids of vault and slot, and the slot's salt.
  case keySalt
  /// A slot's secret from what a security key gave.
  case securityKey
  /// From a slot's secret: how a wrong one is known again. In memory only.
  case mistake
  /// From a device secret: what destroys it.
  case eraseRule
  /// From a device secret: at which length a code is sent.
  case submitRule
  /// The inner key of a protected value.
  case protectedValue
  /// The log's pair, from its key; followed by the vault id.
  case logPair
  /// The inner key of what is logged while the vault is locked.
  case logEntry
  /// The log's chain.
  case logChain
  /// From the ring's key, followed by the vault id: seals the keys of what clients hold beyond a lock. In no file.
  case draft
  /// A subkey: what copies of a vault know of each other.
  case sync
  /// The id of a revision that was written without one.
  case oldRevision
  /// Stands for the device of such revisions; followed by the item's id.
  case oldItem
  /// Stands for who made a slot before changes of the slots had names; followed by the slot's id.
  case oldSlot
  /// Stands for the slots as they were then; followed by their ids.
  case oldSlots
  /// A machine, as one vault knows it; followed by the vault id.
  case machine
  /// From the vault key, followed by the vault id: seals what stands in a store for other devices, and proves to them
  /// that who began an epoch had the key of the one before.
  case remote, epoch
  /// From a device's seed, followed by vault and device id: seals what it says to itself.
  case own
  /// The id and the seed of a device that finds that another one has its id.
  case twin

  /// The label's ASCII bytes.
  public var text: StaticString {
    switch self {
    case .seal: "kura1/seal"
    case .name: "kura1/name"
    case .ring: "kura1/ring"
    case .tree: "kura1/tree"
    case .root: "kura1/root"
    case .seen: "kura1/seen"
    case .log: "kura1/log"
    case .sync: "kura1/sync"
    case .oldRevision: "kura1/revision"
    case .oldItem: "kura1/old-item"
    case .oldSlot: "kura1/old-slot"
    case .oldSlots: "kura1/old-slots"
    case .machine: "kura1/machine"
    case .remote: "kura1/remote"
    case .epoch: "kura1/epoch"
    case .own: "kura1/own"
    case .twin: "kura1/twin"
    case .keyEncryptionKey: "kura1/kek"
    case .protectedKeyEncryptionKey: "kura1/kek-protected"
    case .recoveryKey: "kura1/recovery"
    case .keyFile: "kura1/key-file"
    case .deviceSecret: "kura1/2skd"
    case .chipCode: "kura1/tpm-auth"
    case .chipMix: "kura1/tpm-mix"
    case .chip: "kura1/tpm"
    case .chipAlone: "kura1/tpm-none"
    case .keySalt: "kura1/fido2-salt"
    case .securityKey: "kura1/fido2"
    case .mistake: "kura1/mistake"
    case .eraseRule: "kura1/erase"
    case .submitRule: "kura1/submit"
    case .protectedValue: "kura1/protected"
    case .logPair: "kura1/log-pair"
    case .logEntry: "kura1/log-entry"
    case .logChain: "kura1/log-chain"
    case .draft: "kura1/draft"
    }
  }
}

/// Names what a key derived from the vault key is for.
public enum KeyPurpose: CaseIterable, Sendable {
  /// Item names to tags.
  case name
  /// Seals the key ring.
  case ring
  /// Hashes the integrity tree and the fingerprint.
  case tree
  /// Seals the root, hashes the header.
  case root
  /// Authenticates what a machine has seen.
  case seen
  /// Seals the access log.
  case log
  /// Seals what copies of a vault know of each other.
  case sync
  /// Seals what stands in a store for other devices.
  case remote
  /// Proves to them that who began an epoch had this key.
  case epoch

  var label: Label {
    switch self {
    case .name: .name
    case .ring: .ring
    case .tree: .tree
    case .root: .root
    case .seen: .seen
    case .log: .log
    case .sync: .sync
    case .remote: .remote
    case .epoch: .epoch
    }
  }
}
