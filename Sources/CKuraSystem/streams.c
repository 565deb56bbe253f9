// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static void wait_for(int fd, short events) {
  struct pollfd ready = {.fd = fd, .events = events};
  poll(&ready, 1, -1);
}

long kura_stream_read(int fd, void *bytes, size_t count) {
  for (;;) {
    ssize_t got = read(fd, bytes, count);
    if (got >= 0) return got;
    if (errno == EAGAIN)
      wait_for(fd, POLLIN);
    else if (errno != EINTR)
      return -errno;
  }
}

int kura_stream_write(int fd, const void *bytes, size_t count) {
  const char *next = bytes;
  while (count > 0) {
    ssize_t put = write(fd, next, count);
    if (put >= 0) {
      next += put;
      count -= (size_t)put;
    } else if (errno == EAGAIN) {
      wait_for(fd, POLLOUT);
    } else if (errno != EINTR) {
      return -errno;
    }
  }
  return 0;
}

int kura_stream_open(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  return fd < 0 ? -errno : fd;
}

void kura_stream_close(int fd) { close(fd); }

const char *kura_error_text(int number) {
  const char *text = strerrordesc_np(number);
  return text ? text : "unknown error";
}

// MARK: - New files

/* Where the file system has no O_TMPFILE, the unfinished file has a name, which a signal that ends
   the process takes away. */
static struct {
  volatile sig_atomic_t isThere;
  int directory;
  char name[32];
} unfinished;
static const int ending[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};

static void remove_and_end(int number) {
  if (unfinished.isThere) unlinkat(unfinished.directory, unfinished.name, 0);
  signal(number, SIG_DFL);
  raise(number);
}

static void guard(const struct kura_new_file *file) {
  unfinished.directory = file->directory;
  strcpy(unfinished.name, file->temporary);
  unfinished.isThere = 1;
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
    if (signal(ending[i], remove_and_end) == SIG_IGN) signal(ending[i], SIG_IGN);
}

static void unguard(void) {
  if (!unfinished.isThere) return;
  unfinished.isThere = 0;
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
    if (signal(ending[i], SIG_DFL) == SIG_IGN) signal(ending[i], SIG_IGN);
}

static int choose_name(struct kura_new_file *file) {
  unsigned long random;
  if (getrandom(&random, sizeof random, 0) != sizeof random) return -errno;
  snprintf(file->temporary, sizeof file->temporary, ".kura-%016lx", random);
  return 0;
}

static int open_directory(const char *path, struct kura_new_file *file) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) return -EISDIR;
  if (strlen(name) >= sizeof file->name) return -ENAMETOOLONG;
  strcpy(file->name, name);
  char parent[4096] = ".";
  if (slash) {
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof parent) return -ENAMETOOLONG;
    memcpy(parent, path, length);
    parent[length] = 0;
  }
  file->directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return file->directory < 0 ? -errno : 0;
}

static int open_file(struct kura_new_file *file) {
  struct stat there;
  if (fstatat(file->directory, file->name, &there, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISDIR(there.st_mode)) return -EISDIR;
    if (!S_ISREG(there.st_mode)) return -ENOTSUP;
  }
  /* A nameless file is put in place through /proc (open(2), O_TMPFILE). */
  if (access("/proc/self/fd", X_OK) == 0) {
    file->file = openat(file->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file->file >= 0) return 0;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL) return -errno;
  }
  int result = choose_name(file);
  if (result < 0) return result;
  file->file = openat(file->directory, file->temporary,
                      O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file->file < 0) {
    result = -errno;
    file->temporary[0] = 0;
    return result;
  }
  guard(file);
  return 0;
}

int kura_new_file_begin(const char *path, struct kura_new_file *file) {
  *file = (struct kura_new_file){.directory = -1, .file = -1};
  int result = open_directory(path, file);
  if (result == 0) result = open_file(file);
  if (result < 0) kura_new_file_abandon(file);
  return result;
}

static int give_name(struct kura_new_file *file) {
  char self[32];
  snprintf(self, sizeof self, "/proc/self/fd/%d", file->file);
  if (linkat(AT_FDCWD, self, file->directory, file->name, AT_SYMLINK_FOLLOW) == 0) return 1;
  if (errno != EEXIST) return -errno;
  int result = choose_name(file);
  if (result < 0) return result;
  if (linkat(AT_FDCWD, self, file->directory, file->temporary, AT_SYMLINK_FOLLOW) == 0) return 0;
  file->temporary[0] = 0;
  return -errno;
}

int kura_new_file_commit(struct kura_new_file *file) {
  if (fsync(file->file) != 0) return -errno;
  int placed = file->temporary[0] ? 0 : give_name(file);
  if (placed < 0) return placed;
  if (!placed &&
      renameat(file->directory, file->temporary, file->directory, file->name) != 0)
    return -errno;
  file->temporary[0] = 0;
  fsync(file->directory);
  kura_new_file_abandon(file);
  return 0;
}

void kura_new_file_abandon(struct kura_new_file *file) {
  if (file->temporary[0]) unlinkat(file->directory, file->temporary, 0);
  file->temporary[0] = 0;
  unguard();
  if (file->file >= 0) close(file->file);
  if (file->directory >= 0) close(file->directory);
  file->file = file->directory = -1;
}
