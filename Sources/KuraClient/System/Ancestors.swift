// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Names the programs that stand between this one and the login's shell.
package struct Ancestors: Equatable, Sendable {
  /// Says what is above the last one that is named.
  package enum Above: Sendable {
    /// The program that leads the session: the login's shell, mostly.
    case login
    /// More of them.
    case others
    /// A program that has ended, or that this user is not shown: anybody may have started what is named.
    case unseen
  }

  /// What they call themselves, nearest first.
  package let names: [[UInt8]]
  package let above: Above

  package init(_ names: [[UInt8]], above: Above = .login) {
    self.names = names
    self.above = above
  }
}

extension Ancestors.Above {
  init(_ way: Int32) {
    self =
      way == Int32(KURA_WAY_WHOLE)
      ? .login : way == Int32(KURA_WAY_LONG) ? .others : .unseen
  }
}
