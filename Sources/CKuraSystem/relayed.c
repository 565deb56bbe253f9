// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "relayed.h"

#include "process.h"
#include "spawning.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// MARK: - Our terminal

static int own = -1;
/* As they are without us; a shell that has the terminal in front has set it up for itself. */
static struct termios settings;
static bool has_settings;
/* Who the shell waits for; where that was killed, the terminal is the shell's. */
static pid_t first;
static bool is_left;

static bool is_terminal(int fd, int terminal) {
  unsigned one, other;
  return ioctl(fd, TIOCGDEV, &one) == 0 && ioctl(terminal, TIOCGDEV, &other) == 0 && one == other;
}

static bool is_foreground(void) { return tcgetpgrp(own) == getpgrp(); }

/* What we have set up ourselves is not what to go back to. */
static void keep_settings(void) {
  struct termios now;
  if (!is_foreground() || tcgetattr(own, &now) != 0) return;
  if (has_settings && !(now.c_lflag & (ICANON | ISIG | ECHO))) return;
  settings = now;
  has_settings = true;
}

static void give_back(void) {
  if (has_settings && is_foreground()) tcsetattr(own, TCSADRAIN, &settings);
}

void kura_relayed_find_terminal(void) {
  if (!isatty(1)) return;
  int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return;
  if (!is_terminal(1, fd)) {
    close(fd);
    return;
  }
  own = fd;
  first = getpid();
  keep_settings();
}

int kura_relayed_terminal(void) { return own; }

void kura_relayed_mend_terminal(void) {
  if (own >= 0) give_back();
}

// MARK: - The command's terminal

/* Ours of both ends until the command has ended: while it has closed its own, it may open the terminal again. */
static int master = -1, slave = -1;
/* What was typed and not taken yet. */
static char typed[4096];
static size_t typed_count;
static bool has_keys = true;
/* The process that leads the session. */
static pid_t leader;

/* What the leader tells of the command. */
struct word {
  enum { STARTED, STOPPED, ENDED } what;
  int number;
};

static void copy_size(void) {
  struct winsize size;
  if (ioctl(own, TIOCGWINSZ, &size) == 0) ioctl(master, TIOCSWINSZ, &size);
}

static int open_pair(void) {
  char name[64];
  master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) return -errno;
  if (grantpt(master) != 0 || unlockpt(master) != 0 || ptsname_r(master, name, sizeof name) != 0)
    return -errno;
  slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0 || (has_settings && tcsetattr(slave, TCSANOW, &settings) != 0)) return -errno;
  copy_size();
  return fcntl(master, F_SETFL, O_NONBLOCK) == 0 ? 0 : -errno;
}

// MARK: - The leader of its session

static void tell(int reader, int what, int number) {
  struct word word = {what, number};
  send(reader, &word, sizeof word, MSG_NOSIGNAL);
}

/* Nobody is in front any more, so that nobody is hung up on when the session ends. */
static void take_front(void) {
  int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return;
  tcsetpgrp(terminal, getpgrp());
  close(terminal);
}

/* Whether the command has ended. */
static bool look_for(pid_t command, int reader) {
  int status;
  while (waitpid(command, &status, WNOHANG | WUNTRACED) == command) {
    if (WIFSTOPPED(status)) {
      tell(reader, STOPPED, 0);
      continue;
    }
    take_front();
    tell(reader, ENDED, status);
    return true;
  }
  return false;
}

/* A group whose parent stands in another session would not be stopped by Ctrl-Z. */
_Noreturn static void lead(pid_t command, int reader) {
  prctl(PR_SET_NAME, "kura-terminal");
  sigset_t all, child;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  int news = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  int kept[] = {reader, news};
  kura_close_but(kept, 2);
  for (int fd = 0; fd <= 2; fd++) close(fd);
  tell(reader, STARTED, command);
  bool has_ended = false;
  struct pollfd each[2] = {{.fd = reader, .events = POLLIN}, {.fd = news, .events = POLLIN}};
  for (;;) {
    has_ended = has_ended || look_for(command, reader);
    if (poll(each, 2, -1) < 0) continue;
    struct signalfd_siginfo about;
    while (read(news, &about, sizeof about) == sizeof about) continue;
    char order;
    if (!each[0].revents) continue;
    if (recv(reader, &order, 1, 0) == 1) {
      kill(-command, SIGCONT);
      continue;
    }
    if (!has_ended) {
      kill(-command, SIGHUP);
      kill(-command, SIGCONT);
    }
    _exit(0);
  }
}

/* In the process that becomes the command, in front of its terminal. */
static void take_terminal(const struct kura_relay *relay, const int *errors, pid_t parent) {
  setpgid(0, 0);
  tcsetpgrp(slave, getpid());
  for (int fd = 0; fd <= 2; fd++)
    if (relay->is_room ? isatty(fd) : is_terminal(fd, own)) dup2(slave, fd);
  if (!relay->is_merged && errors[1] >= 0 && !is_terminal(2, slave)) dup2(errors[1], 2);
  kura_relay_release_signals();
  if (prctl(PR_SET_PDEATHSIG, SIGHUP) != 0 || getppid() != parent) _exit(1);
}

/* 0 in the command; the leader stays. */
static int start_session(struct kura_relay *relay, const int *errors, int reader) {
  if (setsid() < 0 || (!relay->is_room && ioctl(slave, TIOCSCTTY, 0) != 0)) _exit(1);
  pid_t parent = getpid(), command = fork();
  if (command < 0) _exit(1);
  if (command > 0) {
    setpgid(command, command);
    lead(command, reader);
  }
  take_terminal(relay, errors, parent);
  return 0;
}

int kura_relayed_start(struct kura_relay *relay, const int *errors) {
  int ends[2];
  int failed = open_pair();
  if (!failed && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) failed = -errno;
  if (failed) return failed;
  leader = fork();
  if (leader == 0) {
    close(ends[0]);
    return start_session(relay, errors, ends[1]);
  }
  if (leader < 0) return -errno;
  close(ends[1]);
  struct word word;
  ssize_t got;
  do got = recv(ends[0], &word, sizeof word, 0);
  while (got < 0 && errno == EINTR);
  if (got != sizeof word) return -EIO;
  relay->watcher = ends[0];
  relay->output = master;
  return relay->process = word.number;
}

// MARK: - What happens

static void enter(struct kura_relay *relay) {
  if (relay->is_raw || relay->has_ended || is_left || !is_foreground()) return;
  keep_settings();
  if (!has_settings) return;
  struct termios raw = settings;
  cfmakeraw(&raw);
  relay->is_raw = tcsetattr(own, TCSADRAIN, &raw) == 0;
  copy_size();
}

void kura_relayed_leave_terminal(struct kura_relay *relay) {
  if (relay->is_raw) give_back();
  relay->is_raw = false;
}

void kura_relayed_forget(int end) {
  if (end == master) master = -1;
}

/* What the kernel does where a terminal is gone: whoever is in front there is told, not the command alone. */
void kura_relayed_hang_up(const struct kura_relay *relay) {
  pid_t front = tcgetpgrp(master);
  bool is_in_front = front > 1 && getpgid(relay->process) == front;
  const pid_t told[] = {is_in_front ? 0 : relay->process, front > 1 ? -front : 0};
  for (int i = 0; i < 2; i++) {
    if (told[i] == 0) continue;
    kill(told[i], SIGHUP);
    kill(told[i], SIGCONT);
  }
}

bool kura_relayed_took(struct kura_relay *relay, int number) {
  /* The shell has set its terminal up for itself meanwhile. */
  if (number == SIGCONT) relay->is_raw = false;
  if (number == SIGWINCH) copy_size();
  if (number == SIGTERM && getppid() != first) {
    is_left = true;
    kura_relayed_leave_terminal(relay);
  }
  if (number == SIGTSTP && !relay->has_ended) kill(-relay->process, SIGTSTP);
  return number == SIGCONT || number == SIGWINCH || number == SIGTSTP;
}

bool kura_relayed_lost(pid_t child) {
  if (child != leader || leader == 0) return false;
  leader = 0;
  return true;
}

void kura_relayed_look(struct kura_relay *relay) {
  struct word word;
  ssize_t got;
  while ((got = recv(relay->watcher, &word, sizeof word, MSG_DONTWAIT)) == sizeof word) {
    if (word.what == STOPPED) relay->happened |= KURA_RELAY_STOPPED;
    if (word.what == ENDED) relay->status = word.number;
    relay->has_ended = relay->has_ended || word.what == ENDED;
  }
  /* Without its leader, nobody tells how the command ends. */
  if (got == 0 && !relay->has_ended) {
    relay->status = 125 << 8;
    relay->has_ended = true;
  }
  if (!relay->has_ended) return;
  relay->happened |= KURA_RELAY_ENDED;
  close(slave);
  slave = -1;
}

int kura_relayed_prepare(struct kura_relay *relay, struct pollfd *keys, struct pollfd *output) {
  if (own < 0 || relay->has_ended) return -1;
  enter(relay);
  bool takes = relay->is_raw && has_keys && typed_count < sizeof typed;
  *keys = (struct pollfd){.fd = takes ? own : -1, .events = POLLIN};
  if (typed_count > 0) output->events |= POLLOUT;
  return relay->is_raw || is_left ? -1 : 200;
}

void kura_relayed_pass_keys(
    struct kura_relay *relay, const struct pollfd *keys, const struct pollfd *output) {
  if (own < 0 || relay->has_ended) return;
  if (keys->fd >= 0 && keys->revents) {
    ssize_t got = read(own, typed + typed_count, sizeof typed - typed_count);
    if (got > 0) typed_count += (size_t)got;
    /* The window is gone. */
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
      has_keys = false;
      kura_relayed_hang_up(relay);
    }
  }
  if (typed_count == 0 || !(output->revents & POLLOUT || keys->revents)) return;
  ssize_t taken = write(master, typed, typed_count);
  if (taken <= 0) return;
  size_t rest = typed_count - (size_t)taken;
  memmove(typed, typed + taken, rest);
  explicit_bzero(typed + rest, typed_count - rest);
  typed_count = rest;
}

// MARK: - Stopping and ending

void kura_relayed_stop(struct kura_relay *relay) {
  if (relay->has_ended) return;
  if (relay->is_raw) give_back();
  relay->is_raw = false;
  /* By Ctrl-Z's own signal: where no shell could have us go on, nothing stops. */
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  kill(0, SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, NULL);
  sigprocmask(SIG_BLOCK, &stop, NULL);
  enter(relay);
  send(relay->watcher, "C", 1, MSG_NOSIGNAL);
}

void kura_relayed_end(struct kura_relay *relay) {
  kura_relayed_leave_terminal(relay);
  if (relay->watcher < 0) return;
  shutdown(relay->watcher, SHUT_WR);
  /* The master stays open until the session is over: its end would hang up on who is left there. */
  if (relay->has_ended && leader > 0) kura_child_wait(leader, INT_MAX);
  close(relay->watcher);
  relay->watcher = -1;
}
