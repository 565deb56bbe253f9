// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "asking.h"

#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

extern char **environ;

/* Our variables and the mark; NULL when no memory is left. */
static char **marked_environment(void) {
  size_t count = 0;
  while (environ && environ[count]) count++;
  char **marked = calloc(count + 2, sizeof *marked);
  if (!marked) return NULL;
  if (count) memcpy(marked, environ, count * sizeof *marked);
  marked[count] = KURA_ASKED_MARK "=1";
  return marked;
}

// MARK: - Starting

static void reset_signals(void) {
  struct sigaction byDefault = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &byDefault, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

struct order {
  const char *program;
  const char *argument;
  int feeds;
  char *const *variables;
  int theirs;
};

/* In the child: posix_spawn(3) has no word for a child that ends with its parent. */
static int become(const void *given, pid_t parent) {
  const struct order *order = given;
  reset_signals();
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return errno;
  if (getppid() != parent) _exit(1);
  int in = order->feeds ? order->theirs : open("/dev/null", O_RDONLY);
  if (in < 0 || dup2(in, 0) < 0 || dup2(order->theirs, 1) < 0) return errno;
  kura_close_at_start(3);
  char *const arguments[] = {(char *)order->program, (char *)order->argument, NULL};
  execve(order->program, arguments, order->variables);
  return errno;
}

int kura_start_asked(
    const char *program, const char *argument, int feeds, int inherits, struct kura_child *child) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  char *none[] = {NULL};
  char **variables = inherits ? marked_environment() : none;
  int failed = -ENOMEM;
  if (variables) {
    const struct order order = {program, argument, feeds, variables, ends[1]};
    failed = kura_start_as(become, &order, &child->process);
  }
  if (inherits) free(variables);
  close(ends[1]);
  if (failed) close(ends[0]);
  child->descriptor = failed ? -1 : ends[0];
  return failed;
}

/* Which descriptors a program gets; -1: nothing there. */
struct answering_order {
  const char *program;
  char *const *arguments;
  int in, out, complaints;
};

enum { OURS = -2 };

static int become_answering(const void *given, pid_t parent) {
  const struct answering_order *order = given;
  reset_signals();
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return errno;
  if (getppid() != parent) _exit(1);
  if (order->complaints != OURS && setsid() < 0) return errno;
  int in = order->in >= 0 ? order->in : open("/dev/null", O_RDONLY);
  if (in < 0 || dup2(in, 0) < 0 || dup2(order->out, 1) < 0) return errno;
  if (order->complaints != OURS && dup2(order->complaints, 2) < 0) return errno;
  kura_close_at_start(3);
  execve(order->program, order->arguments, environ);
  return errno;
}

/* Where `in` or `complaints` is SOCKET, it is the socket that stdout is. */
enum { SOCKET = -3 };

static int start_answering(
    const char *program, const char *arguments, size_t count, int in, int complaints,
    struct kura_child *child) {
  int ends[2];
  child->descriptor = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  char **words = kura_split_words(arguments, count);
  int failed = -ENOMEM;
  if (words) {
    const struct answering_order order = {
        program, words, in == SOCKET ? ends[1] : in, ends[1],
        complaints == SOCKET ? ends[1] : complaints};
    failed = kura_start_as(become_answering, &order, &child->process);
  }
  free(words);
  close(ends[1]);
  if (failed) close(ends[0]);
  child->descriptor = failed ? -1 : ends[0];
  return failed;
}

int kura_start_answering(
    const char *program, const char *arguments, size_t count, struct kura_child *child) {
  return start_answering(program, arguments, count, SOCKET, OURS, child);
}

int kura_start_heard(
    const char *program, const char *arguments, size_t count, struct kura_child *child) {
  return start_answering(program, arguments, count, -1, SOCKET, child);
}

int kura_start_carrying(
    const char *program, const char *arguments, size_t count, int in, int complaints,
    struct kura_child *child) {
  return start_answering(program, arguments, count, in, complaints, child);
}

struct owner_order {
  const char *program;
  char *const *arguments;
  int theirs, end, apart;
};

static int become_owner(const void *given, pid_t parent) {
  const struct owner_order *order = given;
  reset_signals();
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return errno;
  if (getppid() != parent) _exit(1);
  if (order->apart && setpgid(0, 0) != 0) return errno;
  /* An app may have closed its first three. */
  int theirs = fcntl(order->theirs, F_DUPFD, 3), null = open("/dev/null", O_RDWR);
  if (theirs < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 3 - order->end) < 0) return errno;
  if (dup2(theirs, order->end) < 0) return errno;
  kura_close_at_start(3);
  execve(order->program, order->arguments, environ);
  return errno;
}

int kura_start_owner(
    const char *program, const char *arguments, size_t count, int end, int apart,
    struct kura_child *child) {
  int ends[2];
  char **words = kura_split_words(arguments, count);
  if (!words) return -ENOMEM;
  int failed = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ? -errno : 0;
  if (!failed) {
    const struct owner_order order = {program, words, ends[1], end, apart};
    failed = kura_start_as(become_owner, &order, &child->process);
    close(ends[1]);
    if (failed) close(ends[0]);
  }
  child->descriptor = failed ? -1 : ends[0];
  free(words);
  return failed;
}

void kura_end_feed(int fd) { shutdown(fd, SHUT_WR); }

// MARK: - Talking

long kura_asked_read(int fd, void *bytes, size_t count, int milliseconds, int other) {
  struct pollfd ready[2] = {{.fd = fd, .events = POLLIN}, {.fd = other, .events = POLLIN}};
  for (;;) {
    int found = poll(ready, 2, milliseconds);
    if (found < 0 && errno == EINTR) continue;
    if (found < 0) return KURA_ASKED_FAILED;
    if (found == 0) return KURA_ASKED_TIMEOUT;
    if (!ready[0].revents) return KURA_ASKED_OTHER;
    ssize_t got = read(fd, bytes, count);
    if (got >= 0) return got;
    if (errno != EINTR) return errno == ECONNRESET ? 0 : KURA_ASKED_FAILED;
  }
}

void kura_end_asked(int process) {
  if (kura_child_wait(process, 100) != -ETIMEDOUT) return;
  kill(process, SIGTERM);
  if (kura_child_wait(process, 2000) == -ETIMEDOUT) {
    kill(process, SIGKILL);
    kura_child_wait(process, INT_MAX);
  }
  kura_show_ended();
}

// MARK: - Places to ask at

/* The terminal that a program asks on, and how it was set up before. */
static struct {
  int fd;
  struct termios before;
} shown = {.fd = -1};

static int is_controlling(int fd) {
  int own = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (own < 0) return 0;
  unsigned mine, theirs;
  int same = ioctl(own, TIOCGDEV, &mine) == 0 && ioctl(fd, TIOCGDEV, &theirs) == 0 && mine == theirs;
  close(own);
  return same;
}

/* tcsetattr, signal and raise are async-signal-safe; what asks there ends with us. */
static void put_right_and_end(int number) {
  kura_show_ended();
  signal(number, SIG_DFL);
  raise(number);
}

static void catch_ends(void) {
  static const int ending[] = {SIGTERM, SIGHUP, SIGINT};
  struct sigaction action = {.sa_handler = put_right_and_end}, before;
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
    if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(ending[i], &action, NULL);
}

int kura_can_show_on(const char *path) {
  if (shown.fd >= 0) close(shown.fd);
  shown.fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (shown.fd < 0) return 0;
  if (tcgetattr(shown.fd, &shown.before) == 0 && !is_controlling(shown.fd)) {
    catch_ends();
    return 1;
  }
  close(shown.fd);
  shown.fd = -1;
  return 0;
}

void kura_show_ended(void) {
  if (shown.fd >= 0) tcsetattr(shown.fd, TCSAFLUSH, &shown.before);
}

int kura_asks_on_terminal(const char *program) {
  char real[PATH_MAX];
  if (!realpath(program, real)) return 0;
  const char *name = strrchr(real, '/');
  return name && (strstr(name, "curses") != NULL || strstr(name, "-tty") != NULL);
}
