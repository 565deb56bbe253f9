// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraVault

/// Keys of what clients hold beyond a lock.
@Suite struct DraftKeyTests {
  private func bytes(_ span: Span<UInt8>) -> [UInt8] { span.indices.map { span[$0] } }

  @Test func `a key is opened again by the vault that sealed it, after a lock, too`() throws {
    let file = try TestVault()
    let vault = try file.unlock()
    let made = try vault.makeDraftKey()
    let other = try vault.makeDraftKey()
    let (sealedCount, keyCount) = (made.sealed.count, made.key.count)
    #expect(sealedCount == DraftKey.sealedCount)
    #expect(keyCount == 32)
    #expect(bytes(made.key.bytes) != bytes(other.key.bytes))
    vault.lock().close()
    let again = try file.unlock()
    let opened = try again.openDraftKey(made.sealed.span)
    #expect(bytes(opened.bytes) == bytes(made.key.bytes))
    let next = try again.openDraftKey(other.sealed.span)
    #expect(bytes(next.bytes) == bytes(other.key.bytes))
  }

  @Test func `it is in no file, and changes nothing`() throws {
    let file = try TestVault()
    let vault = try file.unlock()
    let before = vault.summary.fingerprint
    let made = try vault.makeDraftKey()
    _ = try vault.openDraftKey(made.sealed.span)
    #expect(vault.summary.fingerprint == before)
  }

  @Test func `another vault, a bit and a length that differ are refused`() throws {
    let (file, strange) = (try TestVault(), try TestVault())
    let vault = try file.unlock()
    let sealed = try vault.makeDraftKey().sealed
    let other = try strange.unlock()
    var (refused, asked) = (0, 0)
    func count(_ isRefused: Bool) {
      asked += 1
      if isRefused { refused += 1 }
    }
    count(isRefused(sealed, by: other))
    for bit in 0..<(sealed.count * 8) {
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      count(isRefused(changed, by: vault))
    }
    for length in 0..<sealed.count { count(isRefused(Array(sealed[..<length]), by: vault)) }
    count(isRefused(sealed + [0], by: vault))
    #expect(refused == asked)
    let whole = isRefused(sealed, by: vault)
    #expect(!whole)
  }

  private func isRefused(_ sealed: [UInt8], by vault: borrowing UnlockedVault) -> Bool {
    do throws(VaultError) {
      _ = try vault.openDraftKey(sealed.span)
      return false
    } catch { return error == .credentialStale }
  }
}
