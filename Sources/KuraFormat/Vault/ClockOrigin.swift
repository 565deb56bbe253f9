// SPDX-License-Identifier: MIT

/// Says which readings of the boot clock can be compared: those of one start of the machine, in one time
/// namespace.
///
/// Every user can make a namespace whose clocks are ahead (time_namespaces(7)), and one in which the file that names
/// the start of the machine is another.
public struct ClockOrigin: Equatable, Sendable {
  /// The start of the machine; zero where the system does not say.
  public var boot: BootID
  /// The inode of `/proc/self/ns/time`; zero where there is none.
  public var namespace: UInt64

  /// What a reading was taken in.
  public init(boot: BootID, namespace: UInt64) {
    self.boot = boot
    self.namespace = namespace
  }

  /// Nothing is known.
  public static let none = ClockOrigin(boot: .zero, namespace: 0)
}
