// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Writes and reads what a setting's number counts.
enum Amount {
  private static let units: [(letter: Character, milliseconds: UInt64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000),
  ]

  /// The number as it is shown: `15m`, `on`, `10`.
  static func words(_ value: UInt64, _ setting: Setting) -> String {
    switch setting.unit {
    case .flag: return value == 0 ? "off" : "on"
    case .count: return "\(value)"
    case .milliseconds:
      for unit in units where value >= unit.milliseconds && value % unit.milliseconds == 0 {
        return "\(value / unit.milliseconds)\(unit.letter)"
      }
      return value == 0 ? "0s" : "\(value)ms"
    }
  }

  /// The number that a text means; nil: none.
  static func parse(_ text: String, _ setting: Setting) -> UInt64? {
    switch setting.unit {
    case .flag: return text == "on" || text == "1" ? 1 : text == "off" || text == "0" ? 0 : nil
    case .count: return UInt64(text)
    case .milliseconds:
      guard let last = text.last, let unit = units.first(where: { $0.letter == last }),
        let number = UInt64(text.dropLast())
      else { return nil }
      let (value, isHuge) = number.multipliedReportingOverflow(by: unit.milliseconds)
      return isHuge ? nil : value
    }
  }

  /// A length, in the greatest unit that it has.
  static func size(_ bytes: UInt64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"]
    guard bytes >= 1_024 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
    var (value, unit) = (Double(bytes) / 1_024, 0)
    while value >= 1_024, unit + 1 < units.count { (value, unit) = (value / 1_024, unit + 1) }
    let tenths = Int(value * 10)
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }
}
