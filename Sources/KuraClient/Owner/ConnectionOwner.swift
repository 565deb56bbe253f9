// SPDX-License-Identifier: MIT

public import KuraProtocol

/// What takes the owner's word where he protected the item: it is done at once where it does not, and else he is asked.
extension Connection {
  /// Reads a value; where it is protected, its owner is asked.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - revision: An earlier revision that is kept; 0 = the current one.
  ///   - owner: Who is asked, and where.
  ///   - reason: What for, in the app's words.
  ///   - sink: As for ``get(_:revision:for:into:)``.
  public mutating func get(
    _ name: String, revision: UInt64 = 0, asking owner: Owner, reason: String,
    into sink: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(OwnerError) {
    do throws(ClientError) { try get(name, revision: revision, into: sink) } catch {
      try error.check(isOf: .protected)
      try owner.read(Self.option(revision), reason: reason, name, into: sink)
    }
  }

  /// Takes an item, or earlier revisions of it, out of the vault for good; where it is protected, its owner is asked.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - scope: What is to go.
  ///   - revision: Which one; 0 for every other scope.
  ///   - owner: Who is asked, and where.
  ///   - reason: What for, in the app's words.
  public mutating func purge(
    _ name: String, _ scope: PurgeRequest.Scope, revision: UInt64 = 0, asking owner: Owner,
    reason: String
  ) throws(OwnerError) {
    do throws(ClientError) { _ = try purge(name, scope, revision: revision) } catch {
      try error.check(isOf: .ownerNeeded)
      let options = scope == .history ? ["--history"] : Self.option(revision)
      try owner.ask("purge", ["--yes"] + options, reason: reason, [name])
    }
  }

  /// Gives an item another name; where something protected stands under either name, the owner is asked.
  ///
  /// - Parameters:
  ///   - name: The name it has.
  ///   - new: The name it is to have.
  ///   - replacing: Whether a value may stand under the new name, as for ``move(_:to:replacing:files:by:)``.
  ///   - owner: Who is asked, and where.
  ///   - reason: What for, in the app's words.
  public mutating func move(
    _ name: String, to new: String, replacing: Bool = false, asking owner: Owner, reason: String
  ) throws(OwnerError) {
    do throws(ClientError) { _ = try move(name, to: new, replacing: replacing) } catch {
      try error.check(isOf: .ownerNeeded)
      try owner.ask("mv", replacing ? ["--replace"] : [], reason: reason, [name, new])
    }
  }

  /// Has an item's values be read again without a passcode; the owner of a protected one is asked.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - owner: Who is asked, and where.
  ///   - reason: What for, in the app's words.
  public mutating func unprotect(
    _ name: String, asking owner: Owner, reason: String
  ) throws(OwnerError) {
    do throws(ClientError) { _ = try unprotect(name) } catch {
      try error.check(isOf: .ownerNeeded)
      try owner.ask("unprotect", reason: reason, [name])
    }
  }

  private static func option(_ revision: UInt64) -> [String] {
    revision == 0 ? [] : ["--revision=" + String(revision)]
  }
}

extension ClientError {
  /// Goes on only after a refusal that the owner's word can change.
  fileprivate func check(isOf failure: Failure) throws(OwnerError) {
    guard case .refused(let refused) = self, refused.failure == failure else {
      throw .client(self)
    }
  }
}
