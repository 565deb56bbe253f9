// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@Suite struct KDFLimitsTests {
  private let plenty: UInt64 = 64 << 30

  @Test(arguments: [
    KDFParameters(memory: 8 << 10, passes: 1), KDFParameters(memory: 256 << 20, passes: 3),
    KDFParameters(memory: 2 << 30, passes: 4), KDFParameters(memory: 512 << 20, passes: 16),
  ])
  func `what an honest vault asks for is granted`(parameters: KDFParameters) {
    #expect(refusal(parameters, available: plenty) == nil)
  }

  @Test(
    arguments: [
      (0, 0, KDFRefusal.passes(0)), (8 << 10, 17, .passes(17)), (8 << 10, .max, .passes(.max)),
      (0, 1, .memory(0)), (8191, 1, .memory(8191)), (8193, 1, .memory(8193)),
      ((2 << 30) + 1024, 1, .memory((2 << 30) + 1024)), (4 << 40, 1, .memory(4 << 40)),
      (.max, 1, .memory(.max)), (2 << 30, 5, .work(10 << 30)),
      ((512 << 20) + 1024, 16, .work(((512 << 20) + 1024) * 16)),
    ] as [(UInt64, UInt32, KDFRefusal)])
  func `a hostile cost is refused for its reason`(
    memory: UInt64, passes: UInt32, expected: KDFRefusal
  ) {
    let parameters = KDFParameters(memory: memory, passes: passes)
    #expect(refusal(parameters, available: plenty) == expected)
  }

  @Test func `more memory than the default needs twice as much to be there`() {
    let large = KDFParameters(memory: 1 << 30, passes: 3)
    #expect(refusal(large, available: 2 << 30) == nil)
    #expect(
      refusal(large, available: (2 << 30) - 1)
        == .memoryNotThere(needed: 1 << 30, available: (2 << 30) - 1))
    #expect(refusal(KDFLimits.standard, available: 0) == nil)
  }

  @Test func `one attempt costs no more than 16 GiB and passes together`() {
    let slot = header(KDFParameters(memory: 2 << 30, passes: 4))
    let small = header(KDFParameters(memory: 8 << 10, passes: 1))
    let (taken, refusal) = take([slot, header(nil), slot, small, header(nil)], available: plenty)
    #expect(taken == [true, true, true, false, true])
    #expect(refusal == .workTogether((16 << 30) + (8 << 10)))
    #expect(take([slot, slot], available: plenty).refusal == nil)
  }

  @Test func `a slot that costs too much is left out, and takes nothing from the others`() {
    let large = header(KDFParameters(memory: 2 << 30, passes: 4))
    let hostile = header(KDFParameters(memory: 4 << 40, passes: 1))
    let slow = header(KDFParameters(memory: 8 << 10, passes: 17))
    let rich = take([hostile, large, large, slow], available: plenty)
    #expect(rich.taken == [false, true, true, false])
    #expect(rich.refusal == .memory(4 << 40))
    let poor = take([large, header(KDFLimits.standard)], available: 1 << 30)
    #expect(poor.taken == [false, true])
    #expect(poor.refusal == .memoryNotThere(needed: 2 << 30, available: 1 << 30))
  }

  @Test func `less memory or fewer passes than the floor is weak`() {
    #expect(!KDFLimits.isWeak(KDFLimits.floor))
    #expect(!KDFLimits.isWeak(KDFLimits.standard))
    #expect(KDFLimits.isWeak(KDFParameters(memory: 63 << 20, passes: 3)))
    #expect(KDFLimits.isWeak(KDFParameters(memory: 1 << 30, passes: 2)))
  }

  private func header(_ kdf: KDFParameters?) -> SlotHeader {
    SlotHeader(kind: kdf == nil ? .recoveryKey : .passcode, kdf: kdf, salt: .zero, id: .zero)
  }

  private func refusal(_ parameters: KDFParameters, available: UInt64) -> KDFRefusal? {
    refusal { try KDFLimits.check(parameters, available: available) }
  }

  private func take(
    _ slots: [SlotHeader], available: UInt64
  ) -> (taken: [Bool], refusal: KDFRefusal?) {
    var budget = KDFBudget(available: available)
    let taken = slots.map { budget.take($0) }
    return (taken, budget.refusal)
  }

  private func refusal(_ body: () throws -> Void) -> KDFRefusal? {
    guard case .kdfRefused(let refusal)? = failure(body) else { return nil }
    return refusal
  }
}
