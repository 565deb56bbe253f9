// SPDX-License-Identifier: MIT

/// Says why a slot's cost is not paid.
public enum KDFRefusal: Equatable, Sendable {
  /// No pass at all, or more passes than ``KDFLimits/mostPasses``.
  case passes(UInt32)
  /// Less memory than Argon2id can work with, more than ``KDFLimits/mostMemory``, or no multiple of
  /// 1,024 bytes.
  case memory(UInt64)
  /// Passes times memory above ``KDFLimits/mostWork``, in bytes.
  case work(UInt64)
  /// The same, summed over the slots to try, above ``KDFLimits/mostWorkTogether``.
  case workTogether(UInt64)
  /// More memory than the default, and more than half of what the machine has left, in bytes.
  case memoryNotThere(needed: UInt64, available: UInt64)
}

/// Limits what a slot header may ask of a reader, before anything is allocated.
///
/// Slot headers are read before anything is known to be authentic: a hostile one must not be able to
/// take the machine's memory or hours of its time.
public enum KDFLimits {
  /// Passes over the memory.
  public static let mostPasses: UInt32 = 16
  /// Memory of one slot, in bytes.
  public static let mostMemory: UInt64 = 2 << 30
  /// Passes times memory of one slot, in bytes.
  public static let mostWork: UInt64 = 8 << 30
  /// Passes times memory of the slots to try one after the other, in bytes.
  public static let mostWorkTogether: UInt64 = 16 << 30
  /// Slots in a vault.
  public static let mostSlots = 16
  /// Slots with Argon2id in a vault.
  public static let mostArgon2Slots = 4
  /// What a reader must be able to work with, in bytes: Argon2id's own least.
  public static let leastMemory: UInt64 = 8 << 10

  /// What a new slot costs unless something else is asked for.
  public static let standard = KDFParameters(memory: 256 << 20, passes: 3)
  /// Below this a new slot is weak, and is only written on request.
  public static let floor = KDFParameters(memory: 64 << 20, passes: 3)

  /// Whether a guess at a slot costs less than ``floor``.
  public static func isWeak(_ parameters: KDFParameters) -> Bool {
    parameters.memory < floor.memory || parameters.passes < floor.passes
  }

  /// Judges one slot.
  ///
  /// - Parameters:
  ///   - parameters: What its header asks for.
  ///   - available: What memory and control group leave to this process, in bytes.
  /// - Throws: ``FormatError/kdfRefused(_:)``; nothing was allocated.
  public static func check(
    _ parameters: KDFParameters, available: UInt64
  ) throws(FormatError) {
    let (passes, memory) = (parameters.passes, parameters.memory)
    guard (1...mostPasses).contains(passes) else { throw .kdfRefused(.passes(passes)) }
    guard (leastMemory...mostMemory).contains(memory), memory.isMultiple(of: 1024) else {
      throw .kdfRefused(.memory(memory))
    }
    guard work(of: parameters) <= mostWork else {
      throw .kdfRefused(.work(work(of: parameters)))
    }
    guard memory <= standard.memory || memory <= available / 2 else {
      throw .kdfRefused(.memoryNotThere(needed: memory, available: available))
    }
  }

  /// Passes times memory, once both were judged, so that nothing overflows.
  fileprivate static func work(of parameters: KDFParameters) -> UInt64 {
    parameters.memory * UInt64(parameters.passes)
  }
}

/// Limits what one attempt spends on the slots that it tries, slot by slot, before anything is allocated.
///
/// One slot that costs too much must not shut out whoever can open another.
public struct KDFBudget: Sendable {
  private let available: UInt64
  private var spent: UInt64 = 0
  /// Why the first of the slots that were left out was.
  public private(set) var refusal: KDFRefusal?

  /// A budget of which nothing is spent.
  ///
  /// - Parameter available: What memory and control group leave to this process, in bytes.
  public init(available: UInt64) { self.available = available }

  /// Takes a slot's cost out of the budget.
  ///
  /// - Returns: Whether the slot can be tried; false leaves the budget as it was, and notes why.
  public mutating func take(_ slot: SlotHeader) -> Bool {
    guard let parameters = slot.kdf else { return true }
    do throws(FormatError) {
      try KDFLimits.check(parameters, available: available)
      let work = spent + KDFLimits.work(of: parameters)
      guard work <= KDFLimits.mostWorkTogether else { throw .kdfRefused(.workTogether(work)) }
      spent = work
      return true
    } catch {
      if case .kdfRefused(let reason) = error { refusal = refusal ?? reason }
      return false
    }
  }
}
