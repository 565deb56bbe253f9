// SPDX-License-Identifier: MIT

public import KuraCrypto
public import SecureMemory

/// Says what is wrong with a recovery key as it was typed.
public enum RecoveryKeyRule: Equatable, Sendable {
  /// It has not 36 letters and digits, but this many.
  case length(Int)
  /// A character in this group, from 1, is no letter or digit of a recovery key.
  case character(group: Int)
  /// One character in this group, from 1, was mistyped.
  case group(Int)
  /// More was mistyped than can be located.
  case severalGroups
}

/// Opens a vault in place of the passcode: 160 random bits, written for paper.
///
/// 32 symbols of base32 (Crockford's alphabet, most significant bit first) and 4 check symbols, in 9
/// groups of 4. A mistyped symbol is located, so that a message can name its group; it is never
/// corrected in silence.
public struct RecoveryKey: ~Copyable, Sendable {
  /// The length, in bytes.
  public static let byteCount = 20
  /// The length of the text, in bytes.
  public static let textByteCount = 44

  private static let symbolCount = 36
  private static let dataSymbolCount = 32
  private static let groupCount = 4

  private let secret: SecretBytes

  /// The 20 bytes, to read.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { secret.bytes }
  }

  /// Takes over bytes as a recovery key.
  ///
  /// - Parameter secret: 20 bytes.
  public init(_ secret: consuming SecretBytes) {
    precondition(secret.count == RecoveryKey.byteCount, "a recovery key has 20 bytes")
    self.secret = secret
  }

  /// A fresh one from the kernel's random source.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public static func random() throws(CryptoError) -> RecoveryKey {
    do {
      var secret = try SecretBytes(count: byteCount)
      var bytes = secret.mutableBytes
      try RandomBytes.fill(&bytes)
      return RecoveryKey(secret)
    } catch let error as CryptoError {
      throw error
    } catch {
      throw .outOfMemory
    }
  }
}

// MARK: - Text

extension RecoveryKey {
  /// The text to write down: 9 groups of 4 symbols with a dash between, 44 bytes of ASCII.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func text() throws(FormatError) -> SecretBytes {
    var symbols = try SecretBytes.allocate(RecoveryKey.symbolCount)
    var text = try SecretBytes.allocate(RecoveryKey.textByteCount)
    fill(&symbols)
    write(symbols.bytes, into: &text)
    return text
  }

  private borrowing func fill(_ symbols: inout SecretBytes) {
    let data = bytes
    var target = symbols.mutableBytes
    for index in 0..<RecoveryKey.dataSymbolCount {
      // Five bits from bit 5 · index on; they reach at most into the next byte.
      let (byte, bit) = (5 * index).quotientAndRemainder(dividingBy: 8)
      let next = byte + 1 < data.count ? data[byte + 1] : 0
      let pair = UInt16(data[byte]) << 8 | UInt16(next)
      target[index] = UInt8(pair >> UInt16(11 - bit) & 31)
    }
    for word in 0..<2 {
      let checks = RecoveryCheck.symbols(of: target.span, word: word)
      target[RecoveryKey.dataSymbolCount + word] = checks.first
      target[RecoveryKey.dataSymbolCount + 2 + word] = checks.second
    }
  }

  private borrowing func write(_ symbols: Span<UInt8>, into text: inout SecretBytes) {
    var target = text.mutableBytes
    var end = 0
    for index in symbols.indices {
      if index > 0, index.isMultiple(of: RecoveryKey.groupCount) {
        target[end] = UInt8(ascii: "-")
        end += 1
      }
      target[end] = RecoveryAlphabet.character(of: symbols[index])
      end += 1
    }
  }

  /// Reads a recovery key as a person types it: any case, dashes and spaces anywhere or nowhere, O
  /// for 0, I and L for 1.
  ///
  /// - Throws: ``FormatError/recoveryKeyInvalid(_:)``, ``FormatError/outOfMemory``.
  public static func parse(_ text: Span<UInt8>) throws(FormatError) -> RecoveryKey {
    var symbols = try SecretBytes.allocate(symbolCount)
    try read(text, into: &symbols)
    try RecoveryCheck.verify(symbols.bytes)
    var secret = try SecretBytes.allocate(byteCount)
    var target = secret.mutableBytes
    let source = symbols.bytes
    for index in 0..<(8 * byteCount) {
      let (place, bit) = index.quotientAndRemainder(dividingBy: 5)
      let value = source[place] >> UInt8(4 - bit) & 1
      target[index / 8] |= value << UInt8(7 - index % 8)
    }
    return RecoveryKey(secret)
  }

  private static func read(
    _ text: Span<UInt8>, into symbols: inout SecretBytes
  ) throws(FormatError) {
    var target = symbols.mutableBytes
    var count = 0
    for index in text.indices where !RecoveryAlphabet.isSeparator(text[index]) {
      guard let symbol = RecoveryAlphabet.symbol(of: text[index]) else {
        throw .recoveryKeyInvalid(.character(group: min(count / groupCount + 1, 9)))
      }
      if count < symbolCount { target[count] = symbol }
      count += 1
    }
    guard count == symbolCount else { throw .recoveryKeyInvalid(.length(count)) }
  }
}
