// SPDX-License-Identifier: MIT
//
// Bare SQLite inserts of rows of the size that a small item's has, in one transaction: WAL,
// synchronous=FULL, random keys of 16 bytes.
//
//   inserts PATH N [SIZE]   N rows of SIZE bytes (700); prints rows a second, commit included
//
// Build: cc -O2 -o inserts inserts.c -l:libsqlite3.a -lm -lz
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: inserts PATH N [SIZE]\n", stderr);
    return 2;
  }
  int rows = atoi(argv[2]);
  int size = argc > 3 ? atoi(argv[3]) : 700;
  char *row = malloc((size_t)size);
  sqlite3 *db;
  sqlite3_stmt *insert;
  if (!row || sqlite3_open(argv[1], &db) ||
      sqlite3_exec(db,
                   "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                   "CREATE TABLE IF NOT EXISTS row (tag BLOB PRIMARY KEY, data BLOB) WITHOUT ROWID",
                   NULL, NULL, NULL) ||
      sqlite3_prepare_v2(db, "INSERT INTO row VALUES (randomblob(16), ?)", -1, &insert, NULL)) {
    fprintf(stderr, "inserts: %s\n", sqlite3_errmsg(db));
    return 1;
  }
  memset(row, 'x', (size_t)size);
  double start = now();
  if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL)) return 1;
  for (int i = 0; i < rows; i++) {
    sqlite3_bind_blob(insert, 1, row, size, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert)) return 1;
  }
  if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)) return 1;
  printf("%.0f\n", rows / ((now() - start) / 1e3));
  sqlite3_finalize(insert);
  free(row);
  return sqlite3_close(db) != SQLITE_OK;
}
