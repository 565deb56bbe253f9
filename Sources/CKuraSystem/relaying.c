// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "relaying.h"

#include "arguments.h"
#include "memory.h"
#include "relayed.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// MARK: - Signals

static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
static sigset_t awaited, before;
static struct sigaction child_before;

static void hold_signals(void) {
  sigemptyset(&awaited);
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) sigaddset(&awaited, passed[i]);
  sigaddset(&awaited, SIGCHLD);
  sigset_t blocked = awaited;
  /* A reader that is gone is told by write(2); the terminal is given back from the background. */
  sigaddset(&blocked, SIGPIPE);
  sigaddset(&blocked, SIGTTOU);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  /* Where it is ignored, no child leaves a status. */
  struct sigaction byDefault = {.sa_handler = SIG_DFL};
  sigaction(SIGCHLD, &byDefault, &child_before);
}

void kura_relay_release_signals(void) {
  sigaction(SIGCHLD, &child_before, NULL);
  sigprocmask(SIG_SETMASK, &before, NULL);
}

/* What a terminal sends reaches the command as well, which is in the same group. */
static bool is_for_command(const struct signalfd_siginfo *about) {
  return about->ssi_signo != SIGCHLD && about->ssi_code != SI_KERNEL;
}

// MARK: - Descriptors

static void put_null(int fd, int mode) {
  int null = open("/dev/null", mode | O_CLOEXEC);
  if (null < 0 || null == fd) return;
  dup2(null, fd);
  close(null);
}

/* Whoever waits for the end of one of them waits for the command alone. Ours are all closed by execve(2). */
static void close_inherited(void) {
  DIR *open_ones = opendir("/proc/self/fd");
  if (!open_ones) return;
  for (const struct dirent *entry; (entry = readdir(open_ones));) {
    int fd = atoi(entry->d_name);
    if (fd > 2 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC)) close(fd);
  }
  closedir(open_ones);
}

static bool is_same_file(int one, int other) {
  struct stat a, b;
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// MARK: - The process that the shell waits for

int kura_relay_part(int *channel) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  kura_relayed_find_terminal();
  hold_signals();
  pid_t parent = getpid(), reader = fork();
  int failed = reader < 0 ? -errno : 0;
  close(ends[reader != 0]);
  *channel = ends[reader == 0];
  if (failed) close(*channel);
  if (reader != 0) return failed ? failed : reader;
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent) _exit(1);
  kura_secret_lock_again();
  return 0;
}

_Noreturn static void end_as(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  int number = WTERMSIG(status);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  signal(number, SIG_DFL);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  _exit(128 + number);
}

_Noreturn void kura_relay_stand_in(int reader, int channel) {
  int news = signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK), status = 0;
  close_inherited();
  for (int fd = 0; fd <= 2; fd++) put_null(fd, O_RDWR);
  struct pollfd each[2] = {{.fd = channel, .events = POLLIN}, {.fd = news, .events = POLLIN}};
  while (!each[0].revents) {
    if (poll(each, 2, -1) < 0) each[0].revents = each[1].revents = 0;
    struct signalfd_siginfo about;
    while (each[1].revents && read(news, &about, sizeof about) == sizeof about)
      if (is_for_command(&about)) kill(reader, (int)about.ssi_signo);
  }
  if (read(channel, &status, sizeof status) == sizeof status) end_as(status);
  while (waitpid(reader, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) kura_relayed_mend_terminal();
  end_as(status);
}

// MARK: - Starting

/* In the process that becomes the command. */
static void take_pipes(const struct kura_relay *relay, const int *output, const int *errors) {
  if (output[1] >= 0) dup2(output[1], 1);
  if (relay->is_merged) dup2(1, 2);
  else if (errors[1] >= 0) dup2(errors[1], 2);
}

static void settle_child(pid_t parent) {
  kura_relay_release_signals();
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent) _exit(1);
}

static int start_with_pipes(struct kura_relay *relay, const int *output, const int *errors) {
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    take_pipes(relay, output, errors);
    settle_child(parent);
  }
  relay->process = child;
  return child < 0 ? -errno : child;
}

static int open_pipe(int *ends) {
  if (pipe2(ends, O_CLOEXEC) == 0) return 0;
  ends[0] = ends[1] = -1;
  return -errno;
}

static int start_news(const struct kura_relay *relay) {
  sigset_t more = awaited;
  if (relay->terminal >= 0) {
    static const int own[] = {SIGWINCH, SIGCONT, SIGTSTP};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigaddset(&more, own[i]);
    sigprocmask(SIG_BLOCK, &more, NULL);
  }
  int news = signalfd(-1, &more, SFD_CLOEXEC | SFD_NONBLOCK);
  return news < 0 ? -errno : news;
}

/* What stays here once the command has its own. */
static void keep_ours(struct kura_relay *relay, const int *output, const int *errors, const int *orders) {
  close(orders[1]);
  relay->orders = orders[0];
  if (output[1] >= 0) close(output[1]);
  if (errors[1] >= 0) close(errors[1]);
  put_null(0, O_RDONLY);
  close_inherited();
}

int kura_relay_start(struct kura_relay *relay, int starter, int is_room) {
  int output[2] = {-1, -1}, errors[2] = {-1, -1}, orders[2];
  *relay = (struct kura_relay){
      .output = -1, .errors = -1, .starter = starter, .watcher = -1, .agent = -1,
      .terminal = kura_relayed_terminal(), .is_room = is_room};
  /* What the command leaves behind stays below us, so that what it is handed is known. */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  relay->is_merged = !kura_is_filled(1) && !kura_is_filled(2) && is_same_file(1, 2);
  relay->news = start_news(relay);
  int failed = relay->news < 0 ? relay->news : 0;
  if (!failed && relay->terminal < 0 && !kura_is_filled(1)) failed = open_pipe(output);
  if (!failed && !relay->is_merged && !kura_is_filled(2)) failed = open_pipe(errors);
  if (!failed && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, orders) != 0) failed = -errno;
  if (failed) return failed;
  int started = relay->terminal < 0 ? start_with_pipes(relay, output, errors)
                                    : kura_relayed_start(relay, errors);
  if (started < 0) return started;
  if (started == 0) {
    close(orders[0]);
    relay->orders = orders[1];
    return 0;
  }
  if (relay->terminal < 0) relay->output = output[0];
  relay->errors = errors[0];
  keep_ours(relay, output, errors, orders);
  return started;
}

void kura_relay_ordered(struct kura_relay *relay) {
  close(relay->orders);
  relay->orders = -1;
}

// MARK: - Waiting

static void pass_on(struct kura_relay *relay, int number) {
  if (relay->has_ended) return;
  kill(relay->process, number);
  /* One that is stopped ends all the same. */
  if (number == SIGHUP || number == SIGTERM) kill(relay->process, SIGCONT);
}

static void take_signals(struct kura_relay *relay) {
  struct signalfd_siginfo about;
  while (read(relay->news, &about, sizeof about) == sizeof about) {
    int number = (int)about.ssi_signo;
    if (relay->terminal >= 0 && kura_relayed_took(relay, number)) continue;
    if (relay->terminal >= 0 && number == SIGHUP && about.ssi_code == SI_KERNEL && !relay->has_ended) {
      kura_relayed_hang_up(relay);
      continue;
    }
    if (is_for_command(&about) || relay->terminal >= 0) pass_on(relay, number);
  }
}

/* Children are the command, the leader of its session, and what those left behind. */
static void reap(struct kura_relay *relay) {
  pid_t child;
  for (int status; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (kura_relayed_lost(child) || child != relay->process || relay->has_ended) continue;
    relay->status = status;
    relay->has_ended = true;
    relay->happened |= KURA_RELAY_ENDED;
  }
}

static void look(struct kura_relay *relay) {
  /* What the leader said before it ended is heard first. */
  if (relay->watcher >= 0 && !relay->has_ended) kura_relayed_look(relay);
  reap(relay);
}

int kura_relay_await(struct kura_relay *relay, int milliseconds) {
  for (;;) {
    look(relay);
    struct pollfd each[6] = {
        {.fd = relay->output, .events = POLLIN}, {.fd = relay->errors, .events = POLLIN},
        {.fd = relay->news, .events = POLLIN},   {.fd = relay->has_ended ? -1 : relay->watcher, .events = POLLIN},
        {.fd = -1},              {.fd = relay->agent, .events = POLLIN}};
    int longest = kura_relayed_prepare(relay, &each[4], &each[0]);
    int wait = relay->happened ? 0 : longest >= 0 && (milliseconds < 0 || longest < milliseconds) ? longest : milliseconds;
    int found = poll(each, 6, wait);
    int told = relay->happened;
    relay->happened = 0;
    if (found > 0) {
      if (each[0].revents & (POLLIN | POLLHUP | POLLERR)) told |= KURA_RELAY_OUTPUT;
      if (each[1].revents) told |= KURA_RELAY_ERRORS;
      if (each[5].revents) told |= KURA_RELAY_NEEDLE;
      if (each[2].revents) take_signals(relay);
      kura_relayed_pass_keys(relay, &each[4], &each[0]);
    }
    if (told || (found == 0 && wait == milliseconds)) return told;
  }
}

// MARK: - Passing on

ssize_t kura_relay_write(struct kura_relay *relay, int number, const void *bytes, size_t count) {
  const char *first = bytes, *next = first;
  struct stat status;
  bool is_file = fstat(number, &status) == 0 && S_ISREG(status.st_mode);
  while (count > 0) {
    struct pollfd each[3] = {{.fd = number, .events = POLLOUT},
                             {.fd = relay->news, .events = POLLIN},
                             {.fd = relay->agent, .events = POLLIN}};
    if (poll(each, 3, -1) < 0) continue;
    if (each[1].revents) take_signals(relay);
    /* Who reads may read nothing for long: nobody below waits for that with a value. */
    if (each[2].revents) break;
    if (!each[0].revents) continue;
    /* So much never blocks where something can be written: meanwhile no signal would be served. */
    ssize_t written = write(number, next, is_file || count < PIPE_BUF ? count : PIPE_BUF);
    if (written < 0 && errno != EINTR && errno != EAGAIN) return -errno;
    if (written < 0) continue;
    next += written;
    count -= (size_t)written;
  }
  return next - first;
}

void kura_relay_close(struct kura_relay *relay, int number) {
  int *stream = number == 1 ? &relay->output : &relay->errors;
  if (*stream < 0) return;
  if (number == 1) kura_relayed_forget(*stream);
  close(*stream);
  *stream = -1;
  put_null(number, O_WRONLY);
  if (number == 1 && relay->is_merged) put_null(2, O_WRONLY);
}

// MARK: - Ending

void kura_relay_leave(struct kura_relay *relay) { kura_relayed_leave_terminal(relay); }

void kura_relay_tell(struct kura_relay *relay) {
  kura_relay_leave(relay);
  prctl(PR_SET_PDEATHSIG, 0);
  ssize_t ignored = write(relay->starter, &relay->status, sizeof relay->status);
  (void)ignored;
  close(relay->starter);
  /* From here on nobody waits for us: what ends others ends us, too. */
  close(relay->news);
  sigset_t free = awaited, child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  relay->news = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  sigdelset(&free, SIGCHLD);
  sigaddset(&free, SIGTSTP);
  sigaddset(&free, SIGCONT);
  sigprocmask(SIG_UNBLOCK, &free, NULL);
}

void kura_relay_stop(struct kura_relay *relay) { kura_relayed_stop(relay); }

void kura_relay_end(struct kura_relay *relay) { kura_relayed_end(relay); }
