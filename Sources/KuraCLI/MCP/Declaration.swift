// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Is what a project says its commands are, and what each is given: names, no values.
struct Declaration {
  /// Is a command that can be run by its name.
  struct Entry {
    let name: String
    var about = ""
    var words: [String] = []
    /// `VAR=REF`, as `run --env` takes it.
    var variables: [String] = []
    var allowed: [String] = []
    var granted: [String] = []
    var hasNetwork = false
    var isWritable = false

    /// What it is given, in words for people.
    var line: String {
      var text = ShellWords.text(words)
      for variable in variables { text += "  " + variable }
      for name in allowed + granted { text += "  " + name }
      if hasNetwork { text += "  with a network" }
      if isWritable { text += "  may write here" }
      return text
    }
  }

  /// The longest text of one, which is kept as an attribute.
  static let longest = 32_768

  /// As it stands in the file.
  let text: [UInt8]
  private(set) var entries: [Entry] = []
  /// What another command can be given.
  private(set) var others: [String] = []

  /// Reads a file.
  static func read(_ path: String) throws(CommandError) -> Declaration {
    let bytes = try bytes(path)
    let json: PlainJSON
    do throws(JSONFlaw) { json = try PlainJSON(bytes) } catch {
      throw .failure(
        Diagnostic.shown(path) + ": " + error.kind.words + " (byte \(error.offset))",
        hint: "the section MCP of kura(1) has one that is right")
    }
    return try Declaration(bytes, json, path)
  }

  private static func bytes(_ path: String) throws(CommandError) -> [UInt8] {
    do throws(FileError) {
      let descriptor = try Descriptor.open(path: path)
      defer { Descriptor.close(descriptor) }
      let text = try Descriptor.readAll(descriptor, limit: longest)
      return [UInt8](copying: text.bytes)
    } catch { throw .file(.read, path: path, errno: error.errno) }
  }

  private init(_ text: [UInt8], _ json: PlainJSON, _ path: String) throws(CommandError) {
    self.text = text
    guard json.kind(json.root) == .object else { throw Self.flaw(path, "it is no object") }
    for member in json.children(json.root) {
      switch json.key(member) {
      case "commands":
        guard json.kind(member) == .object else { throw Self.flaw(path, "commands is no object") }
        for place in json.children(member) { entries.append(try Self.entry(json, place, path)) }
      case "allow":
        guard let names = json.strings(member) else {
          throw Self.flaw(path, "allow is no array of names")
        }
        others = names
      default: throw Self.flaw(path, "there is no member " + Diagnostic.shown(json.key(member)))
      }
    }
  }

  /// What is misspelt would be missed, or let in, without a word.
  private static func entry(
    _ json: PlainJSON, _ place: PlainJSON.Place, _ path: String
  ) throws(CommandError) -> Entry {
    var entry = Entry(name: json.key(place))
    let title = "the command " + Diagnostic.shown(entry.name) + " "
    guard json.kind(place) == .object else { throw flaw(path, title + "is no object") }
    for member in json.children(place) {
      let key = json.key(member)
      switch key {
      case "argv": entry.words = json.strings(member) ?? []
      case "about":
        guard let text = json.string(member) else {
          throw flaw(path, title + "has an about that is no text")
        }
        entry.about = text
      case "env":
        for variable in json.children(member) {
          guard let reference = json.string(variable) else {
            throw flaw(path, title + "has an env that is no object of references")
          }
          entry.variables.append(json.key(variable) + "=" + reference)
        }
      case "allow", "grant":
        guard let names = json.strings(member) else {
          throw flaw(path, title + "has an " + key + " that is no array of names")
        }
        if key == "allow" { entry.allowed = names } else { entry.granted = names }
      case "network", "rw":
        guard let truth = json.truth(member) else {
          throw flaw(path, title + "has a " + key + " that is no truth")
        }
        if key == "rw" { entry.isWritable = truth } else { entry.hasNetwork = truth }
      default: throw flaw(path, title + "has no member " + Diagnostic.shown(key))
      }
    }
    guard entry.words.first?.isEmpty == false else {
      throw flaw(path, title + "needs an argv, an array of its words")
    }
    return entry
  }

  private static func flaw(_ path: String, _ what: String) -> CommandError {
    .failure(
      Diagnostic.shown(path) + " is not as it must be: " + what,
      hint: "the section MCP of kura(1) has one that is right")
  }

  /// All names in it, each once.
  var names: [String] {
    var all = others
    for entry in entries {
      var names = entry.allowed + entry.granted
      for variable in entry.variables { names.append(Self.target(variable)) }
      for name in names where !all.contains(name) { all.append(name) }
    }
    return all
  }

  /// The item of `VAR=kura://NAME?…`, or the text where it is something else.
  private static func target(_ variable: String) -> String {
    let bytes = Array(variable.utf8)
    let mark = Array("kura://".utf8)
    guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
      bytes[(equals + 1)...].starts(with: mark)
    else { return variable }
    let rest = bytes[(equals + 1 + mark.count)...]
    let name = rest.prefix { $0 != UInt8(ascii: "?") }
    return String(validating: name, as: UTF8.self) ?? variable
  }
}

/// Writes words as a person types them in a shell.
enum ShellWords {
  private static let plain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"

  static func text(_ words: [String]) -> String {
    var text = ""
    for word in words {
      if !text.isEmpty { text += " " }
      text += quoted(word)
    }
    return text
  }

  private static func quoted(_ word: String) -> String {
    if !word.isEmpty, word.utf8.allSatisfy({ plain.utf8.contains($0) }) { return word }
    var bytes: [UInt8] = [UInt8(ascii: "'")]
    for byte in word.utf8 {
      if byte == UInt8(ascii: "'") {
        bytes += Array("'\\''".utf8)
      } else {
        bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "'"))
    return String(validating: bytes, as: UTF8.self) ?? word
  }
}
