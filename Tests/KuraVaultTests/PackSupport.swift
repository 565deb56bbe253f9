// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory

@testable import KuraVault

/// What a copy leaves in a store: its packs, and the pieces of long values.
struct Cargo {
  struct Piece {
    let value: ValueID
    let first: UInt64
    let object: [UInt8]
  }

  static let place = ObjectPlace(device: mark(2), epoch: mark(3))
  /// Small enough for several packs.
  static let limit = 1_000

  private(set) var packs: [[UInt8]] = []
  var pieces: [Piece] = []

  private static func mark<Subject>(_ byte: UInt8) -> Identifier<Subject> {
    let bytes = [UInt8](repeating: byte, count: 16)
    return Identifier(bytes.span)
  }

  /// All that a copy has for others.
  init(of file: TestVault, beyond coverage: PackCoverage = .nothing, limit: Int = limit) throws {
    var vault = try file.unlock()
    var writer = try PackWriter()
    var known: [ValueID: PackedValue] = [:]
    for item in try vault.packableItems(beyond: coverage) {
      var step = PackStep.isFull
      while step != .isIn {
        // An item that has no room in an empty pack has one of its own.
        step = try vault.pack(
          item, beyond: coverage, into: &writer, upTo: writer.isEmpty ? .max : limit, at: known)
        if case .lacksPieces(let values) = step {
          for value in values { known[value] = try add(value, &vault) }
        } else if step == .isFull {
          packs.append(try vault.sealed(writer, at: Cargo.place))
          writer = try PackWriter()
        }
      }
    }
    try vault.packLedger(beyond: coverage, into: &writer)
    packs.append(try vault.sealed(writer, at: Cargo.place))
    vault.fold()
  }

  private mutating func add(
    _ value: ValueID, _ vault: inout UnlockedVault
  ) throws -> PackedValue {
    var named: [PackedValue.Piece] = []
    var first: UInt64 = 0
    while let object = try vault.piece(of: value, from: first, at: Cargo.place) {
      pieces.append(Piece(value: value, first: first, object: object))
      named.append(
        PackedValue.Piece(
          hash: try RemoteObject.name(of: object.span), length: UInt32(object.count)))
      first += UInt64(PieceView.mostChunks)
    }
    return PackedValue(value, of: Cargo.place.device, in: named)
  }

  /// Takes all of it into a copy.
  func unload(into file: TestVault, trial: Bool = false) throws -> MergeReport {
    var total = MergeReport()
    try file.fill { vault throws in
      for piece in pieces {
        try vault.takePiece(
          piece.object, named: RemoteObject.name(of: piece.object.span), of: piece.value,
          from: piece.first, at: Cargo.place)
      }
      for pack in packs {
        let report = try vault.merge(Cargo.opened(pack, by: vault), isTrial: trial)
        total.added += report.added
        total.changed += report.changed
        total.purged += report.purged
        total.conflicting += report.conflicting
        total.settings += report.settings
        total.slots += report.slots
      }
    }
    return total
  }

  static func opened(
    _ pack: [UInt8], by vault: borrowing UnlockedVault, at place: ObjectPlace = place,
    beside header: HeaderObject? = nil
  ) throws -> OtherCopy {
    try vault.openPack(
      pack.span, named: RemoteObject.name(of: pack.span), at: place, beside: header)
  }
}

extension TestVault {
  /// All changes that this copy knows of, had it been pushed now.
  func coverage(and others: TestVault...) throws -> PackCoverage {
    var entries: [RevisionEntry] = []
    for file in [self] + others {
      let vault = try file.unlock()
      if let copy = vault.trust.root.copy, copy.counter > 0 {
        entries.append(RevisionEntry(device: copy.device, counter: copy.counter))
      }
      vault.fold()
    }
    return PackCoverage(covered: RevisionVector(entries))
  }
}
