// SPDX-License-Identifier: MIT

public import KuraFormat

/// Says what has to be done in a store before a vault can go on with what machines leave for each other there.
///
/// The vault has the keys and no way to the store, and who carries has it the other way round: see ``SyncAnswer``.
public enum SyncWish: Equatable, Sendable {
  /// List the heads that there are.
  case heads
  /// List the objects of a device.
  case objects(DeviceID)
  /// Fetch what stands in a place, at most so many bytes.
  case file(RemotePath, most: Int)
  /// Write a file in place of what stands there; an object once, a head in one step where the store has one.
  case write(RemotePath, [UInt8])
  /// Take away what stands in a place.
  case delete(RemotePath)
  /// Nothing: there is more to do, and others may have a turn before.
  case nothing
}

/// Says what came of a ``SyncWish``.
public enum SyncAnswer: Equatable, Sendable {
  /// What was listed; names of other shapes are left out.
  case paths([RemotePath])
  /// All bytes of a file.
  case file([UInt8])
  /// There is no such file, or it has more bytes than it may.
  case missing
  /// It is done.
  case done
  /// It was not taken away, and cannot be: it is another one's.
  case kept
}
