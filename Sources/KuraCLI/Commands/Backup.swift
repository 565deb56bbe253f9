// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura backup`: copies the vault, whole and still sealed, to another place.
enum Backup {
  static let command = Command(
    "backup", [.init("FILE", .optional)],
    abstract: "copy the vault, whole and checked, to another place",
    options: [
      Option(.to, .required("DIR"), help: "write NAME-TIME.kura to DIR"),
      Option(.keep, .required("N"), help: "then keep the newest N of these"),
    ], run: run)

  private static let suffix = ".kura".utf8

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let messages = invocation.messages
    let access = try invocation.access()
    let keep = try keep(invocation.arguments)
    let path = try target(invocation, access.vault)
    guard access.vault.isThere else { throw .noVault(access.vault.path) }
    var connection = try access.connectRunningOrOwn()
    var bar = ProgressBar("copying", messages)
    defer { bar.clear() }
    let report = try running { () throws(ClientError) in
      try connection.backup(to: path, keeping: keep) { bar.show($0) }
    }
    bar.clear()
    messages.note(
      "made " + Diagnostic.shown(path) + ", " + ByteSize(count: report.byteCount).words
        + ", checked "
        + (report.isProved ? "by the vault's key" : "as far as that goes while the vault is locked")
    )
    if report.removedCount > 0 {
      messages.note(
        "removed \(report.removedCount) older " + (report.removedCount == 1 ? "one" : "ones"))
    }
    if report.sparedCount > 0 {
      messages.note(
        "kept \(report.sparedCount) more, which " + (report.sparedCount == 1 ? "is" : "are")
          + " newer than the vault here; 'kura merge FILE' brings what is new there")
    }
    return .ok
  }

  private static func keep(_ arguments: Arguments) throws(CommandError) -> UInt16 {
    guard arguments.has(.keep) else { return 0 }
    guard arguments.has(.to) else {
      throw .usage("--keep goes with --to DIR", hint: "without it there is one file")
    }
    return try parsing { () throws(UsageError) in
      try arguments.number(.keep, atLeast: UInt16(1)) ?? 0
    }
  }

  /// Where the backup is to stand; absolute, as the agent has a working directory of its own.
  private static func target(
    _ invocation: borrowing Invocation, _ vault: VaultPath
  ) throws(CommandError) -> String {
    let file = invocation.arguments.operands.isEmpty ? nil : try invocation.operand(0)
    let directory = try invocation.text(.to)
    let path: String
    switch (file, directory) {
    case (let file?, nil): path = file
    case (nil, let directory?): path = directory + "/" + front(of: vault) + moment
    case (nil, nil), (_?, _?):
      throw .usage(
        "name a file, or a directory with --to", hint: "the file is made; the directory is not")
    }
    do throws(PathError) { return try VaultPath(at: path).path } catch { throw .path(error) }
  }

  /// What the names of a vault's backups begin with: `default` of `default-20261123T111530Z.kura`.
  static func front(of vault: VaultPath) -> String {
    let file = vault.fileName
    let isUsual = file.utf8.suffix(suffix.count).elementsEqual(suffix)
    return String(decoding: file.utf8.dropLast(isUsual ? suffix.count : 0), as: UTF8.self)
  }

  /// What they end with, by which they sort.
  private static var moment: String {
    let moment = Moment.rfc3339(Clock.unix()).utf8.prefix(19).filter {
      $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":")
    }
    return "-" + String(decoding: moment, as: UTF8.self) + "Z.kura"
  }
}
