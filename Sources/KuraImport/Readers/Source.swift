// SPDX-License-Identifier: MIT

internal import KuraTerms

/// Reads a source in one of the forms that there are: bytes in, the answer's bytes out.
enum Source {
  /// The most bytes of a source.
  static let most = 128 << 20

  /// Reads all of it, and ends the answer.
  ///
  /// - Parameter password: What opens it; nil where none was given.
  static func read(
    _ bytes: [UInt8], as format: ImportFormat, password: [UInt8]? = nil, _ sink: inout EntrySink
  ) {
    do throws(ReadingFlaw) {
      try entries(bytes, format, password, &sink)
      sink.end()
    } catch { sink.fail(error) }
  }

  private static func entries(
    _ given: [UInt8], _ format: ImportFormat, _ password: [UInt8]?, _ sink: inout EntrySink
  ) throws(ReadingFlaw) {
    if format == .pass { return try PassSource.read(given, &sink) }
    if format == .secretService { return try KeeperSource.read(given, &sink) }
    if format == .onePUX { return try OnePasswordSource.read(given, &sink) }
    if format == .bitwardenJSON, Archive.isOne(given) {
      return try BitwardenSource.readArchive(given, password, &sink)
    }
    if format == .protonJSON, Archive.isOne(given) {
      return try ProtonSource.readArchive(given, &sink)
    }
    let bytes = try text(given)
    switch format {
    case .chromeCSV, .firefoxCSV, .appleCSV, .lastpassCSV, .keepassxcCSV:
      guard let dialect = CSVDialect(format) else { return }
      var source = CSVSource(bytes, dialect)
      try source.read(&sink)
    case .dotenv:
      var source = DotenvSource(bytes)
      try source.read(&sink)
    case .jsonLines: try JSONLinesSource.read(bytes, &sink)
    case .bitwardenJSON: try BitwardenSource.read(bytes, password, &sink)
    case .protonJSON: try ProtonSource.read(bytes, [:], &sink)
    case .cxf: try ExchangeSource.read(bytes, &sink)
    case .keepassXML: try KeePassSource.read(bytes, &sink)
    case .pass, .onePUX, .secretService: break
    }
  }

  /// The text of a source, without a mark of its encoding in front.
  static func text(_ bytes: [UInt8]) throws(ReadingFlaw) -> [UInt8] {
    guard bytes.count <= most else { throw ReadingFlaw(.tooLarge) }
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    if text.isEmpty { throw ReadingFlaw(.empty) }
    do { _ = try UTF8Span(validating: text.span) } catch {
      var line: UInt64 = 1
      for byte in text[..<error.byteOffsets.lowerBound] where byte == UInt8(ascii: "\n") {
        line += 1
      }
      throw ReadingFlaw(.notUTF8, at: line)
    }
    return text
  }
}
