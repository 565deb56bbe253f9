// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraTerms

/// Tells why nothing was imported: what happened, and what to do next.
struct ImportFailure: Error, Equatable, Sendable {
  var status: ExitStatus
  var text: String
  var hint: String?

  init(_ status: ExitStatus, _ text: String, hint: String? = nil) {
    (self.status, self.text, self.hint) = (status, text, hint)
  }

  init(_ error: ClientError) {
    self.init(error.exitStatus, error.description)
    if status == .locked { hint = "run 'kura unlock'" }
  }

  /// A source that is not what it was said to be.
  init(_ flaw: ReadingFlaw, in format: ImportFormat) {
    // Places in XML are lines, all of them.
    let isOfText = flaw.rule.isOfText || format == .keepassXML
    let word = isOfText ? "line" : flaw.rule.isOfArchive ? "file" : format.placeWord
    let place = flaw.place == 0 ? "" : word + " \(flaw.place): "
    self.init(.failure, place + flaw.words)
    switch flaw.rule {
    case .passwordNeeded, .wrongPassword:
      hint = "nothing was changed; give the password with --password-file FILE, or at the terminal"
    case .pgp:
      hint = "nothing was changed; export it without a password, or have gpg decrypt data.pgp"
    case .allLocked:
      hint =
        "nothing was changed; unlock it in the program that keeps it, such as Passwords and Keys, and import once more"
    case .columnMissing, .columnTwice, .notJSON, .notXML, .member, .assignment, .empty, .notArchive,
      .archiveFile:
      hint = "nothing was changed" + (format == .secretService ? "" : "; is it \(format.rawValue)?")
    case .notUTF8, .tooLarge, .tooManyEntries, .quoting, .fieldCount, .tooDeep, .readFailed,
      .encrypted, .accountBound, .outOfMemory, .doctype, .packing, .frame, .sealBroken, .costs,
      .archiveSealed, .archivePath, .archiveTwice, .archiveTooLarge, .archiveBroken:
      hint = "nothing was changed"
    }
  }
}

extension ReadingFlaw.Rule {
  /// Whether its place is a line, whatever the format.
  fileprivate var isOfText: Bool {
    switch self {
    case .notUTF8, .notJSON, .notXML, .doctype, .packing, .tooDeep: true
    case .empty, .tooLarge, .tooManyEntries, .quoting, .fieldCount, .columnMissing, .columnTwice,
      .member, .assignment, .readFailed, .encrypted, .accountBound, .outOfMemory,
      .frame, .passwordNeeded, .wrongPassword, .sealBroken, .costs, .notArchive, .archiveSealed,
      .archivePath, .archiveTwice, .archiveTooLarge, .archiveBroken, .archiveFile, .pgp, .allLocked:
      false
    }
  }

  /// Whether its place is the number of a file in an archive.
  fileprivate var isOfArchive: Bool {
    switch self {
    case .archiveSealed, .archivePath, .archiveTwice, .archiveTooLarge, .archiveBroken: true
    case .notUTF8, .notJSON, .notXML, .doctype, .packing, .tooDeep, .empty, .tooLarge,
      .tooManyEntries, .quoting, .fieldCount, .columnMissing, .columnTwice, .member, .assignment,
      .readFailed, .encrypted, .accountBound, .outOfMemory, .frame, .passwordNeeded, .wrongPassword,
      .sealBroken, .costs, .notArchive, .archiveFile, .pgp, .allLocked:
      false
    }
  }
}

extension ReadingFlaw {
  /// What is wrong, without a word of what stands there.
  var words: String {
    switch rule {
    case .empty: "there is nothing in it"
    case .notUTF8: "it is not UTF-8 text"
    case .tooLarge: "it has more than \(Source.most >> 20) MiB"
    case .tooManyEntries: "it has more than \(AnswerReader.mostEntries) entries"
    case .quoting: "a quote is not closed, or text stands behind one that is"
    case .fieldCount: "it has another number of fields than the first line"
    case .columnMissing: "there is no column '\(word)'"
    case .columnTwice: "the column '\(word)' is there twice"
    case .notJSON: "it is not JSON"
    case .tooDeep: "it is nested too deep"
    case .member: "'\(word)' is missing, or not what it must be"
    case .assignment: "it is no NAME=VALUE"
    case .notXML: "it is not XML"
    case .doctype: "it has a DOCTYPE, which is not read"
    case .packing: "a packed file in it is damaged, or becomes too large"
    case .readFailed: "it cannot be read"
    case .encrypted: "it is encrypted: export it without a password, to a file in memory"
    case .accountBound:
      "it is encrypted for the account that exported it, and nothing else opens it: "
        + "export it as plain JSON, to a file in memory"
    case .frame: "it is not as the program that gathers it writes it"
    case .outOfMemory: "no memory was left"
    case .passwordNeeded: "it opens with a password, and none was given"
    case .wrongPassword: "that is not the password it was exported with"
    case .sealBroken: "its password is right, but what it seals was changed, or is damaged"
    case .costs: "to try a password costs more than Bitwarden itself allows: '\(word)'"
    case .notArchive: "it is no zip archive, or its end is missing"
    case .archiveSealed: "it is encrypted in the archive, whose password nothing here takes"
    case .archivePath: "its name leads out of the archive"
    case .archiveTwice: "its name stands in the archive twice"
    case .archiveTooLarge:
      "the archive unpacks to more than \(Archive.mostBytes >> 20) MiB, or \(Archive.mostFiles) files"
    case .archiveBroken: "it is damaged in the archive"
    case .archiveFile: "the archive has no file '\(word)'"
    case .pgp: "it is encrypted by PGP"
    case .allLocked: "all that is kept there is locked"
    }
  }
}

extension ImportFormat {
  /// What its places are called.
  var placeWord: String {
    switch self {
    case .chromeCSV, .firefoxCSV, .appleCSV, .lastpassCSV, .keepassxcCSV, .dotenv, .jsonLines:
      "line"
    case .bitwardenJSON, .onePUX, .protonJSON, .keepassXML, .cxf, .pass, .secretService: "entry"
    }
  }
}
