// SPDX-License-Identifier: MIT

import Foundation
import KuraClient
import KuraProtocol

/// One text in the user's vault, found by service and account as an item of a keychain is.
///
/// It asks the agent that is running, and nobody else: a program that starts in the background
/// must not put a prompt before somebody who did not ask for it.
struct KeychainItem {
  enum KeychainError: Error, Equatable {
    /// There is no such item.
    case noItem
    /// The vault is locked, or nobody has unlocked one yet.
    case locked
    /// The item's owner protected it, and did not say that it may go.
    case protected(WhyNot)
    /// The item's value is no UTF-8 text.
    case unexpectedData
    /// Anything else, with its reason.
    case unhandled(ClientError)
  }

  enum WhyNot: Equatable {
    /// Nobody could be asked.
    case notThere
    /// He gave up.
    case cancelled
    /// What was typed was wrong, now or too often before.
    case wrong
    /// In the words of Kura.
    case other(String)
  }

  /// Who keeps the item: the name of an app, in reverse-DNS form.
  let service: String
  /// Which of that app's items it is.
  let account: String

  /// The item's name in the vault.
  var name: String { service + "/" + account }

  /// Reads the text.
  ///
  /// A user identifier is no secret. What is one stays in the span that `get` hands out, whose
  /// bytes are wiped afterwards: a String is copied at will and wiped never.
  func readItem() throws(KeychainError) -> String {
    try withConnection { connection throws(ClientError) in
      var text: String?
      try connection.get(name) { bytes throws(ClientError) in
        // A long value comes in parts; none of ours is one.
        text = text == nil ? String(validating: bytes) : nil
      }
      return text
    }
  }

  /// Keeps a text; one that is there already goes to the item's history.
  func saveItem(_ text: String) throws(KeychainError) {
    _ = try withConnection { connection throws(ClientError) in
      let order = PutOrder(name: name, flags: [.replace])
      _ = try connection.put(order, value: text.utf8.span)
      return ""
    }
  }

  /// Takes the item out of the vault for good, with all its history; that there is none is as good.
  ///
  /// - Parameter reason: What for, in this app's words, where the owner has to say so: he is asked by Kura
  ///   itself, since no app should see the passcode.
  func deleteItem(reason: String) throws(KeychainError) {
    let vault = try Self.vault()
    let owner = Owner(of: vault, at: isatty(STDIN_FILENO) == 1 ? .terminal : .program)
    var connection = try Self.connection(about: vault)
    do throws(OwnerError) {
      try connection.purge(name, .item, asking: owner, reason: reason)
    } catch {
      let error = KeychainError(error)
      guard error == .noItem else { throw error }
    }
  }

  private func withConnection(
    _ body: (inout Connection) throws(ClientError) -> String?
  ) throws(KeychainError) -> String {
    var connection = try Self.connection(about: try Self.vault())
    let text: String?
    do throws(ClientError) { text = try body(&connection) } catch { throw KeychainError(error) }
    guard let text else { throw .unexpectedData }
    return text
  }

  private static func connection(about vault: VaultPath) throws(KeychainError) -> Connection {
    do throws(ClientError) { return try Connection.open(vault, engine: .running) } catch {
      throw KeychainError(error)
    }
  }

  /// `$KURA_VAULT`, else the vault named `default`.
  private static func vault() throws(KeychainError) -> VaultPath {
    do throws(PathError) { return try VaultPath.resolve(nil) } catch {
      throw .unhandled(.path(error))
    }
  }
}

extension KeychainItem.KeychainError {
  init(_ error: ClientError) {
    switch error {
    case .noAgent: self = .locked
    case .refused(let refused) where refused.failure == .locked: self = .locked
    case .refused(let refused) where refused.failure == .notFound: self = .noItem
    default: self = .unhandled(error)
    }
  }

  init(_ error: OwnerError) {
    switch error {
    case .nobody: self = .protected(.notThere)
    case .cancelled: self = .protected(.cancelled)
    case .wrong, .mustWait: self = .protected(.wrong)
    case .client(let error): self.init(error)
    case .failed(_, let reason): self = .protected(.other(reason))
    }
  }
}

extension String {
  /// The text that UTF-8 bytes are, or nil.
  fileprivate init?(validating bytes: Span<UInt8>) {
    var copy: [UInt8] = []
    for index in bytes.indices { copy.append(bytes[index]) }
    self.init(validating: copy, as: UTF8.self)
  }
}
