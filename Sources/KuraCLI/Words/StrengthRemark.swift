// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Tells in plain words how long a thief with the vault's file would need to guess a new passcode.
///
/// `kura-strength` estimates the guesses; what a guess costs the thief is memory traffic: Argon2id
/// reads and writes its memory 3t − 1 times, and one strong graphics card moves 1.008 TB/s.
struct StrengthRemark: Sendable {
  private static let bytesPerSecond = 1.008e12

  private let secondsPerGuess: Double

  /// - Parameter cost: What is asked for; the default counts where that is left to the agent,
  ///   which never takes less.
  init(_ cost: KDFParameters) {
    let memory = cost.memory == 0 ? 268_435_456 : Double(cost.memory)
    let passes = cost.passes == 0 ? 3 : Double(cost.passes)
    secondsPerGuess = memory * (3 * passes - 1) / Self.bytesPerSecond
  }

  /// The sentence for a number of guesses, given as a thousandth of its decimal logarithm.
  func words(logarithm thousandths: Int) -> (text: String, isWeak: Bool) {
    let seconds = Self.power(ofTen: thousandths) * secondsPerGuess
    let text =
      "a thief with the file and one strong graphics card needs " + GuessTime.words(seconds)
      + " to guess this passcode"
    return (text, seconds < GuessTime.year)
  }

  /// 10^(n/1000), to a tenth of a decimal place: more would promise what no estimate holds.
  private static func power(ofTen thousandths: Int) -> Double {
    let tenths: [Double] = [1, 1.259, 1.585, 1.995, 2.512, 3.162, 3.981, 5.012, 6.310, 7.943]
    var power = tenths[max(thousandths, 0) / 100 % 10]
    for _ in 0..<min(max(thousandths, 0) / 1_000, 300) { power *= 10 }
    return power
  }
}

/// Holds what a thief's patience says of a passcode.
struct Strength: Equatable {
  /// The sentence, without capital and full stop; empty where nothing estimates it.
  let text: String
  /// How long it lasts, as `about 3 hours`; empty where nothing estimates it.
  let lasts: String
  /// Whether it falls within a year.
  let isWeak: Bool
  /// Whether it falls within a day, so that nobody takes it without saying so.
  let isTooWeak: Bool
}

/// Says lengths of time that end in "longer than anybody can wait".
enum GuessTime {
  static let year = 31_557_600.0
  static let day = 86_400.0

  private static let units: [(seconds: Double, one: String, many: String)] = [
    (year, "a year", "years"), (2_629_800, "a month", "months"), (86_400, "a day", "days"),
    (3_600, "an hour", "hours"), (60, "a minute", "minutes"), (1, "a second", "seconds"),
  ]

  /// `about 3 hours`.
  static func words(_ seconds: Double) -> String {
    if seconds < 1 { return "less than a second" }
    if seconds >= year * 1_000_000 { return "more than a million years" }
    for unit in units where seconds >= unit.seconds {
      let count = Int(seconds / unit.seconds)
      return "about " + (count == 1 ? unit.one : "\(rounded(count)) " + unit.many)
    }
    return "less than a second"
  }

  /// One figure, or two below 100: an estimate is not exact.
  private static func rounded(_ count: Int) -> Int {
    var step = 1
    while count / step >= 100 { step *= 10 }
    return count / step * step
  }
}

// MARK: - A passcode's strength

extension StrengthRemark {
  /// Tells how long a passcode holds; nil where nothing estimates it.
  func strength(of passcode: borrowing SecretBytes) -> Strength {
    guard let logarithm = Self.measure(passcode) else {
      return Strength(text: "", lasts: "", isWeak: false, isTooWeak: passcode.count <= 6)
    }
    let (text, isWeak) = words(logarithm: logarithm)
    return Strength(
      text: text, lasts: GuessTime.words(Self.power(ofTen: logarithm) * secondsPerGuess),
      isWeak: isWeak, isTooWeak: isTooWeak(logarithm: logarithm))
  }

  /// Whether a thief would have it within a day, at a derivation that costs what it does by itself: who
  /// asks for a cheaper one has said so.
  func isTooWeak(logarithm thousandths: Int) -> Bool {
    let seconds = max(secondsPerGuess, Self(.calibrated).secondsPerGuess)
    return Self.power(ofTen: thousandths) * seconds < GuessTime.day
  }

  /// Asks `kura-strength`, a program of its own since it reads large word lists; nil where it is
  /// not installed.
  private static func measure(_ passcode: borrowing SecretBytes) -> Int? {
    guard let program = System.companion("kura-strength"),
      let child = System.startAsked(program, argument: nil, feeds: true, inherits: false)
    else { return nil }
    defer { kura_socket_close(child.descriptor) }
    let sent = System.send(passcode.bytes, to: child.descriptor, patience: 5_000)
    kura_end_feed(child.descriptor)
    guard sent == passcode.count else { return nil }
    return answer(child)
  }

  private static func answer(_ child: kura_child) -> Int? {
    let text: [UInt8]
    do throws(FileError) {
      text = digits(try Descriptor.readAll(child.descriptor, limit: 32))
    } catch { return nil }
    guard kura_child_wait(child.process, 5_000) == 0, let number = Decimal.parse(text[...]) else {
      return nil
    }
    return Int(min(number, 1_000_000))
  }

  /// The digits of `12.345`: thousandths.
  private static func digits(_ answer: borrowing SecretBuffer) -> [UInt8] {
    let bytes = answer.bytes
    return bytes.indices.map { bytes[$0] }.filter {
      $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: ".")
    }
  }
}
