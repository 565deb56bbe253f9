// SPDX-License-Identifier: MIT

/// Names the places in a room that are Kura's own.
enum RoomPlace {
  /// The variable by which programs know that they are in a room.
  static let mark = "KURA_ROOM"
  private static let root = "/run/room"
  /// What `XDG_RUNTIME_DIR` is there.
  static let runtime = root
  /// Where the way to the agent is.
  static let sockets = root + "/kura"
  /// Where this program stands: the last place of the `PATH`.
  static let programs = root + "/bin"
  /// What starts the command there.
  static let launcher = programs + "/" + RoomEntry.name
  /// Where values stand that are given as files.
  static let files = root + "/files"
}
