// SPDX-License-Identifier: MIT

#include <sqlite3.h>

/* Variadic in SQLite, so Swift cannot call it. */
static inline int kura_sqlite_flag(sqlite3 *db, int option, int on) {
  int now = 0;
  int status = sqlite3_db_config(db, option, on, &now);
  return status == SQLITE_OK && now != on ? SQLITE_ERROR : status;
}

/* Counts no memory, so that no allocation takes a lock for the sake of the count. Too late, and
   without effect, once anything of SQLite was used. */
static inline void kura_sqlite_count_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
