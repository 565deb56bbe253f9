// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Reads what references name, all or nothing: one connection a vault, whose passcode is asked for
/// once at most.
struct ReferenceReader {
  /// Gathers the references to one vault.
  private struct Group {
    let access: VaultAccess
    var indices: [Int] = []
  }

  private let placeholders: [Placeholder]
  private let purpose: ReadPurpose
  private var groups: [Group] = []

  /// Finds out which vaults are meant; nothing is asked of them yet.
  init(
    _ placeholders: [Placeholder], for purpose: ReadPurpose, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    self.placeholders = placeholders
    self.purpose = purpose
    for index in placeholders.indices {
      let source = placeholders[index].source
      let access = try placing(source.place) { () throws(CommandError) in
        try invocation.access(of: source.reference)
      }
      let known = groups.firstIndex { $0.access.vault.path == access.vault.path }
      let group = known ?? groups.count
      if known == nil { groups.append(Group(access: access)) }
      groups[group].indices.append(index)
    }
  }

  /// Reads each value.
  ///
  /// - Parameters:
  ///   - begin: A reference's value is about to come, perhaps a second time: after an unlock, or
  ///     a fresh proof of the passcode, which serves all protected values of a vault.
  ///   - missing: There is none, and its placeholder says what stands in for it.
  ///   - sink: Gets it, part by part.
  func read(
    begin: (Int) throws(ClientError) -> Void, missing: (Int) -> Void,
    into sink: (Int, Span<UInt8>) throws(ClientError) -> Void
  ) throws(CommandError) {
    for group in groups {
      var current = group.indices[0]
      do throws(CommandError) {
        let names = group.indices.map { placeholders[$0].source.reference.name }
        let access = group.access.reading(.items(names, revision: 0))
        try access.unlocked(authorizing: true) { connection throws(ClientError) in
          for index in group.indices {
            current = index
            try read(
              index, connection: &connection, begin: begin, missing: missing, into: sink)
          }
        }
      } catch {
        throw error.isOfReference ? .placed(placeholders[current].source.place, error) : error
      }
    }
  }
}

// MARK: - Its parts

extension ReferenceReader {
  /// Reads one value; where there is none and something stands in for it, it is told as missing.
  private func read(
    _ index: Int, connection: inout Connection, begin: (Int) throws(ClientError) -> Void,
    missing: (Int) -> Void, into sink: (Int, Span<UInt8>) throws(ClientError) -> Void
  ) throws(ClientError) {
    let placeholder = placeholders[index]
    let reference = placeholder.source.reference
    try begin(index)
    do throws(ClientError) {
      try connection.read(reference.name, reference.part, for: purpose) {
        part throws(ClientError) in try sink(index, part)
      }
    } catch {
      guard placeholder.fallback != nil, error.isAbsence else { throw error }
      missing(index)
    }
  }
}

extension Connection {
  /// Reads a value, an attribute or a one-time code, part by part.
  mutating func read(
    _ name: String, _ part: ItemReference.Part, revision: UInt64 = 0,
    for purpose: ReadPurpose = .get, into sink: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(ClientError) {
    switch part {
    case .value: _ = try get(name, revision: revision, for: purpose, into: sink)
    case .attribute(let key): try Self.hand(try attribute(key, of: name), to: sink)
    case .code:
      let code = try oneTimeCode(of: name)
      try Self.hand(code.text, to: sink)
    }
  }

  private static func hand(
    _ value: borrowing SecretBytes, to sink: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(ClientError) {
    try sink(value.bytes)
  }
}

extension Invocation {
  /// The vault that a reference means. It names one, and never a path: a reference may come with
  /// a template from somebody else.
  func access(of reference: ItemReference) throws(CommandError) -> VaultAccess {
    guard let name = reference.vault else { return try access() }
    let path: VaultPath
    do throws(PathError) { path = try VaultPath.named(name) } catch { throw .path(error) }
    return try VaultAccess(arguments, variables, messages, vault: path)
  }
}

extension ClientError {
  /// Whether there is no such item, or it has no such attribute.
  fileprivate var isAbsence: Bool {
    guard case .refused(let refused) = self else { return false }
    return [Failure.notFound, .attributeNotFound].contains(refused.failure)
  }
}

extension CommandError {
  /// Whether it is about what a reference names, rather than the agent, a prompt or the like.
  fileprivate var isOfReference: Bool {
    switch self {
    case .path, .noVault, .notAVault: return true
    case .client(let error):
      guard case .refused(let refused) = error else { return false }
      return Self.failuresOfReference.contains(refused.failure)
    case .told, .prompt, .askpass, .program, .file, .output, .outOfMemory, .exists, .locked,
      .noItem, .throttled, .noInteraction, .mismatch, .findings, .logFindings, .agentNotRunning,
      .noSlot, .costRefused, .placed, .syntax, .launch, .weakPasscode, .lost,
      .codeForPasscode, .noCode, .noPasscode, .batch:
      return false
    }
  }

  private static let failuresOfReference: [Failure] = [
    .notFound, .attributeNotFound, .nameInvalid, .attributeInvalid, .protected, .noVault,
    .notAVault, .damaged,
  ]
}

/// Does something for a place, whose errors are told with it.
func placing<Value>(
  _ place: Place, _ body: () throws(CommandError) -> Value
) throws(CommandError) -> Value {
  do throws(CommandError) { return try body() } catch { throw .placed(place, error) }
}
