// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol
internal import SecureMemory

extension Connection {
  /// Has the connection serve no more than what a room may have, and hands it over.
  ///
  /// - Parameter names: Of the items that are served.
  /// - Returns: Its socket, which the caller closes: the hello of who is in the room comes next.
  public consuming func confined(to names: [String]) throws(ClientError) -> Int32 {
    var list: SecretBuffer
    do throws(SecureMemoryError) { list = try SecretBuffer(capacity: 256) } catch {
      throw .outOfMemory
    }
    do throws(ProtocolError) {
      for name in names { try list.put16(text: name) }
    } catch { throw ClientError(writing: error) }
    let request = ConfineRequest(KeyFields(list.bytes, count: names.count))
    let _: DoneReply = try ask(.confine(request))
    let socket = kura_descriptor_copy(watched)
    guard socket >= 0 else { throw .system(-socket) }
    return socket
  }
}
