// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "clipboard.h"

#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// MARK: - Programs

static void reset_signals(void) {
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child; umask and core limit stay as hardened, since it holds a secret. */
static void become(
    const char *program, char *const arguments[], int theirs, int end, const char *directory) {
  reset_signals();
  setsid();
  int null = open("/dev/null", O_RDWR);
  if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0) _exit(127);
  if (dup2(theirs, end) < 0) _exit(127);
  kura_close_but(NULL, 0);
  if (directory) setenv("TMPDIR", directory, 1);
  execv(program, arguments);
  _exit(127);
}

int kura_clip_start(
    const char *program, const char *arguments, size_t count, int end, const char *directory,
    struct kura_child *child) {
  int ends[2];
  char **words = kura_split_words(arguments, count);
  if (!words) return -ENOMEM;
  int failed = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ? -errno : 0;
  if (!failed) {
    pid_t started = fork();
    if (started == 0) become(program, words, ends[1], end, directory);
    failed = started < 0 ? -errno : 0;
    close(ends[1]);
    if (failed) close(ends[0]);
    child->process = started;
    child->descriptor = failed ? -1 : ends[0];
  }
  free(words);
  return failed;
}

void kura_clip_end(int process) {
  kill(process, SIGKILL);
  kura_child_wait(process, INT_MAX);
}

// MARK: - The process that clears

int kura_clip_detach(int *ready) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  pid_t child = fork();
  if (child != 0) {
    int failed = -errno;
    close(ends[1]);
    if (child < 0) close(ends[0]);
    *ready = child < 0 ? -1 : ends[0];
    return child < 0 ? failed : child;
  }
  setsid();
  reset_signals();
  int null = open("/dev/null", O_RDWR);
  if (null < 0 || chdir("/") != 0) _exit(1);
  dup2(null, 0);
  dup2(null, 1);
  if (!isatty(2)) dup2(null, 2);
  kura_close_but(&ends[1], 1);
  *ready = ends[1];
  return 0;
}

void kura_clip_ready(int ready) {
  ssize_t ignored = write(ready, "R", 1);
  (void)ignored;
  close(ready);
}

void kura_clip_leave(void) { _exit(0); }

/* A record lock names its holder, dies with it, and is not inherited by what it starts. */
static int end_holder(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_GETLK, &lock) != 0) return -errno;
  if (lock.l_type != F_UNLCK && lock.l_pid > 1) kill(lock.l_pid, SIGTERM);
  return 0;
}

int kura_clip_take(const char *directory, const char *path) {
  if (mkdir(directory, 0700) != 0 && errno != EEXIST) return -errno;
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  for (int tries = 0; tries < 200; tries++) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &lock) == 0) return fd;
    if (errno != EAGAIN && errno != EACCES) break;
    if (end_holder(fd) != 0) break;
    kura_pause(10);
  }
  int failed = -errno;
  close(fd);
  return failed ? failed : -EBUSY;
}
