// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Work in parts on both cores, within one call.
///
/// The keys that it takes are lent for the length of the call: whoever owns them owns them alone again
/// when it returns, and a lock never has to wait for a thread.
public enum ForkJoin {
  /// Does each part, some of them on another thread, and returns when all are done.
  ///
  /// - Parameters:
  ///   - parts: Objects that nobody else touches meanwhile; each is worked on by one thread, and keeps
  ///     its own result. Waking the other thread costs tens of microseconds: make them larger than that.
  ///   - shared: What all of them read; only borrowed.
  ///   - body: Does one part; called for different ones at the same time. What it leaves on the other
  ///     thread's stack is wiped.
  public static func run<Part: AnyObject & Sendable, Shared: ~Copyable & Sendable>(
    _ parts: [Part], with shared: borrowing Shared,
    _ body: @escaping @Sendable (Part, borrowing Shared) -> Void
  ) {
    unsafe withUnsafePointer(to: shared) { shared in
      // Does not outlive the call, after which no part is under way.
      var work = { (index: Int) in unsafe body(parts[index], shared.pointee) }
      unsafe withUnsafeMutablePointer(to: &work) { work in
        unsafe kura_fork_join(
          parts.count,
          { work, index in
            guard let work = unsafe work else { return }
            unsafe work.assumingMemoryBound(to: ((Int) -> Void).self).pointee(index)
          }, work)
      }
    }
  }
}
