// SPDX-License-Identifier: MIT

import Foundation
import KuraKeychain

/// An app that keeps who is signed in, and nothing else.
///
///     juice PROVIDER                  the check at launch
///     juice PROVIDER sign-in USER     keeps the user's identifier
///     juice PROVIDER sign-out         takes it out of the vault for good
///
/// PROVIDER is a file as ``IdentityProvider`` reads it. It ends with 0 when somebody is signed
/// in afterwards, 1 when nobody is, and 2 when that cannot be told.
@main struct Juice {
  static let account = "userIdentifier"
  /// On its terminal it asks there; started by another program, as a pinentry does.
  static let keychain = {
    var keychain = Keychain(service: "com.example.juice")
    keychain.place = isatty(STDIN_FILENO) == 1 ? .terminal : .program
    return keychain
  }()

  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.first,
      let text = try? String(contentsOfFile: path, encoding: .utf8)
    else {
      fail("usage: juice PROVIDER [sign-in USER | sign-out]")
    }
    let provider = IdentityProvider(text)
    do throws(KeychainError) {
      switch Array(arguments.dropFirst()) {
      case []: exit(try launch(provider))
      case ["sign-out"]: exit(try signOut())
      case let words where words.count == 2 && words[0] == "sign-in":
        exit(try signIn(words[1], provider))
      default: fail("usage: juice PROVIDER [sign-in USER | sign-out]")
      }
    } catch {
      switch error {
      case .locked: fail("the vault is locked; unlock it with: kura unlock")
      case .refused(let why):
        fail("not signed out: the identifier is protected, and \(why)")
      case .noVault, .protected, .notText, .client: fail("\(error)")
      }
    }
  }

  /// Whether the user of the last time may go on.
  static func launch(
    _ provider: IdentityProvider
  ) throws(KeychainError) -> Int32 {
    guard let user = try keychain.get(account) else {
      print("not found: please sign in")
      return 1
    }
    switch provider.credentialState(forUserID: user) {
    case .authorized, .unknown:
      print("authorized: welcome back, \(user)")
      return 0
    case .transferred:
      try keychain.remove(account, reason: "sign out of Juice")
      print("transferred: \(user) has another identifier now; please sign in")
      return 1
    case .revoked:
      try keychain.remove(account, reason: "sign out of Juice")
      print("revoked: \(user) has to sign in anew")
      return 1
    case .notFound:
      print("not found: nobody knows \(user)")
      return 1
    }
  }

  static func signIn(
    _ user: String, _ provider: IdentityProvider
  ) throws(KeychainError) -> Int32 {
    guard provider.credentialState(forUserID: user) == .authorized else {
      print("not signed in: \(user) is not authorized")
      return 1
    }
    try keychain.set(user, for: account)
    print("signed in as \(user)")
    return 0
  }

  static func signOut() throws(KeychainError) -> Int32 {
    try keychain.remove(account, reason: "sign out of Juice")
    print("signed out")
    return 1
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("juice: \(message)\n".utf8))
    exit(2)
  }
}
