// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "spawning.h"
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void kura_spawn_closing_from(posix_spawn_file_actions_t *actions, int first) {
  DIR *open_ones = opendir("/proc/self/fd");
  if (!open_ones) return;
  for (const struct dirent *entry; (entry = readdir(open_ones));) {
    int fd = atoi(entry->d_name);
    if (fd >= first) posix_spawn_file_actions_addclose(actions, fd);
  }
  closedir(open_ones);
}

int kura_spawn(
    const char *program, char *const arguments[], char *const variables[], short flags,
    posix_spawn_file_actions_t *actions, int *process) {
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int failed = posix_spawnattr_init(&attributes);
  if (failed) return -failed;
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(
      &attributes, (short)(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  pid_t started = 0;
  failed = posix_spawn(&started, program, actions, &attributes, arguments, variables);
  posix_spawnattr_destroy(&attributes);
  *process = failed ? 0 : started;
  return -failed;
}

int kura_start_as(
    int (*become)(const void *order, pid_t parent), const void *order, int *process) {
  int told[2];
  *process = 0;
  if (pipe2(told, O_CLOEXEC) != 0) return -errno;
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    int failed = become(order, parent);
    ssize_t ignored = write(told[1], &failed, sizeof failed);
    (void)ignored;
    _exit(127);
  }
  int failed = child < 0 ? errno : 0;
  close(told[1]);
  ssize_t got = 0;
  if (!failed) {
    do got = read(told[0], &failed, sizeof failed);
    while (got < 0 && errno == EINTR);
  }
  close(told[0]);
  if (child > 0 && got > 0) kura_child_wait(child, INT_MAX);
  *process = failed ? 0 : child;
  return -failed;
}

char **kura_split_words(const char *arguments, size_t size) {
  size_t count = 0;
  for (size_t i = 0; i < size; i++) count += arguments[i] == 0;
  char **words = calloc(count + 1, sizeof *words);
  size_t next = 0;
  for (size_t at = 0; words && at < size; at += strlen(arguments + at) + 1)
    words[next++] = (char *)arguments + at;
  return words;
}

static int is_among(int fd, const int *kept, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (kept[i] == fd) return 1;
  return 0;
}

void kura_close_but(const int *kept, size_t count) {
  DIR *open_ones = opendir("/proc/self/fd");
  if (!open_ones) return;
  int own = dirfd(open_ones);
  for (const struct dirent *entry; (entry = readdir(open_ones));) {
    int fd = atoi(entry->d_name);
    if (fd > 2 && fd != own && !is_among(fd, kept, count)) close(fd);
  }
  closedir(open_ones);
}

void kura_close_at_start(int first) {
  DIR *open_ones = opendir("/proc/self/fd");
  if (!open_ones) return;
  for (const struct dirent *entry; (entry = readdir(open_ones));) {
    int fd = atoi(entry->d_name);
    if (fd >= first) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  closedir(open_ones);
}
