// SPDX-License-Identifier: MIT

internal import Foundation
internal import KuraClient
internal import Synchronization

/// Keeps the directory that a process's test vaults stand in, until that ends.
final class Home: Sendable {
  /// The one; nil: it cannot be made.
  static let shared: Home? = Home()

  private let directory: String
  private let count = Atomic(0)

  private init?() {
    let parent = Environment.value("TMPDIR") ?? "/tmp"
    var template = Array((parent + "/kura-testing.XXXXXX").utf8CString)
    guard unsafe mkdtemp(&template) != nil else { return nil }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    for (name, place) in [
      ("XDG_DATA_HOME", "data"), ("XDG_STATE_HOME", "state"), ("XDG_RUNTIME_DIR", "run"),
    ] {
      let path = directory + "/" + place
      guard unsafe mkdir(path, 0o700) == 0, unsafe setenv(name, path, 1) == 0 else { return nil }
    }
    unsafe unsetenv("KURA_VAULT")
    atexit { Home.shared?.end() }
  }

  /// A place where no vault stood yet.
  func next() -> String {
    let number = count.add(1, ordering: .relaxed).newValue
    return directory + "/\(number).kura"
  }

  /// Ends the agent, and deletes the directory.
  private func end() {
    guard let place = try? VaultPath(at: directory + "/0.kura") else { return }
    if var connection = try? Connection.open(place, engine: .running) {
      try? connection.stopAgent()
    }
    try? FileManager.default.removeItem(atPath: directory)
  }
}
