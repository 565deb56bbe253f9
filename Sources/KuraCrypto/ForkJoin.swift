// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Does work in parts on both cores, within one call.
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
    run(parts, with: shared, first: nil, body)
  }

  /// Does each part as ``run(_:with:_:)`` does, while the calling thread first does something that
  /// only it may do.
  ///
  /// - Parameters:
  ///   - parts: As there.
  ///   - shared: As there.
  ///   - body: As there.
  ///   - own: Called once, on the calling thread.
  public static func run<Part: AnyObject & Sendable, Shared: ~Copyable & Sendable>(
    _ parts: [Part], with shared: borrowing Shared,
    each body: @escaping @Sendable (Part, borrowing Shared) -> Void,
    meanwhile own: (borrowing Shared) -> Void
  ) {
    withoutActuallyEscaping(own) { own in run(parts, with: shared, first: own, body) }
  }

  private static func run<Part: AnyObject & Sendable, Shared: ~Copyable & Sendable>(
    _ parts: [Part], with shared: borrowing Shared, first own: ((borrowing Shared) -> Void)?,
    _ body: @escaping @Sendable (Part, borrowing Shared) -> Void
  ) {
    let ownCount = own == nil ? 0 : 1
    unsafe withUnsafePointer(to: shared) { shared in
      // Does not outlive the call, after which no part is under way.
      var work = { (index: Int) in
        // The first part is the calling thread's: `kura_fork_join` promises so.
        if let own, index == 0 { return unsafe own(shared.pointee) }
        unsafe body(parts[index - ownCount], shared.pointee)
      }
      unsafe withUnsafeMutablePointer(to: &work) { work in
        unsafe kura_fork_join(
          parts.count + ownCount,
          { work, index in
            guard let work = unsafe work else { return }
            unsafe work.assumingMemoryBound(to: ((Int) -> Void).self).pointee(index)
          }, work)
      }
    }
  }
}
