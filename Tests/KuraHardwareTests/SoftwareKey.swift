// SPDX-License-Identifier: MIT

import Foundation
import KuraHardware
import KuraTerms
import SecureMemory
import TestGround

/// A security key in software (Fixtures/scripts/tools/security-key), which libfido2 speaks to as it is.
final class SoftwareKey {
  private static let program =
    URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/scripts/tools/security-key").path

  let place: String
  private let state: String
  private var process: Process?

  init(_ options: String...) throws {
    let directory = try Ground.inMemory.directory("key")
    (state, place) = (directory + "/state", directory + "/hidraw")
    try plugIn(options)
  }

  deinit { unplug() }

  /// Plugs it in, again perhaps: what it keeps is as it was.
  func plugIn(_ options: [String] = []) throws {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    child.arguments = [Self.program, state, place] + options
    try child.run()
    process = child
    while access(place, F_OK) != 0 {
      guard child.isRunning else { throw TPMFailure(what: "security-key") }
      usleep(2_000)
    }
  }

  func unplug() {
    guard let child = process else { return }
    kill(child.processIdentifier, SIGKILL)
    child.waitUntilExit()
    unlink(place)
    process = nil
  }

  /// What whoever is asked to touch it does from now on.
  func finger(_ word: String) throws {
    try Data(word.utf8).write(to: URL(filePath: state + ".finger"))
  }

  /// What it was told, word by word.
  var log: [String] {
    let text = try? String(contentsOfFile: state + ".log", encoding: .utf8)
    return (text ?? "").split(separator: "\n").map { String($0) }
  }

  static func ask(_ wish: consuming HardwareWish, of keys: SoftwareKey...) throws -> HardwareAnswer
  {
    let places = keys.map { $0.place }.joined(separator: ":")
    return try Helper.ask(try wish.encoded(), ["KURA_FIDO2": places])
  }

  private static func order(
    _ credential: KeyCredential?, _ pin: String, salt: UInt8
  ) throws -> HardwareWish {
    .touch(
      KeyOrder(
        of: credential,
        salt: try SecretBytes(copying: [UInt8](repeating: salt, count: 32).span),
        pin: try SecretBytes(copying: Array(pin.utf8).span)))
  }

  func enrol(_ pin: String = "") throws -> (credential: KeyCredential, secret: [UInt8]) {
    switch try Self.ask(try Self.order(nil, pin, salt: 1), of: self) {
    case .made(let made):
      return (made.credential, made.secret.bytes.indices.map { made.secret.bytes[$0] })
    case .fault(let fault): throw fault
    case .facts: throw TPMFailure(what: "facts")
    case .sealed: throw TPMFailure(what: "an object")
    case .secret: throw TPMFailure(what: "a secret")
    case .met: throw TPMFailure(what: "a key")
    }
  }

  func secret(
    of credential: KeyCredential, _ pin: String = "", salt: UInt8 = 1, beside others: SoftwareKey...
  ) throws -> [UInt8] {
    let places = ([self] + others).map { $0.place }.joined(separator: ":")
    let answer = try Helper.ask(
      try Self.order(credential, pin, salt: salt).encoded(), ["KURA_FIDO2": places])
    switch answer {
    case .secret(let secret): return secret.bytes.indices.map { secret.bytes[$0] }
    case .fault(let fault): throw fault
    case .facts: throw TPMFailure(what: "facts")
    case .sealed: throw TPMFailure(what: "an object")
    case .met: throw TPMFailure(what: "a key")
    case .made: throw TPMFailure(what: "a credential")
    }
  }

  /// Asks for a secret, and does not wait.
  func begin(_ credential: KeyCredential) throws -> (Int32, Process) {
    try Helper.begin(
      try Self.order(credential, "", salt: 1).encoded(), ["KURA_FIDO2": place])
  }

  func facts(of credential: KeyCredential? = nil) throws -> SecurityKeyFacts {
    switch try Self.ask(.meet(credential), of: self) {
    case .met(let facts): return facts
    case .fault(let fault): throw fault
    case .facts: throw TPMFailure(what: "facts")
    case .sealed: throw TPMFailure(what: "an object")
    case .secret: throw TPMFailure(what: "a secret")
    case .made: throw TPMFailure(what: "a credential")
    }
  }
}
