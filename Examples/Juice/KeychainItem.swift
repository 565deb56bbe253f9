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
    /// The item's owner protected it, and was not there to say that it may go.
    case protected
    /// The item's value is no UTF-8 text.
    case unexpectedData
    /// Anything else, with its reason.
    case unhandled(ClientError)
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
  /// - Parameter reason: What for, in this app's words, where the owner has to say so.
  func deleteItem(reason: String) throws(KeychainError) {
    do throws(KeychainError) {
      _ = try withConnection { connection throws(ClientError) in
        try connection.purge(name, .item)
        return ""
      }
    } catch {
      switch error {
      case .noItem: return
      case .protected: try askOwner(reason)
      case .locked, .unexpectedData, .unhandled: throw error
      }
    }
  }

  /// Has Kura itself ask the owner, once: no app should see the passcode.
  ///
  /// Foundation's Process would start it in the background, where it asks nobody.
  private func askOwner(_ reason: String) throws(KeychainError) {
    let words = ["kura", "purge", "--yes", "--reason", reason, name]
    var arguments = words.map { strdup($0) } + [nil]
    let variables = ProcessInfo.processInfo.environment
    var environment = variables.map { strdup($0.key + "=" + $0.value) } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var (kura, status) = (pid_t(), Int32(1))
    guard posix_spawnp(&kura, "kura", nil, nil, &arguments, &environment) == 0,
      waitpid(kura, &status, 0) == kura, status == 0
    else { throw .protected }
  }

  private func withConnection(
    _ body: (inout Connection) throws(ClientError) -> String?
  ) throws(KeychainError) -> String {
    let text: String?
    do throws(ClientError) {
      var connection = try Connection.open(try Self.vault(), engine: .running)
      text = try body(&connection)
    } catch { throw KeychainError(error) }
    guard let text else { throw .unexpectedData }
    return text
  }

  /// `$KURA_VAULT`, else the vault named `default`.
  private static func vault() throws(ClientError) -> VaultPath {
    do throws(PathError) { return try VaultPath.resolve(nil) } catch { throw .path(error) }
  }
}

extension KeychainItem.KeychainError {
  init(_ error: ClientError) {
    switch error {
    case .noAgent: self = .locked
    case .refused(let refused) where refused.failure == .locked: self = .locked
    case .refused(let refused) where refused.failure == .notFound: self = .noItem
    case .refused(let refused) where refused.failure == .ownerNeeded: self = .protected
    default: self = .unhandled(error)
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
