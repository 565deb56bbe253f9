// SPDX-License-Identifier: MIT

public import KuraClient
internal import KuraProtocol
public import SecureMemory

/// Keeps what an app stores after sign-in in the user's vault, under the app's name: as short to use as a keychain.
///
///     let keychain = Keychain(service: "com.example.juice")
///     try keychain.set("001742.8c3d51f0a9be.0931", for: "userIdentifier")
///     let user = try keychain.get("userIdentifier")  // nil: nobody is signed in
///     try keychain.remove("userIdentifier")
///
/// An account is an item of the vault, `SERVICE/ACCOUNT`, which `kura get` reads, too. The agent that the user runs is
/// asked, and nobody else: where the vault is locked, ``KeychainError/locked`` is thrown, never a value missed, and
/// no prompt stands before somebody who did not ask for it. Who wants one calls `unlock(reason:)`.
///
/// All calls block until the agent has answered, ``timeLimit`` at most; each has an `async` form of the same name. Values
/// are safe from other threads and processes: each call is done whole, or not at all.
public struct Keychain: Sendable {
  /// The name of an app, in reverse-DNS form.
  public let service: String
  /// Which vault; nil: the user's, by `$KURA_VAULT`, else the one named `default`.
  public var vault: VaultPath?
  /// How long an answer of the agent is waited for, in ms. A person who is asked may take as long as he likes.
  public var timeLimit: Int32 = 10_000
  /// Where the owner is asked, where he is.
  public var place = Owner.Place.program
  /// The file of `kura`, which asks him; nil: the one beside this program, else the one that is installed.
  public var program: String?

  /// What an app keeps.
  ///
  /// - Parameters:
  ///   - service: The name of the app, in reverse-DNS form, such as `com.example.juice`.
  ///   - vault: Which vault; nil: the user's.
  public init(service: String, vault: VaultPath? = nil) {
    self.service = service
    self.vault = vault
  }

  /// The name that an account's item has in the vault.
  public func name(of account: String) -> String { service + "/" + account }
}

// MARK: - Values

extension Keychain {
  /// Keeps a text; what was kept before stays in the item's history. A String is copied at will and wiped never: what
  /// is a secret goes by `set(_:for:)`.
  public func set(_ text: String, for account: String) throws(KeychainError) {
    try put(text.utf8.span, account)
  }

  /// Keeps any bytes, up to those that a value may have.
  public func set(_ secret: borrowing SecretBytes, for account: String) throws(KeychainError) {
    try put(secret.bytes, account)
  }

  private func put(_ value: Span<UInt8>, _ account: String) throws(KeychainError) {
    let order = PutOrder(name: name(of: account), flags: [.replace, .allowEmpty])
    _ = try asking { connection throws(ClientError) in try connection.put(order, value: value) }
  }

  /// Reads a text; nil: nothing is kept under that account.
  ///
  /// - Parameters:
  ///   - account: Which of the app's items.
  ///   - reason: What for, in the app's words: who protected the item is asked then. Nil: he is not, and
  ///     ``KeychainError/protected`` is thrown.
  public func get(_ account: String, reason: String? = nil) throws(KeychainError) -> String? {
    guard let secret = try secret(account, reason: reason) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(secret.count)
    let span = secret.bytes
    for index in span.indices { bytes.append(span[index]) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText }
    return text
  }

  /// Reads any value into memory that is locked, and wiped when it is let go; nil: nothing is kept there.
  ///
  /// - Parameters:
  ///   - account: Which of the app's items.
  ///   - reason: As for `get(_:reason:)`.
  public func secret(
    _ account: String, reason: String? = nil
  ) throws(KeychainError) -> SecretBytes? {
    var buffer: SecretBuffer
    do throws(SecureMemoryError) { buffer = try SecretBuffer(capacity: 64) } catch {
      throw .client(.outOfMemory)
    }
    let isThere = try found { () throws(KeychainError) in
      try read(name(of: account), reason) { part throws(ClientError) in
        do throws(SecureMemoryError) { try buffer.append(part) } catch { throw .outOfMemory }
      }
    }
    return isThere ? buffer.finish() : nil
  }

  private func read(
    _ name: String, _ reason: String?, into sink: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(KeychainError) {
    try asking { connection throws(OwnerError) in
      guard let reason else {
        do throws(ClientError) { try connection.get(name, into: sink) } catch {
          throw .client(error)
        }
        return
      }
      try connection.get(name, asking: try owner(), reason: reason, into: sink)
    }
  }

  /// Whether something is kept under an account; says nothing of what.
  public func contains(_ account: String) throws(KeychainError) -> Bool {
    try found { () throws(KeychainError) in
      _ = try asking { connection throws(ClientError) in try connection.show(name(of: account)) }
    }
  }

  /// The accounts under which something is kept, sorted.
  public func accounts() throws(KeychainError) -> [String] {
    let head = service + "/"
    var found: [String] = []
    try asking { connection throws(ClientError) in
      try connection.list(ListOrder(prefix: head)) { item throws(ClientError) in
        found.append(String(item.name.dropFirst(head.count)))
      }
    }
    return found.sorted()
  }

  /// Forgets what is kept under an account; that there is nothing is as good.
  ///
  /// - Parameters:
  ///   - account: Which of the app's items.
  ///   - keepingHistory: Whether its values can still be had by the item's history, which an app that signs
  ///     somebody out does not want.
  ///   - reason: What for, in the app's words: who protected the item is asked then.
  /// - Returns: Whether there was something.
  @discardableResult
  public func remove(
    _ account: String, keepingHistory: Bool = false, reason: String? = nil
  ) throws(KeychainError) -> Bool {
    let name = name(of: account)
    return try found { () throws(KeychainError) in
      try asking { connection throws(OwnerError) in
        do throws(ClientError) {
          if keepingHistory { return try connection.remove(name) }
          guard reason != nil else { return _ = try connection.purge(name, .item) }
        } catch { throw .client(error) }
        try connection.purge(name, .item, asking: try owner(), reason: reason ?? "")
      }
    }
  }

  /// Whether something was found: that nothing is there is an answer, and no error.
  private func found(
    _ body: () throws(KeychainError) -> Void
  ) throws(KeychainError) -> Bool {
    do throws(KeychainError) { try body() } catch {
      guard error.isNotFound else { throw error }
      return false
    }
    return true
  }
}

// MARK: - The owner

extension Keychain {
  /// Has the user prove that he is there; reads nothing, and unlocks nothing.
  ///
  /// - Parameters:
  ///   - reason: What for, in the app's words: 40 characters of it are shown.
  ///   - account: Asks only where that item is protected, or the vault locked, when nobody can tell.
  public func authenticate(reason: String, for account: String? = nil) throws(KeychainError) {
    try asked { owner throws(OwnerError) in
      try owner.authenticate(reason: reason, item: account.map { name(of: $0) })
    }
  }

  /// Has the user unlock the vault; where it is unlocked, nobody is asked.
  ///
  /// - Parameter reason: What for, in the app's words.
  public func unlock(reason: String) throws(KeychainError) {
    try asked { owner throws(OwnerError) in try owner.unlock(reason: reason) }
  }

  private func asked(_ body: (Owner) throws(OwnerError) -> Void) throws(KeychainError) {
    do throws(OwnerError) { try body(try owner()) } catch { throw KeychainError(error) }
  }

  private func owner() throws(OwnerError) -> Owner {
    do throws(PathError) {
      return Owner(of: try located(), at: place, program: program)
    } catch { throw .client(.path(error)) }
  }
}

// MARK: - The agent

extension Keychain {
  func located() throws(PathError) -> VaultPath {
    if let vault { return vault }
    return try VaultPath.resolve(nil)
  }

  /// Connects to the agent that is running.
  func connection() throws(ClientError) -> Connection {
    let vault: VaultPath
    do throws(PathError) { vault = try located() } catch { throw .path(error) }
    var connection = try Connection.open(vault, engine: .running)
    connection.limit(milliseconds: timeLimit)
    return connection
  }

  private func asking<Value>(
    _ body: (inout Connection) throws(ClientError) -> Value
  ) throws(KeychainError) -> Value {
    do throws(ClientError) {
      var connection = try connection()
      return try body(&connection)
    } catch { throw explained(error) }
  }

  private func asking(
    _ body: (inout Connection) throws(OwnerError) -> Void
  ) throws(KeychainError) {
    var connection: Connection
    do throws(ClientError) { connection = try self.connection() } catch { throw explained(error) }
    do throws(OwnerError) { try body(&connection) } catch { throw KeychainError(error) }
  }

  /// An agent that is not there holds no vault: neither one that is locked nor one that was never made.
  private func explained(_ error: ClientError) -> KeychainError {
    error == .noAgent && (try? located())?.isThere == false ? .noVault : KeychainError(error)
  }
}
