// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// The object of some chunks of a long value: as many as a piece has, or as there are.
  ///
  /// - Parameters:
  ///   - value: A value that a row names.
  ///   - first: The number of the first chunk.
  ///   - place: Where the object is going to stand.
  /// - Returns: Nil behind the last chunk.
  /// - Throws: Errors of the file.
  public mutating func piece(
    of value: ValueID, from first: UInt64, at place: ObjectPlace
  ) throws(VaultError) -> [UInt8]? {
    let chunks = try reading { vault throws(VaultError) in
      var chunks: [[UInt8]] = []
      for number in first..<(first + UInt64(PieceView.mostChunks)) {
        guard let data = try vault.rows.storage.chunk(number, of: value) else { break }
        chunks.append([UInt8](copying: data))
      }
      return chunks
    }
    guard !chunks.isEmpty else { return nil }
    let seal = AssociatedData.piece(
      of: value, from: first, vault: id, device: place.device, epoch: place.epoch)
    let body = try fromCrypto(
      .chunk,
      Seal.sealPadded(
        again: PieceView.encode(chunks), authenticating: seal.span, under: keys.remote))
    return try fromFormat(.chunk, RemoteObject.encode(.piece, in: place.epoch, body: body.span))
  }

  /// Puts the chunks of a piece into the vault, for a pack that comes later: until then they are an orphan's, which
  /// nothing names, and are swept with others.
  ///
  /// - Parameters:
  ///   - object: All bytes that were found.
  ///   - name: The hash under which they were looked for.
  ///   - value: The value that the chunks have to be of.
  ///   - first: The number that the first of them has to have.
  ///   - place: Where they were found.
  /// - Throws: ``VaultError/copyDamaged`` for what no device wrote there; errors of the file.
  public mutating func takePiece(
    _ object: [UInt8], named name: [UInt8], of value: ValueID, from first: UInt64,
    at place: ObjectPlace
  ) throws(VaultError) {
    let seal = AssociatedData.piece(
      of: value, from: first, vault: id, device: place.device, epoch: place.epoch)
    let plain: [UInt8]
    do throws(VaultError) {
      plain = try FoundPiece(object).opened(seal, in: place.epoch, named: name, keys)
    } catch { throw error.ofCopy }
    try take(plain.span, of: value, from: first)
  }

  private mutating func take(
    _ plain: Span<UInt8>, of value: ValueID, from first: UInt64
  ) throws(VaultError) {
    let piece: PieceView
    do throws(FormatError) { piece = try PieceView(decoding: plain) } catch { throw .copyDamaged }
    try checkInPlace()
    // The commit of the rows syncs what came before them, too.
    try fromStorage(rows.storage.beginWrite(durable: false))
    defer { rows.storage.end() }
    let bytes = value.bytes
    let isMarked = try fromStorage(rows.storage.isOrphan(bytes.span))
    // What a row names is all here.
    if !isMarked, try rows.storage.chunk(0, of: value) != nil { return }
    if !isMarked { try fromStorage(rows.storage.markOrphan(bytes.span)) }
    for index in 0..<piece.count {
      let number = first + UInt64(index)
      if try rows.storage.chunk(number, of: value) != nil { continue }
      try fromStorage(rows.storage.storeChunk(bytes.span, number, piece.chunk(index)))
    }
    try fromStorage(rows.storage.commit())
  }
}

/// Opens the object of a piece while its name is proved on the other core: nothing of it is looked at before both are
/// right.
///
/// Unchecked: one thread takes the hash, and the other one only reads what was given.
private final class FoundPiece: @unchecked Sendable {
  private let object: [UInt8]
  private var name: [UInt8]?

  init(_ object: [UInt8]) { self.object = object }

  /// What is sealed in it.
  ///
  /// - Throws: ``VaultError/damaged(_:)``.
  func opened(
    _ seal: AssociatedData, in epoch: DeviceTable.Epoch, named wanted: [UInt8],
    _ keys: borrowing Keyring
  ) throws(VaultError) -> [UInt8] {
    let object = object
    var plain: [UInt8]?
    var failure: VaultError?
    ForkJoin.run([self], with: keys) { piece, _ in
      let object = piece.object
      piece.name = try? RemoteObject.name(of: object.span)
    } meanwhile: { keys in
      do throws(VaultError) {
        let body = try FoundPiece.body(of: object.span, in: epoch)
        plain = try fromCrypto(
          .chunk, Seal.openPaddedAgain(body, authenticating: seal.span, under: keys.remote))
      } catch { failure = error }
    }
    guard let name else { throw .outOfMemory }
    guard name == wanted else { throw .damaged(.chunk) }
    if let failure { throw failure }
    guard let plain else { throw .damaged(.chunk) }
    return plain
  }

  @_lifetime(copy object)
  private static func body(
    of object: Span<UInt8>, in epoch: DeviceTable.Epoch
  ) throws(VaultError) -> Span<UInt8> {
    do throws(FormatError) {
      return try RemoteObject.body(of: object, .piece, in: epoch)
    } catch { throw VaultError(error, about: .chunk) }
  }
}
