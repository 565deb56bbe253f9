// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Help, printed from the command table, at most 80 columns wide.
enum HelpText {
  /// The help of a verb, or of all.
  static func write(_ command: Command?, to output: inout Output) throws(CommandError) {
    if let command { try write(verb: command, to: &output) } else { try writeAll(to: &output) }
  }

  /// The exit statuses.
  static func writeStatuses(to output: inout Output) throws(CommandError) {
    for status in ExitStatus.allCases {
      let number = pad("\(status.rawValue)", 5)
      try output.write(number + pad(status.name, 19) + status.summary + "\n")
    }
  }

  private static func writeAll(to output: inout Output) throws(CommandError) {
    try output.write(
      "usage: kura [--vault VAULT] [--no-agent] [-q] VERB [OPTION]... [NAME]...\n\nverbs:\n")
    for command in CommandTable.all {
      try output.write("  " + pad(command.verb, 10) + command.abstract + "\n")
    }
    try output.write("\noptions of every verb:\n")
    try write(Option.general + Option.programs, to: &output)
    try output.write(
      "\n'kura help VERB' shows a verb's options, 'kura help exit-status' the statuses,\n"
        + "'man kura' everything.\n")
  }

  private static func write(verb command: Command, to output: inout Output) throws(CommandError) {
    try output.write("usage: kura " + command.verb)
    if !(command.options.isEmpty && command.sharedOptions.isEmpty) {
      try output.write(" [OPTION]...")
    }
    for operand in command.operands { try output.write(" " + operand.synopsis) }
    try output.write("\n\n" + command.abstract + "\n")
    if !command.options.isEmpty {
      try output.write("\noptions:\n")
      try write(command.options, to: &output)
    }
    if !command.sharedOptions.isEmpty {
      try output.write("\noptions for a locked vault:\n")
      try write(command.sharedOptions, to: &output)
    }
    try output.write("\n'kura help' shows the options of every verb.\n")
  }

  private static func write(_ options: [Option], to output: inout Output) throws(CommandError) {
    for option in options {
      try output.write("  " + pad(option.synopsis, 30) + option.help + "\n")
    }
  }

  static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.utf8.count))
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
