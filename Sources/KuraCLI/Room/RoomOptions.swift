// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes the options by which bubblewrap makes a room, into a file in memory: of arguments, other programs can read.
struct RoomOptions: ~Copyable {
  /// What of the system is there, to be read.
  private static let system = ["/usr", "/opt", "/nix", "/gnu"]
  /// The same, where they are no links into it.
  private static let links = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
  /// What is there of `/etc`: nothing that not all may read, and nothing of this machine's services.
  private static let settings = [
    "alternatives", "bash.bashrc", "ca-certificates", "crypto-policies", "fonts", "gai.conf",
    "gitconfig", "group", "host.conf", "hosts", "inputrc", "java-17-openjdk", "ld.so.cache",
    "ld.so.conf", "ld.so.conf.d", "localtime", "locale.alias", "mime.types", "nsswitch.conf",
    "os-release", "passwd", "pki/ca-trust", "pki/tls/certs", "profile", "profile.d", "protocols",
    "python3", "services", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone", "vim", "zsh",
  ]
  /// What of `/proc` is the machine's: there root would need no rights but to be its owner.
  private static let kernel = [
    "acpi", "asound", "bus", "driver", "fs", "irq", "latency_stats", "mtrr", "scsi", "sys",
    "sysrq-trigger",
  ]
  /// What stays as it is where the rest of a project may be written: programs of outside do what stands there.
  static let untouched = [
    ".git/config", ".git/config.worktree", ".git/hooks", ".git/modules", ".git/worktrees",
    ".envrc", ".vscode", ".idea",
  ]

  private var text: SecretBuffer

  init() throws(CommandError) {
    text = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
  }

  // MARK: - What a room is

  /// The walls: name spaces of its own for everything, no rights in them and none to be had, a session of its own.
  mutating func addWalls(filter: Int32) throws(CommandError) {
    try add("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    try add("--new-session", "--die-with-parent", "--seccomp", "\(filter)")
  }

  /// What is there: the system, an empty home, the project and the way to the agent.
  mutating func addPlaces(_ room: RoomPlan, sockets: String) throws(CommandError) {
    try add("--dir", "/etc", "--dir", "/run")
    for path in Self.system { try bind(path) }
    for path in Self.links {
      if let target = Self.link(path) { try add("--symlink", target, path) } else { try bind(path) }
    }
    for name in Self.settings { try bind("/etc/" + name) }
    try add("--proc", "/proc")
    for name in Self.kernel { try bind("/proc/" + name) }
    try add("--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp")
    try add("--perms", "0700", "--dir", RoomPlace.runtime)
    try add("--ro-bind", sockets, RoomPlace.sockets)
    try add("--ro-bind", room.own, RoomPlace.launcher)
    try add("--symlink", RoomEntry.name, RoomPlace.programs + "/kura")
    try add("--perms", "0700", "--tmpfs", room.home)
    try addProject(room)
    try add("--chdir", room.directory)
  }

  private mutating func addProject(_ room: RoomPlan) throws(CommandError) {
    guard room.isWritable else {
      return try add("--ro-bind", room.directory, room.directory)
    }
    try add("--bind", room.directory, room.directory)
    let git = room.directory + "/.git"
    for name in [".git"] + Self.untouched where Self.link(room.directory + "/" + name) != nil {
      throw .failure(
        "no room may write here: " + name + " is a link, which cannot be kept as it is",
        hint: "put what it leads to in its place, or leave out --rw", .denied)
    }
    // What is a place of its own can be put aside by nobody, with what stays as it is in it.
    if System.fileKind(git) == KURA_OTHER { try add("--bind", git, git) } else { try bind(git) }
    for name in Self.untouched { try bind(room.directory + "/" + name) }
  }

  /// Binds what is there, to be read.
  private mutating func bind(_ path: String) throws(CommandError) {
    try add("--ro-bind-try", path, path)
  }

  private static func link(_ path: String) -> String? {
    guard let target = try? System.linkTarget(path), !target.isEmpty else { return nil }
    return String(validating: target, as: UTF8.self)
  }

  /// Nothing of the root can be written: what may be has been put there.
  mutating func close() throws(CommandError) { try add("--remount-ro", "/") }

  /// The network that is there already when the room is made.
  mutating func addNetwork() throws(CommandError) {
    try add("--share-net", "--uid", "\(kura_user())", "--gid", "\(kura_group())")
  }

  // MARK: - What it is given

  /// A file with a value.
  mutating func addFile(_ descriptor: Int32, at path: String) throws(CommandError) {
    try add("--perms", "0600", "--file", "\(descriptor)", path)
  }

  /// The variables of a block, and those that every room has.
  mutating func addVariables(
    _ block: borrowing SecretBuffer, _ room: RoomPlan
  ) throws(CommandError) {
    try add("--clearenv")
    var start = 0
    var hasPath = false
    for end in block.bytes.indices where block.bytes[end] == 0 {
      let entry = block.bytes.extracting(start..<end)
      start = end + 1
      guard let equals = entry.indices.first(where: { entry[$0] == UInt8(ascii: "=") }) else {
        continue
      }
      let name = entry.extracting(first: equals)
      try add("--setenv")
      try add(name)
      let isPath = Self.isPath(name)
      try append(entry.extracting(droppingFirst: equals + 1), ended: !isPath)
      // The program is there for whoever does not have it elsewhere.
      if isPath { try add(":" + RoomPlace.programs) }
      hasPath = hasPath || isPath
    }
    if !hasPath {
      try add("--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin:" + RoomPlace.programs)
    }
    try add("--setenv", "HOME", room.home, "--setenv", "XDG_RUNTIME_DIR", RoomPlace.runtime)
    try add("--setenv", "KURA_VAULT", room.vault, "--setenv", RoomPlace.mark, "1")
  }

  private static func isPath(_ name: Span<UInt8>) -> Bool {
    [UInt8](copying: name).elementsEqual("PATH".utf8)
  }

  // MARK: - Writing

  private mutating func add(_ words: String...) throws(CommandError) {
    for word in words { try add(word.utf8.span) }
  }

  private mutating func add(_ word: Span<UInt8>) throws(CommandError) {
    try append(word, ended: true)
  }

  private mutating func append(_ part: Span<UInt8>, ended: Bool) throws(CommandError) {
    do throws(SecureMemoryError) {
      try text.append(part)
      if ended { try text.append(0) }
    } catch { throw .outOfMemory }
  }

  /// The file with all of it.
  ///
  /// - Parameter taken: Numbers that it does not get.
  func file(besides taken: [Int32]) throws(FileError) -> Int32 {
    let file = try MemoryFile.create(besides: taken)
    try Descriptor.write(text.bytes, to: file)
    try MemoryFile.seal(file)
    return file
  }
}
