// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "bridging.h"

#include "directories.h"
#include "memory.h"
#include "spawning.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// MARK: - The socket

int kura_bridge_listen(const char *parent, char *path, size_t capacity) {
  if (snprintf(path, capacity, "%s/room.XXXXXX", parent) >= (int)capacity) return -ENAMETOOLONG;
  /* A command that knows nothing of the session may be the first to use the place for that. */
  int absent = kura_directory_make(parent);
  if (absent) return absent;
  if (!mkdtemp(path)) return -errno;
  int directory = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  int fd = directory < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/agent.sock", directory);
  int failed = fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0
                       || listen(fd, 16) != 0
                   ? -errno
                   : 0;
  if (directory >= 0) close(directory);
  if (!failed) return fd;
  if (fd >= 0) close(fd);
  kura_bridge_remove(path);
  return failed;
}

void kura_bridge_remove(const char *path) {
  int directory = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return;
  unlinkat(directory, "agent.sock", 0);
  close(directory);
  rmdir(path);
}

// MARK: - The process

int kura_bridge_part(int listener, const int *also, size_t more, int *end) {
  int ends[2], kept[8];
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  pid_t child = fork();
  if (child != 0) {
    int failed = child < 0 ? -errno : 0;
    close(ends[0]);
    *end = ends[1];
    if (failed) close(ends[1]);
    return failed ? failed : child;
  }
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_NAME, "kura-bridge");
  kura_secret_lock_again();
  kept[0] = listener;
  kept[1] = ends[0];
  for (size_t i = 0; i < more && i < 6; i++) kept[2 + i] = also[i];
  kura_close_but(kept, 2 + more);
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2 && null >= 0; fd++) dup2(null, fd);
  *end = ends[0];
  return 0;
}

_Noreturn void kura_bridge_leave(void) { _exit(0); }

// MARK: - Carrying

/* Each joins two sockets; where it cannot write to one, it reads nothing for it. */
enum { MOST = 32 };
struct way {
  int from, to;
  bool waits;
};
static struct way (*joined)[2];
static size_t count;

static void drop(size_t index) {
  close(joined[index][0].from);
  close(joined[index][0].to);
  memmove(joined + index, joined + index + 1, (--count - index) * sizeof *joined);
}

void kura_bridge_join(int inside, int outside) {
  if (!joined) joined = calloc(MOST, sizeof *joined);
  if (!joined || count == MOST) {
    close(inside);
    close(outside);
    return;
  }
  joined[count][0] = (struct way){inside, outside, false};
  joined[count++][1] = (struct way){outside, inside, false};
}

static bool can_write(int fd) {
  struct pollfd one = {.fd = fd, .events = POLLOUT};
  return poll(&one, 1, 0) > 0;
}

static bool write_all(int fd, const char *next, size_t left) {
  while (left > 0) {
    ssize_t wrote = write(fd, next, left);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) {
      struct pollfd one = {.fd = fd, .events = POLLOUT};
      poll(&one, 1, -1);
      continue;
    }
    if (wrote <= 0) return false;
    next += wrote;
    left -= (size_t)wrote;
  }
  return true;
}

/* Whether the two go on. */
static bool carry(struct way *way, char *buffer, size_t capacity) {
  if (way->waits) {
    way->waits = false;
    return true;
  }
  if (!can_write(way->to)) return way->waits = true;
  ssize_t got = read(way->from, buffer, capacity);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  bool goes_on = got > 0 && write_all(way->to, buffer, (size_t)got);
  explicit_bzero(buffer, (size_t)got);
  return goes_on;
}

int kura_bridge_await(int listener, int end, void *buffer, size_t capacity) {
  for (;;) {
    struct pollfd each[2 + 2 * MOST] = {
        {.fd = end}, {.fd = count < MOST ? listener : -1, .events = POLLIN}};
    for (size_t i = 0; i < count; i++)
      for (size_t side = 0; side < 2; side++) {
        const struct way *way = &joined[i][side];
        each[2 + 2 * i + side] = way->waits ? (struct pollfd){.fd = way->to, .events = POLLOUT}
                                            : (struct pollfd){.fd = way->from, .events = POLLIN};
      }
    if (poll(each, 2 + 2 * count, -1) < 0) continue;
    if (each[0].revents) return -EPIPE;
    for (size_t i = count; i-- > 0;) {
      bool goes_on = true;
      for (size_t side = 0; side < 2 && goes_on; side++)
        if (each[2 + 2 * i + side].revents) goes_on = carry(&joined[i][side], buffer, capacity);
      if (!goes_on) drop(i);
    }
    if (!each[1].revents) continue;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) return fd;
  }
}
