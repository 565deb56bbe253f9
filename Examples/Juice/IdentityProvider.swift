// SPDX-License-Identifier: MIT

/// Where the app's users come from: a file that stands for the service they sign in with.
///
/// Each line is a user identifier, a space, and `authorized`, `revoked` or `transferred`.
struct IdentityProvider {
  enum CredentialState: String {
    /// The user is signed in, and may be.
    case authorized
    /// The user has taken the permission back: what is kept of them must go.
    case revoked
    /// The service knows no such user.
    case notFound
    /// The app belongs to another company now, under which the user has another identifier.
    case transferred
    /// What a later service says: the app goes on as before.
    case unknown
  }

  let lines: [Substring]

  /// What a directory of users says.
  init(_ text: String) { lines = text.split(separator: "\n") }

  func credentialState(forUserID user: String) -> CredentialState {
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count == 2, words[0] == user else { continue }
      return CredentialState(rawValue: String(words[1])) ?? .unknown
    }
    return .notFound
  }
}
