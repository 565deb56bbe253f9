// SPDX-License-Identifier: MIT

import Foundation
import TestGround
import Testing

@testable import KuraImport

/// Comma-separated values, as RFC 4180 has them, and as Python's module reads them.
@Suite struct CSVReaderTests {
  private func records(_ text: String) throws(ReadingFlaw) -> [[String]] {
    var reader = CSVReader(Array(text.utf8))
    var records: [[String]] = []
    while let record = try reader.next() { records.append(record.map(\.text)) }
    return records
  }

  @Test(arguments: [
    ("a,b\nc,d\n", [["a", "b"], ["c", "d"]]),
    ("a,b\r\nc,d", [["a", "b"], ["c", "d"]]),
    ("a\rb\r", [["a"], ["b"]]),
    ("a,\n,b\n", [["a", ""], ["", "b"]]),
    (",", [["", ""]]),
    ("\"\"", [[""]]),
    ("\n\r\n\na\n\n", [["a"]]),
    ("\"a,b\",\"c\r\nd\",\"e\"\"f\"\n", [["a,b", "c\r\nd", "e\"f"]]),
    ("a\"b,c\n", [["a\"b", "c"]]),
    (" \"a\" \n", [[" \"a\" "]]),
  ])
  func `records are what stands there`(_ text: String, _ expected: [[String]]) throws {
    #expect(try records(text) == expected)
  }

  @Test(arguments: [("a\n\"b\nc", 2), ("\"a\"b", 1), ("\"a\nb\" ,c", 2), ("\"", 1)])
  func `a quote that is not closed, or text behind one that is, is refused with its line`(
    _ text: String, _ line: UInt64
  ) throws {
    #expect(throws: ReadingFlaw(.quoting, at: line)) { try records(text) }
  }

  @Test func `a record stands on the line that it begins on`() throws {
    var reader = CSVReader(Array("a\n\"b\nc\"\n\r\nd".utf8))
    var places: [UInt64] = []
    while try reader.next() != nil { places.append(reader.place) }
    #expect(places == [1, 2, 5])
  }

  /// Files of Python's making, in each of the ways in which it quotes and ends lines, with what it reads of them.
  private static let maker = """
    import csv, io, json, random, sys
    random.seed(4180)
    letters = ['a', 'b', ' ', ',', '"', '\\n', '\\r\\n', "'", ';', '\\t', 'ä', '日', '😀', '\\\\', '=']
    def field(): return ''.join(random.choice(letters) for _ in range(random.choice([0, 1, 2, 5, 12])))
    for number in range(1000):
        width = random.randint(2, 6)
        rows = [[field() for _ in range(width)] for _ in range(random.randint(1, 8))]
        text = io.StringIO(newline='')
        quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        csv.writer(text, quoting=quoting, lineterminator=random.choice(['\\r\\n', '\\n'])).writerows(rows)
        made = text.getvalue()
        print(json.dumps([made, list(csv.reader(io.StringIO(made, newline='')))]))
    """

  @Test func `a thousand files of Python's are read as Python reads them`() throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = ["-c", Self.maker]
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    var count = 0
    for line in data.split(separator: UInt8(ascii: "\n")) {
      let pair = try #require(try JSONSerialization.jsonObject(with: line) as? [Any])
      let made = try #require(pair[0] as? String)
      let expected = try #require(pair[1] as? [[String]])
      #expect(try records(made) == expected, "\(made.debugDescription)")
      count += 1
    }
    #expect(count == 1_000)
  }
}
