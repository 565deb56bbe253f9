// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Keeps which protected values a proof is to open, to outlive the request.
final class ProvedScope {
  private let revision: UInt64
  private let names: KeptNames

  init(_ scope: ProofScope) throws(Refusal) {
    revision = scope.revision
    names = try KeptNames(scope.names)
  }

  /// What opens these values, and no other where there are names: then the half is gone when this returns.
  func key(
    from half: consuming ProtectedKey, on session: Session, in agent: Agent
  ) throws(Refusal) -> ProtectedKey {
    guard names.count > 0 else { return half }
    let half: ProtectedKey? = half
    var bodies: [BodyKey] = []
    try names.forEach { name throws(Refusal) in
      for revision in revision == 0 ? [nil] : [nil, revision] {
        let body = try agent.bodyKey(name, revision: revision, from: half, on: session)
        if let body { bodies.append(body) }
      }
    }
    // Where the keys were made, copies of the half may be left.
    kura_stack_wipe()
    return ProtectedKey(of: bodies)
  }
}

extension Agent {
  /// What opens a protected value; nil for any other, and where there is none by that name.
  fileprivate func bodyKey(
    _ name: borrowing Field, revision: UInt64?, from half: borrowing ProtectedKey?,
    on session: Session
  ) throws(Refusal) -> BodyKey? {
    let bytes = name.bytes
    do throws(Refusal) {
      return try work(on: session) { vault throws(VaultError) in
        try vault.bodyKey(bytes, revision: revision, from: half)
      }
    } catch {
      // Who reads it is told.
      let isAbsent = [Failure.notFound, .revisionNotFound, .nameInvalid].contains(error.failure)
      guard isAbsent else { throw error }
      return nil
    }
  }
}

/// Keeps names of a request as they stood in it.
struct KeptNames: ~Copyable {
  let encoded: SecretBytes
  let count: Int

  init(_ names: KeyFields) throws(Refusal) {
    count = names.count
    do throws(SecureMemoryError) { encoded = try SecretBytes(copying: names.encoded) } catch {
      throw .outOfMemory
    }
  }

  func forEach(_ body: (borrowing Field) throws(Refusal) -> Void) throws(Refusal) {
    try Self.each(of: encoded, count, body)
  }

  private static func each(
    of names: borrowing SecretBytes, _ count: Int,
    _ body: (borrowing Field) throws(Refusal) -> Void
  ) throws(Refusal) {
    let fields = KeyFields(names.bytes, count: count)
    try fields.forEach(body)
  }
}
