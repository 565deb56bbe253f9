// SPDX-License-Identifier: MIT

/// Which release this is.
enum Release {
  static let current = "0.1.0"
}
