// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Adds to the help of a verb what its options do not say: the words that an operand can be, and
/// one command that is right as it stands.
enum HelpDetails {
  /// Puts lines of a word and what it means below a title.
  struct Section {
    let title: String
    let rows: [(word: String, help: String)]
  }

  /// What can stand for an operand or an option's value.
  static func sections(of verb: String) -> [Section] {
    switch verb {
    case "slot": [Section(title: "kinds of slot, for add", rows: kinds)]
    case "config": [Section(title: "settings", rows: settings)]
    case "run", "inject": [Section(title: "a reference, REF, is", rows: references)]
    case "helper": [Section(title: "a PROGRAM is one of", rows: programs)]
    case "export":
      [Section(title: "a FORMAT is one of", rows: formats)]
    case "import": [Section(title: "a FORMAT is one of", rows: importFormats)]
    case "put": [Section(title: "a NAME, such as", rows: names)]
    default: []
    }
  }

  private static let kinds: [(word: String, help: String)] = [
    ("passcode", "another passcode"),
    ("recovery-key", "a recovery key; there is one at most"),
    ("key-file", "the bytes of a file, 32 at least"),
    ("local", "a code of 4 to 16 characters (a PIN) for this machine alone"),
  ]

  private static var settings: [(word: String, help: String)] {
    Config.keys.map { ($0.name, Config.range(of: $0)) }
  }

  private static let references: [(word: String, help: String)] = [
    ("kura://NAME", "the value of an item"),
    ("kura://@VAULT/NAME", "the value of an item of another vault"),
    ("kura://NAME?attr=KEY", "an attribute of the item"),
  ]

  private static var importFormats: [(word: String, help: String)] {
    [("auto", "looks at the file, says which of these it is, and asks")]
      + ImportFormat.allCases.map { ($0.rawValue, $0.summary) }
  }

  private static let programs: [(word: String, help: String)] = [
    ("git, docker, cargo", "a credential helper"),
    ("terraform", "a credentials helper of terraform and OpenTofu"),
    ("aws, kubectl", "what their configurations run; the NAME of an item follows"),
    ("askpass", "what ssh, ssh-add, sudo and git ask"),
    ("pass, keyring", "those programs themselves; their words follow --"),
  ]

  private static let formats: [(word: String, help: String)] = [
    ("json-lines", "everything, for 'kura put --batch --replace'"),
    ("keepass-xml, keepassxc-csv", "KeePass 2, KeePassXC"),
    ("bitwarden-json", "Bitwarden, Vaultwarden"),
    ("cxf", "all that takes FIDO's Credential Exchange Format"),
    ("pass", "pass and gopass: -o names the folder"),
    ("dotenv", "NAME=VALUE lines, for sh and others"),
  ]

  private static let names: [(word: String, help: String)] = [
    ("mail", "any text without control characters"),
    ("com.example/ada", "a service and an account; / makes prefixes for 'kura list'"),
  ]

  /// A command that is right as it stands, if items are called so; the tests parse it.
  static func example(of command: Command) -> String {
    let words = examples.first { $0.verb == command.verb }?.words
    let operand = command.operands.first?.name == "NAME" ? " mail/ada" : ""
    return "kura " + (words ?? command.verb + operand)
  }

  private static let examples: [(verb: String, words: String)] = [
    ("unlock", "unlock --idle-timeout 1h"),
    ("lock", "lock --vault work"),
    ("status", "status --json"),
    ("vaults", "vaults -l"),
    ("config", "config idle-timeout 5m"),
    ("passcode", "passcode --recovery-key"),
    ("slot", "slot add local --label laptop"),
    ("rekey", "rekey --new-recovery-key-file recovery.txt"),
    ("backup", "backup --to /media/stick --keep 30"),
    ("restore-backup", "restore-backup /media/stick/default-20261123T111530Z.kura"),
    ("clone", "clone shared.kura"),
    ("merge", "merge /media/stick/laptop.kura --dry-run"),
    ("sync", "sync join dir:Sync/kura"),
    ("conflicts", "conflicts mail/ada --keep shown"),
    ("log", "log --verify"),
    ("put", "put mail/ada --attr user=ada"),
    ("import", "import chrome-csv passwords.csv --dry-run"),
    ("otp", "otp site/code"),
    ("ui", "ui --vault work"),
    ("pick", "pick --copy mail"),
    ("export", "export json-lines -o all.jsonl"),
    ("generate", "generate --length 24 --no-ambiguous"),
    ("list", "list -l mail/"),
    ("find", "find ada"),
    ("attr", "attr mail/ada user=ada -d old"),
    ("mv", "mv mail/ada mail/ada.lovelace"),
    ("rm", "rm mail/ada"),
    ("history", "history -l mail/ada"),
    ("purge", "purge --history mail/ada"),
    ("run", "run --env TOKEN=kura://api/token -- make release"),
    ("approve", "approve"),
    ("grant", "grant add api/token --for 15m"),
    ("mcp", "mcp --approve kura-mcp.json"),
    ("inject", "inject -i app.conf.in -o app.conf"),
    ("redact", "redact --name api/"),
    ("scan", "scan src build.log"),
    ("helper", "helper aws aws/work"),
    ("agent", "agent status"),
    ("completion", "completion bash"),
    ("help", "help put"),
  ]
}
