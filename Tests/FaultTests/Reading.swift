// SPDX-License-Identifier: MIT

import KuraVault

/// One `item:` or `old:` line of a vector file.
struct ExpectedLine {
  let text: String
  let name: [UInt8]
  /// For an earlier revision: which one.
  let revision: UInt64?
  let isDeleted: Bool
  let isProtected: Bool
  /// Whether its value is opened with the key of protected ones.
  let hasProtectedClass: Bool
  /// What stands before the facts, and after them.
  let (head, tail): (String, String)

  init(_ text: String) {
    self.text = text
    let words = text.split(separator: " ")
    func fact(_ key: String) -> Substring {
      words.first { $0.hasPrefix(key + "=") }?.dropFirst(key.count + 1) ?? ""
    }
    let isOld = words[0] == "old:"
    name = Bytes.fromHex(isOld ? fact("of") : words[1])
    revision = isOld ? UInt64(fact("revision")) : nil
    isDeleted = fact("kind") == "1"
    isProtected = fact("value") == "protected"
    hasProtectedClass = fact("class") == "1"
    (head, tail) = isOld ? ("old: ", " of=\(fact("of"))") : ("item: ", "")
  }

  /// The line without what a listing does not tell: the value.
  var listed: String { Self.listed(text) }

  static func listed(_ text: String) -> String {
    text.split(separator: " ").filter { !$0.hasPrefix("value=") }.joined(separator: " ")
  }
}

/// What the engine made of a vault file: opened, unlocked, read whole, listed, verified.
struct Reading: CustomStringConvertible {
  /// Why it was not opened or unlocked.
  var refusal: VaultError?
  /// How many of the expected lines were read as they should.
  var agreed = 0
  /// What was read, or proved absent, in place of an expected line: never acceptable.
  var silent: [String] = []
  /// Why an expected line, or the listing, could not be read.
  var errors: [VaultError] = []
  /// What `verify` found.
  var findings: [FindingKind] = []

  private let expected: [ExpectedLine]

  /// Whether something objected.
  var isDetected: Bool { refusal != nil || !errors.isEmpty || !findings.isEmpty }
  /// Whether everything was read as it should and nothing objected.
  var isHarmless: Bool { !isDetected && silent.isEmpty && agreed == expected.count }
  /// Detected or harmless, and never a wrong answer on the way.
  var isSound: Bool { silent.isEmpty && (isDetected || isHarmless) }

  /// In a line: what was refused, wrong or found.
  var description: String {
    let refused = refusal.map { "refused: \($0)" }
    return refused ?? "read \(agreed) of \(expected.count), wrong: \(silent), errors: \(errors), "
      + "found: \(findings)"
  }

  init(_ path: String, at site: Site, with secret: Secret, expected: [ExpectedLine]) {
    self.expected = expected
    do throws(VaultError) {
      var vault = try Engine.open(path, at: site, with: secret)
      let isAnyProtected = expected.contains { $0.hasProtectedClass }
      let key =
        isAnyProtected
        ? try? Engine.protectedKey(of: path, at: site, with: secret, in: &vault) : nil
      read(from: &vault, with: key ?? nil)
      miss(in: &vault)
      list(from: &vault)
      do throws(VaultError) {
        findings = try Engine.findings(&vault)
      } catch { errors.append(error) }
      vault.lock().close()
    } catch { refusal = error }
  }

  private mutating func read(
    from vault: inout UnlockedVault, with key: borrowing ProtectedKey?
  ) {
    for line in expected where !line.isDeleted {
      do throws(VaultError) {
        let text = try Engine.text(line, in: &vault, with: key)
        if text == line.text { agreed += 1 } else { silent.append(text) }
      } catch {
        if error == .notFound || error == .revisionNotFound {
          silent.append("absent: \(line.text)")
        } else {
          errors.append(error)
        }
      }
    }
  }

  /// A name that was never there must be absent.
  private mutating func miss(in vault: inout UnlockedVault) {
    let name = Array("never/there".utf8)
    do throws(VaultError) {
      let item = try vault.item(name.span)
      silent.append("there: \(Engine.facts(item, value: ""))")
    } catch {
      if error != .notFound { errors.append(error) }
    }
  }

  /// Every item must stand in the listing once, deleted ones too, and nothing else.
  private mutating func list(from vault: inout UnlockedVault) {
    var awaited = Set(expected.filter { $0.revision == nil }.map(\.listed))
    do throws(VaultError) {
      var listing = vault.listing(includingDeleted: true)
      while let item = try listing.next(in: &vault) {
        let line = ExpectedLine.listed("item: " + Engine.facts(item, value: ""))
        if awaited.remove(line) == nil { silent.append("listed: \(line)") }
      }
      silent += awaited.map { "not listed: \($0)" }
      agreed += expected.count { $0.isDeleted }
    } catch { errors.append(error) }
  }
}
