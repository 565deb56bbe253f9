// SPDX-License-Identifier: MIT

public import KuraClient
internal import KuraProtocol

/// Tells an app why nothing could be read, kept or forgotten, in a sentence, too.
public enum KeychainError: Error, Equatable, Sendable {
  /// The vault is locked, or no agent holds one: nobody can tell what is kept. `unlock(reason:)` has the
  /// user asked.
  case locked
  /// There is no vault: `kura init` makes one.
  case noVault
  /// The user protected the item, and was not asked.
  case protected
  /// The user was asked, and did not say yes, or could not be asked.
  case refused(OwnerError)
  /// What is kept is no UTF-8 text.
  case notText
  /// Anything else.
  case client(ClientError)
}

extension KeychainError: CustomStringConvertible {
  /// What went wrong, on one line, for people.
  public var description: String {
    switch self {
    case .locked: "the vault is locked"
    case .noVault: "there is no vault; 'kura init' makes one"
    case .protected: "the item is protected, and its owner was not asked"
    case .refused(let error): error.description
    case .notText: "what is kept is no text"
    case .client(let error): error.description
    }
  }
}

extension KeychainError {
  init(_ error: ClientError) {
    self = .client(error)
    if error == .noAgent { self = .locked }
    guard case .refused(let refusal) = error else { return }
    if refusal.failure == .locked { self = .locked }
    if refusal.failure == .noVault { self = .noVault }
    if refusal.failure == .protected || refusal.failure == .ownerNeeded { self = .protected }
  }

  init(_ error: OwnerError) {
    if case .client(let error) = error { self.init(error) } else { self = .refused(error) }
  }

  /// Whether nothing is kept there.
  var isNotFound: Bool {
    guard case .client(.refused(let refusal)) = self else { return false }
    return refusal.failure == .notFound
  }
}
