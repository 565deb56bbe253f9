// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraClient

// The same calls for who must not block a thread of Swift's own: each is made in a thread that ends with it. A task
// that is cancelled meanwhile gets its answer nevertheless, since what was asked for may be done already.

extension Keychain {
  /// Keeps a text, as `set(_:for:)` does.
  public func set(_ text: String, for account: String) async throws(KeychainError) {
    try await aside { keychain throws(KeychainError) in try keychain.set(text, for: account) }
  }

  /// Reads a text, as `get(_:reason:)` does.
  public func get(_ account: String, reason: String? = nil) async throws(KeychainError) -> String? {
    try await aside { keychain throws(KeychainError) in
      try keychain.get(account, reason: reason)
    }
  }

  /// Whether something is kept under an account.
  public func contains(_ account: String) async throws(KeychainError) -> Bool {
    try await aside { keychain throws(KeychainError) in try keychain.contains(account) }
  }

  /// The accounts under which something is kept, sorted.
  public func accounts() async throws(KeychainError) -> [String] {
    try await aside { keychain throws(KeychainError) in try keychain.accounts() }
  }

  /// Forgets what is kept under an account, as `remove(_:keepingHistory:reason:)` does.
  ///
  /// - Returns: Whether there was something.
  @discardableResult
  public func remove(
    _ account: String, keepingHistory: Bool = false, reason: String? = nil
  ) async throws(KeychainError) -> Bool {
    try await aside { keychain throws(KeychainError) in
      try keychain.remove(account, keepingHistory: keepingHistory, reason: reason)
    }
  }

  /// Has the user prove that he is there.
  public func authenticate(reason: String, for account: String? = nil) async throws(KeychainError) {
    try await aside { keychain throws(KeychainError) in
      try keychain.authenticate(reason: reason, for: account)
    }
  }

  /// Has the user unlock the vault.
  public func unlock(reason: String) async throws(KeychainError) {
    try await aside { keychain throws(KeychainError) in try keychain.unlock(reason: reason) }
  }

  private func aside<Value: Sendable>(
    _ body: @escaping @Sendable (Keychain) throws(KeychainError) -> Value
  ) async throws(KeychainError) -> Value {
    let result = await withCheckedContinuation { continuation in
      let isBegun = Aside.begin {
        do throws(KeychainError) {
          continuation.resume(returning: Result<Value, KeychainError>.success(try body(self)))
        } catch { continuation.resume(returning: .failure(error)) }
      }
      if !isBegun { continuation.resume(returning: .failure(.client(.outOfMemory))) }
    }
    return try result.get()
  }
}

/// Runs what blocks in a thread of its own.
final class Aside {
  private let body: @Sendable () -> Void

  private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  /// Begins; false: the system gave no thread, and nothing is run.
  static func begin(_ body: @escaping @Sendable () -> Void) -> Bool {
    let aside = unsafe Unmanaged.passRetained(Aside(body))
    var thread = pthread_t()
    let failed = unsafe pthread_create(
      &thread, nil,
      {
        guard let start = unsafe $0 else { return nil }
        unsafe Unmanaged<Aside>.fromOpaque(start).takeRetainedValue().body()
        return nil
      }, aside.toOpaque())
    guard failed == 0 else {
      unsafe aside.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
