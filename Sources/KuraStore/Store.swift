// SPDX-License-Identifier: MIT

package import KuraTerms

/// Keeps files under names for machines that share a vault, and knows nothing of what they are.
///
/// Nothing more is asked of it: no lock, no order, no clock.
package protocol Store {
  /// The heads that there are; names of other shapes are left out.
  func heads() throws(StoreError) -> [StorePlace]

  /// The objects of a device that there are; names of other shapes are left out.
  func objects(of device: [UInt8]) throws(StoreError) -> [StorePlace]

  /// All bytes of a file; nil where there is none, or it has more than may be.
  func get(_ place: StorePlace, atMost most: Int) throws(StoreError) -> [UInt8]?

  /// Writes a file in place of what stands there: whatever ends this, all of it is there or what was. A head lasts when this
  /// returns, and so does all that was put before it.
  func put(_ place: StorePlace, _ bytes: [UInt8]) throws(StoreError)

  /// Takes a file away, where there is one.
  ///
  /// - Returns: Whether none is there any more: not where it is another one's, who alone may take it away.
  @discardableResult
  func delete(_ place: StorePlace) throws(StoreError) -> Bool

  /// Makes last all that was put so far: until then what is put may be gone where this program ends, but for a head and
  /// all that was put before it.
  func settle() throws(StoreError)

  /// Takes away what was made for a vault of which nothing stands in it.
  func leave()

  /// The ids of all vaults of which something stands where this one does.
  func vaults() throws(StoreError) -> [[UInt8]]

  /// What the heads of others are told apart by, without reading them where the store does better.
  ///
  /// - Parameter own: The device whose head does not count.
  func marks(but own: [UInt8]) throws(StoreError) -> [UInt8]

  /// Begins to tell when something comes into it.
  func watch() throws(StoreError)

  /// Whether it tells of all that comes; else it is looked at now and then.
  var tellsAll: Bool { get }

  /// What can be read when something came; -1: it tells nothing.
  var bell: Int32 { get }

  /// Takes what was told; waits for nothing.
  ///
  /// - Returns: Whether another one than this program did something.
  @discardableResult
  func answerBell() throws(StoreError) -> Bool

  /// Lets go of what would hold others up while nobody asks; the bell goes on.
  ///
  /// - Returns: Whether it is opened anew before anybody asks again.
  func rests() -> Bool
}

extension Store {
  package func watch() throws(StoreError) {}
  package var tellsAll: Bool { false }
  package var bell: Int32 { -1 }
  package func answerBell() throws(StoreError) -> Bool { false }
  package func rests() -> Bool { false }
  package func vaults() throws(StoreError) -> [[UInt8]] { [] }
}

/// Tells why a store does not do what it was asked for.
package enum StoreError: Error, Equatable, Sendable {
  /// Nothing stands where the store should.
  case missing(path: String)
  /// Something else than a directory stands where one should.
  case notAFolder(path: String)
  /// Nothing of the vault is in the store.
  case empty(path: String)
  /// It can be read, and not changed.
  case readOnly(path: String)
  /// It has no room left.
  case full(path: String)
  /// Its owner does not let us.
  case denied(path: String)
  /// More names stand below one than any vault has.
  case crowded(path: String)
  /// The program that reaches it is not on this machine.
  case noProgram(name: String, package: String)
  /// That program knows no store of the name.
  case unknown(path: String)
  /// It was not made ready for vaults.
  case unprepared(path: String)
  /// Nothing answers there.
  case unreachable(path: String, said: String)
  /// It does not take us for who may come in.
  case refused(path: String, said: String)
  /// It does not show that it is the one that is meant.
  case untrusted(path: String, said: String)
  /// The program that reaches it says something else.
  case other(path: String, said: String)
  /// The system says something else.
  case system(errno: Int32, path: String)
}
