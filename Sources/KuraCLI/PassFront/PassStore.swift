// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Finds the items that names of pass's mean: `PASSWORD_STORE_DIR` says which vault, or which prefix of one.
struct PassStore {
  /// Stands before each of pass's names in the vault; empty, or ends with `/`.
  let prefix: String
  let access: VaultAccess

  init(_ invocation: borrowing Invocation) throws(CommandError) {
    let place = try invocation.variables.name(Self.variable) ?? ""
    if ItemReference.begins(place.utf8.span, at: 0) {
      (prefix, access) = try Self.base(place, invocation)
      return
    }
    let last = place.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) }
    guard let last else {
      guard place.utf8.isEmpty else { throw Self.noPrefix }
      (prefix, access) = ("", try invocation.access())
      return
    }
    if last.utf8.elementsEqual(".password-store".utf8) {
      (prefix, access) = ("", try invocation.access())
    } else if Self.isVault(last) {
      (prefix, access) = ("", try invocation.access(vault: place))
    } else {
      (prefix, access) = (last + "/", try invocation.access())
    }
  }

  private static let variable = "PASSWORD_STORE_DIR"

  /// A path without a last part, which could be the prefix.
  private static var noPrefix: CommandError {
    .placed(
      .variable(Array(variable.utf8)),
      .usage("this path has no last part for names to begin with", hint: prefixHint))
  }

  private static let prefixHint =
    "kura://PREFIX/ means the items below a prefix, a path that ends with .password-store all"

  /// `kura://PREFIX/` or `kura://@VAULT/[PREFIX/]`.
  private static func base(
    _ place: String, _ invocation: borrowing Invocation
  ) throws(CommandError) -> (String, VaultAccess) {
    let isClosed = place.utf8.last == UInt8(ascii: "/")
    // A name behind the last / makes a reference of it, also where it has no prefix.
    let text = place + (isClosed ? "x" : "/x")
    let reference: ItemReference
    do throws(ItemReference.Flaw) { reference = try ItemReference(text) } catch {
      throw .placed(.variable(Array(Self.variable.utf8)), .usage(.notAReference(error)))
    }
    return (
      String(decoding: reference.name.utf8.dropLast(), as: UTF8.self),
      try invocation.access(of: reference)
    )
  }

  private static func isVault(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return bytes.suffix(5).elementsEqual(".kura".utf8)
  }
}

// MARK: - Names

extension PassStore {
  /// The item that a name means, without slashes at its ends.
  func item(_ name: String, _ invocation: borrowing Invocation) throws(CommandError) -> String {
    prefix + (try Self.path(name, invocation))
  }

  /// A name as a path means it: without slashes at its ends, double ones, and parts that are `.`.
  static func path(
    _ name: String, _ invocation: borrowing Invocation
  ) throws(CommandError) -> String {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"))
    if parts.contains(where: { $0.elementsEqual("..".utf8) }) {
      throw PassFront.refusal(
        "'..' makes a sneaky path, which leads out of the password store.", invocation)
    }
    var path: [UInt8] = []
    for part in parts where !part.elementsEqual(".".utf8) {
      if !path.isEmpty { path.append(UInt8(ascii: "/")) }
      path += part
    }
    return String(decoding: path, as: UTF8.self)
  }

  /// Tells whether a name is an item's; a folder of that name is none.
  func has(_ item: String) throws(CommandError) -> Bool {
    try access.unlocked { connection throws(ClientError) in
      do throws(ClientError) { _ = try connection.show(item) } catch {
        guard case .refused(.notFound) = error else { throw error }
        return false
      }
      return true
    }
  }

  /// The names below a folder, without what they begin with, sorted; all for an empty one.
  func names(below folder: String) throws(CommandError) -> [String] {
    let head = prefix + (folder.utf8.isEmpty ? "" : folder + "/")
    var names: [String] = []
    try access.unlocked { connection throws(ClientError) in
      names = []
      var order = ListOrder()
      order.prefix = head
      try connection.listNames(order) { name throws(ClientError) in
        names.append(String(decoding: Array(copying: name)[head.utf8.count...], as: UTF8.self))
      }
    }
    if names.isEmpty { try checkPrefix() }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Refuses a prefix that no name can have: nothing is below it, and nobody would know why.
  private func checkPrefix() throws(CommandError) {
    guard !prefix.utf8.isEmpty else { return }
    do throws(CommandError) { _ = try has(prefix + "x") } catch {
      guard error.isNameRule else { throw error }
      let words = Diagnostic(error)
      throw .placed(
        .variable(Array(Self.variable.utf8)),
        .failure(words.message, hint: Self.prefixHint, words.status))
    }
  }

  /// The same error, told of the variable where what each name begins with breaks a rule.
  func told(_ error: CommandError) -> CommandError {
    guard error.isNameRule else { return error }
    do throws(CommandError) { try checkPrefix() } catch { return error }
    return error
  }

  /// What pass says, and its status, where there is no such item. A locked vault is never that.
  func missing(_ name: String, _ invocation: borrowing Invocation) -> CommandError {
    PassFront.refusal(Diagnostic.shown(name) + " is not in the password store.", invocation)
  }
}

extension CommandError {
  /// Whether the engine takes a name for none.
  var isNameRule: Bool {
    guard case .client(.refused(let refused)) = self else { return false }
    return refused.failure == .nameInvalid
  }

  /// Whether there is no such item.
  var isMissingItem: Bool {
    guard case .client(.refused(.notFound)) = self else { return false }
    return true
  }
}
