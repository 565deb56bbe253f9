// SPDX-License-Identifier: MIT

/// Says which readings of the boot clock can be compared: those of one start of the machine, in one time
/// namespace.
///
/// Every user can make a namespace whose clocks are ahead (time_namespaces(7)).
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

  /// The namespace that every machine starts with, in the kernel's numbers (`PROC_TIME_INIT_INO`).
  public static let firstNamespace: UInt64 = 0xEFFF_FFFA

  /// Whether the clock is the machine's own, and so counts from its start. A kernel without time namespaces
  /// has no other; one that hides which start it is may hide the namespace, too.
  public var isMachine: Bool {
    namespace == Self.firstNamespace || namespace == 0 && boot != .zero
  }
}
