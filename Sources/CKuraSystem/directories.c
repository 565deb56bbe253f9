// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "directories.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *kura_directory_open(const char *path, int *failed) {
  DIR *directory = opendir(path);
  *failed = directory ? 0 : errno;
  return directory;
}

ptrdiff_t kura_directory_next(void *directory, char *into, size_t capacity) {
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(directory);
    if (!entry) return -errno;
    size_t count = strlen(entry->d_name);
    if (count > capacity) continue;
    memcpy(into, entry->d_name, count);
    return (ptrdiff_t)count;
  }
}

void kura_directory_close(void *directory) { closedir(directory); }

int kura_file_move(const char *from, const char *to) {
  if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -errno;
  /* A file system that cannot refuse to overwrite: link(2) always does. */
  if (link(from, to) != 0) return -errno;
  return unlink(from) == 0 ? 0 : -errno;
}

int kura_directory_sync(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int failed = fsync(fd) == 0 || errno == EINVAL ? 0 : -errno;
  close(fd);
  return failed;
}
