// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Finds out why this machine lets nobody make a room.
struct RoomGround {
  private let machine: Machine

  /// Whether rooms can be made, for `doctor`: one is made, of bubblewrap alone.
  var check: Check {
    let name = "rooms"
    guard let program = RoomPlan.findProgram() else {
      return Check(
        name, .warn, "there is no bubblewrap: 'kura run --sandbox -- CMD' makes no room",
        "install the package 'bubblewrap'")
    }
    guard let (why, advice) = flaw else {
      guard Self.makes(program) else {
        return Check(
          name, .warn,
          "bubblewrap can make no room here: 'kura run --sandbox -- CMD' starts nothing",
          "see what 'bwrap --unshare-all --ro-bind / / true' says")
      }
      let rooms = "commands can be run in a room, with "
      if let (why, advice) = RoomNetwork.flaw {
        return Check(name, .ok, rooms + "no network: " + why, advice)
      }
      return Check(name, .ok, rooms + (RoomNetwork.find().map { "a network by " + $0.name } ?? ""))
    }
    return Check(name, .warn, why + ", so commands are run in no room", advice)
  }

  private static func makes(_ program: String) -> Bool {
    let words = [
      "bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL",
      "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true",
    ]
    guard let child = System.startAnswering(program, words) else { return false }
    defer { kura_socket_close(child.descriptor) }
    return kura_child_wait(child.process, Int32.max) == 0
  }

  init(_ machine: Machine = Machine()) { self.machine = machine }

  /// What a room was not made for, and what to do about it.
  var failure: CommandError {
    let (why, advice) =
      flaw ?? ("bubblewrap says why above", "'kura doctor' looks at what it needs")
    return .failure("the room could not be made, and nothing was started: " + why, hint: advice)
  }

  /// What forbids name spaces to users; nil where nothing is seen that does.
  var flaw: (why: String, advice: String)? {
    if machine.number("/proc/sys/user/max_user_namespaces") == 0 {
      return (
        "this system lets nobody make name spaces",
        "set the sysctl user.max_user_namespaces to what it was, such as 10000"
      )
    }
    if machine.number("/proc/sys/kernel/unprivileged_userns_clone") == 0 {
      return (
        "this system lets no user make name spaces",
        "set the sysctl kernel.unprivileged_userns_clone to 1"
      )
    }
    if machine.number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1 {
      return (
        "AppArmor lets only programs make name spaces that it has a profile for",
        "install a profile for bubblewrap: apparmor-profiles has one"
      )
    }
    return nil
  }
}
