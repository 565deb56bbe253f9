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
  let port: Int
  private let behind: Int
  private let listeners: [Int32]
  private let kept = Mutex<[UInt8]>([])

  /// All that was said until now.
  var bytes: [UInt8] { kept.withLock { $0 } }

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
      let threads = [(client, chip.descriptor), (chip.descriptor, client)].map { from, to in
        let thread = Thread { [self] in pass(from, to) }
        thread.start()
        return thread
      }
      while threads.contains(where: { !$0.isFinished }) { usleep(1_000) }
      close(client)
      chip.end()
    }
    close(listener)
  }

  private func pass(_ from: Int32, _ to: Int32) {
    var room = [UInt8](repeating: 0, count: 8_192)
    while case let count = read(from, &room, room.count), count > 0 {
      kept.withLock { $0 += room[..<count] }
      guard write(to, room, count) == count else { break }
    }
    shutdown(to, Int32(SHUT_WR))
  }
}
