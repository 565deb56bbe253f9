// SPDX-License-Identifier: MIT

import Foundation

/// A line of `Fixtures/vectors/records`: a record that the reference wrote, and whether it takes it.
struct RecordLine {
  let isGood: Bool
  let kind: String
  let record: [UInt8]
  let what: String

  static func all(of name: String) -> [RecordLine] {
    let root = URL(filePath: #filePath).appending(path: "../../..").standardized
    let file = root.appending(path: "Fixtures/vectors/records/\(name)")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      let digits = words.count > 2 && words[2] != "#" ? Array(words[2].utf8) : []
      let record = stride(from: 0, to: digits.count, by: 2).compactMap { place in
        UInt8(String(decoding: digits[place..<(place + 2)], as: UTF8.self), radix: 16)
      }
      let reason = line.split(separator: "#").dropFirst().joined()
      return RecordLine(
        isGood: words[0] == "good", kind: String(words[1]), record: record,
        what: "\(words[0]) \(words[1])\(reason)")
    }
  }
}
