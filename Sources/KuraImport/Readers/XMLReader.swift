// SPDX-License-Identifier: MIT

internal import CExpat

/// Reads an XML document without a DOCTYPE, and so without entities of its own: nothing is fetched, and nothing grows.
@safe
final class XMLReader {
  /// How deep elements may stand in one another.
  static let deepest = 128
  /// The most elements of a document.
  static let mostElements = 8_000_000

  private let parser: OpaquePointer
  private var open: [XMLNode] = []
  private var root: XMLNode?
  private var count = 0
  private var flaw: ReadingFlaw?

  private init() throws(ReadingFlaw) {
    // The encoding is that of all sources, whatever the document says.
    guard let parser = unsafe XML_ParserCreate("UTF-8") else { throw ReadingFlaw(.outOfMemory) }
    unsafe self.parser = unsafe parser
  }

  deinit { unsafe XML_ParserFree(parser) }

  /// Reads a document that was found to be UTF-8; its outermost element.
  static func read(_ bytes: [UInt8]) throws(ReadingFlaw) -> XMLNode {
    let reader = try XMLReader()
    return try reader.read(bytes)
  }

  private func read(_ bytes: [UInt8]) throws(ReadingFlaw) -> XMLNode {
    listen()
    var offset = 0
    repeat {
      let end = min(offset + 1 << 20, bytes.count)
      let isLast: Int32 = end == bytes.count ? 1 : 0
      let status = unsafe bytes[offset..<end].withUnsafeBytes {
        unsafe XML_Parse(
          parser, $0.bindMemory(to: CChar.self).baseAddress, Int32($0.count), isLast)
      }
      if let flaw { throw flaw }
      guard status == XML_STATUS_OK else { throw ReadingFlaw(.notXML, at: line) }
      offset = end
    } while offset < bytes.count
    guard let root else { throw ReadingFlaw(.notXML, at: line) }
    return root
  }

  private var line: UInt64 { unsafe UInt64(XML_GetCurrentLineNumber(parser)) }

  private func listen() {
    unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    unsafe XML_SetElementHandler(
      parser,
      { data, name, attributes in
        guard let data = unsafe data, let name = unsafe name else { return }
        unsafe XMLReader.of(data).begin(String(cString: name), attributes)
      },
      { data, _ in if let data = unsafe data { unsafe XMLReader.of(data).end() } })
    unsafe XML_SetCharacterDataHandler(parser) { data, text, count in
      guard let data = unsafe data, let text = unsafe text else { return }
      unsafe XMLReader.of(data).open.last?.add(
        UnsafeRawBufferPointer(start: text, count: Int(count)))
    }
    unsafe XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
      if let data = unsafe data { unsafe XMLReader.of(data).stop(.doctype) }
    }
  }

  private static func of(_ data: UnsafeMutableRawPointer) -> XMLReader {
    unsafe Unmanaged<XMLReader>.fromOpaque(data).takeUnretainedValue()
  }

  private func begin(
    _ name: String, _ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?
  ) {
    count += 1
    guard open.count < Self.deepest, count <= Self.mostElements else { return stop(.tooDeep) }
    var attributes: [String: String] = [:]
    var index = 0
    while let pairs = unsafe pairs, let key = unsafe pairs[index],
      let value = unsafe pairs[index + 1]
    {
      unsafe attributes[String(cString: key)] = unsafe String(cString: value)
      index += 2
    }
    let node = XMLNode(name, attributes, line: line)
    if let parent = open.last { parent.add(node) } else { root = node }
    open.append(node)
  }

  private func end() { if !open.isEmpty { open.removeLast() } }

  private func stop(_ rule: ReadingFlaw.Rule) {
    flaw = flaw ?? ReadingFlaw(rule, at: line)
    unsafe XML_StopParser(parser, 0)
  }
}
