// SPDX-License-Identifier: MIT

/// Lists the first steps by task, as kura-start(7) has them: each a command that is right as it stands.
enum FirstSteps {
  /// Puts commands and what they are for below what a person wants to do.
  struct Task {
    let title: String
    let steps: [(command: String, help: String)]
  }

  static let tasks: [Task] = [
    Task(
      title: "to begin",
      steps: [
        ("kura init", "make the vault: a passcode, typed twice, and a recovery key to write down"),
        ("kura status", "whether it is locked, since when and why"),
      ]),
    Task(
      title: "to store",
      steps: [
        ("kura put work/token", "a value, typed twice and not shown"),
        ("some-command | kura put work/token", "what a command prints, byte for byte"),
        ("kura put --generate site/ada", "a new random password"),
        ("kura put --otp site/code", "an otpauth URI, for one-time codes"),
      ]),
    Task(
      title: "to read",
      steps: [
        ("kura get work/token", "print the value, and nothing else"),
        ("kura copy site/ada", "take it to the clipboard for a moment"),
        ("kura otp site/code", "the code of now"),
        ("kura list site/", "the names below site/"),
        ("kura find ada", "the names and attributes with ada in them"),
      ]),
    Task(
      title: "to change",
      steps: [
        ("kura edit work/token", "in $EDITOR, in memory, wiped afterwards"),
        ("kura attr site/ada user=ada", "what there is to say of an item, beside its value"),
        ("kura mv work/token old/token", "another name"),
        ("kura rm old/token", "delete it; 'kura restore old/token' takes that back"),
        ("kura history work/token", "what it was before"),
      ]),
    Task(
      title: "to hand it to a program",
      steps: [
        (
          "kura run --env TOKEN=kura://work/token -- ./deploy",
          "in a variable of that program alone"
        ),
        (
          "kura inject -i app.conf.in -o app.conf",
          "in a file, where {{ kura://work/token }} stands"
        ),
      ]),
    Task(
      title: "to lock",
      steps: [
        (
          "kura lock",
          "now; it locks itself after 15 minutes without use, and when the machine sleeps"
        ),
        ("kura config idle-timeout 5m", "sooner"),
        ("systemctl --user enable --now kura-desktop", "with the screen, and when you log out"),
        ("kura protect bank/transfer", "ask for the passcode at each read of it"),
        ("kura authenticate --reason deploy && ./deploy", "ask before something else"),
      ]),
    Task(
      title: "to see all of it",
      steps: [
        ("kura ui", "the whole vault on the terminal, covered at every lock"),
        ("kura pick --copy", "choose an item by a few letters of its name"),
      ]),
    Task(
      title: "to have other ways in",
      steps: [
        ("kura slot add local", "a short code (a PIN) for this machine"),
        (
          "kura slot add key-file --auto --key-file /media/stick/key",
          "a stick that unlocks it by itself; 'head -c 64 /dev/urandom' prints what the file holds"
        ),
        ("kura slot list", "all ways in; 'kura slot disable N' puts one out of use"),
        ("kura passcode", "another passcode"),
        ("kura passcode --recovery-key", "where the passcode is forgotten"),
      ]),
    Task(
      title: "to look after it",
      steps: [
        ("kura verify", "prove that nothing of it was lost or changed"),
        ("kura log", "what was served, when, and to which program"),
        ("kura doctor", "what of this machine makes it weaker, and what to do"),
        (
          "kura backup --to /media/stick --keep 30", "a copy of all of it, sealed, in use or locked"
        ),
        ("kura restore-backup FILE", "the way back, after a look at what changes"),
      ]),
  ]
}
