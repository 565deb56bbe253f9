// SPDX-License-Identifier: MIT

/// Names the forms of what other programs write, as `kura import` takes them.
public enum ImportFormat: String, Sendable, CaseIterable {
  case chromeCSV = "chrome-csv"
  case firefoxCSV = "firefox-csv"
  case appleCSV = "apple-csv"
  case lastpassCSV = "lastpass-csv"
  case keepassxcCSV = "keepassxc-csv"
  case dotenv
  case jsonLines = "json-lines"
  case bitwardenJSON = "bitwarden-json"
  case onePUX = "1pux"
  case protonJSON = "proton-json"
  case keepassXML = "keepass-xml"
  case cxf
  case pass
  case secretService = "secret-service"

  /// Whether it is read from standard input where no file is named.
  public var isOfStream: Bool { self != .pass && self != .secretService }

  /// Whose it is, in one line.
  public var summary: String {
    switch self {
    case .chromeCSV: "passwords of Chrome, Chromium, Edge, Brave, Opera"
    case .firefoxCSV: "passwords of Firefox"
    case .appleCSV: "Apple Passwords, Safari, iCloud"
    case .lastpassCSV: "LastPass"
    case .keepassxcCSV: "KeePassXC"
    case .dotenv: "variables, as .env files have them"
    case .keepassXML: "KeePass 2, KeePassXC, with history and files"
    case .bitwardenJSON: "Bitwarden, Vaultwarden, under a password or not"
    case .onePUX: "1Password: its 1PUX archive, with files"
    case .protonJSON: "Proton Pass: its archive, or data.json of it"
    case .cxf: "FIDO's Credential Exchange Format: Apple Passwords and others"
    case .pass: "a store of pass or gopass, a folder, by gpg"
    case .secretService: "gnome-keyring, KWallet or KeePassXC as it runs, by kura-desktop"
    case .jsonLines: "Kura's own: a line of JSON an item"
    }
  }
}
