// SPDX-License-Identifier: MIT

/// Reads times as other programs write them, in milliseconds since 1970; 0 where they are none.
enum Timestamp {
  /// Digits alone.
  static func milliseconds(_ text: [UInt8]) -> UInt64 { number(text[...]) ?? 0 }

  /// `2026-11-23T11:16:21Z`, with or without a fraction, or with an offset from UTC.
  static func parse(_ text: [UInt8]) -> UInt64 {
    guard text.count >= 19, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[10] == UInt8(ascii: "T") || text[10] == UInt8(ascii: " "),
      text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
      let year = number(text[0..<4]), let month = number(text[5..<7]),
      let day = number(text[8..<10]),
      let hour = number(text[11..<13]), let minute = number(text[14..<16]),
      let second = number(text[17..<19]), let zone = zone(text[19...]),
      year >= 1970, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
      second < 61
    else { return 0 }
    let seconds =
      Int64(days(year, month, day)) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
    return UInt64(max(seconds - zone, 0)) * 1_000 + fraction(text[19...])
  }

  /// `2026-11-23`, of seconds since 1970; nothing of what is not before the year 10000.
  static func day(_ seconds: UInt64) -> [UInt8] {
    let day = seconds / 86_400
    guard day < days(10_000, 1, 1) else { return [] }
    // The year and the month are guessed from below, a step from what they are at most.
    var (year, month) = (1970 + day / 366, UInt64(1))
    while days(year + 1, 1, 1) <= day { year += 1 }
    while month < 12, days(year, month + 1, 1) <= day { month += 1 }
    return Array("\(year)-\(two(month))-\(two(day - days(year, month, 1) + 1))".utf8)
  }

  /// `2026-11-23T11:16:21Z`, likewise.
  static func moment(_ seconds: UInt64) -> [UInt8] {
    let day = day(seconds)
    guard !day.isEmpty else { return [] }
    let time = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map(two).joined(
      separator: ":")
    return day + Array("T\(time)Z".utf8)
  }

  private static func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// The milliseconds of a fraction of a second.
  private static func fraction(_ text: ArraySlice<UInt8>) -> UInt64 {
    guard text.first == UInt8(ascii: ".") else { return 0 }
    var (milliseconds, weight): (UInt64, UInt64) = (0, 100)
    for digit in text.dropFirst().prefix(3) where (0x30...0x39).contains(digit) {
      milliseconds += UInt64(digit - 0x30) * weight
      weight /= 10
    }
    return milliseconds
  }

  /// Seconds that a clock there is ahead; a fraction stands in front of it.
  private static func zone(_ text: ArraySlice<UInt8>) -> Int64? {
    var rest = text
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst().drop { (0x30...0x39).contains($0) }
    }
    guard let sign = rest.first else { return 0 }
    if rest.count == 1, sign == UInt8(ascii: "Z") { return 0 }
    guard rest.count == 6, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
      let hour = number(rest.dropFirst().prefix(2)), let minute = number(rest.suffix(2))
    else { return nil }
    let seconds = Int64(hour * 3_600 + minute * 60)
    return sign == UInt8(ascii: "-") ? -seconds : seconds
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    guard !digits.isEmpty, digits.count <= 15 else { return nil }
    var number: UInt64 = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      number = number * 10 + UInt64(digit - 0x30)
    }
    return number
  }

  /// Days from 1970 to a day of the Gregorian calendar.
  private static func days(_ year: UInt64, _ month: UInt64, _ day: UInt64) -> UInt64 {
    // The year begins in March, so that its last day is the one that is there or not.
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let ofEra = year - era * 400
    let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
  }
}
