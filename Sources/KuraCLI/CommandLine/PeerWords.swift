// SPDX-License-Identifier: MIT

/// Leads people from the verbs of other tools to Kura's, where these are no aliases: what they do
/// differs somewhere, and nothing should be stored or removed by a guess.
enum PeerWords {
  /// What to type in place of another tool's verb; nil for a word that none of them has.
  static func hint(for word: [UInt8]) -> String? {
    for (words, hint) in table {
      let isAmong = words.utf8.split(separator: 0x20).contains { $0.elementsEqual(word) }
      if isAmong { return hint }
    }
    return nil
  }

  private static let table = [
    ("set insert store save create write", "'kura put NAME' stores a value"),
    ("read cat view reveal fetch print", "'kura get NAME' writes an item's value"),
    ("cp", "'kura mv OLD NEW' renames an item, 'kura copy NAME' copies its value to the clipboard"),
    ("clip clipboard yank", "'kura copy NAME' copies a value to the clipboard"),
    ("search grep query", "'kura find TEXT' lists the items with TEXT in their name or attributes"),
    ("remove del erase unset", "'kura rm NAME' removes an item; its history keeps the value"),
    ("destroy shred wipe", "'kura purge NAME' removes an item for good, with its history"),
    ("rename move", "'kura mv OLD NEW' renames an item"),
    ("dump", "'kura export json-lines -o FILE' writes all items, unencrypted"),
    ("load", "'kura import json-lines' stores many items, each a line of JSON"),
    ("version", "'kura --version' prints the release"),
    ("login signin open", "'kura unlock' unlocks the vault"),
    ("logout signout close", "'kura lock' locks the vault"),
    ("new setup", "'kura init' makes a vault"),
    ("passwd", "'kura passcode' changes the passcode"),
    ("exec with", "'kura run --env VAR=kura://NAME -- CMD' runs a command with a value"),
    ("undelete undo recover", "'kura restore NAME' brings a removed item back"),
    ("info describe stat", "'kura show NAME' shows everything of an item but its value"),
    ("gen pwgen random", "'kura generate' makes a value, 'kura put --generate NAME' stores one"),
    ("totp code 2fa mfa", "'kura otp NAME' prints a one-time code"),
    ("settings policy", "'kura config' lists the settings"),
    ("check fsck", "'kura verify' proves the vault whole"),
    ("compact vacuum shrink", "'kura verify --compact' makes the file as short as what is in it"),
    ("audit", "'kura log' tells what was served, when, and to which program"),
    ("dir tree", "'kura list' lists the names"),
  ]
}
