// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraTerms

/// Gathers a store of pass's or gopass's: walks its folders, and has gpg decrypt each file, in memory alone.
struct PassStore {
  /// Folders in folders: more is no store.
  private static let mostDepth = 64

  private let folder: String
  private let program: String
  private let progress: (Int) -> Void
  private var count = 0
  private var decrypted = 0
  private var bytes: [UInt8] = []

  /// All of a store, as ``StoreText`` has it.
  ///
  /// - Parameters:
  ///   - source: The folder; `-` for the one that pass uses.
  ///   - progress: Gets the number of files that were looked at.
  static func read(
    _ source: String, progress: @escaping (Int) -> Void
  ) throws(ImportFailure) -> [UInt8] {
    var store = PassStore(try folder(source), try gpg(), progress)
    try store.gather("", depth: 0)
    guard store.count == 0 || store.decrypted > 0 else {
      throw ImportFailure(
        .failure, "gpg decrypts nothing of " + ImportWords.harmless(store.folder),
        hint: "'gpg --decrypt FILE' says why: is the key here, and can its passphrase be asked for?"
      )
    }
    return store.bytes
  }

  private init(_ folder: String, _ program: String, _ progress: @escaping (Int) -> Void) {
    (self.folder, self.program, self.progress) = (folder, program, progress)
  }

  private static func folder(_ source: String) throws(ImportFailure) -> String {
    var folder = source
    if source == "-" {
      let home = System.environment("HOME") ?? ""
      folder = System.environment("PASSWORD_STORE_DIR") ?? home + "/.password-store"
    }
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    guard StoreFiles.kind(folder + "/.") == .folder else {
      throw ImportFailure(
        .inputOutput, "no folder is at " + ImportWords.harmless(folder),
        hint: "a store of pass's is a folder: give its path")
    }
    return folder
  }

  private static func gpg() throws(ImportFailure) -> String {
    for name in ["gpg", "gpg2"] {
      if let path = Program.look(for: name, System.environment("PATH")) { return path }
    }
    throw ImportFailure(
      .failure, "there is no gpg on this machine",
      hint: "the package gnupg has it; pass needs it, too")
  }

  // MARK: - Folders

  private mutating func gather(_ below: String, depth: Int) throws(ImportFailure) {
    guard depth < Self.mostDepth else {
      throw ImportFailure(.failure, "its folders are nested too deep", hint: "nothing was changed")
    }
    let names: [[UInt8]]
    do throws(FileError) { names = try System.names(in: folder + "/" + below) } catch {
      throw ImportFailure(
        .inputOutput,
        "cannot read " + ImportWords.harmless(folder + "/" + below) + ": "
          + SystemMessage.text(error.errno))
    }
    // What begins with a dot is pass's own, or git's.
    for bytes in names.sorted(by: { $0.lexicographicallyPrecedes($1) })
    where bytes.first != UInt8(ascii: ".") {
      let name = String(decoding: bytes, as: UTF8.self)
      let path = below.isEmpty ? name : below + "/" + name
      switch StoreFiles.kind(folder + "/" + path) {
      case .folder: try gather(path, depth: depth + 1)
      case .file: try take(path)
      case .link: try add(path, .link)
      case .other: try add(path, .foreign)
      }
    }
  }

  private mutating func take(_ path: String) throws(ImportFailure) {
    guard path.hasSuffix(".gpg") else { return try add(path, .foreign) }
    let name = String(path.dropLast(4))
    count += 1
    progress(count)
    guard let content = decrypt(folder + "/" + path) else { return try add(name, .sealed) }
    decrypted += 1
    try add(name, .read, content)
  }

  private mutating func add(
    _ path: String, _ state: StoreText.State, _ content: [UInt8] = []
  ) throws(ImportFailure) {
    StoreText(path: Array(path.utf8), state: state, content: content).append(to: &bytes)
    guard bytes.count <= Source.most else { throw ImportFailure(ReadingFlaw(.tooLarge), in: .pass) }
  }

  // MARK: - gpg

  /// What gpg makes of a file; nil where it does not.
  private func decrypt(_ path: String) -> [UInt8]? {
    let words = ["gpg", "--batch", "--no-tty", "--quiet", "--decrypt", "--", path]
    guard let answer = ProgramOutput.read(program, words), answer.status == 0 else { return nil }
    return answer.content
  }
}
