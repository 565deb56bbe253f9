// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds the item that is looked at, and its value while that is shown.
struct OpenItem: ~Copyable {
  /// A longer value is not shown.
  static let longest: UInt64 = 65_536

  /// Names a secret attribute.
  struct Secret: Equatable {
    let key: String
    /// How many bytes its value has.
    let size: UInt64
  }

  let item: Item
  let revisions: [UInt64]
  /// Its secret attributes; of a protected item none are known before its owner was there.
  var secrets: [Secret]
  /// Which of them Enter shows; nil: the value.
  private(set) var chosen: Int?
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

  init(_ shown: ShownItem, _ secrets: [Secret]) {
    item = shown.item
    revisions = shown.revisions
    self.secrets = secrets
  }

  /// The key of the attribute that Enter shows; nil: the value.
  var field: String? {
    guard let chosen, secrets.indices.contains(chosen) else { return nil }
    return secrets[chosen].key
  }

  /// How many bytes Enter shows.
  var size: UInt64 {
    guard let chosen, secrets.indices.contains(chosen) else { return item.facts.size }
    return secrets[chosen].size
  }

  /// Whether codes are made of its value, or of a secret attribute beside it.
  var givesCodes: Bool { item.facts.kind == .otp || secrets.contains { $0.key == Self.seed } }

  private static let seed = "otp"

  /// Has Enter show what comes next: the value, and each secret attribute.
  mutating func chooseNext() {
    hide()
    let next = (chosen ?? -1) + 1
    chosen = next < secrets.count ? next : nil
  }

  /// Has Enter show an attribute.
  ///
  /// - Returns: Whether there is one of that key.
  mutating func choose(_ key: String?) -> Bool {
    hide()
    chosen = secrets.firstIndex { $0.key == key }
    return key == nil || chosen != nil
  }

  var isShown: Bool {
    switch value {
    case .some: true
    case .none: false
    }
  }

  var hasCode: Bool {
    switch code {
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
