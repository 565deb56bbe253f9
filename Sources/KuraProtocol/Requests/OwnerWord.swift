// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Carries the passcode, recovery key or code for the TPM by which the owner says, in the request itself, that it is meant; or
/// says that there is none. It is good for that request alone, and ends it.
public struct OwnerWord: Message, ~Escapable {
  /// Which of them it is; nil for no word.
  public private(set) var credential: Credential?
  /// As typed; without bytes for no word.
  public private(set) var secret: Field

  /// No word.
  @_lifetime(immortal)
  public init() {
    credential = nil
    secret = Field()
  }

  /// The owner's word, as typed.
  @_lifetime(copy secret)
  public init(_ credential: Credential, _ secret: Span<UInt8>) {
    self.credential = credential
    self.secret = Field(secret)
  }

  /// Goes over `credential u8`, and `secret b16` where that is not 0; only an owner's credential
  /// is taken; whether a code is one is for the vault to say.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    var raw = credential?.rawValue ?? 0
    try coder.number(&raw)
    credential = Credential(rawValue: raw)
    guard raw != 0 else { return }
    // What lies about, and what is short and counted nowhere, opens a vault and vouches for nobody.
    guard credential?.mayBeOwners == true else { throw .fieldValue }
    try coder.field16(&secret)
  }

  /// The same where it is to open what another machine has: what a person knows or wrote down.
  @_lifetime(self: copy self, copy coder)
  mutating func codeElsewhere(_ coder: inout some Coding) throws(ProtocolError) {
    try code(&coder)
    guard credential != .tpm, credential != .fido2 else { throw .fieldValue }
  }
}

extension Credential {
  /// Whether it may be an owner's word: what a person knows or wrote down, or what its slot was made to be that by.
  public var mayBeOwners: Bool {
    switch self {
    case .passcode, .recoveryKey, .tpm, .fido2: true
    case .keyFile, .local: false
    }
  }
}
