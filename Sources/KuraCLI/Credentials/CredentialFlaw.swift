// SPDX-License-Identifier: MIT

/// What is wrong with a request of another program, or with the item that would answer it. Nothing
/// of a secret is in it.
enum CredentialFlaw: Error, Equatable, Sendable {
  /// `helper` speaks no such protocol.
  case unknownProgram([UInt8])
  /// A request has more bytes than are read.
  case requestTooLong(limit: Int)
  /// A line of a request is no `KEY=VALUE`; from 1.
  case badLine(Int)
  /// A line of a request has a NUL or a carriage return.
  case controlByte(line: Int)
  /// A line of a request says again what one before it said.
  case repeated(line: Int)
  /// A request lacks what it is about.
  case missing(String)
  case notJSON(JSONFlaw)
  /// The JSON is no object.
  case notAnObject
  /// The value has a line end, a carriage return or a NUL: the program would take a part of it for
  /// something else.
  case notOneLine(String)
  /// The same of the user that the item's name tells.
  case userNotOneLine(String)
  /// The value has more bytes than the program is given.
  case valueTooLong(String, limit: Int)
  /// The value is not UTF-8, as the program's protocol has to be.
  case notText(String)
  /// The item lacks an attribute that the program is to be told.
  case attributeMissing(String, key: String)
  /// The item's value begins as JSON, and is none.
  case valueNotJSON(String, JSONFlaw)
  /// The item's value is JSON without what the program is to be told.
  case memberMissing(String, key: String)
  /// A person is to answer a program, and nobody can be asked.
  case nobodyToAsk
  /// The same for a question that the vault does not answer, and why it does not.
  case unanswered([UInt8], AskpassMiss)
  /// A person said no.
  case refused
}

/// Why the vault does not answer what a program asks.
enum AskpassMiss: Equatable, Sendable {
  /// The words are none that an item could answer.
  case unknown
  /// No item has that name.
  case noItem(String)
  /// The same process was given the item's value already.
  case given(String)
}
