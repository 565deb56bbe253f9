// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient

/// Names the program that carries the network of a room, which is its own: nothing of this machine's loopback is in it.
struct RoomNetwork {
  private static let places = ["/usr/bin/", "/usr/local/bin/", "/run/current-system/sw/bin/"]

  /// What it is called, for people.
  let name: String
  let program: String
  let kind: Int32
  let resolver = RoomResolver.find()

  /// The one that is there; nil where none is.
  static func find() -> RoomNetwork? {
    for (name, kind) in [("slirp4netns", KURA_SLIRP), ("pasta", KURA_PASTA)] {
      for place in places where System.isExecutable(place + name) {
        return RoomNetwork(name: name, program: place + name, kind: Int32(kind))
      }
    }
    return nil
  }

  /// Why no room has a network here, and what to do about it; nil where one can have it.
  static var flaw: (why: String, advice: String)? {
    guard find() != nil else {
      return (
        "there is neither slirp4netns nor pasta, one of which carries the network of a room",
        "install the package 'slirp4netns'"
      )
    }
    guard kura_network_opens() != 0 else {
      return (
        "this user cannot open /dev/net/tun, of which the network of a room is made",
        "have the module 'tun' loaded and its device open to all, mode 0666, as most systems do"
      )
    }
    return nil
  }

  /// The words before those of bubblewrap: a first one makes the place for a network, where the second one waits for it.
  /// Its user is 0 there, as slirp4netns needs it, and has the one right by which the room can give him his own number back.
  static func words(_ ends: kura_network) -> [String] {
    [
      "bwrap", "--unshare-user", "--uid", "0", "--gid", "0", "--unshare-net", "--cap-drop", "ALL",
      "--cap-add", "CAP_SETFCAP", "--die-with-parent", "--dev-bind", "/", "/", "--info-fd",
      "\(ends.telling)", "--", "/bin/sh", "-c",
      "echo > /proc/self/fd/\(ends.arriving) && read -r word < /proc/self/fd/\(ends.waiting) && "
        + "exec \"$@\"", "sh",
    ]
  }
}
