// SPDX-License-Identifier: MIT

import CKuraSystem
import Foundation
import KuraProtocol
import Testing

@testable import KuraImport

/// The limits that kura-import(1) promises are those that hold.
@Suite struct LimitTests {
  private static let page: String = {
    let bytes = (try? fixture("../../man/kura-import.1")) ?? []
    // What stands in a macro is a word of the sentence.
    return bytes.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }()

  /// A number as the page writes it.
  private static func shown(_ number: Int) -> String {
    let digits: [Character] = Array("\(number)")
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }

  @Test(
    arguments: [
      "at most \(Source.most >> 20) MiB and \(shown(AnswerReader.mostEntries)) entries",
      "\(shown(ProtocolLimit.wholeBatch)) values in \(ProtocolLimit.wholeBatchBytes >> 20) MiB",
      "longer than \(shown(ProtocolLimit.inlineValue)) bytes counts as one for each",
      "unpacks to \(Archive.mostBytes >> 20) MiB and \(shown(Archive.mostFiles)) files at most",
      "of at most \(KeePassSource.longestFile >> 20) MiB each",
      "what is longer than \(ImportedItem.longest >> 20) MiB",
      "\(ConfinedReader.limits.bytes >> 30) GiB of memory and \(ConfinedReader.limits.seconds) seconds",
      "have \(ItemFields.mostHidden >> 10) KiB together",
      "of more than \(shown(ItemFields.longestOpen)) bytes is taken for a hidden one",
      "longer than \(ItemNaming.longestPart) bytes is cut",
      "of more than \(ItemNaming.longestName) bytes together folders in the middle go",
      "first \(Recognition.most >> 10) KiB",
      "\(shown(Int(PasswordCost.mostRounds))) rounds of PBKDF2, or \(PasswordCost.mostPasses) passes",
      "over \(PasswordCost.mostMemory >> 10) GiB in \(PasswordCost.mostLanes) lanes",
    ])
  func `a limit stands in the page as it holds`(_ words: String) {
    #expect(Self.page.contains(words))
  }
}
