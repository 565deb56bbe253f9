// SPDX-License-Identifier: MIT

internal import Glibc

extension PromptLine.Origin {
  /// Looks up what a process was started with. It waits for an answer, so that its number is its own.
  init(ofProcess process: Int32) {
    // 0 would be this process, for who connected from where it has no number here.
    guard process > 0 else {
      self.init(group: 0, session: 0)
      return
    }
    self.init(group: getpgid(process), session: getsid(process))
  }
}
