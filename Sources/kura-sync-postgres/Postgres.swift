// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraPostgres

@main
struct Postgres {
  static func main() { exit(PostgresProgram.run()) }
}
