// SPDX-License-Identifier: MIT

/// Tells why a source is not what it was said to be, without a word of what it holds.
struct ReadingFlaw: Error, Equatable, Sendable {
  /// Says which rule is broken.
  enum Rule: UInt8, Sendable, CaseIterable {
    case empty = 1
    case notUTF8 = 2
    case tooLarge = 3
    case tooManyEntries = 4
    /// A quote that is not closed, or text behind one that is.
    case quoting = 5
    /// A line with more or fewer fields than the first.
    case fieldCount = 6
    /// A column that the dialect must have; its name is the word.
    case columnMissing = 7
    /// The same column twice; its name is the word.
    case columnTwice = 8
    case notJSON = 9
    case tooDeep = 10
    /// A member that must be there, or must be of another type; its name is the word.
    case member = 11
    /// A line that is no assignment.
    case assignment = 12
    case readFailed = 13
    /// It is encrypted, and no password was given.
    case encrypted = 14
    case outOfMemory = 15
    case notXML = 16
    /// A DOCTYPE, which no export has and no reader needs.
    case doctype = 17
    /// A packed file that is damaged, or becomes too large.
    case packing = 18
    /// It is encrypted with a key that only the other program's account has.
    case accountBound = 19
    /// What was gathered of a folder breaks its form.
    case frame = 20
    /// It opens with a password, and none was given.
    case passwordNeeded = 21
    case wrongPassword = 22
    /// The password is right, and what it seals was changed.
    case sealBroken = 23
    /// To try a password costs more than the other program allows; the member is the word.
    case costs = 24
    /// No archive, or the end of one is missing.
    case notArchive = 25
    /// The entry of an archive is encrypted.
    case archiveSealed = 26
    /// A name in an archive leads out of it.
    case archivePath = 27
    /// An archive has two files of one name.
    case archiveTwice = 28
    /// An archive unpacks to more than is taken.
    case archiveTooLarge = 29
    /// A file of an archive is damaged.
    case archiveBroken = 30
    /// An archive lacks the file that makes it an export; its name is the word.
    case archiveFile = 31
    /// It is encrypted by OpenPGP.
    case pgp = 32
    /// All that there is is locked where it is kept.
    case allLocked = 33
  }

  var rule: Rule
  /// The line, or the number of the entry; 0: the whole.
  var place: UInt64 = 0
  /// A word of this program's own.
  var word: String = ""

  init(_ rule: Rule, at place: UInt64 = 0, _ word: String = "") {
    (self.rule, self.place, self.word) = (rule, place, word)
  }
}
