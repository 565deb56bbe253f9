// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Synchronization
import Testing

@testable import KuraVault

/// Several engines on one file, as an agent and private engines are.
@Suite struct `Several engines` {
  @Test func `see each other's changes`() throws {
    let file = try TestVault()
    var first = try file.unlock()
    var second = try file.unlock()
    try first.put("a", "1")
    #expect(try second.getText("a") == "1")
    try second.put("a", "2")
    try second.put("b", "3")
    #expect(try first.getText("a") == "2")
    #expect(try first.names() == ["a", "b"])
    #expect(try first.findings() == [])
    #expect(try second.findings() == [])
    #expect(first.summary == second.summary)
  }

  @Test func `lose no update and undo none`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.put("counter", "0") }
    let (engines, rounds) = (4, 40)
    let failures = Mutex<[String]>([])
    let (path, options) = (file.path, file.options)
    let threads = (0..<engines).map { engine in
      Thread {
        do {
          var vault = try unlockPatiently(path, options)
          for round in 0..<rounds {
            try increment(&vault)
            try patiently { () throws(VaultError) in
              try vault.put("own/\(engine)/\(round)", pattern(300), .create)
            }
          }
        } catch { failures.withLock { $0.append("\(error)") } }
      }
    }
    for thread in threads {
      thread.stackSize = 1 << 23
      thread.start()
    }
    while threads.contains(where: { !$0.isFinished }) { usleep(1_000) }
    #expect(failures.withLock { $0 } == [])
    var vault = try file.unlock()
    #expect(try vault.getText("counter") == "\(engines * rounds)")
    #expect(vault.summary.itemCount == UInt64(engines * rounds + 1))
    #expect(vault.summary.epoch == UInt64(2 + 2 * engines * rounds) + TestVault.begun)
    #expect(try vault.findings() == [])
  }

  @Test func `may lock while another goes on`() throws {
    let file = try TestVault()
    let first = try file.unlock()
    var second = try file.unlock()
    try second.put("a", "1")
    first.lock().close()
    try second.put("a", "2")
    #expect(try second.getText("a") == "2")
    second.lock().close()
    #expect(file.files == ["test.kura"])
  }
}

/// Adds one to a number that others add to as well.
private func increment(_ vault: inout UnlockedVault) throws(VaultError) {
  while try !tryToIncrement(&vault) { usleep(200) }
}

private func tryToIncrement(_ vault: inout UnlockedVault) throws(VaultError) -> Bool {
  let name = Array("counter".utf8)
  do throws(VaultError) {
    let value = try vault.value(name.span)
    let next = (Int(text(of: value.bytes)) ?? 0) + 1
    try vault.put("counter", Array("\(next)".utf8), .revision(value.item.revision))
    return true
  } catch {
    switch error {
    case .busy, .revisionConflict: return false
    default: throw error
    }
  }
}

/// Opens and unlocks, again while another engine does the same or is the last to close the file.
private func unlockPatiently(
  _ path: String, _ options: VaultOptions
) throws(VaultError) -> UnlockedVault {
  while true {
    do throws(VaultError) {
      var locked = try LockedVault(at: path, options: options)
      let key = try locked.attempt().open(.passcode, secret: secret(TestVault.passcode))
      return try locked.unlock(with: key)
    } catch {
      guard error == .busy else { throw error }
      usleep(200)
    }
  }
}

/// Tries again while another engine is in the way.
private func patiently(_ body: () throws(VaultError) -> Void) throws(VaultError) {
  while true {
    do throws(VaultError) {
      return try body()
    } catch {
      guard error == .busy else { throw error }
      usleep(200)
    }
  }
}
