// SPDX-License-Identifier: MIT

#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

/* Variadic in SQLite, so Swift cannot call it. */
static inline int kura_sqlite_flag(sqlite3 *db, int option, int on) {
  int now = 0;
  int status = sqlite3_db_config(db, option, on, &now);
  return status == SQLITE_OK && now != on ? SQLITE_ERROR : status;
}

/* Counts no memory, so that no allocation takes a lock for the sake of the count. Too late, and
   without effect, once anything of SQLite was used. */
static inline void kura_sqlite_count_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/* Both stand in fcntl.h for those only who ask for all of GNU's. */
int sync_file_range(int file, off_t start, off_t count, unsigned flags);
enum { KURA_BEGIN_WRITING = 2 };

/* Writes as SQLite's own way to files does, and has the disk begin with each whole MiB that is written
   to its end: where a MiB is crossed, since long writes go on from one to the next. Only a hint: what
   must be on the disk is waited for with fdatasync all the same, but then little of it is left. */
static inline ssize_t kura_write_early(int file, const void *bytes, size_t count, off_t start) {
  ssize_t written = pwrite(file, bytes, count, start);
  off_t mask = ~(off_t)0xfffff;
  if (written > 0 && (start & mask) != ((start + written) & mask)) {
    off_t first = start & mask;
    int error = errno;
    sync_file_range(file, first, ((start + written) & mask) - first, KURA_BEGIN_WRITING);
    errno = error;
  }
  return written;
}

/* Has a way to files write so; it goes on in its own way where it does not know the call. */
static inline void kura_sqlite_write_early(sqlite3_vfs *files) {
  files->xSetSystemCall(files, "pwrite", (sqlite3_syscall_ptr)kura_write_early);
  files->xSetSystemCall(files, "pwrite64", (sqlite3_syscall_ptr)kura_write_early);
}
