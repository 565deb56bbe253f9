// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

/// Carries the passcode or recovery key by which the owner says that a request is meant; wiped when
/// dropped.
public struct Word: ~Copyable {
  /// A passcode or the recovery key.
  public let kind: Credential
  /// As typed; prepared by the agent.
  public let secret: SecretBytes

  /// What was typed, or read from a file.
  public init(_ kind: Credential, _ secret: consuming SecretBytes) {
    self.kind = kind
    self.secret = secret
  }
}

extension Connection {
  /// How long an answer is waited for that may take the proof of a word.
  func patience(by word: borrowing Word?) -> Int32 {
    word == nil ? patience.answer : patience.derivation
  }
}

extension OwnerWord {
  /// The word as a request carries it.
  @_lifetime(borrow word)
  init(_ word: borrowing Word?) {
    switch word {
    case .none: self.init()
    case .some(let word): self.init(word.kind, word.secret.bytes)
    }
  }
}
