// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int kura_file_open_regular(const char *path, uint64_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return -errno;
  struct stat status;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size == size) return file;
  close(file);
  return -ENOENT;
}

int kura_file_open(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  return fd < 0 ? -errno : fd;
}

int kura_text_open(const char *path, int follows) {
  const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (follows ? 0 : O_NOFOLLOW);
  int fd = open(path, flags);
  if (fd < 0) return errno == ELOOP && !follows ? -ENXIO : -errno;
  struct stat facts;
  int failed = fstat(fd, &facts) != 0 ? errno : S_ISDIR(facts.st_mode) ? EISDIR : S_ISREG(facts.st_mode) ? 0 : ENXIO;
  if (!failed) return fd;
  close(fd);
  return -failed;
}

void kura_file_close(int fd) { close(fd); }

/* A descriptor that a script gave us may not block: wait for it then. */
static int wait_for(int fd, short events) {
  struct pollfd watched = {.fd = fd, .events = events};
  return poll(&watched, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

ptrdiff_t kura_file_read(int fd, void *into, size_t capacity) {
  for (;;) {
    ssize_t count = read(fd, into, capacity);
    if (count >= 0) return count;
    int failed = errno == EAGAIN ? wait_for(fd, POLLIN) : errno == EINTR ? 0 : -errno;
    if (failed) return failed;
  }
}

int kura_file_write(int fd, const void *bytes, size_t count) {
  const char *next = bytes;
  while (count > 0) {
    ssize_t written = write(fd, next, count);
    if (written < 0) {
      int failed = errno == EAGAIN ? wait_for(fd, POLLOUT) : errno == EINTR ? 0 : -errno;
      if (failed) return failed;
      continue;
    }
    next += written;
    count -= (size_t)written;
  }
  return 0;
}

void kura_file_begin_sync(int fd) { sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); }

int kura_file_kind(const char *path) {
  struct stat status;
  if (stat(path, &status) == 0) return S_ISREG(status.st_mode) ? KURA_REGULAR : KURA_OTHER;
  return errno == ENOENT || errno == ENOTDIR ? KURA_ABSENT : -errno;
}

static bool is_same(const struct stat *first, const struct stat *second) {
  return first->st_dev == second->st_dev && first->st_ino == second->st_ino;
}

bool kura_is_same_file(int first, int second) {
  struct stat one, other;
  return fstat(first, &one) == 0 && fstat(second, &other) == 0 && is_same(&one, &other);
}

bool kura_is_same_stream(const char *path, int fd) {
  struct stat one, other;
  return stat(path, &one) == 0 && fstat(fd, &other) == 0 && !S_ISREG(one.st_mode)
      && is_same(&one, &other);
}

ptrdiff_t kura_current_directory(char *into, size_t capacity) {
  if (!getcwd(into, capacity)) return -errno;
  return (ptrdiff_t)strlen(into);
}

/* A link that somebody else laid into a shared directory would choose our file's place. */
static int follow(const char *path, char resolved[PATH_MAX]) {
  struct stat status;
  if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode))
    return strlen(path) < PATH_MAX ? (strcpy(resolved, path), 0) : -ENAMETOOLONG;
  if (status.st_uid != geteuid() && status.st_uid != 0) return -EACCES;
  return realpath(path, resolved) ? 0 : -errno;
}

static int open_parent(const char *path, struct kura_output *output) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (*name == 0 || strlen(name) >= sizeof output->name) return *name ? -ENAMETOOLONG : -EISDIR;
  strcpy(output->name, name);
  char parent[PATH_MAX] = ".";
  if (slash) snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  output->directory = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  return output->directory < 0 ? -errno : 0;
}

static int name_temporary(struct kura_output *output) {
  uint64_t random;
  if (getrandom(&random, sizeof random, 0) != sizeof random) return -errno;
  snprintf(
      output->temporary, sizeof output->temporary, ".kura-%016llx", (unsigned long long)random);
  return 0;
}

/* A file without a name is gone when we are killed; where there is none, a named one has to do. */
static int open_new(struct kura_output *output) {
  output->descriptor = openat(output->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (output->descriptor >= 0) return 0;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL) return -errno;
  int failed = name_temporary(output);
  if (failed) return failed;
  output->descriptor = openat(
      output->directory, output->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (output->descriptor >= 0) return 0;
  failed = -errno;
  output->temporary[0] = 0;
  return failed;
}

/* The descriptor that a path names, or -1: a new file in the place of what a shell redirected to
   would take away what was written there before. */
static int named_descriptor(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    size_t count = strlen(folders[i]);
    char *end;
    if (strncmp(path, folders[i], count) != 0 || path[count] < '0' || path[count] > '9') continue;
    long number = strtol(path + count, &end, 10);
    if (*end == 0 && number <= INT_MAX) return (int)number;
  }
  return -1;
}

int kura_output_begin(const char *path, struct kura_output *output) {
  *output = (struct kura_output){.descriptor = -1, .directory = -1};
  int named = named_descriptor(path);
  if (named >= 0) {
    output->descriptor = fcntl(named, F_DUPFD_CLOEXEC, 3);
    return output->descriptor < 0 ? -errno : 0;
  }
  struct stat status;
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    output->descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return output->descriptor < 0 ? -errno : 0;
  }
  char resolved[PATH_MAX];
  int failed = follow(path, resolved);
  if (!failed) failed = open_parent(resolved, output);
  if (!failed) failed = open_new(output);
  if (failed) kura_output_abandon(output);
  return failed;
}

static int link_nameless(const struct kura_output *output, const char *name) {
  char nameless[32];
  snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", output->descriptor);
  int at = output->directory;
  return linkat(AT_FDCWD, nameless, at, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : -errno;
}

/* A new name is given at once, so that no kill leaves another one. */
static int give_name(struct kura_output *output) {
  if (output->temporary[0] == 0) {
    int failed = link_nameless(output, output->name);
    if (failed != -EEXIST) return failed;
    failed = name_temporary(output);
    if (!failed) failed = link_nameless(output, output->temporary);
    if (failed) output->temporary[0] = 0;
    if (failed) return failed;
  }
  int at = output->directory;
  if (renameat(at, output->temporary, at, output->name) != 0) return -errno;
  output->temporary[0] = 0;
  return 0;
}

/* A directory opened as O_PATH cannot be synced. */
static int sync_directory(int directory) {
  int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno == EACCES ? 0 : -errno;
  int failed = fsync(fd) == 0 || errno == EINVAL ? 0 : -errno;
  close(fd);
  return failed;
}

int kura_output_commit(struct kura_output *output) {
  int failed = 0;
  if (output->directory >= 0) {
    failed = fsync(output->descriptor) == 0 ? give_name(output) : -errno;
    if (!failed) failed = sync_directory(output->directory);
  }
  kura_output_abandon(output);
  return failed;
}

void kura_output_abandon(struct kura_output *output) {
  if (output->temporary[0] != 0) unlinkat(output->directory, output->temporary, 0);
  if (output->descriptor >= 0) close(output->descriptor);
  if (output->directory >= 0) close(output->directory);
  *output = (struct kura_output){.descriptor = -1, .directory = -1};
}
