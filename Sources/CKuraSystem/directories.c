// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "directories.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

int kura_file_link(const char *path, const char *second) {
  return link(path, second) == 0 ? 0 : -errno;
}

int kura_file_replace(const char *from, const char *to) {
  return rename(from, to) == 0 ? 0 : -errno;
}

int kura_file_same(const char *one, const char *other) {
  struct stat first, second;
  return lstat(one, &first) == 0 && lstat(other, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino;
}

int kura_directory_make(const char *path) {
  char part[PATH_MAX];
  size_t count = strlen(path);
  if (count >= sizeof part) return -ENAMETOOLONG;
  for (size_t end = 1; end <= count; end++) {
    if (path[end] != '/' && path[end] != 0) continue;
    memcpy(part, path, end);
    part[end] = 0;
    if (mkdir(part, 0700) != 0 && errno != EEXIST) return -errno;
  }
  return 0;
}

ptrdiff_t kura_directory_begin(const char *wanted, char *into, size_t capacity) {
  int count = snprintf(into, capacity, "%s.XXXXXX", wanted);
  if (count < 0 || (size_t)count >= capacity) return -ENAMETOOLONG;
  return mkdtemp(into) ? count : -errno;
}

int kura_directory_add(const char *path) {
  return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

static int remove_one(
    const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)kind, (void)place;
  return remove(path);
}

int kura_directory_clear(const char *path) {
  return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : -errno;
}

int kura_directory_settle(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int failed = syncfs(fd) == 0 ? 0 : -errno;
  close(fd);
  return failed;
}

int kura_file_remove(const char *path) { return unlink(path) == 0 ? 0 : -errno; }

int kura_directory_sync(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int failed = fsync(fd) == 0 || errno == EINVAL ? 0 : -errno;
  close(fd);
  return failed;
}

ptrdiff_t kura_link_target(const char *path, char *into, size_t capacity) {
  ssize_t count = readlink(path, into, capacity);
  return count > 0 ? count : 0;
}

/* What is known of a line of passwd(5): NAME:PASSWORD:UID:GID:GECOS:HOME:SHELL. */
struct line {
  unsigned field;
  unsigned digits;
  unsigned long long user;
  size_t count;
};

static int is_ours(const struct line *line, const char *home, size_t capacity) {
  return line->field >= 5 && line->digits > 0 && line->user == geteuid() && line->count > 0
         && line->count <= capacity && home[0] == '/';
}

static void read_byte(struct line *line, char byte, char *home, size_t capacity) {
  if (byte == ':') {
    line->field += 1;
  } else if (line->field == 2) {
    line->user = line->digits < 10 && byte >= '0' && byte <= '9'
                     ? line->user * 10 + (unsigned)(byte - '0')
                     : ~0ull;
    line->digits += 1;
  } else if (line->field == 5) {
    if (line->count < capacity) home[line->count] = byte;
    line->count += 1;
  }
}

ptrdiff_t kura_passwd_home(char *into, size_t capacity) {
  int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  struct line line = {0};
  int found = 0;
  char block[4096];
  for (ssize_t got; !found && (got = read(fd, block, sizeof block)) > 0;) {
    for (ssize_t at = 0; !found && at < got; at += 1) {
      if (block[at] != '\n') {
        read_byte(&line, block[at], into, capacity);
      } else if (!(found = is_ours(&line, into, capacity))) {
        line = (struct line){0};
      }
    }
  }
  close(fd);
  return found || is_ours(&line, into, capacity) ? (ptrdiff_t)line.count : 0;
}

ptrdiff_t kura_group_name(uint32_t group, char *into, size_t capacity) {
  FILE *file = fopen("/etc/group", "re");
  if (!file) return 0;
  char *line = NULL;
  size_t room = 0, found = 0;
  while (found == 0 && getline(&line, &room, file) > 0) {
    size_t name = strcspn(line, ":");
    const char *number = line[name] ? strchr(line + name + 1, ':') : NULL;
    char *end = NULL;
    if (!number || name > capacity || strtoul(number + 1, &end, 10) != group) continue;
    if (end == number + 1 || *end != ':') continue;
    memcpy(into, line, name);
    found = name;
  }
  free(line);
  fclose(file);
  return (ptrdiff_t)found;
}

static int is_same(const char *one, const char *other) {
  struct stat a, b;
  if (strcmp(one, other) == 0) return 1;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

ptrdiff_t kura_session_directory(const char *home, char *into, size_t capacity) {
  char own[4096];
  struct stat status;
  snprintf(into, capacity, "/run/user/%u", (unsigned)geteuid());
  if (lstat(into, &status) != 0 || !S_ISDIR(status.st_mode)) return 0;
  if (status.st_uid != geteuid() || (status.st_mode & 0777) != 0700) return 0;
  ptrdiff_t count = kura_passwd_home(own, sizeof own - 1);
  own[count] = 0;
  if (count > 0 && !is_same(home, own)) return 0;
  return (ptrdiff_t)strlen(into);
}

int64_t kura_owner(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 ? (int64_t)status.st_uid : -1;
}

uint32_t kura_user(void) { return geteuid(); }
uint32_t kura_group(void) { return getegid(); }
