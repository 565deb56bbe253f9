// SPDX-License-Identifier: MIT

import Foundation

/// What libFuzzer calls: the targets of `FuzzTests`, of which `KURA_FUZZ_TARGET` names one. Built
/// by `.ci/fuzz` only.
private enum Fuzzer {
  static let environment = ProcessInfo.processInfo.environment
  static let target: FuzzTarget = {
    let name = environment["KURA_FUZZ_TARGET"] ?? ""
    guard let target = (FuzzTarget.all + [planted]).first(where: { $0.name == name }) else {
      print("kura-fuzz: no such target: \(name)")
      exit(2)
    }
    return target
  }()

  /// A fault that must be found: an index that goes too far, behind four bytes that nothing tells of.
  static let planted = FuzzTarget(name: "planted", seeds: [[0, 0, 0, 0, 1]]) { input throws(Flaw) in
    let word = Array("KURA".utf8)
    for (index, byte) in word.enumerated() where input.count > index {
      guard input[index] == byte else { return false }
    }
    guard input.count > word.count else { return false }
    return input[Int(input[word.count]) + word.count] == 0
  }
}

/// `KURA_FUZZ_TARGET=list` prints the targets; `KURA_FUZZ_CORPUS` names the directory that gets the
/// seeds of one.
@_cdecl("LLVMFuzzerInitialize")
public func begin(
  _ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutableRawPointer?
) -> CInt {
  if Fuzzer.environment["KURA_FUZZ_TARGET"] == "list" {
    for target in FuzzTarget.all { print(target.name) }
    exit(0)
  }
  let corpus = Fuzzer.environment["KURA_FUZZ_CORPUS"] ?? "."
  for (number, seed) in Fuzzer.target.seeds.enumerated() {
    let place = URL(filePath: corpus).appending(path: "seed-\(number)")
    do { try Data(seed).write(to: place) } catch {
      print("kura-fuzz: \(error)")
      exit(2)
    }
  }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  do throws(Flaw) { _ = try Fuzzer.target.read(input) } catch { fatalError(error.text) }
  return 0
}
