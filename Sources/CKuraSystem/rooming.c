// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "rooming.h"

#include "arguments.h"
#include "memory.h"
#include "spawning.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: - Whether it stands

static int is_taken(int fd, const int *taken, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (taken[i] == fd) return 1;
  return 0;
}

int kura_room_pipe(int *ends, const int *taken, size_t count) {
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  for (int side = 0; side < 2; side++) {
    int least = 10, moved;
    do moved = fcntl(ends[side], F_DUPFD_CLOEXEC, least++);
    while (moved >= 0 && is_taken(moved, taken, count) && close(moved) == 0);
    int failed = moved < 0 ? -errno : 0;
    close(ends[side]);
    ends[side] = moved;
    if (!failed) continue;
    close(ends[1 - side]);
    return failed;
  }
  return 0;
}

int kura_room_stands(int fd) {
  struct pollfd one = {.fd = fd, .events = POLLIN};
  char said = 0;
  return poll(&one, 1, 0) > 0 && read(fd, &said, 1) == 1 && said == KURA_ROOM_STANDS;
}

// MARK: - The filter

/* As linux/filter.h and linux/seccomp.h have it, which not every C library comes with. */
struct instruction {
  uint16_t code;
  uint8_t if_true, if_false;
  uint32_t value;
};

enum { LOAD = 0x20, JUMP_EQUAL = 0x15, JUMP_LEAST = 0x35, RETURN = 0x06 };
/* Where a call's number, its architecture and the lower halves of its arguments stand; the upper ones are 4 further. */
enum { NUMBER = 0, ARCHITECTURE = 4, FIRST = 16, SECOND = 24, THIRD = 32 };
static const uint32_t allow = 0x7fff0000, fail = 0x00050000;

#if defined(__x86_64__)
static const uint32_t architecture = 0xc000003e;
#elif defined(__aarch64__)
static const uint32_t architecture = 0xc00000b7;
#elif defined(__riscv) && __riscv_xlen == 64
static const uint32_t architecture = 0xc00000f3;
#else
#error "the architecture's number stands in linux/audit.h"
#endif

/* TIOCSTI types at a terminal for somebody, TIOCLINUX pastes at a console; the kernel looks at the lower half of a request. */
enum { TYPES = 0x5412, PASTES = 0x541c };
/* RLIMIT_CORE. */
enum { CORE = 4 };
/* A call of the x32 variant of x86-64 has this bit. */
enum { X32 = 0x40000000 };

#define SAYS(value) {RETURN, 0, 0, value}
#define LOADS(place) {LOAD, 0, 0, place}

static const struct instruction filter[] = {
    LOADS(ARCHITECTURE),
    {JUMP_EQUAL, 1, 0, architecture},
    SAYS(fail | ENOSYS),
    LOADS(NUMBER),
    {JUMP_LEAST, 0, 1, X32},
    SAYS(fail | ENOSYS),
    {JUMP_EQUAL, 3, 0, SYS_add_key},
    {JUMP_EQUAL, 2, 0, SYS_request_key},
    {JUMP_EQUAL, 1, 0, SYS_keyctl},
    {JUMP_EQUAL, 1, 6, SYS_ioctl},
    SAYS(fail | EPERM),
    /* ioctl */
    LOADS(SECOND),
    {JUMP_EQUAL, 1, 0, TYPES},
    {JUMP_EQUAL, 0, 1, PASTES},
    SAYS(fail | EPERM),
    SAYS(allow),
    /* prlimit64 and setrlimit: as if it were done. A limit of 0 would have a core file go to a program outside. */
    {JUMP_EQUAL, 0, 8, SYS_prlimit64},
    LOADS(SECOND),
    {JUMP_EQUAL, 0, 5, CORE},
    LOADS(THIRD),
    {JUMP_EQUAL, 0, 2, 0},
    LOADS(THIRD + 4),
    {JUMP_EQUAL, 1, 0, 0},
    SAYS(fail),
    SAYS(allow),
#ifdef SYS_setrlimit
    {JUMP_EQUAL, 0, 3, SYS_setrlimit},
    LOADS(FIRST),
    {JUMP_EQUAL, 0, 1, CORE},
    SAYS(fail),
#endif
    SAYS(allow),
};

int kura_room_write_filter(int fd) {
  ssize_t wrote = write(fd, filter, sizeof filter);
  if (wrote != (ssize_t)sizeof filter) return wrote < 0 ? -errno : -EIO;
  return lseek(fd, 0, SEEK_SET) == 0 ? 0 : -errno;
}

// MARK: - Entering

/* Of one byte: less than any core file, and by core(5) the one limit that keeps a core from a program, too. */
static void leave_no_core(void) {
  struct rlimit core = {1, 1};
  if (setrlimit(RLIMIT_CORE, &core) == 0) return;
  core.rlim_cur = core.rlim_max = 0;
  setrlimit(RLIMIT_CORE, &core);
}

static void close_terminal(void) {
  if (!isatty(0)) return;
  int null = open("/dev/null", O_RDONLY);
  if (null > 0) dup2(null, 0), close(null);
}

int kura_room_enter(
    const char *program, const char *words, size_t size, int first, const int *kept, size_t count,
    int is_apart) {
  char *const *ours = kura_arguments(first);
  char **said = kura_split_words(words, size);
  if (!ours || !said) return -EINVAL;
  size_t more = 0, given = 0;
  while (ours[more]) more++;
  while (said[given]) given++;
  char **arguments = calloc(given + more + 1, sizeof *arguments), *none[] = {NULL};
  if (!arguments) return -ENOMEM;
  memcpy(arguments, said, given * sizeof *said);
  memcpy(arguments + given, ours, more * sizeof *ours);
  if (is_apart) close_terminal();
  kura_restore_process();
  leave_no_core();
  kura_close_but(kept, count);
  for (size_t i = 0; i < count; i++) fcntl(kept[i], F_SETFD, 0);
  execve(program, arguments, none);
  return -errno;
}

// MARK: - In the room

/* Landlock's scope, from its version 6 on (Linux 6.12): neither connects to an abstract socket of outside nor sends a
   signal there. The name spaces refuse both already. */
static void keep_apart(void) {
  struct {
    uint64_t files, network, scoped;
  } rules = {0, 0, 3};
  enum { CREATE = 444, RESTRICT = 446, VERSION = 1 };
  if (syscall(CREATE, NULL, 0, VERSION) < 6) return;
  int set = (int)syscall(CREATE, &rules, sizeof rules, 0);
  if (set < 0) return;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(RESTRICT, set, 0);
  close(set);
}

void kura_room_settle(int said, const int *kept, size_t count) {
  char stands = KURA_ROOM_STANDS;
  ssize_t ignored = write(said, &stands, 1);
  (void)ignored;
  kura_close_but(kept, count);
  /* The session that bwrap has begun is led by a process that never takes a terminal. */
  setsid();
  for (int fd = 0; fd <= 2; fd++)
    if (isatty(fd) && ioctl(fd, TIOCSCTTY, 0) == 0) break;
  keep_apart();
}

// MARK: - Sockets

/* A line of /proc/net/unix: address, count, protocol, flags, type, state, inode and a path. */
void kura_room_visit_sockets(
    const char *directory, void *context, void (*visit)(void *context, const char *path)) {
  enum { LISTENS = 0x10000 };
  FILE *sockets = fopen("/proc/net/unix", "re");
  if (!sockets) return;
  char line[512], path[4096];
  size_t length = strlen(directory);
  while (fgets(line, sizeof line, sockets)) {
    unsigned flags;
    int start = 0;
    if (sscanf(line, "%*x: %*x %*x %x %*x %*x %*u %n", &flags, &start) < 1 || start == 0) continue;
    char *name = line + start;
    name[strcspn(name, "\n")] = 0;
    if (!(flags & LISTENS) || *name == 0 || *name == '@') continue;
    /* One that was bound by a path of its own directory's may be here. */
    int count = *name == '/' ? snprintf(path, sizeof path, "%s", name)
                             : snprintf(path, sizeof path, "%s/%s", directory, name);
    struct stat status;
    if (count >= (int)sizeof path || strncmp(path, directory, length) != 0 || path[length] != '/')
      continue;
    if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode)) visit(context, path);
  }
  fclose(sockets);
}
