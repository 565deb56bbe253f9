// SPDX-License-Identifier: MIT
//
// What SQLite alone takes for many rows in one durable transaction: prints rows a second.
//
//   rows PATH ROWS BYTES
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

static const char *const setup =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
    "CREATE TABLE row (tag BLOB PRIMARY KEY, data BLOB) WITHOUT ROWID; BEGIN IMMEDIATE";

int main(int argc, char **argv) {
  sqlite3 *db;
  sqlite3_stmt *insert;
  if (argc != 4) {
    fputs("usage: rows PATH ROWS BYTES\n", stderr);
    return 2;
  }
  int rows = atoi(argv[2]), size = atoi(argv[3]);
  char *data = calloc(1, (size_t)size + 1);
  remove(argv[1]);
  if (!data || sqlite3_open(argv[1], &db) || sqlite3_exec(db, setup, NULL, NULL, NULL) ||
      sqlite3_prepare_v2(db, "INSERT INTO row VALUES (randomblob(16), ?)", -1, &insert, NULL))
    return 1;
  double start = now();
  for (int i = 0; i < rows; i++) {
    sqlite3_bind_blob(insert, 1, data, size, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert)) return 1;
  }
  if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)) return 1;
  printf("%.0f\n", rows / ((now() - start) / 1e3));
  sqlite3_finalize(insert);
  return sqlite3_close(db) != SQLITE_OK;
}
