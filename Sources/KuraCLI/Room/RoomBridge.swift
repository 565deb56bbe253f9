// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Lets who is in a room talk with the agent, over connections on which that serves some items alone. It only carries
/// bytes: what is served, the agent says.
struct RoomBridge: ~Copyable {
  private static let step = 65_536

  /// The directory with its socket.
  let directory: String
  /// Open for as long as the room is wanted.
  private let end: Int32

  /// Starts the process that carries them.
  ///
  /// - Parameters:
  ///   - access: Where the agent is.
  ///   - network: What it shares with bubblewrap for a network; nil: there is none.
  static func start(
    _ room: RoomPlan, _ access: VaultAccess, _ network: kura_network?
  ) throws(CommandError) -> RoomBridge {
    let parent: String
    do throws(PathError) { parent = try UserDirectory.runtime() } catch { throw .path(error) }
    let listening: (socket: Int32, directory: String)
    do throws(FileError) { listening = try System.listenForRoom(below: parent) } catch {
      throw .file(.write, path: parent, errno: error.errno)
    }
    // The carrier of a network says what it misses.
    let errors = network == nil ? -1 : kura_descriptor_copy(2)
    let kept = network.map { [$0.hearing, $0.awaiting, $0.going, errors] } ?? []
    let (process, end) = System.partBridge(listening.socket, keeping: kept)
    guard process != 0 else {
      var carrier: Int32 = 0
      if var ends = network, let program = room.network {
        carrier = System.carryNetwork(&ends, by: program.program, program.kind, errors: errors)
        Descriptor.close(errors)
      }
      serve(listening, end, room, access, carrier)
    }
    Descriptor.close(listening.socket)
    for descriptor in kept { Descriptor.close(descriptor) }
    guard process > 0 else {
      System.removeForRoom(listening.directory)
      throw .client(.system(-process))
    }
    return RoomBridge(directory: listening.directory, end: end)
  }

  private init(directory: String, end: Int32) { (self.directory, self.end) = (directory, end) }

  deinit { Descriptor.close(end) }

  /// Serves until nobody holds the other end of the pipe, whatever ended him.
  private static func serve(
    _ listening: (socket: Int32, directory: String), _ end: Int32, _ room: RoomPlan,
    _ access: VaultAccess, _ carrier: Int32
  ) -> Never {
    if var buffer = try? SecretBytes(count: step) {
      while true {
        var bytes = buffer.mutableBytes
        let client = System.awaitBridge(listening.socket, end, through: &bytes)
        guard client >= 0 else { break }
        join(client, room, access)
      }
    }
    System.removeForRoom(listening.directory)
    kura_network_end(carrier)
    kura_bridge_leave()
  }

  /// Connects somebody with the agent; where there is none, he is hung up on.
  private static func join(_ client: Int32, _ room: RoomPlan, _ access: VaultAccess) {
    do throws(ClientError) {
      guard let connection = try? access.connectRunning() else { throw .noAgent }
      kura_bridge_join(client, try connection.confined(to: room.allowed))
    } catch { Descriptor.close(client) }
  }
}
