// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "screen.h"

#include "arguments.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* No list of small blocks by thread: what is freed there is not overwritten. */
#define TUNABLES "GLIBC_TUNABLES"
#define OVERWRITING "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"

int kura_screen_overwrite_freed(void) {
  const char *set = getenv(TUNABLES);
  if (set && strcmp(set, OVERWRITING) == 0) {
    unsetenv(TUNABLES);
    return 0;
  }
  char *const *arguments = kura_arguments(0);
  if (!arguments || setenv(TUNABLES, OVERWRITING, 1) != 0) return -ENOMEM;
  /* By its name, which others see it under. */
  char path[4096];
  ptrdiff_t count = readlink("/proc/self/exe", path, sizeof path - 1);
  path[count < 0 ? 0 : count] = 0;
  execv(path, arguments);
  int failed = -errno;
  unsetenv(TUNABLES);
  return failed;
}

/* What ends, stops or resizes. */
static const int kept[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT, SIGWINCH};
static sigset_t before;

int kura_screen_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i += 1) sigaddset(&set, kept[i]);
  if (sigprocmask(SIG_BLOCK, &set, &before) != 0) return -errno;
  signal(SIGPIPE, SIG_IGN);
  /* A process in the background may draw its farewell. */
  signal(SIGTTOU, SIG_IGN);
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return fd < 0 ? -errno : fd;
}

int kura_screen_next_signal(int signals) {
  struct signalfd_siginfo info;
  return read(signals, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

void kura_screen_obey(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  signal(number, SIG_DFL);
  /* A stop is the whole job's: the shell waits for all of it. */
  if (number == SIGTSTP)
    kill(0, number);
  else
    raise(number);
  sigset_t mask;
  sigprocmask(SIG_UNBLOCK, &set, &mask);
  sigprocmask(SIG_SETMASK, &mask, NULL);
}

int kura_screen_is_ours(int terminal) {
  pid_t front = tcgetpgrp(terminal);
  return front < 0 || front == getpgrp();
}

static struct termios settings;
static int changed = -1;
/* Our end of a pipe to the guard, which is told whether the terminal is ours; -1: there is none. */
static int guard = -1;

static void tell(char is_ours) {
  if (guard >= 0 && write(guard, &is_ours, 1) != 1) guard = -1;
}

int kura_screen_begin(int terminal) {
  struct termios raw;
  if (changed < 0 && tcgetattr(terminal, &settings) != 0) return -errno;
  raw = settings;
  raw.c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
  raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (tcsetattr(terminal, TCSAFLUSH, &raw) != 0) return -errno;
  changed = terminal;
  tell(1);
  return 0;
}

void kura_screen_end(void) {
  if (changed < 0) return;
  tcsetattr(changed, TCSAFLUSH, &settings);
  changed = -1;
  tell(0);
}

/* In the guard: never returns. */
static void watch(int end, int terminal, const char *farewell) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_NAME, "kura-ui-guard");
  /* Nobody waits for what this process holds but the terminal. */
  dup2(terminal, 0);
  dup2(end, 1);
  for (int fd = 2; fd < 64; fd += 1) close(fd);
  char is_ours = 1, said;
  ptrdiff_t count;
  while ((count = read(1, &said, 1)) != 0)
    if (count == 1) is_ours = said;
  if (is_ours) {
    kura_screen_write(0, farewell, strlen(farewell));
    tcsetattr(0, TCSAFLUSH, &settings);
  }
  _exit(0);
}

void kura_screen_guard(int terminal, const char *farewell) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    watch(ends[0], terminal, farewell);
  }
  close(ends[0]);
  if (child < 0) {
    close(ends[1]);
    return;
  }
  guard = ends[1];
}

int kura_screen_size(int terminal, int *rows, int *columns) {
  struct winsize size;
  if (ioctl(terminal, TIOCGWINSZ, &size) != 0) return -errno;
  *rows = size.ws_row;
  *columns = size.ws_col;
  return 0;
}

int kura_screen_width(uint32_t character) { return wcwidth((wchar_t)character); }

int kura_screen_wait(int terminal, int signals, int news, int milliseconds) {
  struct pollfd each[3] = {
      {.fd = terminal, .events = POLLIN}, {.fd = signals, .events = POLLIN},
      {.fd = news, .events = POLLIN}};
  int count = poll(each, 3, milliseconds);
  if (count < 0) return errno == EINTR ? 0 : -errno;
  return (each[0].revents ? KURA_SCREEN_KEYS : 0) | (each[1].revents ? KURA_SCREEN_SIGNAL : 0) |
         (each[2].revents ? KURA_SCREEN_NEWS : 0);
}

int kura_screen_is_gone(int terminal) {
  struct pollfd one = {.fd = terminal};
  return poll(&one, 1, 0) > 0 && (one.revents & (POLLHUP | POLLERR));
}

ptrdiff_t kura_screen_read(int terminal, void *into, size_t capacity) {
  while (1) {
    ptrdiff_t count = read(terminal, into, capacity);
    if (count >= 0) return count;
    if (errno != EINTR && errno != EAGAIN) return errno == EIO ? 0 : -errno;
    if (errno == EAGAIN) poll(&(struct pollfd){.fd = terminal, .events = POLLIN}, 1, -1);
  }
}

void kura_screen_write(int terminal, const void *bytes, size_t count) {
  const char *next = bytes;
  while (count > 0) {
    ptrdiff_t written = write(terminal, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    next += written;
    count -= (size_t)written;
  }
}

/* Becomes a program: `count` bytes with a NUL behind each word. A negated errno when that fails. */
static int become(const char *program, const char *arguments, size_t count) {
  enum { MOST = 32 };
  char *words[MOST + 1];
  size_t word = 0;
  for (size_t at = 0; at < count && word < MOST; at += strlen(arguments + at) + 1)
    words[word++] = (char *)(uintptr_t)(arguments + at);
  words[word] = NULL;
  kura_restore_process();
  execv(program, words);
  return -errno;
}

int kura_screen_become(const char *program, const char *arguments, size_t count) {
  kura_unfill_descriptors();
  return become(program, arguments, count);
}

/* In the child: never returns. */
static void work(
    const char *program, const char *arguments, size_t count, int terminal, int output, int said) {
  int null = open("/dev/null", O_RDWR);
  dup2(terminal >= 0 ? terminal : null, 0);
  dup2(output >= 0 ? output : terminal >= 0 ? terminal : null, 1);
  dup2(said >= 0 ? said : terminal >= 0 ? terminal : null, 2);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGTTOU, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, NULL);
  become(program, arguments, count);
  _exit(127);
}

int kura_screen_run(
    const char *program, const char *arguments, size_t count, int terminal, int output, int said) {
  pid_t child = fork();
  if (child < 0) return -errno;
  if (child == 0) work(program, arguments, count, terminal, output, said);
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
