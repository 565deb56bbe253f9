// SPDX-License-Identifier: MIT

internal import KuraClient

/// Writes moments of Unix time, in ms, as text.
enum Moment {
  /// In UTC, for programs: `2026-11-21T14:02:10.250Z` (RFC 3339).
  static func rfc3339(_ milliseconds: UInt64) -> String {
    let (days, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
    let date = Self.date(days: days)
    let time = [
      pad(rest / 3_600_000), pad(rest / 60_000 % 60), pad(rest / 1_000 % 60),
    ]
    return pad(date.year, 4) + "-" + pad(date.month) + "-" + pad(date.day) + "T" + time[0] + ":"
      + time[1] + ":" + time[2] + "." + pad(rest % 1_000, 3) + "Z"
  }

  /// In the user's time zone, for people: `2026-11-21 14:02`.
  static func local(_ milliseconds: UInt64) -> String {
    Clock.local(milliseconds, "%Y-%m-%d %H:%M")
  }

  /// The shortest that says when: `14:02` today, else with the date.
  static func recent(_ milliseconds: UInt64, now: UInt64) -> String {
    let day = "%Y-%m-%d"
    let isToday = Clock.local(milliseconds, day).utf8.elementsEqual(Clock.local(now, day).utf8)
    return isToday ? Clock.local(milliseconds, "%H:%M") : local(milliseconds)
  }

  /// The civil date of a day of Unix time (Hinnant, "chrono-compatible low-level date algorithms").
  private static func date(days: UInt64) -> (year: UInt64, month: UInt64, day: UInt64) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func pad(_ number: UInt64, _ width: Int = 2) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
