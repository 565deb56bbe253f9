// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Why a command line was not understood. What was typed is kept as it came.
enum UsageError: Error, Equatable, Sendable {
  case noVerb
  case unknownVerb([UInt8])
  case unknownTopic([UInt8])
  /// `verb` is empty where the option stands before the verb.
  case unknownOption([UInt8], verb: String)
  case valueMissing(OptionName)
  case valueUnexpected(OptionName)
  case operandMissing(String, verb: String)
  case operandUnexpected([UInt8], verb: String)
  case notANumber(OptionName, [UInt8])
  /// A number or size that is smaller than the least there is.
  case tooSmall(OptionName, [UInt8], least: String)
  case notADuration([UInt8])
  case notASize([UInt8])
  case notAnAttribute([UInt8])
  /// One attribute, given twice or set and deleted.
  case attributeTwice([UInt8])
  case notAColorChoice([UInt8])
  case notAConfigKey([UInt8])
  case notAConfigValue(ConfigKey, [UInt8])
  case notAnAgentAction([UInt8])
  case notAShell([UInt8])
  case notAReference(ItemReference.Flaw)
  /// `--attr` beside a reference that says which.
  case attributeInReference
  /// Attributes have no earlier revisions.
  case revisionOfAttribute
  /// An option that takes `NAME=REFERENCE`, and got something without a `=`. What it got is not
  /// told: it may be a secret.
  case notABinding(OptionName)
  case notAVariableName(OptionName, [UInt8])
  case variableTwice([UInt8])
  case notADescriptor(OptionName, [UInt8])
  case descriptorTwice(Int32)
  /// `run` without `--` before the command.
  case separatorMissing(verb: String)
  /// A name, path or attribute that is not UTF-8.
  case notText([UInt8])
  /// Two options that contradict each other.
  case conflict(OptionName, OptionName)
  /// `otp` of a reference to an attribute.
  case codeOfAttribute
  /// One descriptor cannot give both the passcode and the value.
  case sharedDescriptor(Int32)
  /// Nor both the passcode and the template.
  case sharedStdin
  /// Many items do not come from a keyboard.
  case batchFromTerminal
  /// What is asked for needs an agent that stays.
  case needsAgent(verb: String)
  case passcodeEmpty
  case notASlotAction([UInt8])
  case notASlotKind([UInt8])
  case notASlotNumber([UInt8])
  /// An option that says nothing about a kind of slot.
  case unfitForSlot(OptionName, String)
  /// A key file is needed, and none is named.
  case keyFileMissing
  /// A key file is not used to change slots.
  case keyFileAuthority
  /// A key file of so many bytes is guessable.
  case keyFileTooShort(String, count: Int)
  /// A key file has more bytes than are read.
  case keyFileTooLong(String, limit: Int)
  /// `attr` without a change.
  case nothingToChange
  case oneNameOnly(OptionName)
  /// A text to be found that is too long to be looked for in all there is.
  case textTooLong(limit: Int)
  /// More attributes than an item has.
  case tooManyAttributes(limit: Int)
  /// An option that names a file, with nothing behind it.
  case fileMissing(OptionName)
  /// What a value is to be made up of, not understood.
  case notARecipe([UInt8])
  case generatedLength(least: Int, most: Int)
  case generatedWords(most: Int)
  /// Fewer characters than classes that have to be among them.
  case generatedTooShort(Int, classes: Int)
  /// An option of a verb's other action.
  case optionUnexpected(OptionName, verb: String)
  case notAClipboard([UInt8])
  /// A time is given for what cannot be read back.
  case cannotClear
}
