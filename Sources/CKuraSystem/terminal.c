// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

/* A prompt that was killed by SIGKILL leaves a terminal without echo. Its settings carry what they
   were before: VTIME says nothing while VMIN is 1, so the flags that were switched off stand there,
   under a mark that nobody sets by chance. */
#define MARK 0xA0
#define MARK_MASK 0xE0
static const tcflag_t switched[5] = {ECHO, ECHONL, ICANON, ISIG, IEXTEN};

static struct {
  int fd;
  volatile sig_atomic_t active, continued, apart;
  struct termios before, raw, paused;
  const struct termios *now;
} prompt = {.fd = -1};

static const int ending[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
#define ENDING_COUNT (sizeof ending / sizeof *ending)
static struct sigaction ending_before[ENDING_COUNT], stop_before, continue_before;

int kura_terminal_open(void) { return open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC); }

bool kura_terminal_is_foreground(int fd) { return tcgetpgrp(fd) == getpgrp(); }

bool kura_is_terminal(int fd) { return isatty(fd); }

int kura_terminal_columns(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int kura_terminal_lines(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

// MARK: - One prompt a terminal

int kura_terminal_name(int fd, char *into, size_t capacity) {
  unsigned encoded;
  if (ioctl(fd, TIOCGDEV, &encoded) != 0) return -errno;
  unsigned major = encoded >> 8 & 0xfff, minor = (encoded & 0xff) | (encoded >> 12 & 0xfff00);
  if (major >= 136 && major <= 143)
    return snprintf(into, capacity, "pts/%u", (major - 136) * 256 + minor);
  if (major == 4) return snprintf(into, capacity, minor < 64 ? "tty%u" : "ttyS%u", minor < 64 ? minor : minor - 64);
  return snprintf(into, capacity, "terminal %u:%u", major, minor);
}

/* /dev/tty is one file for all terminals; the lock belongs on the terminal itself. */
static int open_device(int fd) {
  unsigned encoded;
  if (ioctl(fd, TIOCGDEV, &encoded) != 0) return -errno;
  unsigned major = encoded >> 8 & 0xfff, minor = (encoded & 0xff) | (encoded >> 12 & 0xfff00);
  char path[40];
  /* Pseudo-terminals have the majors 136 to 143 (devices.txt). */
  if (major >= 136 && major <= 143)
    snprintf(path, sizeof path, "/dev/pts/%u", (major - 136) * 256 + minor);
  else
    snprintf(path, sizeof path, "/dev/char/%u:%u", major, minor);
  int device = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  struct stat found;
  if (device < 0) return -errno;
  if (fstat(device, &found) == 0 && found.st_rdev == makedev(major, minor)) return device;
  close(device);
  return -ENODEV;
}

int kura_terminal_lock(int fd) {
  int device = open_device(fd);
  if (device < 0 || flock(device, LOCK_EX | LOCK_NB) == 0) return device;
  int result = -errno;
  close(device);
  return result;
}

bool kura_terminal_await(int other, int milliseconds) {
  struct pollfd ready = {.fd = other, .events = POLLIN};
  return poll(&ready, 1, milliseconds) > 0;
}

// MARK: - Settings

static void mend(struct termios *settings) {
  cc_t mark = settings->c_cc[VTIME];
  if ((settings->c_lflag & ICANON) || settings->c_cc[VMIN] != 1 || (mark & MARK_MASK) != MARK) return;
  for (int i = 0; i < 5; i++)
    if (mark & 1 << i) settings->c_lflag |= switched[i];
  settings->c_cc[VTIME] = 0;
}

static void make_raw(void) {
  prompt.raw = prompt.before;
  prompt.raw.c_cc[VMIN] = 1;
  prompt.raw.c_cc[VTIME] = MARK;
  for (int i = 0; i < 5; i++)
    if (prompt.before.c_lflag & switched[i]) prompt.raw.c_cc[VTIME] |= 1 << i;
  prompt.raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
  prompt.paused = prompt.raw;
  prompt.paused.c_lflag |= prompt.before.c_lflag & ISIG;
}

static int apply(const struct termios *settings, int when) {
  int result;
  do result = tcsetattr(prompt.fd, when, settings);
  while (result != 0 && errno == EINTR);
  return result;
}

/* After a stop. In the background the terminal is somebody else's, who may keep what is set there for good. */
static void apply_again(int when) {
  if (tcgetpgrp(prompt.fd) == getpgrp()) apply(prompt.now, when);
}

// MARK: - Signals

/* From the last cell back to the first: what is erased forwards, some terminals keep in their scrollback. */
static const char apart[] = "\033[?1049h\033[2J\033[H",
                  together[] = "\033[m\033[r\033[9999;9999H\033[1J\033[H\033[?1049l";

/* Our end of a socket to the guard; -1: there is none. */
static int guard = -1;

static void tell_guard(char is_shown) {
  if (guard >= 0 && send(guard, &is_shown, 1, MSG_NOSIGNAL) != 1) guard = -1;
}

void kura_terminal_guard(int fd) {
  int ends[2];
  struct termios before;
  if (guard >= 0 || tcgetattr(fd, &before) != 0) return;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  mend(&before);
  if (fork() == 0) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    /* Nobody waits for what this process holds but the terminal. */
    dup2(fd, 0);
    dup2(ends[0], 1);
    for (int other = 2; other < 64; other++) close(other);
    char is_shown = 0;
    while (read(1, &is_shown, 1) != 0) continue;
    if (is_shown && write(0, together, sizeof together - 1) > 0) tcsetattr(0, TCSAFLUSH, &before);
    _exit(0);
  }
  close(ends[0]);
  guard = ends[1];
}

void kura_terminal_show_apart(bool is_apart) {
  if (prompt.apart == is_apart) return;
  prompt.apart = is_apart;
  if (is_apart) tell_guard(1);
  ssize_t ignored = is_apart ? write(prompt.fd, apart, sizeof apart - 1)
                             : write(prompt.fd, together, sizeof together - 1);
  (void)ignored;
  if (!is_apart) tell_guard(0);
}

/* tcsetattr, sigaction, raise, write and _exit are async-signal-safe (POSIX.1-2017, 2.4.3). */
static void give_back_and_end(int number) {
  kura_terminal_show_apart(false);
  apply(&prompt.before, TCSAFLUSH);
  if (number == SIGINT) {
    ssize_t ignored = write(prompt.fd, "\n", 1);
    (void)ignored;
    _exit(130);
  }
  signal(number, SIG_DFL);
  raise(number);
}

static void give_back_and_stop(int number);

static void catch(int number, void (*handler)(int), struct sigaction *before) {
  struct sigaction action = {.sa_handler = handler};
  sigfillset(&action.sa_mask);
  sigaction(number, &action, before);
}

static void stop(void (*send)(void)) {
  int kept = errno;
  kura_terminal_show_apart(false);
  apply(&prompt.before, TCSAFLUSH);
  struct sigaction byDefault = {.sa_handler = SIG_DFL};
  sigaction(SIGTSTP, &byDefault, NULL);
  sigset_t only, old;
  sigemptyset(&only);
  sigaddset(&only, SIGTSTP);
  sigaddset(&only, SIGCONT);
  send();
  sigprocmask(SIG_UNBLOCK, &only, &old);
  sigprocmask(SIG_SETMASK, &old, NULL);
  catch(SIGTSTP, give_back_and_stop, NULL);
  apply_again(TCSAFLUSH);
  prompt.continued = 1;
  errno = kept;
}

static void send_to_self(void) { raise(SIGTSTP); }
static void send_to_group(void) { kill(0, SIGTSTP); }
static void give_back_and_stop(int number) {
  (void)number;
  stop(send_to_self);
}

/* Also after SIGSTOP, when the shell has put its own settings back. */
static void set_up_again(int number) {
  (void)number;
  int kept = errno;
  if (prompt.active) apply_again(TCSADRAIN);
  prompt.continued = 1;
  errno = kept;
}

static void catch_signals(void) {
  for (size_t i = 0; i < ENDING_COUNT; i++) {
    sigaction(ending[i], NULL, &ending_before[i]);
    if (ending_before[i].sa_handler != SIG_IGN) catch(ending[i], give_back_and_end, NULL);
  }
  sigaction(SIGTSTP, NULL, &stop_before);
  if (stop_before.sa_handler != SIG_IGN) catch(SIGTSTP, give_back_and_stop, NULL);
  catch(SIGCONT, set_up_again, &continue_before);
}

static void release_signals(void) {
  for (size_t i = 0; i < ENDING_COUNT; i++) sigaction(ending[i], &ending_before[i], NULL);
  sigaction(SIGTSTP, &stop_before, NULL);
  sigaction(SIGCONT, &continue_before, NULL);
}

// MARK: - A prompt

static void note_keys(struct kura_terminal_keys *keys) {
  const cc_t *set = prompt.before.c_cc;
  *keys = (struct kura_terminal_keys){
      .erase = set[VERASE],   .kill = set[VKILL],    .word_erase = set[VWERASE],
      .interrupt = set[VINTR], .quit = set[VQUIT],    .suspend = set[VSUSP],
      .end_of_file = set[VEOF]};
}

int kura_terminal_begin(int fd, struct kura_terminal_keys *keys) {
  if (tcgetattr(fd, &prompt.before) != 0) return -errno;
  mend(&prompt.before);
  make_raw();
  note_keys(keys);
  prompt.fd = fd;
  prompt.now = &prompt.raw;
  prompt.continued = 0;
  catch_signals();
  prompt.active = 1;
  /* What was typed before anybody was asked is an answer to nothing. */
  if (apply(&prompt.raw, TCSAFLUSH) == 0) return 0;
  int result = -errno;
  prompt.active = 0;
  release_signals();
  return result;
}

void kura_terminal_pause(void) {
  prompt.now = &prompt.paused;
  apply(prompt.now, TCSADRAIN);
}

bool kura_terminal_resume(void) {
  if (prompt.now == &prompt.raw) return false;
  prompt.now = &prompt.raw;
  apply(prompt.now, TCSAFLUSH);
  return true;
}

void kura_terminal_end(void) {
  if (!prompt.active) return;
  kura_terminal_show_apart(false);
  apply(&prompt.before, TCSAFLUSH);
  prompt.active = 0;
  release_signals();
}

void kura_terminal_suspend(void) {
  if (stop_before.sa_handler != SIG_IGN) stop(send_to_group);
}

// MARK: - Reading

long kura_terminal_read(void *bytes, size_t count, int milliseconds, int other) {
  struct pollfd ready[2] = {{.fd = prompt.fd, .events = POLLIN}, {.fd = other, .events = POLLIN}};
  if (prompt.continued) {
    prompt.continued = 0;
    return KURA_TERMINAL_CONTINUED;
  }
  int found = poll(ready, 2, milliseconds);
  if (found < 0) {
    if (errno != EINTR) return KURA_TERMINAL_FAILED;
    prompt.continued = 0;
    return KURA_TERMINAL_CONTINUED;
  }
  if (found == 0) return KURA_TERMINAL_TIMEOUT;
  if (ready[1].revents && !ready[0].revents) return KURA_TERMINAL_OTHER;
  ssize_t got = read(prompt.fd, bytes, count);
  if (got >= 0) return got;
  if (errno == EINTR) return KURA_TERMINAL_CONTINUED;
  return errno == EIO ? KURA_TERMINAL_CLOSED : KURA_TERMINAL_FAILED;
}
