// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraCLI

@Suite struct RecipeTests {
  private func made(_ recipe: Recipe) throws -> [UInt8] {
    let value = try recipe.make()
    return value.bytes.indices.map { value.bytes[$0] }
  }

  @Test func `each class is in each value`() throws {
    for _ in 0..<200 {
      let value = try made(Recipe(length: 4, [], isUnambiguous: false))
      for kind in CharacterClass.allCases {
        #expect(value.contains { kind.characters(isUnambiguous: false).contains($0) })
      }
    }
  }

  @Test func `only the classes that are named are in a value`() throws {
    let value = try made(Recipe(length: 1_000, [.digits, .lower], isUnambiguous: true))
    #expect(value.count == 1_000)
    #expect(value.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) })
    #expect(!value.contains { Array("0O1lI|".utf8).contains($0) })
    #expect(Set(value).count == 33)
  }

  /// 256 divides by none of these: without a second draw the first ones would come more often.
  @Test(arguments: [10, 26, 90, 255])
  func `every number is as likely as any other`(bound: Int) throws {
    var source = try RandomSource()
    let rounds = 510_000 / bound
    var counts = [Int](repeating: 0, count: bound)
    for _ in 0..<(bound * rounds) { counts[try source.number(below: bound)] += 1 }
    let chi = counts.reduce(0.0) { sum, count in
      let difference = Double(count - rounds)
      return sum + difference * difference / Double(rounds)
    }
    // Chi-squared, whose upper tail is long where the degrees are few. The cube root of it divided by them
    // is all but normal (Wilson and Hilferty): seven deviations happen once in 10^11 runs.
    let degrees = Double(bound - 1)
    let variance = 2 / (9 * degrees)
    let deviation = (cbrt(chi / degrees) - (1 - variance)) / variance.squareRoot()
    #expect(abs(deviation) < 7)
  }

  @Test func `words can be said`() throws {
    let value = String(decoding: try made(Recipe(words: 5)), as: UTF8.self)
    let words = value.split(separator: "-")
    #expect(words.count == 5)
    for word in words {
      #expect(
        word.wholeMatch(of: /[bdfghjklmnprstvz][aiou][bdfghjklmnprstvz][aiou][bdfghjklmnprstvz]/)
          != nil)
    }
  }

  /// By hand: all lists with every class, counted, as a logarithm.
  @Test(arguments: [
    (Recipe.words(5), 800),
    (.characters(10, [.digits], isUnambiguous: false), 332),
    (.characters(1, [.lower], isUnambiguous: false), 47),
    // 2 * 10 * 26 = 520 two-character values with one of each.
    (.characters(2, [.lower, .digits], isUnambiguous: false), 90),
    // 4! * 26 * 26 * 10 * 28.
    (.characters(4, CharacterClass.allCases, isUnambiguous: false), 221),
    (.standard, 1_296),
  ])
  func `the entropy is the logarithm of how many there are`(recipe: Recipe, tenths: Int) {
    #expect(recipe.entropyTenths == tenths)
  }

  @Test func `a recipe is read from a word`() throws {
    func read(_ text: String) throws(UsageError) -> Recipe { try Recipe(Array(text.utf8)) }
    func refusal(_ text: String) -> String? {
      do throws(UsageError) { _ = try read(text) } catch { return error.message }
      return nil
    }
    #expect(try read("24") == .characters(24, CharacterClass.allCases, isUnambiguous: false))
    #expect(
      try read("digits,lower,8,no-ambiguous")
        == .characters(8, [.lower, .digits], isUnambiguous: true))
    #expect(try read("words:6") == .words(6))
    for text in ["", "x", "8,", "words:", "words:x", "8,words:6", "8,9", "-1"] {
      #expect(refusal(text) == "a value cannot be made by '\(text)'")
    }
    #expect(refusal("3") == "3 characters have no room for one out of each of 4 classes")
    #expect(refusal("1025") == "a value is made with 1 to 1024 characters")
    #expect(refusal("words:0") == "a value is made of 1 to 64 words")
  }
}
