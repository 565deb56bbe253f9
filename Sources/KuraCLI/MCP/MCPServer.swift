// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Answers an MCP client: JSON-RPC 2.0, a message a line, one request after the other.
struct MCPServer: ~Copyable {
  /// The newest version of the protocol that it speaks; it does nothing that others have not.
  private static let version = "2025-06-18"

  /// Says in the numbers of JSON-RPC what is wrong with a request.
  private enum Fault: String {
    case parse = "-32700"
    case request = "-32600"
    case method = "-32601"
    case parameters = "-32602"
  }

  private let tools: MCPTools
  private var input: MCPInput
  private var output: Output
  /// What came while a command ran.
  private var waiting: [[UInt8]] = []

  /// - Parameter patience: How long the owner is waited for.
  static func make(
    _ record: ApprovedDeclaration, _ access: VaultAccess, patience: [UInt8]?
  ) throws(CommandError) -> MCPServer {
    let tools = try MCPTools(record, access, patience: patience)
    let input = try MCPInput()
    let output = try Output(isTerminal: false)
    return MCPServer(tools, input, output)
  }

  private init(_ tools: MCPTools, _ input: consuming MCPInput, _ output: consuming Output) {
    self.tools = tools
    self.input = input
    self.output = output
  }

  /// Serves until the client has closed its end.
  mutating func serve() throws(CommandError) {
    while let line = try next() {
      try answer(line)
      try output.flush()
    }
  }

  private mutating func next() throws(CommandError) -> [UInt8]? {
    if !waiting.isEmpty { return waiting.removeFirst() }
    while true {
      if let line = try input.next() { return line }
      if input.hasEnded { return nil }
      try input.fill()
    }
  }

  private mutating func answer(_ line: [UInt8]) throws(CommandError) {
    let json: PlainJSON
    do throws(JSONFlaw) { json = try PlainJSON(line) } catch {
      return try refuse(nil, .parse, error.kind.words)
    }
    guard json.kind(json.root) == .object,
      let method = json.string(json.member(json.root, "method"))
    else { return try refuse(nil, .request, "it is no request of JSON-RPC 2.0") }
    // What has no id wants no answer.
    guard let place = json.member(json.root, "id") else { return }
    let id = json.written(place)
    let parameters = json.member(json.root, "params")
    switch method {
    case "initialize": try begin(id)
    case "ping":
      try open(id)
      try output.openObject()
      try output.closeObject()
      try output.closeDocument()
    case "tools/list":
      try open(id)
      try output.element(written: Array(MCPTools.list.utf8).span, isJSON: true)
      try output.closeDocument()
    case "tools/call": try call(id, json, parameters)
    default: try refuse(id, .method, "there is no method " + Diagnostic.shown(method))
    }
  }

  // MARK: - Answers

  private mutating func open(_ id: [UInt8]?) throws(CommandError) {
    try output.openObject()
    try output.member("jsonrpc", "2.0")
    try output.key("id")
    if let id {
      try output.element(written: id.span, isJSON: true)
    } else {
      try output.elementNull()
    }
    try output.key("result")
  }

  private mutating func refuse(
    _ id: [UInt8]?, _ fault: Fault, _ words: String
  ) throws(CommandError) {
    try output.openObject()
    try output.member("jsonrpc", "2.0")
    try output.key("id")
    if let id {
      try output.element(written: id.span, isJSON: true)
    } else {
      try output.elementNull()
    }
    try output.key("error")
    try output.openObject()
    try output.key("code")
    try output.element(written: Array(fault.rawValue.utf8).span, isJSON: true)
    try output.member("message", words)
    try output.closeObject()
    try output.closeDocument()
  }

  private mutating func begin(_ id: [UInt8]) throws(CommandError) {
    try open(id)
    try output.openObject()
    try output.member("protocolVersion", Self.version)
    try output.key("capabilities")
    try output.openObject()
    try output.key("tools")
    try output.openObject()
    try output.closeObject()
    try output.closeObject()
    try output.key("serverInfo")
    try output.openObject()
    try output.member("name", "kura")
    try output.member("version", Release.version)
    try output.closeObject()
    try output.member("instructions", MCPTools.instructions)
    try output.closeObject()
    try output.closeDocument()
  }

  // MARK: - Tools

  private mutating func call(
    _ id: [UInt8], _ json: PlainJSON, _ parameters: PlainJSON.Place?
  ) throws(CommandError) {
    guard let parameters, let tool = json.string(json.member(parameters, "name")) else {
      return try refuse(id, .parameters, "it names no tool")
    }
    let given = json.member(parameters, "arguments")
    do throws(CommandError) {
      if tool == "list" {
        return try result(id, try tools.names(), isError: false, status: nil)
      }
      guard tool == "run" else {
        return try refuse(id, .parameters, "there is no tool " + Diagnostic.shown(tool))
      }
      let words = try tools.words(json, given)
      var run = try MCPRun(words)
      guard try finish(&run, id) else { return }
      let status = run.end()
      try result(id, MCPTools.text(run), isError: status != 0, status: status)
    } catch {
      let told = Diagnostic(error)
      let hint = told.hint.map { "\n" + $0 } ?? ""
      try result(id, told.message + hint, isError: true, status: Int32(told.status.rawValue))
    }
  }

  /// Hears a command to its end.
  ///
  /// - Returns: False where the client wants it no longer.
  private mutating func finish(_ run: inout MCPRun, _ id: [UInt8]) throws(CommandError) -> Bool {
    while true {
      switch run.step() {
      case .said: continue
      case .ended: return true
      case .client:
        try input.fill()
        while let line = try input.next() {
          if Self.cancels(line, id) { return false }
          waiting.append(line)
        }
        if input.hasEnded { return false }
      }
    }
  }

  private static func cancels(_ line: [UInt8], _ id: [UInt8]) -> Bool {
    guard let json = try? PlainJSON(line),
      json.string(json.member(json.root, "method")) == "notifications/cancelled",
      let parameters = json.member(json.root, "params"),
      let place = json.member(parameters, "requestId")
    else { return false }
    return json.written(place) == id
  }

  private mutating func result(
    _ id: [UInt8], _ text: String, isError: Bool, status: Int32?
  ) throws(CommandError) {
    try open(id)
    try output.openObject()
    try output.key("content")
    try output.openArray()
    try output.openObject()
    try output.member("type", "text")
    try output.member("text", text)
    try output.closeObject()
    try output.closeArray()
    if let status {
      try output.key("structuredContent")
      try output.openObject()
      try output.member("status", UInt64(status))
      try output.closeObject()
    }
    try output.member("isError", isError)
    try output.closeObject()
    try output.closeDocument()
  }
}
