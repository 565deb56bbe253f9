// SPDX-License-Identifier: MIT

internal import Glibc
public import KuraClient
public import KuraKeychain
internal import KuraProtocol
internal import SecureMemory

/// Gives an app's tests a vault of their own, with an agent of its own, in directories of their own.
///
///     @Test func `who signed in is known at the next launch`() throws {
///       let vault = try TestVault()
///       let keychain = vault.keychain(service: "com.example.juice")
///       try keychain.set("001742.8c3d51f0a9be.0931", for: "userIdentifier")
///       #expect(try Session(keychain).user == "001742.8c3d51f0a9be.0931")
///       try vault.lock()
///       #expect(throws: KeychainError.locked) { try Session(keychain).user }
///     }
///
/// The user's own vaults and agent are never touched: the first one sets `XDG_DATA_HOME`, `XDG_STATE_HOME` and
/// `XDG_RUNTIME_DIR` of the process to a new directory below `$TMPDIR`, and takes `KURA_VAULT` away; all of it ends,
/// the agent and the directory included, when the process exits. A guess at its passcode costs next to nothing, so
/// that it is quick: nothing of worth belongs there.
///
/// The test target depends on the product `kura-agent`, too, which puts that program beside the tests.
public final class TestVault: Sendable {
  /// Where it stands.
  public let path: VaultPath
  /// What unlocks it.
  public let passcode: String

  /// Makes a vault, and unlocks it.
  ///
  /// - Parameter passcode: What unlocks it.
  public init(passcode: String = "correct horse battery staple") throws(KeychainError) {
    guard let home = Home.shared else { throw .client(.system(errno)) }
    do throws(PathError) { path = try VaultPath(at: home.next()) } catch {
      throw .client(.path(error))
    }
    self.passcode = passcode
    do throws(ClientError) {
      var connection = try Connection.open(path, engine: .started)
      let cost = KDFParameters(memory: 8_192, passes: 1)
      try connection.create(passcode: try secret(), cost: cost, flags: [.weakKDF]) {
        _ throws(ClientError) in true
      }
      _ = try connection.unlock(.passcode, secret: try secret())
    } catch { throw KeychainError.client(error) }
  }

  /// What an app keeps in it.
  public func keychain(service: String) -> Keychain { Keychain(service: service, vault: path) }

  /// Locks it, as its owner does who leaves.
  public func lock() throws(KeychainError) {
    do throws(ClientError) {
      var connection = try Connection.open(path, engine: .running)
      try connection.lock(.asked, scope: .vault)
    } catch { throw .client(error) }
  }

  /// Unlocks it again.
  public func unlock() throws(KeychainError) {
    do throws(ClientError) {
      var connection = try Connection.open(path, engine: .started)
      _ = try connection.unlock(.passcode, secret: try secret())
    } catch { throw .client(error) }
  }

  /// Has the values of an item take the passcode from now on, as its owner does who runs `kura protect`.
  public func protect(_ account: String, of keychain: Keychain) throws(KeychainError) {
    do throws(ClientError) {
      var connection = try Connection.open(path, engine: .running)
      _ = try connection.protect(keychain.name(of: account))
    } catch { throw .client(error) }
  }

  private func secret() throws(ClientError) -> SecretBytes {
    do throws(SecureMemoryError) { return try SecretBytes(copying: passcode.utf8.span) } catch {
      throw .outOfMemory
    }
  }
}
