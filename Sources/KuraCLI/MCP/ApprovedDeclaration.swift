// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Is the record in the vault of what its owner has agreed to for one declaration: a protected item with its text as an
/// attribute. Who asks to run anything else asks to read that item, and so needs the passcode.
struct ApprovedDeclaration {
  private static let folder = "kura-mcp"
  private static let attribute = "declaration"

  /// The file of the declaration.
  let path: String
  /// The name of the item.
  var name: String { Self.folder + path }

  /// - Parameter path: As it was typed.
  init(of path: String) throws(CommandError) {
    do throws(FileError) {
      guard let real = String(validating: try System.realPath(path), as: UTF8.self) else {
        throw FileError(errno: EILSEQ)
      }
      self.path = real
    } catch { throw .file(.read, path: path, errno: error.errno) }
  }

  /// Says how a declaration stands to what was agreed to.
  enum Standing: Equatable {
    /// It is what was agreed to, byte for byte.
    case approved
    /// It was another then.
    case changed
    /// Nothing was ever.
    case unknown
  }

  func standing(
    of declaration: Declaration, _ connection: inout Connection
  ) throws(ClientError) -> Standing {
    let item: Item
    do throws(ClientError) { item = try connection.show(name).item } catch {
      guard case .refused(let refused) = error, refused.failure == .notFound else { throw error }
      return .unknown
    }
    // What asks nobody is no record: whoever can write to the vault could have made it.
    guard item.facts.protection == .protected else { return .unknown }
    let text = item.attributes.first { $0.key == Self.attribute }?.value
    return text == declaration.text ? .approved : .changed
  }

  /// Keeps it, in place of what was agreed to before.
  func keep(_ declaration: Declaration, _ connection: inout Connection) throws(ClientError) {
    let order = PutOrder(
      name: name, flags: [.replace, .protect],
      attributes: [Attribute(key: Self.attribute, value: declaration.text)])
    _ = try connection.put(order, value: path.utf8.span)
  }
}
