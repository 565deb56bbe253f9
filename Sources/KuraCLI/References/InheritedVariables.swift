// SPDX-License-Identifier: MIT

internal import KuraClient

/// Says which variables of the environment a program is given.
enum InheritedVariables {
  /// All of them.
  case all
  /// Only those that are named; `LC_*` names all that begin so.
  case kept([[UInt8]])

  /// What goes into a room by itself: no place, no socket and no token.
  private static let ofRooms = [
    "COLORTERM", "COLUMNS", "EDITOR", "LANG", "LANGUAGE", "LC_*", "LINES", "LOGNAME", "NO_COLOR",
    "PAGER", "PATH", "SHELL", "TERM", "TZ", "USER", "VISUAL",
  ]

  /// What `--only` and `--keep` ask for.
  init(_ arguments: Arguments, isInRoom: Bool = false) throws(CommandError) {
    let lists = arguments.values(.keep)
    guard arguments.has(.only) || !lists.isEmpty || isInRoom else {
      self = .all
      return
    }
    var names: [[UInt8]] = []
    if isInRoom, !arguments.has(.only) { names = Self.ofRooms.map { Array($0.utf8) } }
    for list in lists {
      for name in list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        let stem = name.last == UInt8(ascii: "*") ? name.dropLast() : name
        guard VariableName.isValid(Array(stem)) else {
          throw .usage(
            OptionName.keep.spelling + ": no variable can be called "
              + Diagnostic.quoted(Array(name)),
            hint: "write names with commas between them: PATH,HOME,LC_*")
        }
        names.append(Array(name))
      }
    }
    self = .kept(names)
  }

  /// Whether the environment is passed on as it is, but for what is set anew.
  var isWhole: Bool {
    switch self {
    case .all: true
    case .kept: false
    }
  }

  /// The variables that must be looked at: those that mean references where all are passed on, else all
  /// that are kept.
  func matches(where isReference: (Span<UInt8>) -> Bool) -> [Environment.Match] {
    switch self {
    case .all: Environment.variables(where: isReference)
    case .kept(let names): Environment.variables(named: { Self.matches($0, names) })
    }
  }

  private static func matches(_ name: Span<UInt8>, _ names: [[UInt8]]) -> Bool {
    names.contains { wanted in
      guard wanted.last == UInt8(ascii: "*") else {
        return name.count == wanted.count && name.starts(with: wanted)
      }
      return name.starts(with: Array(wanted.dropLast()))
    }
  }
}
