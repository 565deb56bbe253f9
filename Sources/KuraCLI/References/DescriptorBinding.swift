// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Reads `N=REFERENCE`, as `--fd` takes it, or the reference of `--stdin`.
struct DescriptorBinding {
  let number: Int32
  let reference: PlacedReference

  private init(_ text: [UInt8], _ dialect: ReferenceDialect) throws(CommandError) {
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
      throw .usage(.notABinding(.fileDescriptor, name: "N"))
    }
    let digits = text[..<equals]
    guard let wide = Decimal.parse(digits), let number = Int32(exactly: wide), number > 2 else {
      throw .usage(
        OptionName.fileDescriptor.spelling + " takes a descriptor from 3 on, not "
          + Diagnostic.quoted(Array(digits)), hint: "--stdin is for 0")
    }
    self.number = number
    let place = Place.option(.fileDescriptor, Array(digits))
    reference = try dialect.read(Array(text[(equals + 1)...]), at: place)
  }

  private init(stdin text: [UInt8], _ dialect: ReferenceDialect) throws(CommandError) {
    number = 0
    reference = try dialect.read(text, at: .option(.stdin, []))
  }

  /// All that the options give; a number stands in one of them.
  static func all(
    _ arguments: Arguments, _ dialect: ReferenceDialect
  ) throws(CommandError) -> [DescriptorBinding] {
    var bindings: [DescriptorBinding] = []
    for text in arguments.values(.stdin) {
      bindings.append(try DescriptorBinding(stdin: text, dialect))
    }
    for text in arguments.values(.fileDescriptor) {
      bindings.append(try DescriptorBinding(text, dialect))
    }
    for (index, binding) in bindings.enumerated()
    where bindings[..<index].contains(where: { $0.number == binding.number }) {
      throw .usage("descriptor \(binding.number) is given twice", hint: "give it once")
    }
    return bindings
  }
}
