// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Picks whom a room with a network asks for names: those of this machine's resolvers that it can reach itself.
///
/// A resolver on this machine's loopback is none: in the room it is not there, and carried to it, the room would reach whatever
/// else listens at its port.
struct RoomResolver {
  /// Where lists of them stand, in the form of resolv.conf(5): the machine's own, and that of systemd-resolved, which asks those.
  private static let lists = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"]
  private static let longest = 65_536

  /// The text of the room's `/etc/resolv.conf`; empty where it has none to ask.
  let text: [UInt8]

  /// What this machine's lists have.
  static func find() -> RoomResolver {
    for list in lists {
      guard let all = read(list), let text = reachable(all.bytes) else { continue }
      return RoomResolver(text: text)
    }
    return RoomResolver(text: [])
  }

  private static func read(_ path: String) -> SecretBuffer? {
    do throws(FileError) {
      let descriptor = try Descriptor.open(path: path)
      defer { Descriptor.close(descriptor) }
      return try Descriptor.readAll(descriptor, limit: longest)
    } catch { return nil }
  }

  /// Those lines of a list that a room can use; nil where none of them names a resolver.
  static func reachable(_ list: Span<UInt8>) -> [UInt8]? {
    var text: [UInt8] = []
    var hasServer = false
    var line: [[UInt8]] = [[]]
    func take(_ words: [[UInt8]]) {
      guard words.count > 1 else { return }
      let isServer = words[0].elementsEqual("nameserver".utf8)
      guard
        isServer
          || ["search", "domain", "options"].contains(where: { words[0].elementsEqual($0.utf8) }),
        !isServer || isElsewhere(words[1])
      else { return }
      hasServer = hasServer || isServer
      for (index, word) in words.enumerated() { text += (index > 0 ? [0x20] : []) + word }
      text.append(0x0A)
    }
    for index in list.indices {
      let byte = list[index]
      if byte == 0x0A {
        take(line.filter { !$0.isEmpty })
        line = [[]]
      } else if byte == 0x20 || byte == 0x09 {
        line.append([])
      } else {
        line[line.count - 1].append(byte)
      }
    }
    take(line.filter { !$0.isEmpty })
    return hasServer ? text : nil
  }

  /// Whether an address is not this machine's alone, and needs no name of an interface.
  private static func isElsewhere(_ address: [UInt8]) -> Bool {
    !address.starts(with: "127.".utf8) && !address.elementsEqual("0.0.0.0".utf8)
      && !address.starts(with: "::".utf8) && !address.contains(UInt8(ascii: "%"))
  }
}
