// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "process.h"

#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

ptrdiff_t kura_program_path(char *into, size_t capacity) {
  ssize_t count = readlink("/proc/self/exe", into, capacity);
  if (count < 0) return -errno;
  return (size_t)count == capacity ? -ENAMETOOLONG : count;
}

ptrdiff_t kura_parent_name(char *into, size_t capacity) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/comm", (int)getppid());
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t count = read(fd, into, capacity);
  int failed = errno;
  close(fd);
  if (count < 0) return -failed;
  return count > 0 && into[count - 1] == '\n' ? count - 1 : count;
}

/* `pid (name) state parent ...` (proc_pid_stat(5)); the name may hold anything. */
static ssize_t read_status(pid_t process, char *into, size_t capacity) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t count = read(fd, into, capacity - 1);
  close(fd);
  if (count >= 0) into[count] = 0;
  return count;
}

size_t kura_ancestor_names(char *into, size_t capacity, int *way) {
  pid_t leader = getsid(0), next = leader == getpid() ? leader : getppid();
  size_t used = 0;
  *way = KURA_WAY_WHOLE;
  for (int depth = 0; next != leader; depth++) {
    char status[512];
    *way = KURA_WAY_LOST;
    /* Whose starter has ended is a child of init's. */
    if (next <= 1 || read_status(next, status, sizeof status) <= 0) break;
    *way = KURA_WAY_LONG;
    if (depth == KURA_MOST_ANCESTORS) break;
    char *start = strchr(status, '('), *end = strrchr(status, ')');
    int parent;
    if (!start || !end || end < start || sscanf(end + 1, " %*c %d", &parent) != 1) break;
    size_t count = (size_t)(end - start);
    if (used + count > capacity) break;
    memcpy(into + used, start + 1, count - 1);
    into[used + count - 1] = 0;
    used += count;
    next = parent;
    *way = KURA_WAY_WHOLE;
  }
  return used;
}

int kura_ancestor_distance(int process) {
  int next = getppid();
  for (int distance = 1; next > 1; distance++) {
    if (next == process) return distance;
    char status[512];
    if (read_status(next, status, sizeof status) <= 0) return 0;
    const char *end = strrchr(status, ')');
    if (!end || sscanf(end + 1, " %*c %d", &next) != 1) return 0;
  }
  return 0;
}

int kura_is_executable(const char *path) { return access(path, X_OK) == 0; }

/* The engine lives for hours: it gets what it looks at, not every token in our environment, and
   no SWIFT_BACKTRACE, which would print its memory. */
static int is_wanted(const char *variable) {
  static const char *const wanted[] = {"HOME=", "XDG_", "TZ=", "LANG=", "LC_", "KURA_TCTI=", "KURA_FIDO2=",
                                       "DBUS_SYSTEM_BUS_ADDRESS="};
  for (size_t index = 0; index < sizeof wanted / sizeof *wanted; index++)
    if (strncmp(variable, wanted[index], strlen(wanted[index])) == 0) return 1;
  return 0;
}

enum { MOST_VARIABLES = 64 };

static void choose_environment(char *chosen[MOST_VARIABLES + 1]) {
  size_t count = 0;
  for (char **variable = environ; variable && *variable && count < MOST_VARIABLES; variable++)
    if (is_wanted(*variable)) chosen[count++] = *variable;
  chosen[count] = NULL;
}

static int spawn(
    const char *program, char *const arguments[], short flags,
    posix_spawn_file_actions_t *actions, int *process) {
  char *chosen[MOST_VARIABLES + 1];
  choose_environment(chosen);
  return kura_spawn(program, arguments, chosen, flags, actions, process);
}

int kura_start_agent(const char *program, struct kura_child *child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  posix_spawn_file_actions_t actions;
  int failed = -posix_spawn_file_actions_init(&actions);
  if (!failed) {
    /* First the pipe: it may stand on one of the descriptors that are opened anew. */
    posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
    for (int fd = 0; fd <= 2; fd++)
      posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
    kura_spawn_closing_from(&actions, 4);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    char *const arguments[] = {"kura-agent", "--ready-fd", "3", NULL};
    failed = spawn(program, arguments, 0, &actions, &child->process);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  if (failed) close(ends[0]);
  child->descriptor = failed ? -1 : ends[0];
  return failed;
}

int kura_start_engine(const char *program, int aside, struct kura_child *child) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return -errno;
  posix_spawn_file_actions_t actions;
  int failed = -posix_spawn_file_actions_init(&actions);
  if (!failed) {
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    kura_spawn_closing_from(&actions, 3);
    char *const arguments[] = {"kura-agent", "--stdio", aside ? "--aside" : NULL, NULL};
    failed = spawn(program, arguments, 0, &actions, &child->process);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  if (failed) close(ends[0]);
  child->descriptor = failed ? -1 : ends[0];
  return failed;
}

ptrdiff_t kura_pipe_read(int fd, void *into, size_t capacity, int milliseconds) {
  struct pollfd watched = {.fd = fd, .events = POLLIN};
  for (;;) {
    int ready = poll(&watched, 1, milliseconds);
    if (ready == 0) return -ETIMEDOUT;
    ssize_t count = ready < 0 ? -1 : read(fd, into, capacity);
    if (count >= 0) return count;
    if (errno != EINTR) return -errno;
  }
}

/* A kernel without pidfd_open (before 5.3) is asked again and again instead. */
static void wait_a_while(int process, int milliseconds) {
  int watch = (int)syscall(SYS_pidfd_open, process, 0);
  struct pollfd watched = {.fd = watch, .events = POLLIN};
  poll(&watched, watch >= 0, watch >= 0 ? milliseconds : 5);
  if (watch >= 0) close(watch);
}

static uint64_t monotonic_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int kura_child_wait(int process, int milliseconds) {
  uint64_t end = monotonic_milliseconds() + (uint64_t)milliseconds;
  for (;;) {
    int status;
    pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended < 0 && errno == ECHILD) {
      /* Whoever started us ignores SIGCHLD: the status is lost, the end is not. */
      wait_a_while(process, milliseconds);
      return -ECHILD;
    }
    if (ended < 0 && errno != EINTR) return -errno;
    if (ended > 0) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    uint64_t now = monotonic_milliseconds();
    if (now >= end) return -ETIMEDOUT;
    wait_a_while(process, (int)(end - now));
  }
}

static char last_words[1024];
static size_t last_words_count;
static struct sigaction interrupt_before;

/* write, signal and raise are async-signal-safe (POSIX.1-2017, 2.4.3). */
static void say_and_end(int number) {
  ssize_t ignored = write(STDERR_FILENO, last_words, last_words_count);
  (void)ignored;
  signal(number, SIG_DFL);
  raise(number);
}

void kura_interrupt_says(const char *text, size_t count) {
  last_words_count = count < sizeof last_words ? count : sizeof last_words;
  memcpy(last_words, text, last_words_count);
  struct sigaction action = {.sa_handler = say_and_end};
  sigaction(SIGINT, NULL, &interrupt_before);
  if (interrupt_before.sa_handler == SIG_DFL) sigaction(SIGINT, &action, NULL);
}

void kura_interrupt_says_nothing(void) { sigaction(SIGINT, &interrupt_before, NULL); }

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

void kura_interrupt_is_noted(void) {
  interrupted = 0;
  struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};
  sigaction(SIGINT, NULL, &interrupt_before);
  if (interrupt_before.sa_handler == SIG_DFL) sigaction(SIGINT, &action, NULL);
}

void kura_interrupt_ends(void) { sigaction(SIGINT, &interrupt_before, NULL); }

int kura_input_wait(int fd, int milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  struct pollfd watched = {.fd = fd, .events = POLLIN};
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  /* One that comes between the look and the wait ends the wait. */
  sigprocmask(SIG_BLOCK, &interrupt, &before);
  int ready = 0;
  if (!interrupted) ready = ppoll(&watched, 1, milliseconds < 0 ? NULL : &time, &before);
  int failed = ready < 0 ? errno : 0;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (interrupted) return -EINTR;
  /* What cannot be waited for is for the read to complain about. */
  return ready > 0 || (failed && failed != EINTR);
}

void kura_pause(int milliseconds) { poll(NULL, 0, milliseconds); }

size_t kura_local_time(
    uint64_t unix_milliseconds, const char *format, char *into, size_t capacity) {
  time_t seconds = (time_t)(unix_milliseconds / 1000);
  struct tm local;
  return localtime_r(&seconds, &local) ? strftime(into, capacity, format, &local) : 0;
}

const char *kura_error_text(int number) {
  return strerror(number);
}
