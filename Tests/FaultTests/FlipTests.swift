// SPDX-License-Identifier: MIT

import KuraVault
import Testing

/// Damage to the file's bytes: each is detected or harmless, and never answered wrongly.
@Suite("Bytes of the file", .serialized)
struct FlipTests {
  let specimen: Specimen

  init() throws { specimen = try Specimen(vector: "good-small") }

  @Test func `an untouched file is harmless`() throws {
    let reading = try specimen.reading(of: specimen.file, in: Scratch())
    #expect(reading.isHarmless, "\(reading)")
  }

  @Test func `a change that nothing objects to would be noticed`() throws {
    let twin = try Specimen(vector: "good-small-changed")
    let reading = try specimen.reading(of: twin.file, in: Scratch())
    #expect(!reading.isSound && !reading.silent.isEmpty, "\(reading)")
  }

  @Test func `a reader without the leaf check would be noticed`() throws {
    let newer = try Specimen(vector: "good-small-changed")
    let withOldRow = try Specimen(vector: "small-rolled-back").file
    let blind = try newer.reading(of: withOldRow, in: Scratch(), checks: [])
    #expect(!blind.isSound, "\(blind)")
    let reading = try newer.reading(of: withOldRow, in: Scratch())
    #expect(reading.isSound && reading.isDetected, "\(reading)")
  }

  @Test func `every flipped bit is detected or harmless`() {
    var dice = Dice()
    let salt = dice.next()
    let specimen = specimen
    // A bit of every thirteenth byte at each change, other ones each time.
    let (bits, step) = Scale.isNightly ? (8, 1) : (1, 13)
    let first = Int.random(in: 0..<step, using: &dice)
    let failures = Trials.run(specimen.file.count / step * bits) { number, scratch in
      let offset = number / bits * step + first
      guard offset < specimen.file.count else { return nil }
      let bit = bits == 8 ? number % 8 : Int(truncatingIfNeeded: (salt &* UInt64(offset + 1)) >> 61)
      var file = specimen.file
      file[offset] ^= 1 << UInt8(bit)
      let reading = try specimen.reading(of: file, in: scratch)
      return reading.isSound ? nil : "byte \(offset), bit \(bit): \(reading.silent)"
    }
    #expect(failures.isEmpty, "seed \(dice.seed): \(failures)")
  }

  @Test func `every truncation is detected or harmless`() {
    let specimen = specimen
    let step = Scale.isNightly ? 1 : 101
    let lengths = Array(stride(from: Int.random(in: 0..<step), to: specimen.file.count, by: step))
    let failures = Trials.run(lengths.count) { number, scratch in
      let reading = try specimen.reading(
        of: Array(specimen.file.prefix(lengths[number])), in: scratch)
      return reading.isSound ? nil : "length \(lengths[number]): \(reading.silent)"
    }
    #expect(failures.isEmpty, "\(failures)")
  }

  @Test func `every zeroed, swapped or repeated page is detected or harmless`() {
    let specimen = specimen
    let size = 512
    let pages = specimen.file.count / size
    let failures = Trials.run(pages * pages) { number, scratch in
      let (first, second) = (number / pages * size, number % pages * size)
      var file = specimen.file
      if first == second {
        file.replaceSubrange(first..<first + size, with: repeatElement(0, count: size))
      } else if first < second {
        for index in 0..<size { file.swapAt(first + index, second + index) }
      } else {
        file.replaceSubrange(first..<first + size, with: file[second..<second + size])
      }
      let reading = try specimen.reading(of: file, in: scratch)
      return reading.isSound ? nil : "pages \(first / size), \(second / size): \(reading.silent)"
    }
    #expect(failures.isEmpty, "\(failures)")
  }
}
