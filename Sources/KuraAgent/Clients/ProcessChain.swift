// SPDX-License-Identifier: MIT

internal import Glibc

/// Tells of a process what the kernel says: nobody can choose its number, its parent or its start, but what it
/// is called.
struct ProcessLink: Equatable, Sendable {
  let process: UInt32
  let parent: UInt32
  /// Since the boot, in milliseconds.
  let start: UInt64
  /// Whose rights it has.
  let user: UInt32
  /// How many namespaces of process ids it is in.
  let depth: Int
  /// The device number of its terminal; 0 for none.
  let terminal: UInt32
  /// Whether it leads its session, as the shell of a terminal does.
  let isLeader: Bool
  /// The file name of its program, or what it calls itself where that is not to be had.
  let name: [UInt8]
}

/// Says how much of a process is to be told.
enum ProcessQuestion: Sendable {
  case all
  /// Where it stands: what it calls itself will do for its name.
  case place
  /// Whether it is still what it was a moment ago: with another start or another parent it is not.
  case again(ProcessLink)
}

/// Names the process below which programs are answered for together.
struct ProcessTree: Equatable, Sendable {
  let process: UInt32
  let start: UInt64
}

/// Lists a process and those above it, nearest first.
struct ProcessChain: Equatable, Sendable {
  private static let longest = 64

  let links: [ProcessLink]

  /// Walks up from a process, twice, so that one that ends meanwhile, and whose number another gets, is not
  /// taken for it.
  ///
  /// - Parameters:
  ///   - latest: When it was there already; nil when a younger process has its number.
  ///   - roots: What is above the last of these is not looked at; none for all that is above.
  ///   - look: Tells of a process; nil where there is none.
  init?(
    of process: UInt32, startedBefore latest: UInt64, upTo roots: [ProcessTree] = [],
    _ look: (UInt32, ProcessQuestion) -> ProcessLink?
  ) {
    guard let links = Self.walk(process, roots, look),
      links.allSatisfy({ look($0.process, .again($0)) == $0 }),
      let own = links.first, own.start <= latest
    else { return nil }
    self.links = links
  }

  private static func walk(
    _ process: UInt32, _ roots: [ProcessTree],
    _ look: (UInt32, ProcessQuestion) -> ProcessLink?
  ) -> [ProcessLink]? {
    var links: [ProcessLink] = []
    var next = process
    var missing = roots
    while next > 1, links.count < longest {
      // Of other users' processes some systems tell nothing: what is below them is known all the same.
      guard let link = look(next, roots.isEmpty ? .all : .place) else { break }
      // A parent that is younger than its child is another process with the number of the parent.
      if let below = links.last, link.start > below.start { return nil }
      links.append(link)
      missing.removeAll { $0.process == link.process && $0.start == link.start }
      if missing.isEmpty, !roots.isEmpty { break }
      next = link.parent
    }
    return links.isEmpty ? nil : links
  }

  /// Whether nothing above it was left out for its depth.
  var isWhole: Bool { links.count < Self.longest }

  /// What is answered for where this process asks: the nearest one that is not `kura`; nil where that is
  /// above more than its user would mean.
  ///
  /// Who calls itself `kura` is passed over, so that what was answered for it serves its parent, too: that
  /// it could hand over as well.
  var tree: ProcessTree? {
    guard let root = links.first(where: { !$0.isKura }), let own = links.first,
      !root.isOfSession, isEven(to: root)
    else { return nil }
    // Who is at another terminal has opened this one, and mostly more of them.
    guard own.terminal == 0 || own.terminal == root.terminal else { return nil }
    return ProcessTree(process: root.process, start: root.start)
  }

  /// Those that started it within its terminal, up to the shell there, and it: who starts a shell for each thing that it
  /// does is among them, and its owner's own shell is not.
  var starters: [ProcessTree] {
    let all = links.prefix { link in
      !link.isOfSession && !(link.isLeader && link.terminal != 0)
    }
    return all.map { ProcessTree(process: $0.process, start: $0.start) }.filter { isWithin($0) }
  }

  /// Whether it is within a tree.
  func isWithin(_ tree: ProcessTree) -> Bool {
    guard let root = links.first(where: { $0.process == tree.process && $0.start == tree.start })
    else { return false }
    return isEven(to: root)
  }

  /// Whether all up to there have the same rights, in the same namespaces: what is inside a room is not who
  /// opened it.
  private func isEven(to root: ProcessLink) -> Bool {
    for link in links {
      guard link.depth == root.depth, link.user == root.user else { return false }
      if link == root { return true }
    }
    return false
  }
}

extension ProcessLink {
  /// Whether something may be granted to it: it is as its owner's programs are, and no login, desktop or terminal.
  func isFit(beside own: ProcessLink) -> Bool {
    process > 1 && user == own.user && depth == own.depth && !isOfSession
  }

  fileprivate var isKura: Bool { name == Array("kura".utf8) }

  /// Whether everything of a login, a desktop or a terminal hangs on it.
  fileprivate var isOfSession: Bool {
    Self.ofSession.contains(String(decoding: name, as: UTF8.self))
  }

  /// The kernel's own word for a name ends after 15 characters.
  private static let ofSession: Set = [
    "systemd", "init", "login", "sshd", "sshd-session", "dbus-daemon", "dbus-broker",
    "dbus-broker-lau", "tmux", "tmux: server", "screen", "SCREEN", "zellij", "abduco", "dtach",
    "Xorg", "Xwayland", "Xvfb", "xinit", "gnome-shell", "gnome-session-b", "gnome-session-binary",
    "gnome-terminal-", "gnome-terminal-server", "plasmashell", "kwin_x11", "kwin_wayland",
    "ksmserver", "xfce4-session", "sway", "weston", "Hyprland", "river", "labwc", "wayfire", "i3",
  ]
}

// MARK: - The kernel's word

extension ProcessLink {
  /// Looks a process up in proc(5).
  static func read(_ process: UInt32, _ question: ProcessQuestion = .all) -> ProcessLink? {
    guard let stat = text("/proc/\(process)/stat", 1_024), let last = stat.lastIndex(of: 41),
      let first = stat.firstIndex(of: 40), first < last
    else { return nil }
    // The name may hold anything, brackets and spaces, too.
    var fields = Words(stat[(last + 1)...])
    guard fields.skip(1), let parent = number(fields.next()), fields.skip(1),
      let session = number(fields.next()), let device = fields.next(), fields.skip(14),
      let ticks = number(fields.next())
    else { return nil }
    let second = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    let rights: (user: UInt32, depth: Int)?
    // The namespaces of a process are those that it began in.
    if case .again(let known) = question {
      rights = (known.user, known.depth)
    } else {
      rights = self.rights(of: process)
    }
    guard let rights else { return nil }
    return ProcessLink(
      process: process, parent: UInt32(clamping: parent), start: ticks * 1_000 / second,
      user: rights.user, depth: rights.depth,
      terminal: UInt32(bitPattern: Int32(String(decoding: device, as: UTF8.self)) ?? 0),
      isLeader: session == UInt64(process),
      name: name(of: process, question) ?? Array(stat[(first + 1)..<last]))
  }

  private static func rights(of process: UInt32) -> (user: UInt32, depth: Int)? {
    guard let status = text("/proc/\(process)/status", 8_192),
      let users = words("Uid:", in: status), users.count == 4, let user = number(users[1]),
      let depth = words("NSpid:", in: status)?.count
    else { return nil }
    return (UInt32(clamping: user), depth)
  }

  private static func name(of process: UInt32, _ question: ProcessQuestion) -> [UInt8]? {
    switch question {
    case .all: program(process)
    case .place: nil
    case .again(let known): known.name
    }
  }

  /// In how many namespaces of process ids a process is; nil where it is not seen.
  static func depth(_ process: UInt32) -> Int? {
    text("/proc/\(process)/status", 8_192).flatMap { words("NSpid:", in: $0)?.count }
  }

  /// The process that a descriptor of pidfd_open(2) holds; nil for any other one, and where it has ended.
  static func process(heldBy descriptor: Int32) -> UInt32? {
    let line = text("/proc/self/fdinfo/\(descriptor)", 1_024).flatMap {
      words("Pid:", in: $0)?.first
    }
    return line.flatMap { UInt32(String(decoding: $0, as: UTF8.self)) }
  }

  /// Whether a process does nothing until it is told to go on.
  static func isStopped(_ process: UInt32) -> Bool {
    let state = text("/proc/\(process)/status", 8_192).flatMap { words("State:", in: $0)?.first }
    guard let state = state?.first else { return false }
    return state == UInt8(ascii: "T") || state == UInt8(ascii: "t")
  }

  /// When a process that is there now can have started at the latest, by the same clock.
  static var latestStart: UInt64 {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return 0 }
    return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
  }

  private static func number(_ digits: ArraySlice<UInt8>?) -> UInt64? {
    guard let digits, (1...19).contains(digits.count) else { return nil }
    var number: UInt64 = 0
    for digit in digits {
      guard (48...57).contains(digit) else { return nil }
      number = number * 10 + UInt64(digit - 48)
    }
    return number
  }

  /// What a line of `/proc/PID/status` has after its title.
  private static func words(_ title: String, in status: [UInt8]) -> [ArraySlice<UInt8>]? {
    let title = Array(title.utf8)
    var lines = Words(status[...], between: 10)
    while let line = lines.next() {
      guard line.starts(with: title) else { continue }
      var (words, all) = (Words(line, between: 9), [ArraySlice<UInt8>]())
      _ = words.next()
      while let word = words.next() { all.append(word) }
      return all
    }
    return nil
  }

  private static func program(_ process: UInt32) -> [UInt8]? {
    Peer.path(of: process).map { path in Array(path[((path.lastIndex(of: 47) ?? -1) + 1)...]) }
  }

  private static func text(_ path: String, _ limit: Int) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { room, count in
      count = max(0, unsafe Glibc.read(descriptor, room.baseAddress, limit))
    }
    return bytes.isEmpty ? nil : bytes
  }
}

/// Goes over the words of a line, or the lines of a text.
private struct Words {
  private var rest: ArraySlice<UInt8>
  private let mark: UInt8

  /// - Parameter mark: What stands between them, once or more.
  init(_ text: ArraySlice<UInt8>, between mark: UInt8 = 32) { (rest, self.mark) = (text, mark) }

  mutating func next() -> ArraySlice<UInt8>? {
    guard let start = rest.firstIndex(where: { $0 != mark }) else { return nil }
    let end = rest[start...].firstIndex(of: mark) ?? rest.endIndex
    defer { rest = rest[end...] }
    return rest[start..<end]
  }

  /// - Returns: Whether there were so many.
  mutating func skip(_ count: Int) -> Bool {
    for _ in 0..<count where next() == nil { return false }
    return true
  }
}
