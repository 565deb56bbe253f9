// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import SecureMemory

/// Has the owner of a vault asked for his word, by the program `kura`, so that no app ever holds what he types.
///
/// The question names the item, what an app says it is for, and which program that is. All that holds for a
/// prompt of Kura's holds for it: what is typed too early is dropped, wrong answers are counted, one has to wait
/// after five. An app that draws a window of its own for it would teach people to type their passcode there.
///
/// The calls return when the question is answered. Who asks in a thread that must go on asks in another one; the app
/// must not ignore `SIGCHLD`, or nobody can tell how the question ended.
public struct Owner: Sendable {
  /// Says where he is asked.
  public enum Place: Equatable, Sendable {
    /// By the program that is set for that, `KURA_ASKPASS`, `SSH_ASKPASS` or a pinentry: the app's terminal, if it
    /// has one, is somebody else's.
    case program
    /// On the app's terminal, whose foreground it is in, and by that program where there is none.
    case terminal
  }

  private let vault: VaultPath
  private let place: Place
  private let program: String?

  /// The owner of a vault, who is not asked yet.
  ///
  /// - Parameters:
  ///   - vault: Whose owner.
  ///   - place: Where he is asked.
  ///   - program: The file of `kura`; nil: the one beside this program, else the one that is installed.
  public init(of vault: VaultPath, at place: Place = .program, program: String? = nil) {
    self.vault = vault
    self.place = place
    self.program = program
  }

  /// Proves that he is there; reads nothing, and unlocks nothing.
  ///
  /// - Parameters:
  ///   - reason: What for, in the app's words: 40 characters of it are shown.
  ///   - item: Asks only where this item is protected, or the vault locked, when nobody can tell.
  public func authenticate(reason: String, item: String? = nil) throws(OwnerError) {
    try ask("authenticate", reason: reason, item.map { [$0] } ?? [])
  }

  /// Has the vault unlocked; one that is unlocked stays so, and nobody is asked.
  ///
  /// - Parameter reason: What for, in the app's words.
  public func unlock(reason: String) throws(OwnerError) { try ask("unlock", reason: reason) }
}

// MARK: - The program

extension Owner {
  /// What a value of one piece holds at most, as elsewhere.
  private static let piece = 65_536
  /// More of what `kura` has to say is not kept.
  private static let messagesLimit = 4_096

  /// Has something done that takes his word.
  ///
  /// - Parameter operands: Names, which may begin with a dash.
  func ask(
    _ verb: String, _ options: [String] = [], reason: String, _ operands: [String] = []
  ) throws(OwnerError) {
    let asked = try start(verb, options, reason, operands, hearing: Int32(KURA_OWNER_MESSAGES))
    var messages: [UInt8] = []
    let isHeard = System.hear(asked.descriptor, patience: -1) { bytes in
      for index in bytes.indices where messages.count < Self.messagesLimit {
        messages.append(bytes[index])
      }
    }
    try end(asked, isHeard: isHeard, String(repairing: messages.span))
  }

  /// Has a value read that takes his word.
  ///
  /// - Parameter sink: Gets it as ``Connection/get(_:revision:for:into:)`` hands it out; one of a single piece only
  ///   when `kura` has ended well.
  func read(
    _ options: [String], reason: String, _ name: String,
    into sink: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(OwnerError) {
    var buffer: SecretBuffer
    do throws(SecureMemoryError) { buffer = try SecretBuffer(capacity: Self.piece) } catch {
      throw .client(.outOfMemory)
    }
    let asked = try start("get", options, reason, [name], hearing: Int32(KURA_OWNER_VALUE))
    var (count, isHanded) = (1, false)
    while count > 0 {
      buffer.append(upTo: Self.piece - buffer.count) { tail in
        count = System.readAsked(asked.descriptor, into: &tail, patience: -1, other: -1)
        return max(count, 0)
      }
      guard buffer.count == Self.piece, count > 0 else { continue }
      do throws(ClientError) { try sink(buffer.bytes) } catch {
        abandon(asked)
        throw .client(error)
      }
      isHanded = true
      buffer.removeAll()
    }
    try end(asked, isHeard: count == 0, "")
    guard buffer.count > 0 || !isHanded else { return }
    do throws(ClientError) { try sink(buffer.bytes) } catch { throw .client(error) }
  }

  private func start(
    _ verb: String, _ options: [String], _ reason: String, _ operands: [String], hearing end: Int32
  ) throws(OwnerError) -> kura_child {
    let program = try find()
    let words =
      [program, verb, "--vault=" + vaultWord, "--reason=" + reason] + options + ["--"] + operands
    // A NUL would end a word, and begin one that nobody meant.
    guard words.allSatisfy({ !$0.utf8.contains(0) }) else { throw .client(.system(EINVAL)) }
    var child = kura_child()
    let failed = System.startOwner(program, words, end: end, isApart: place == .program, &child)
    guard failed == 0 else {
      throw .client(.programUnstartable(path: program, errno: -failed))
    }
    return child
  }

  private func end(
    _ asked: kura_child, isHeard: Bool, _ messages: String
  ) throws(OwnerError) {
    guard isHeard else {
      abandon(asked)
      throw .client(.hungUp)
    }
    kura_socket_close(asked.descriptor)
    let status = kura_child_wait(asked.process, Int32.max)
    guard status == 0 else { throw OwnerError(status: status, messages: messages) }
  }

  private func abandon(_ asked: kura_child) {
    kura_socket_close(asked.descriptor)
    kura_end_asked(asked.process)
  }

  /// The vault as people call it, where that means the same one.
  private var vaultWord: String {
    guard let name = vault.name, (try? VaultPath.resolve(name)) == vault else { return vault.path }
    return name
  }

  /// Never by PATH: what stands there first would be given the passcode.
  private func find() throws(OwnerError) -> String {
    if let program { return program }
    let directory: String
    do throws(ClientError) { directory = try AgentProgram.programDirectory() } catch {
      throw .client(error)
    }
    for candidate in [directory + "/kura", "/usr/local/bin/kura", "/usr/bin/kura"]
    where System.isExecutable(candidate) { return candidate }
    throw .client(.programUnstartable(path: directory + "/kura", errno: ENOENT))
  }
}
