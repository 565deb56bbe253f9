// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol

/// Prints help from the command table: at most 80 columns wide, and less on a narrower terminal.
struct HelpText {
  /// How wide a line may be.
  let columns: Int

  init(columns: Int = 80) { self.columns = max(columns, 32) }

  /// Help for whoever reads an output.
  init(for output: borrowing Output) {
    let width = output.isTerminal ? Int(kura_terminal_columns(1)) : 0
    self.init(columns: width > 0 ? min(width, 80) : 80)
  }

  /// The help of a verb, or of all.
  func write(_ command: Command?, to output: inout Output) throws(CommandError) {
    if let command { try write(verb: command, to: &output) } else { try writeAll(to: &output) }
  }

  /// The exit statuses.
  func writeStatuses(to output: inout Output) throws(CommandError) {
    for status in ExitStatus.allCases {
      let number = Self.pad("\(status.rawValue)", 4)
      try write(row: number + Self.pad(status.name, 18), status.summary, to: &output)
    }
  }

  func writeFirstSteps(to output: inout Output) throws(CommandError) {
    for task in FirstSteps.tasks {
      try output.write(task.title + ":\n")
      for step in task.steps {
        try output.write("  " + step.command + "\n")
        try write(row: "      ", step.help, to: &output)
      }
    }
  }

  private func writeAll(to output: inout Output) throws(CommandError) {
    try write(
      paragraph: "usage: kura [--vault VAULT] [--no-agent] [-q] VERB [OPTION]... [NAME]...",
      to: &output)
    for group in CommandTable.Group.allCases {
      try output.write("\n" + group.rawValue + ":\n")
      for command in group.commands {
        try write(row: "  " + Self.pad(command.verb, 12), command.abstract, to: &output)
      }
    }
    try output.write("\noptions of every verb:\n")
    try write(Option.general + Option.programs, to: &output)
    let aliases = CommandTable.aliases.map { $0.0 + " is " + $0.1 }
    let known = aliases.dropFirst().reduce(aliases[0]) { $0 + ", " + $1 }
    try output.write("\n")
    try write(
      paragraph: known + ". 'kura help VERB' shows what a verb takes, and an example; "
        + "'kura help exit-status' the statuses; 'man kura' everything.", to: &output)
  }

  private func write(verb command: Command, to output: inout Output) throws(CommandError) {
    var usage = "usage: kura " + command.verb
    if !(command.options.isEmpty && command.sharedOptions.isEmpty) { usage += " [OPTION]..." }
    for operand in command.operands { usage += " " + operand.synopsis }
    try write(paragraph: usage, to: &output)
    try output.write("\n")
    try write(paragraph: command.abstract, to: &output)
    if !command.options.isEmpty {
      try output.write("\noptions:\n")
      try write(command.options, to: &output)
    }
    if !command.sharedOptions.isEmpty {
      try output.write("\noptions for a locked vault:\n")
      try write(command.sharedOptions, to: &output)
    }
    for section in HelpDetails.sections(of: command.verb) {
      try output.write("\n" + section.title + ":\n")
      for row in section.rows {
        try write(row: "  " + Self.pad(row.word, 22), row.help, to: &output)
      }
    }
    try output.write("\n")
    try write(paragraph: "'kura help' shows the options of every verb.", to: &output)
    try write(paragraph: "example: " + HelpDetails.example(of: command), to: &output)
  }

  private func write(_ options: [Option], to output: inout Output) throws(CommandError) {
    for option in options {
      try write(row: "  " + Self.pad(option.synopsis, 30), option.help, to: &output)
    }
  }

  static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.utf8.count))
  }
}

// MARK: - Lines

extension HelpText {
  /// Writes a text beside its label, or below it where the terminal is too narrow for both.
  func write(
    row label: String, _ text: String, to output: inout Output
  ) throws(CommandError) {
    let width = label.utf8.count
    if width + text.utf8.count <= columns { return try output.write(label + text + "\n") }
    if columns - width >= 24 {
      try output.write(label)
      return try write(text, indent: width, from: width, to: &output)
    }
    var head = Substring(label)
    while head.utf8.last == 0x20 { head = head.dropLast() }
    try output.write(String(head) + "\n      ")
    try write(text, indent: 6, from: 6, to: &output)
  }

  func write(paragraph text: String, to output: inout Output) throws(CommandError) {
    try write(text, indent: 0, from: 0, to: &output)
  }

  /// Writes words, and begins a line before each that has no room left.
  private func write(
    _ text: String, indent: Int, from start: Int, to output: inout Output
  ) throws(CommandError) {
    var column = start
    for word in text.utf8.split(separator: 0x20, omittingEmptySubsequences: false) {
      if column > indent, column + 1 + word.count > columns {
        try output.write("\n" + String(repeating: " ", count: indent))
        column = indent
      } else if column > indent {
        try output.write(" ")
        column += 1
      }
      try output.write(String(decoding: word, as: UTF8.self))
      column += word.count
    }
    try output.write("\n")
  }
}

// MARK: - Notation

extension Option {
  /// `-o, --output FILE`.
  var synopsis: String {
    let letter = letter.map { "-" + String($0) + ", " } ?? "    "
    return switch value {
    case .none: letter + name.spelling
    case .required(let word): letter + name.spelling + " " + word
    case .optional(let word): letter + name.spelling + "[=" + word + "]"
    }
  }
}

extension Command.Operand {
  /// `NAME`, `[NAME]`, `[NAME]...` or `NAME...`.
  var synopsis: String {
    switch count {
    case .one: name
    case .optional: "[" + name + "]"
    case .any: "[" + name + "]..."
    case .atLeastOne: name + "..."
    }
  }
}
