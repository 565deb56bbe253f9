// SPDX-License-Identifier: MIT

import Foundation
import KuraHardware
import KuraTerms
import SecureMemory
import TestGround

/// A TPM in software (swtpm), which has room for three objects at a time and no resource manager.
final class SoftwareTPM {
  /// Which key stands where systems keep their storage key.
  enum Usual: CaseIterable {
    case none, elliptic, rsa
  }

  static let works = FileManager.default.isExecutableFile(atPath: "/usr/bin/swtpm")

  let directory: String
  private var port = 0
  private var process: Process?
  private var recorder: Recorder?

  init(_ usual: Usual = .none) throws {
    directory = try Ground.inMemory.directory("tpm")
    try Self.run("/usr/bin/swtpm_setup", ["--tpm2", "--tpmstate", directory, "--overwrite"])
    try start()
    switch usual {
    case .none: break
    case .elliptic: try keepStorageKey("ecc")
    case .rsa: try keepStorageKey("rsa")
    }
  }

  deinit { stop() }

  /// What libtss2 calls it.
  var place: String { "swtpm:host=127.0.0.1,port=\(recorder?.port ?? port)" }

  /// Starts it, at a pair of ports that nobody else has.
  func start() throws {
    for _ in 0..<200 {
      let number = Int.random(in: 5_000..<10_000) * 2
      let child = Process()
      child.executableURL = URL(fileURLWithPath: "/usr/bin/swtpm")
      child.arguments = [
        "socket", "--tpm2", "--tpmstate", "dir=\(directory)", "--flags",
        "not-need-init,startup-clear",
        "--server", "type=tcp,port=\(number),bindaddr=127.0.0.1",
        "--ctrl", "type=tcp,port=\(number + 1),bindaddr=127.0.0.1",
      ]
      child.standardOutput = FileHandle.nullDevice
      child.standardError = FileHandle.nullDevice
      try child.run()
      while child.isRunning {
        if let socket = Socket(connectingTo: number) {
          socket.end()
          (process, port) = (child, number)
          return
        }
        usleep(2_000)
      }
    }
    throw TPMFailure(what: "swtpm does not start")
  }

  /// Ends it as a power cut would.
  func stop() {
    guard let child = process else { return }
    kill(child.processIdentifier, SIGKILL)
    child.waitUntilExit()
    process = nil
  }

  /// Runs one of tpm2-tools on it.
  func tool(_ name: String, _ arguments: [String]) throws {
    try Self.run("/usr/bin/tpm2_" + name, arguments, ["TPM2TOOLS_TCTI": place], in: directory)
  }

  /// Puts a storage key of a kind at the usual place.
  func keepStorageKey(_ kind: String) throws {
    try tool("createprimary", ["-C", "o", "-G", kind, "-c", "key"])
    try tool("evictcontrol", ["-C", "o", "-c", "key", "0x81000001"])
    try tool("flushcontext", ["-t"])
  }

  /// Has all that goes to the TPM and comes from it be kept from now on.
  func record() throws -> Recorder {
    let made = try Recorder(before: port)
    recorder = made
    return made
  }

  /// Does what the agent does: starts the program for one wish.
  func ask(_ wish: consuming HardwareWish) throws -> HardwareAnswer {
    try Helper.ask(try wish.encoded(), ["KURA_TCTI": place])
  }

  /// Starts what speaks to the TPM for a wish, and waits for nothing.
  func begin(_ wish: borrowing SecretBytes) throws -> Process {
    let (end, child) = try Helper.begin(wish, ["KURA_TCTI": place])
    close(end)
    return child
  }

  func look() throws -> ChipFacts {
    guard case .facts(let facts) = try ask(.look) else { throw TPMFailure(what: "no facts") }
    return facts
  }

  func seal(_ secret: [UInt8], _ code: [UInt8]) throws -> ChipObject {
    let order = SealOrder(
      secret: try SecretBytes(copying: secret.span), code: try SecretBytes(copying: code.span))
    switch try ask(.seal(order)) {
    case .sealed(let object): return object
    case .fault(let fault): throw fault
    case .facts: throw TPMFailure(what: "facts")
    case .secret: throw TPMFailure(what: "a secret")
    case .met: throw TPMFailure(what: "a key")
    case .made: throw TPMFailure(what: "a credential")
    }
  }

  func unseal(_ object: ChipObject, _ code: [UInt8]) throws -> [UInt8] {
    let order = UnsealOrder(object, code: try SecretBytes(copying: code.span))
    switch try ask(.unseal(order)) {
    case .secret(let secret): return secret.bytes.indices.map { secret.bytes[$0] }
    case .fault(let fault): throw fault
    case .facts: throw TPMFailure(what: "facts")
    case .sealed: throw TPMFailure(what: "an object")
    case .met: throw TPMFailure(what: "a key")
    case .made: throw TPMFailure(what: "a credential")
    }
  }

  private static func run(
    _ program: String, _ arguments: [String], _ variables: [String: String] = [:],
    in directory: String = "/"
  ) throws {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: program)
    child.arguments = arguments
    child.environment = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
      .merging(variables) { $1 }
    child.currentDirectoryURL = URL(fileURLWithPath: directory)
    child.standardOutput = FileHandle.nullDevice
    child.standardError = FileHandle.nullDevice
    try child.run()
    child.waitUntilExit()
    guard child.terminationStatus == 0 else { throw TPMFailure(what: program) }
  }
}

struct TPMFailure: Error {
  let what: String
}

/// The program under test.
enum Helper {
  private static let program =
    ((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "")
    .split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/kura-hardware"

  /// What it answers to bytes, by a socket as the agent's.
  static func ask(
    _ message: borrowing SecretBytes, _ variables: [String: String]
  ) throws -> HardwareAnswer {
    guard let answer = try said(message, variables) else { throw TPMFailure(what: "no answer") }
    return try HardwareWords.answer(answer.bytes)
  }

  static func said(
    _ message: borrowing SecretBytes, _ variables: [String: String]
  ) throws -> SecretBytes? {
    let (end, child) = try begin(message, variables)
    defer { close(end) }
    let answer = HardwarePipe.receive(from: end)
    child.waitUntilExit()
    return answer
  }

  /// Asks it, and does not wait.
  static func begin(
    _ message: borrowing SecretBytes, _ variables: [String: String]
  ) throws -> (Int32, Process) {
    var ends: [Int32] = [0, 0]
    guard
      socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
    else { throw TPMFailure(what: "socketpair") }
    let child = Process()
    child.executableURL = URL(fileURLWithPath: program)
    child.environment = variables
    child.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: false)
    try child.run()
    close(ends[1])
    _ = HardwarePipe.send(message, to: ends[0])
    return (ends[0], child)
  }
}
