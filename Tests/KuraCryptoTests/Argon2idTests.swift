// SPDX-License-Identifier: MIT

import Glibc
import KuraCrypto
import SecureMemory
import Testing

@Suite struct Argon2idTests {
  private let salt = [UInt8](repeating: 5, count: 16)

  @Test func `passcode, salt and costs all matter`() throws {
    let passcode = Array("correct horse".utf8)
    var hashes: Set<[UInt8]> = [try derive(passcode, salt, 8192, 1)]
    hashes.insert(try derive(passcode + [0], salt, 8192, 1))
    hashes.insert(try derive([], salt, 8192, 1))
    hashes.insert(try derive(passcode, [UInt8](repeating: 6, count: 16), 8192, 1))
    hashes.insert(try derive(passcode, salt, 9216, 1))
    hashes.insert(try derive(passcode, salt, 8192, 2))
    #expect(hashes.count == 6)
    #expect(try derive(passcode, salt, 8192, 1) == derive(passcode, salt, 8192, 1))
  }

  @Test(.enabled(if: dlsym(nil, "__asan_init") == nil, "AddressSanitizer needs the address space"))
  func `memory that is not there is told as such`() async {
    await #expect(processExitsWith: .success) {
      let passcode = try SecretBytes(count: 8)
      var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
      do {
        let salt = [UInt8](repeating: 5, count: 16)
        _ = try Argon2id.derive(
          passcode.bytes, salt: salt.span, memory: 64 << 20, passes: 1)
        preconditionFailure("the limit forbids it")
      } catch {
        precondition(error as? CryptoError == .outOfMemory)
      }
    }
  }

  private func derive(
    _ passcode: [UInt8], _ salt: [UInt8], _ memory: UInt64, _ passes: UInt32
  ) throws -> [UInt8] {
    let secret = try Argon2id.derive(
      passcode.span, salt: salt.span, memory: memory, passes: passes)
    return bytes(secret.bytes)
  }
}
