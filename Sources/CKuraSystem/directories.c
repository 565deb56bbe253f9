// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "directories.h"

#include <dirent.h>
#include <string.h>

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
