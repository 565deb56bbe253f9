// SPDX-License-Identifier: MIT

#include <sqlite3.h>

/* Variadic in SQLite, so Swift cannot call it. */
static inline int kura_sqlite_flag(sqlite3 *db, int option, int on) {
  int now = 0;
  int status = sqlite3_db_config(db, option, on, &now);
  return status == SQLITE_OK && now != on ? SQLITE_ERROR : status;
}
