// SPDX-License-Identifier: MIT

internal import KuraTerms

/// Says what the columns of a program's export are.
struct CSVDialect: Sendable {
  /// Says what a column holds.
  enum Role: Equatable, Sendable {
    case title, user, value, url, notes, seed
    /// Folders, with this between them.
    case folders(UInt8)
    /// Milliseconds since 1970.
    case createdMilliseconds, modifiedMilliseconds
    /// RFC 3339.
    case createdText, modifiedText
    /// An attribute of that name.
    case attribute(String)
    /// Of use to that program alone.
    case foreign
  }

  /// Describes a column by its name in the first line.
  struct Column: Sendable {
    let name: String
    let role: Role
    let isNeeded: Bool

    init(_ name: String, _ role: Role, isNeeded: Bool = false) {
      (self.name, self.role, self.isNeeded) = (name, role, isNeeded)
    }
  }

  let columns: [Column]
  /// Whether all folders stand in one, which is the database.
  var hasRoot = false
  /// The URL of entries that are nothing but notes.
  var noteURL: [UInt8] = []

  /// The dialect of a format; nil where it is no CSV.
  init?(_ format: ImportFormat) {
    switch format {
    case .chromeCSV: self = .chrome
    case .firefoxCSV: self = .firefox
    case .appleCSV: self = .apple
    case .lastpassCSV: self = .lastpass
    case .keepassxcCSV: self = .keepassxc
    case .dotenv, .jsonLines, .bitwardenJSON, .onePUX, .protonJSON, .keepassXML, .cxf, .pass,
      .secretService:
      return nil
    }
  }

  private init(_ columns: [Column]) { self.columns = columns }

  private static let chrome = CSVDialect([
    Column("name", .title, isNeeded: true), Column("url", .url, isNeeded: true),
    Column("username", .user, isNeeded: true), Column("password", .value, isNeeded: true),
    Column("note", .notes),
  ])

  private static let firefox = CSVDialect([
    Column("url", .url, isNeeded: true), Column("username", .user, isNeeded: true),
    Column("password", .value, isNeeded: true),
    Column("httpRealm", .attribute("realm"), isNeeded: true),
    Column("formActionOrigin", .foreign), Column("guid", .foreign),
    Column("timeCreated", .createdMilliseconds), Column("timeLastUsed", .foreign),
    Column("timePasswordChanged", .modifiedMilliseconds),
  ])

  private static let apple = CSVDialect([
    Column("Title", .title, isNeeded: true), Column("URL", .url, isNeeded: true),
    Column("Username", .user, isNeeded: true), Column("Password", .value, isNeeded: true),
    Column("Notes", .notes), Column("OTPAuth", .seed),
  ])

  private static var lastpass: CSVDialect {
    var dialect = CSVDialect([
      Column("url", .url, isNeeded: true), Column("username", .user, isNeeded: true),
      Column("password", .value, isNeeded: true), Column("totp", .seed),
      Column("extra", .notes, isNeeded: true), Column("name", .title, isNeeded: true),
      Column("grouping", .folders(UInt8(ascii: "\\"))), Column("fav", .foreign),
    ])
    dialect.noteURL = Array("http://sn".utf8)
    return dialect
  }

  private static var keepassxc: CSVDialect {
    var dialect = CSVDialect([
      Column("Group", .folders(UInt8(ascii: "/")), isNeeded: true),
      Column("Title", .title, isNeeded: true), Column("Username", .user, isNeeded: true),
      Column("Password", .value, isNeeded: true), Column("URL", .url), Column("Notes", .notes),
      Column("TOTP", .seed), Column("Icon", .foreign), Column("Last Modified", .modifiedText),
      Column("Created", .createdText),
    ])
    dialect.hasRoot = true
    return dialect
  }
}
