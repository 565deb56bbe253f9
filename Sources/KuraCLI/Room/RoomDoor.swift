// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds what a room needs beside its command: the way to the agent, and the word that it stands.
final class RoomDoor {
  /// Names a file that is put into the room.
  struct File {
    let descriptor: Int32
    let path: String
  }

  private let room: RoomPlan
  /// What the network of the room takes; nil: it has none.
  private let network: kura_network?
  private let bridge: RoomBridge
  /// Where the room says that it stands, and where that is heard.
  private let saying: Int32
  private let standing: Int32
  /// What is not there yet, of what nothing in the room may change.
  private var absent: [String]
  private var hasStood = false

  /// Opens the way.
  ///
  /// - Parameter taken: Numbers of descriptors that the command gets.
  static func open(
    _ room: RoomPlan, _ access: VaultAccess, besides taken: [Int32]
  ) throws(CommandError) -> RoomDoor {
    let ends: (reading: Int32, writing: Int32)
    var network: kura_network?
    do throws(FileError) {
      ends = try System.roomPipe(besides: taken)
      if room.network != nil { network = try System.beginNetwork(besides: taken) }
    } catch { throw .client(.system(error.errno)) }
    let bridge = try RoomBridge.start(room, access, network)
    return RoomDoor(room, network, bridge, saying: ends.writing, standing: ends.reading)
  }

  private init(
    _ room: RoomPlan, _ network: kura_network?, _ bridge: consuming RoomBridge, saying: Int32,
    standing: Int32
  ) {
    self.room = room
    self.network = network
    self.bridge = bridge
    self.saying = saying
    self.standing = standing
    absent = room.isWritable ? Self.absent(in: room.directory) : []
  }

  private static func absent(in directory: String) -> [String] {
    ([".git", ".git/commondir"] + RoomOptions.untouched).filter {
      System.fileKind(directory + "/" + $0) == KURA_ABSENT
    }
  }

  /// Says what the room can reach, or what it leaves, that its owner may not think of.
  func announce(_ messages: Messages) {
    if let network = room.network, network.resolver.text.isEmpty {
      messages.note(
        "no names can be resolved in the room: this machine asks for them on its loopback, which is not the room's"
      )
    }
    for path in System.sockets(below: room.directory) {
      messages.note(
        "a program listens in this directory, and the room can talk with it: "
          + Diagnostic.shown(path))
    }
  }

  /// Whether the room stands, or did: else nothing was started in it.
  func stands() -> Bool {
    hasStood = hasStood || kura_room_stands(standing) != 0
    return hasStood
  }

  /// Says what has appeared that programs of outside heed.
  func sayMade(_ messages: Messages) {
    let made = absent.filter { System.fileKind(room.directory + "/" + $0) != KURA_ABSENT }
    absent.removeAll { made.contains($0) }
    for name in made {
      messages.note(
        "the room has made " + name + ", by which programs do something of themselves: look at it"
          + " before you use one here")
    }
  }

  /// Becomes bubblewrap, which makes the room and starts the command in it.
  ///
  /// - Parameters:
  ///   - first: Which argument of this process names the command.
  ///   - block: Its variables.
  ///   - files: What it is given as files.
  ///   - passed: The descriptors that it gets.
  ///   - isApart: Whether it gets nothing of a terminal.
  /// - Returns: Only when that fails: why.
  func enter(
    _ first: Int, _ block: borrowing SecretBuffer, files: [File], passing passed: [Int32],
    isApart: Bool
  ) -> CommandError {
    var files = files
    var kept = passed.filter { $0 > 2 } + files.map { $0.descriptor }
    do throws(FileError) {
      let filter = try MemoryFile.create(besides: passed)
      let failed = kura_room_write_filter(filter)
      guard failed == 0 else { return .client(.system(-failed)) }
      if let resolver = room.network?.resolver {
        let file = try MemoryFile.create(besides: passed)
        try Descriptor.write(resolver.text.span, to: file)
        try MemoryFile.seal(file)
        files.append(File(descriptor: file, path: "/etc/resolv.conf"))
        kept.append(file)
      }
      let options: RoomOptions
      do throws(CommandError) { options = try self.options(block, files, filter) } catch {
        return error
      }
      let file = try options.file(besides: passed)
      kept += [filter, file, saying]
      var words = ["bwrap", "--args", "\(file)", "--"]
      if let network {
        words = RoomNetwork.words(network) + [room.program] + words.dropFirst()
        kept += [network.telling, network.arriving, network.waiting]
      }
      words += RoomEntry.words(said: saying, passing: passed)
      return .client(
        .system(
          -System.enterRoom(room.program, words, from: first, keeping: kept, isApart: isApart)))
    } catch { return .client(.system(error.errno)) }
  }

  private func options(
    _ block: borrowing SecretBuffer, _ files: [File], _ filter: Int32
  ) throws(CommandError) -> RoomOptions {
    var options = try RoomOptions()
    try options.addWalls(filter: filter)
    try options.addPlaces(room, sockets: bridge.directory)
    for file in files { try options.addFile(file.descriptor, at: file.path) }
    if room.network != nil { try options.addNetwork() }
    try options.close()
    try options.addVariables(block, room)
    return options
  }
}
