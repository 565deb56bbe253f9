// SPDX-License-Identifier: MIT

internal import KuraStore

/// Runs `kura-sync-postgres`: it speaks to a database for kura-sync, by its standard input and output.
public enum PostgresProgram {
  /// Does what is wished for, until nobody wishes for anything.
  public static func run() -> Int32 {
    var server = StoreServer(StorePipe(from: 0, to: 1))
    server.run { remote, vault, makes throws(StoreError) in
      try PostgresStore(at: remote, of: vault, makes: makes)
    }
    return 0
  }
}
