// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds the item that is looked at, and its value while that is shown.
struct OpenItem: ~Copyable {
  /// A longer value is not shown.
  static let longest: UInt64 = 65_536

  let item: Item
  let revisions: [UInt64]
  /// The value that is shown; nil: none is.
  private(set) var value: SecretBytes?
  /// The revision that it is of; 0: the current one.
  private(set) var revision: UInt64 = 0
  /// When it is hidden again, on the clock since boot.
  private(set) var hideAt: UInt64?
  /// The lines of it that stand above the view.
  private(set) var scroll = 0
  /// The one-time code that holds now, and until when.
  private(set) var code: SecretBytes?
  private(set) var codeUntil: UInt64 = 0

  init(_ shown: ShownItem) {
    item = shown.item
    revisions = shown.revisions
  }

  var isShown: Bool {
    switch value {
    case .some: true
    case .none: false
    }
  }

  mutating func show(_ bytes: consuming SecretBytes, revision: UInt64, until: UInt64) {
    value = consume bytes
    self.revision = revision
    hideAt = until
    scroll = 0
  }

  mutating func show(code: consuming SecretBytes, until: UInt64) {
    self.code = consume code
    codeUntil = until
  }

  mutating func scroll(by count: Int) { scroll = min(max(scroll + count, 0), 70_000) }

  mutating func hide() {
    value = nil
    hideAt = nil
    scroll = 0
  }

  /// Hides a code that holds no more: the next one is on its way.
  mutating func hideCode() {
    code = nil
    codeUntil = 0
  }
}
