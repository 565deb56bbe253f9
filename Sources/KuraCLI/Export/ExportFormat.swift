// SPDX-License-Identifier: MIT

/// Names the forms that items are exported in; kura(1) says what each holds.
enum ExportFormat: String, Sendable, CaseIterable {
  /// What `put --batch` takes: everything, history and deletions among it.
  case jsonLines = "json-lines"
  case keepassCSV = "keepassxc-csv"
  case keepassXML = "keepass-xml"
  case bitwardenJSON = "bitwarden-json"
  case cxf
  /// A folder, encrypted by gpg.
  case pass
  case dotenv

  /// Whether deleted items are written, too.
  var hasDeleted: Bool {
    switch self {
    case .jsonLines: true
    case .keepassCSV, .keepassXML, .bitwardenJSON, .cxf, .pass, .dotenv: false
    }
  }

  /// Whether what makes one-time codes is written.
  var hasCodes: Bool {
    switch self {
    case .jsonLines, .keepassCSV, .keepassXML, .bitwardenJSON, .cxf, .pass: true
    case .dotenv: false
    }
  }

  /// Whether the values that an item had before are written.
  var hasEarlier: Bool {
    switch self {
    case .jsonLines, .keepassXML, .bitwardenJSON: true
    case .keepassCSV, .cxf, .pass, .dotenv: false
    }
  }

  /// Whether it says of an item that it takes the passcode.
  var hasProtection: Bool {
    switch self {
    case .jsonLines, .bitwardenJSON: true
    case .keepassCSV, .keepassXML, .cxf, .pass, .dotenv: false
    }
  }

  /// Whether attributes are written.
  var hasAttributes: Bool {
    switch self {
    case .jsonLines, .keepassCSV, .keepassXML, .bitwardenJSON, .cxf, .pass: true
    case .dotenv: false
    }
  }
}
