// SPDX-License-Identifier: MIT

/// Understands what a program that runs an askpass wants, as far as its words tell.
///
/// The words are matched whole, from their first byte to their last: part of them may come from
/// somebody at the other end of a network, and a text that only looks like a known one must be shown
/// to a person.
enum AskpassPrompt: Equatable, Sendable {
  /// A secret that an item may hold.
  case item(String)
  /// What git would ask a credential helper for, and whether it is the user's name that is wanted.
  case git(GitPlace, wantsUser: Bool)
  /// A yes or no, which no item gives.
  case confirm
  /// Nothing is wanted but that it is seen.
  case notice
  /// A person must answer; whether what is typed may be seen.
  case person(isVisible: Bool)

  /// Holds what stands around a prompt.
  struct Surroundings {
    /// The variable `SSH_ASKPASS_PROMPT`.
    var hint: String?
    /// The program that asks.
    var caller: [UInt8] = []
    /// The working directory.
    var directory: [UInt8] = []
  }

  init(_ text: [UInt8], _ surroundings: Surroundings) {
    switch surroundings.hint {
    case "confirm": self = .confirm
    case "none": self = .notice
    default:
      self =
        Self.key(text, surroundings.directory) ?? Self.login(text)
        ?? Self.sudo(text, surroundings.caller) ?? Self.git(text)
        ?? .person(isVisible: Self.contains(text, "(yes/no"))
    }
  }
}

// MARK: - Words

extension AskpassPrompt {
  /// What stands between a head and a tail; nil unless the text has both, and something between.
  private static func middle(_ text: [UInt8], _ head: String, _ tail: String) -> [UInt8]? {
    guard text.starts(with: head.utf8), text.reversed().starts(with: tail.utf8.reversed()),
      text.count > head.utf8.count + tail.utf8.count
    else { return nil }
    let middle = text[head.utf8.count..<(text.count - tail.utf8.count)]
    return middle.contains { $0 < 0x20 || $0 == 0x7F } ? nil : Array(middle)
  }

  private static func contains(_ text: [UInt8], _ part: String) -> Bool {
    text.indices.contains { text[$0...].starts(with: part.utf8) }
  }

  /// ssh and ssh-add, about a key's file. `Bad passphrase, try again for …` is not among them: what
  /// an item held was wrong then, and ssh-add would ask for ever.
  private static func key(_ text: [UInt8], _ directory: [UInt8]) -> AskpassPrompt? {
    let head = "Enter passphrase for "
    let path: [UInt8]
    if let quoted = middle(text, head + "key '", "': ") {
      // ssh shows a hundred bytes of a path: of so many, nobody knows whether they are all.
      guard quoted.count < 100 else { return nil }
      path = quoted
    } else if let confirmed = middle(text, head, " (will confirm each use): ") {
      path = confirmed
    } else if let plain = middle(text, head, ": ") {
      path = plain
    } else {
      return nil
    }
    // What ssh-add reads from a pipe has no path that could be a name.
    guard !path.elementsEqual("(stdin)".utf8) else { return nil }
    return NamePart.path(path, from: directory).map { .item("ssh/" + $0) }
  }

  /// ssh, about a password on another machine: by itself, or in the words that PAM has there, which ssh
  /// puts behind who and where (keyboard-interactive).
  private static func login(_ text: [UInt8]) -> AskpassPrompt? {
    guard let place = middle(text, "", "'s password: ") ?? middle(text, "(", ") Password: "),
      let at = place.lastIndex(of: UInt8(ascii: "@")), at > 0, at < place.count - 1,
      !place.contains(0x20)
    else { return nil }
    return .item("ssh-login/" + NamePart.encode(place))
  }

  /// sudo, where sudo itself asks: a server that ssh talks to can send the same words.
  private static func sudo(_ text: [UInt8], _ caller: [UInt8]) -> AskpassPrompt? {
    guard caller.elementsEqual("sudo".utf8), let user = middle(text, "[sudo] password for ", ": ")
    else { return nil }
    return .item("sudo/" + NamePart.encode(user))
  }
}

// MARK: - git

extension AskpassPrompt {
  private static func git(_ text: [UInt8]) -> AskpassPrompt? {
    if let url = middle(text, "Username for '", "': ") {
      return place(url).map { .git($0, wantsUser: true) }
    }
    guard let url = middle(text, "Password for '", "': ") else { return nil }
    return place(url).map { .git($0, wantsUser: false) }
  }

  /// `PROTOCOL://[USER@]HOST[/PATH]`. Git before 2.48 does not escape the user, so a `/` or `%` in
  /// it leaves open which host is meant: such a text is none (CVE-2024-50349).
  private static func place(_ url: [UInt8]) -> GitPlace? {
    let mark = Array("://".utf8)
    guard let start = url.indices.first(where: { url[$0...].starts(with: mark) }), start > 0 else {
      return nil
    }
    var rest = Array(url[(start + mark.count)...])
    var user: [UInt8]?
    if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
      let before = Array(rest[..<at])
      guard !before.contains(UInt8(ascii: "/")), !before.contains(UInt8(ascii: "%")) else {
        return nil
      }
      user = before
      rest.removeSubrange(...at)
    }
    let slash = rest.firstIndex(of: UInt8(ascii: "/"))
    let host = Array(rest[..<(slash ?? rest.endIndex)])
    guard !host.isEmpty else { return nil }
    return GitPlace(
      scheme: Array(url[..<start]), host: host, path: slash.map { Array(rest[($0 + 1)...]) },
      user: user)
  }
}
