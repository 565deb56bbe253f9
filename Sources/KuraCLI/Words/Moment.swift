// SPDX-License-Identifier: MIT

internal import KuraClient

/// Writes moments of Unix time, in ms, as text, and reads those that programs wrote.
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

  /// Reads what ``rfc3339(_:)`` writes, with milliseconds or without; nil for anything else, and for what is before
  /// 1970.
  static func milliseconds(rfc3339 text: Span<UInt8>) -> UInt64? {
    let form = Array("0000-00-00T00:00:00.000Z".utf8)
    let isWhole = text.count == form.count
    guard isWhole || text.count == form.count - 4 else { return nil }
    for index in text.indices {
      let expected = index == text.count - 1 ? UInt8(ascii: "Z") : form[index]
      let isDigit = text[index] >= UInt8(ascii: "0") && text[index] <= UInt8(ascii: "9")
      guard expected == UInt8(ascii: "0") ? isDigit : text[index] == expected else { return nil }
    }
    let (year, month, day) = (number(text, 0, 4), number(text, 5, 2), number(text, 8, 2))
    let (hour, minute, second) = (number(text, 11, 2), number(text, 14, 2), number(text, 17, 2))
    guard year >= 1970, hour < 24, minute < 60, second < 60,
      let days = days(year: year, month: month, day: day)
    else { return nil }
    return ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1_000
      + (isWhole ? number(text, 20, 3) : 0)
  }

  private static func number(_ text: Span<UInt8>, _ start: Int, _ count: Int) -> UInt64 {
    var number: UInt64 = 0
    for index in start..<start + count {
      number = number * 10 + UInt64(text[index] - UInt8(ascii: "0"))
    }
    return number
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

  /// The day of Unix time of a civil date; nil where there is none such.
  private static func days(year: UInt64, month: UInt64, day: UInt64) -> UInt64? {
    guard (1...12).contains(month), (1...31).contains(day) else { return nil }
    let shiftedYear = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = shiftedYear.quotientAndRemainder(dividingBy: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    // The 31st of a shorter month would be another day.
    return date(days: days) == (year, month, day) ? days : nil
  }

  private static func pad(_ number: UInt64, _ width: Int = 2) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
