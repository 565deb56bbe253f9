// SPDX-License-Identifier: MIT
//
// One durable SQLite commit, as a put has to make one: WAL, synchronous=FULL, a row of 700 bytes.
//
//   commit PATH N   N commits on an open connection; prints the median, in milliseconds
//
// Build: cc -O2 -o commit commit.c -l:libsqlite3.a -lm -lz
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: commit PATH N\n", stderr);
    return 2;
  }
  int rounds = atoi(argv[2]);
  double *took = malloc(sizeof *took * (size_t)rounds);
  char row[700];
  sqlite3 *db;
  sqlite3_stmt *insert;
  memset(row, 'x', sizeof row);
  if (!took || sqlite3_open(argv[1], &db) ||
      sqlite3_exec(db,
                   "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                   "CREATE TABLE IF NOT EXISTS row (tag BLOB PRIMARY KEY, data BLOB) WITHOUT ROWID",
                   NULL, NULL, NULL) ||
      sqlite3_prepare_v2(db, "INSERT INTO row VALUES (randomblob(16), ?)", -1, &insert, NULL)) {
    fprintf(stderr, "commit: %s\n", sqlite3_errmsg(db));
    return 1;
  }
  for (int i = 0; i < rounds; i++) {
    double start = now();
    sqlite3_bind_blob(insert, 1, row, sizeof row, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert)) return 1;
    took[i] = now() - start;
  }
  qsort(took, (size_t)rounds, sizeof *took, ascending);
  printf("%.4f\n", took[rounds / 2]);
  sqlite3_finalize(insert);
  return sqlite3_close(db) != SQLITE_OK;
}
