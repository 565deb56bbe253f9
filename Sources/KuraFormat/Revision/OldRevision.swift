// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import SecureMemory

/// Names revisions that were written in format 1, which gave them no ids: alike in all copies of the vault that had
/// them.
enum OldRevision {
  /// `H(none, 16; label ‖ item id ‖ u64 revision ‖ u8 class ‖ u8 kind ‖ meta)`.
  ///
  /// The value is not in it: what is made of a value that is protected later may not stand where the protected
  /// half is not needed.
  static func id(of meta: MetaView, _ facts: RowFacts) throws(FormatError) -> RevisionID {
    var hash = try begin(.oldRevision, facts.id)
    hash.update(integer: facts.revision)
    hash.update(integer: facts.protection.rawValue)
    hash.update(integer: facts.kind.rawValue)
    hash.update(meta.bytes)
    return try finish(hash)
  }

  /// `H(none, 16; label ‖ item id)`.
  static func device(of item: ItemID) throws(FormatError) -> DeviceID {
    try finish(try begin(.oldItem, item))
  }

  private static func begin(_ label: Label, _ item: ItemID) throws(FormatError) -> KeyedHash {
    do {
      var hash = try KeyedHash(keyBytes: Span(), byteCount: identifierByteCount)
      hash.update(label)
      hash.update(item)
      return hash
    } catch { throw .outOfMemory }
  }

  private static func finish<Subject>(
    _ hash: consuming KeyedHash
  ) throws(FormatError) -> Identifier<Subject> {
    do {
      let digest = try hash.finalizeSecret()
      return Identifier(digest.bytes)
    } catch { throw .outOfMemory }
  }
}

extension DeviceID {
  /// Stands for the copies in which an item's revisions of format 1 were made.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public static func ofOldRevisions(of item: ItemID) throws(FormatError) -> DeviceID {
    try OldRevision.device(of: item)
  }
}
