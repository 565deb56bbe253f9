// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Looks at what stands in a store, and keeps what was read of it in memory.
enum StoreFiles {
  /// Says what stands at a path.
  enum Kind {
    case file, folder, link, other
  }

  /// What stands at a path; no link is followed.
  static func kind(_ path: String) -> Kind {
    switch unsafe Int(kura_entry_kind(path)) {
    case KURA_ENTRY_FILE: .file
    case KURA_ENTRY_FOLDER: .folder
    case KURA_ENTRY_LINK: .link
    default: .other
    }
  }

  /// A descriptor of a file with these bytes that is in memory alone, or a negated errno.
  static func inMemory(_ bytes: [UInt8]) -> Int32 {
    unsafe bytes.withUnsafeBytes { content in
      guard let start = content.baseAddress else { return -ENOMEM }
      return unsafe kura_memory_file(start, content.count)
    }
  }
}
