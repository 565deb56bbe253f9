// SPDX-License-Identifier: MIT

/// The release that these sources make.
public enum Release {
  /// As both programs tell it, and a hello does.
  public static let version = "0.2.0"
}
