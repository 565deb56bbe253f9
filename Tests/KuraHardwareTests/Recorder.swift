// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// A connection over loopback.
struct Socket {
  let descriptor: Int32

  init?(connectingTo port: Int) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var place = Self.loopback(port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failed = withUnsafePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard failed == 0 else {
      close(descriptor)
      return nil
    }
  }

  func end() { close(descriptor) }

  static func loopback(_ port: Int) -> sockaddr_in {
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = in_port_t(port).bigEndian
    place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return place
  }
}

/// Stands between a program and a TPM, and keeps all that is said either way.
final class Recorder: Sendable {
  /// Holds what was said for one program.
  struct Talk {
    /// The codes of the commands that the TPM has carried out.
    var commands: [UInt32] = []
    /// The answer to which of them is held back; nil for none.
    var held: Int?
    /// Whether it is.
    var isHeld = false
  }

  let port: Int
  private let behind: Int
  private let listeners: [Int32]
  private let kept = Mutex<[UInt8]>([])
  private let talk = Mutex(Talk())
  /// Say that an answer is held back, or the program has ended, and that the answer goes on.
  private let reached = DispatchSemaphore(value: 0)
  private let goes = DispatchSemaphore(value: 0)

  /// All that was said until now.
  var bytes: [UInt8] { kept.withLock { $0 } }

  /// Holds one answer to a program back, and ends the program there.
  ///
  /// - Returns: What was said until then.
  func cut(at held: Int, _ child: () throws -> Process) rethrows -> Talk {
    talk.withLock { $0 = Talk(held: held) }
    let child = try child()
    Thread.detachNewThread { [reached] in
      child.waitUntilExit()
      reached.signal()
    }
    reached.wait()
    if talk.withLock({ $0.isHeld }) {
      kill(child.processIdentifier, SIGKILL)
      reached.wait()
      goes.signal()
    }
    defer { talk.withLock { $0 = Talk() } }
    return talk.withLock { $0 }
  }

  /// Listens at a pair of ports, and passes on to the pair from one on.
  init(before behind: Int) throws {
    self.behind = behind
    for _ in 0..<200 {
      let number = Int.random(in: 5_000..<10_000) * 2
      guard let first = Self.listener(number) else { continue }
      guard let second = Self.listener(number + 1) else {
        close(first)
        continue
      }
      port = number
      listeners = [first, second]
      for (offset, listener) in [first, second].enumerated() {
        Thread.detachNewThread { [self] in serve(listener, offset) }
      }
      return
    }
    throw TPMFailure(what: "no pair of ports")
  }

  /// Listens no more.
  func end() { for listener in listeners { shutdown(listener, Int32(SHUT_RDWR)) } }

  private static func listener(_ port: Int) -> Int32? {
    let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var place = Socket.loopback(port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failed = withUnsafePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(made, $0, size) }
    }
    guard failed == 0, listen(made, 4) == 0 else {
      close(made)
      return nil
    }
    return made
  }

  private func serve(_ listener: Int32, _ offset: Int) {
    while case let client = accept(listener, nil, nil), client >= 0 {
      guard let chip = Socket(connectingTo: behind + offset) else {
        close(client)
        continue
      }
      if offset == 0 { speak(client, chip.descriptor) } else { pass(client, chip.descriptor) }
      close(client)
      chip.end()
    }
    close(listener)
  }

  private func pass(_ client: Int32, _ chip: Int32) {
    let threads = [(client, chip), (chip, client)].map { from, to in
      let thread = Thread {
        var room = [UInt8](repeating: 0, count: 8_192)
        while case let count = read(from, &room, room.count), count > 0 {
          guard Self.say(Array(room[..<count]), to) else { break }
        }
        shutdown(to, Int32(SHUT_WR))
      }
      thread.start()
      return thread
    }
    // A thread of Foundation tells of its end in no other way.
    while threads.contains(where: { !$0.isFinished }) { usleep(1_000) }
  }

  /// Passes commands on and their answers back, one after the other.
  private func speak(_ client: Int32, _ chip: Int32) {
    while let command = Self.message(client), Self.say(command, chip),
      let answer = Self.message(chip)
    {
      kept.withLock { $0 += command + answer }
      let isHeld = talk.withLock { talk in
        talk.commands.append(Self.number(command[6...]))
        talk.isHeld = talk.held == talk.commands.count - 1
        return talk.isHeld
      }
      if isHeld {
        reached.signal()
        goes.wait()
      }
      guard Self.say(answer, client) else { break }
    }
  }

  /// Takes out all objects and sessions that are loaded, as the kernel does with those of a program that lets go of
  /// `/dev/tpmrm0` (TPM 2.0 Library, part 3, TPM2_FlushContext).
  ///
  /// - Returns: How many there were.
  func clear() -> Int {
    var count = 0
    for kind in [0x8000_0000, 0x0200_0000] as [UInt32] {
      guard let answer = ask(0x17A, [1, kind, 16]), answer.count >= 19 else { return count }
      for at in stride(from: 19, to: answer.count, by: 4) {
        _ = ask(0x165, [Self.number(answer[at...])])
        count += 1
      }
    }
    return count
  }

  private func ask(_ code: UInt32, _ fields: [UInt32]) -> [UInt8]? {
    guard let chip = Socket(connectingTo: behind) else { return nil }
    defer { chip.end() }
    let head: [UInt8] = [0x80, 0x01]
    let command = [UInt32(10 + 4 * fields.count), code] + fields
    let bytes =
      head
      + command.flatMap { number in
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
      }
    return Self.say(bytes, chip.descriptor) ? Self.message(chip.descriptor) : nil
  }

  /// A command or an answer, whose length stands in its head.
  private static func message(_ from: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var wanted = 10
    while bytes.count < wanted {
      var room = [UInt8](repeating: 0, count: wanted - bytes.count)
      let count = read(from, &room, room.count)
      guard count > 0 else { return nil }
      bytes += room[..<count]
      if bytes.count == 10 { wanted = min(max(Int(number(bytes[2...])), 10), 8_192) }
    }
    return bytes
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func say(_ bytes: [UInt8], _ to: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
