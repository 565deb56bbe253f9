// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Brings a vault and a store together: what others left there is taken, and what they have not is left there for them.
///
/// It wishes for one thing after the other, and is told what came of it. It may end between two of them at any moment:
/// what the vault has by then it keeps, and the next meeting goes on from there. The rules are those of
/// kura-sync-format(5).
public struct SyncRun: ~Copyable {
  /// Names what is done, one after the other.
  enum Stage {
    case reading, settling, pulling, placing, pushing, cleaning, done
  }

  /// What it came to until now.
  public internal(set) var report = SyncReport()

  var shelf = SyncShelf()
  var stage = Stage.reading
  /// The device that this copy of the vault is.
  var device: DeviceID
  var seed: DeviceSeed
  var epoch: DeviceTable.Epoch
  /// Heads that are known to be their devices' own.
  var fronts: [DeviceID: SyncFront] = [:]
  /// What stands sealed in them.
  var reports: [DeviceID: HeadReport] = [:]
  /// Whose place was looked at.
  var looked: Set<DeviceID> = []
  /// Heads that were taken, or tried, in this meeting.
  var tried: Set<HeadPlace> = []
  /// Devices of which there seem to be two.
  var doubtful: Set<DeviceID> = []
  /// Devices that are taken out, and whose heads are in an epoch that is neither this one nor before it: they are not swept.
  var apart: Set<DeviceID> = []
  /// Objects of others that long values of this vault stand in, and that are gone.
  var missing: Set<[UInt8]> = []
  /// Whether somebody asked that nothing be left in the store that no vault has.
  let compacts: Bool
  /// Whether own objects that are not sealed anew are looked at.
  let proves: Bool
  /// Own objects that were looked at, and are what was written.
  var sound: Set<[UInt8]> = []
  /// The first journal that the store has lost, as the own head names them.
  var lostJournal: Int?
  /// The own head is to be written again.
  var renews = false
  /// Whether it was said already that all is deleted that was condemned.
  private var isSaid = false
  /// How many packs a head names at most.
  var mostPacks = HeadReport.mostPacks
  /// There is no room for one more: all of one's own is sealed anew.
  var isFull = false
  /// Nothing may be written: first somebody has to decide something, or to come.
  var isHeldBack = false
  /// Keeps others from sweeping the pieces of long values that no row names yet.
  private let lock: StateFile?
  /// The epochs that the store has shown, and that are neither this vault's nor before it.
  var tips: [DeviceTable.Epoch: SyncTip] = [:]
  /// Those of others who brought the same ones together as this machine, of whom nobody has heard yet.
  var rivals: [DeviceTable.Epoch: SyncTip] = [:]
  /// A first epoch under this vault's own key, which is taken for the own one.
  var sameKey: (tip: SyncTip, isSparing: Bool)?
  /// By what the next of them is entered, with its passcode; nil where there is none, or not all of it is here.
  public internal(set) var entrance: JoinOffer?
  /// Whether all epochs came here that are beside the vault's own, so that one is to be begun that brings them together.
  public internal(set) var unites = false
  /// Devices whose later changes others may still take for theirs, and up to which change they count.
  let barred: [DeviceID: UInt64]
  var taking: SyncTaking?
  /// It was asked for a round, and has begun no head yet.
  var wantsRound: Bool
  private var placing: MergeWork?
  var push: SyncPush?

  /// Begins a meeting.
  ///
  /// - Parameters:
  ///   - vault: What is shared.
  ///   - compacts: Whether all is sealed anew, here and by whoever meets the store later, so that nothing is left there
  ///     that no vault has: with the next head, whatever comes between.
  /// - Throws: ``VaultError/notShared``; errors of the file.
  public init(_ vault: inout UnlockedVault, compacts: Bool = false) throws(VaultError) {
    let seed = try vault.settledSeed()
    let (epoch, barred) = (try vault.epoch(), try vault.barred())
    if compacts { try vault.wishForRound() }
    let proves = try vault.memoryOfShared().mustBeginRound
    let lock = try fromStorage(vault.uploadLock(.shared))
    vault.sweeper.forget()
    (device, self.epoch) = (seed.device, epoch)
    self.seed = seed
    self.lock = lock
    (self.barred, self.proves, self.compacts) = (barred, proves, compacts)
    wantsRound = compacts
  }

  /// Goes on until something is wished for.
  ///
  /// - Parameters:
  ///   - answer: What came of the last wish; nil at the beginning.
  ///   - vault: The one that it began with.
  /// - Returns: What has to be done next; nil when all is done.
  /// - Throws: ``VaultError/copyDamaged`` for an answer to something else; ``VaultError/busy``: the same call again, or a
  ///   meeting anew where the vault has got another key or name, or another engine met the store; errors of the file. Drop
  ///   it then.
  public mutating func next(
    _ answer: SyncAnswer?, in vault: inout UnlockedVault
  ) throws(VaultError) -> SyncWish? {
    // Another key, or another name, and nothing that was found out holds.
    guard try vault.epoch() == epoch, vault.trust.root.copy?.device == device else { throw .busy }
    try shelf.take(answer)
    do throws(SyncStop) {
      while stage != .done { try goOn(&vault) }
      return nil
    } catch {
      switch error {
      case .wish(let wish):
        shelf.ask(wish)
        return wish
      case .vault(let error): throw error
      }
    }
  }

  private mutating func goOn(_ vault: inout UnlockedVault) throws(SyncStop) {
    switch stage {
    case .reading:
      try readHeads(&vault)
      stage = .settling
    case .settling:
      try settleOwn(&vault)
      try chooseEntrance(&vault)
      try lookAfterOwn(&vault)
      stage = .pulling
    case .pulling:
      try pull(&vault)
      stage = .placing
    case .placing:
      try placeNames(&vault)
      stage = .pushing
    case .pushing:
      try push(&vault)
      stage = .cleaning
    case .cleaning:
      try clean(&vault)
      try sweep(&vault)
      // What is gone is not written again under a key that others have left.
      let isLeft = report.findings.contains { $0.kind.wantsPasscode }
      if isHeldBack, isLeft { report.withdraw(.ownHeadGone, device) }
      for device in vault.leftOut.sorted() { report.name(.leftOut, device) }
      vault.leftOut = []
      let isCleaned = isSaid ? false : try isCleaned(&vault)
      (isSaid, stage) = (isSaid || isCleaned, isCleaned ? .pushing : .done)
    case .done: break
    }
  }
}

extension SyncRun {
  /// Gives items the names which own changes left to them, as all others do that hear of those; a slice at a time.
  private mutating func placeNames(_ vault: inout UnlockedVault) throws(SyncStop) {
    let isOver = try fromVault { () throws(VaultError) -> Bool in
      if placing == nil {
        guard try vault.memoryOfShared().mustPlaceNames else { return true }
        placing = try vault.beginMerge(OtherCopy(.placingNames()))
      }
      guard var work = placing.take() else { return true }
      guard try work.step() else {
        _ = try vault.finish(work)
        return true
      }
      placing = consume work
      return false
    }
    guard isOver else { throw .wish(.nothing) }
  }
}

/// Holds a head as it stands in a store, and what everybody reads in it.
struct SyncFront: Equatable {
  let bytes: [UInt8]
  let head: RemoteHead
  let place: HeadPlace

  init(_ bytes: [UInt8], _ head: RemoteHead) throws(VaultError) {
    self.bytes = bytes
    self.head = head
    place = HeadPlace(number: head.number, id: try HeadID(of: bytes.span))
  }

  /// Reads one that this vault keeps.
  init(kept bytes: [UInt8]) throws(VaultError) {
    try self.init(bytes, try fromFormat(.header, RemoteHead(decoding: bytes.span)))
  }
}
