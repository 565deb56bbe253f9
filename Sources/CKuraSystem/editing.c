// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "editing.h"

#include "covering.h"
#include "launching.h"
#include "memory.h"
#include "process.h"
#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// MARK: - Signals

static const int awaited[] = {SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP};
static sigset_t news, before;
static struct sigaction child_before;

void kura_editing_begin(void) {
  sigemptyset(&news);
  for (size_t i = 0; i < sizeof awaited / sizeof *awaited; i++) sigaddset(&news, awaited[i]);
  sigset_t blocked = news;
  /* The terminal is the editor's; we take it back from the background. */
  sigaddset(&blocked, SIGTTOU);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  /* Where it is ignored, no child leaves a status. */
  struct sigaction byDefault = {.sa_handler = SIG_DFL};
  sigaction(SIGCHLD, &byDefault, &child_before);
}

void kura_editing_end(void) {
  sigaction(SIGCHLD, &child_before, NULL);
  sigprocmask(SIG_SETMASK, &before, NULL);
}

static int is_end(const struct signalfd_siginfo *about) {
  struct sigaction set;
  int number = (int)about->ssi_signo;
  if (number == SIGCHLD || number == SIGTSTP) return 0;
  if (sigaction(number, NULL, &set) != 0 || set.sa_handler == SIG_IGN) return 0;
  /* Ctrl-C and Ctrl-\ are the editor's affair, wherever they come from; kill(1) says whom it means. */
  return (number != SIGINT && number != SIGQUIT) || about->ssi_code != SI_KERNEL;
}

// MARK: - Starting

struct order {
  const char *program;
  char *const *words;
  int terminal;
  int passed;
};

/* In the child; what it returns is an errno. */
static int become(const void *given, pid_t parent) {
  const struct order *order = given;
  /* A group of its own, so that all of it can be stopped. */
  if (setpgid(0, 0) != 0) return errno;
  tcsetpgrp(order->terminal, getpid());
  kura_editing_end();
  kura_restore_process();
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return errno;
  if (getppid() != parent) _exit(1);
  for (int fd = 0; fd <= 2; fd++)
    if ((fd < 2 ? !isatty(fd) : fcntl(fd, F_GETFD) < 0) && dup2(order->terminal, fd) < 0) return errno;
  kura_close_at_start(3);
  if (order->passed >= 0 && fcntl(order->passed, F_SETFD, 0) != 0) return errno;
  /* With a / in it, nothing is looked for; what has no header is a script of the shell's. */
  execvp(order->program, order->words);
  return errno;
}

/* The editor, which ends with us, may not set the terminal up any more once it is ours. */
static void put_right(const struct kura_edited *edited) {
  for (int tries = 0; tries < 200 && kill(edited->process, 0) == 0; tries++)
    poll(NULL, 0, 10);
  if (edited->has_settings && tcgetpgrp(edited->terminal) == getpgrp())
    tcsetattr(edited->terminal, TCSADRAIN, &edited->settings);
}

/* Gives the terminal back in our place when we are killed; the editor's group has it. */
_Noreturn static void watch(int end, const struct kura_edited *edited) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_NAME, "kura-terminal");
  int kept[] = {end, edited->terminal};
  kura_close_but(kept, sizeof kept / sizeof *kept);
  for (int fd = 0; fd <= 2; fd++)
    if (fd != edited->terminal) close(fd);
  char byte;
  while (read(end, &byte, 1) != 0) continue;
  if (tcgetpgrp(edited->terminal) == edited->process) {
    tcsetpgrp(edited->terminal, getpgrp());
    put_right(edited);
  }
  _exit(0);
}

/* A shell takes the terminal back itself from a job; one that runs a script has us in its own group. */
static void start_guard(struct kura_edited *edited) {
  int ends[2];
  if (getpgrp() == getpid() || pipe2(ends, O_CLOEXEC) != 0) return;
  edited->guardian = fork();
  if (edited->guardian == 0) {
    close(ends[1]);
    watch(ends[0], edited);
  }
  close(ends[0]);
  if (edited->guardian > 0) edited->guard = ends[1];
  else close(ends[1]);
}

int kura_edit_start(
    const char *program, const char *arguments, size_t count, int terminal, int passed,
    struct kura_edited *edited) {
  *edited = (struct kura_edited){.terminal = terminal, .signals = -1, .guard = -1};
  char **words = kura_split_words(arguments, count);
  if (!words) return -ENOMEM;
  edited->signals = signalfd(-1, &news, SFD_CLOEXEC | SFD_NONBLOCK);
  int failed = edited->signals < 0 ? -errno : 0;
  edited->has_settings = tcgetattr(terminal, &edited->settings) == 0;
  const struct order order = {program, words, terminal, passed};
  if (!failed) failed = kura_start_as(become, &order, &edited->process);
  free(words);
  if (failed) {
    tcsetpgrp(terminal, getpgrp());
    if (edited->signals >= 0) close(edited->signals);
  } else {
    start_guard(edited);
  }
  return failed;
}

// MARK: - Waiting

static void resume(const struct kura_edited *edited) {
  if (tcgetpgrp(edited->terminal) == getpgrp()) tcsetpgrp(edited->terminal, edited->process);
  kill(-edited->process, SIGCONT);
  kill(edited->process, SIGCONT);
}

/* The shell sees our whole group stopped, as it would see an editor that it had started. Whether `other` has told
   something meanwhile: then the editor does not go on. */
static bool stop_as_well(const struct kura_edited *edited, int other) {
  kill(0, SIGSTOP);
  struct pollfd news = {.fd = other, .events = POLLIN};
  if (poll(&news, 1, 0) > 0) return true;
  resume(edited);
  return false;
}

static void end_editor(const struct kura_edited *edited, int number) {
  kill(edited->process, number == SIGHUP ? SIGHUP : SIGTERM);
  kill(edited->process, SIGCONT);
}

enum state { RUNNING, ENDED, TOLD };

/* What the editor does now. */
static enum state look(struct kura_edited *edited, int other) {
  int status;
  pid_t found = waitpid(edited->process, &status, WNOHANG | WUNTRACED);
  if (found == edited->process && WIFSTOPPED(status)) {
    if (edited->interrupted) kill(edited->process, SIGKILL);
    else if (stop_as_well(edited, other)) return TOLD;
    return look(edited, other);
  }
  if (found == edited->process) {
    edited->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    edited->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return ENDED;
  }
  if (found == 0 || errno != ECHILD) return RUNNING;
  edited->status = 255;
  return ENDED;
}

static void take_signals(struct kura_edited *edited) {
  struct signalfd_siginfo about;
  while (read(edited->signals, &about, sizeof about) == sizeof about) {
    if (!is_end(&about)) continue;
    edited->interrupted = (int)about.ssi_signo;
    end_editor(edited, edited->interrupted);
  }
}

bool kura_edit_await(struct kura_edited *edited, int other) {
  enum state now;
  while ((now = look(edited, other)) == RUNNING) {
    struct pollfd each[2] = {
        {.fd = edited->signals, .events = POLLIN},
        {.fd = edited->interrupted ? -1 : other, .events = POLLIN}};
    int count = poll(each, 2, edited->interrupted ? 2000 : -1);
    if (count == 0) kill(edited->process, SIGKILL);
    if (count <= 0) continue;
    if (each[1].revents) return true;
    take_signals(edited);
  }
  return now == TOLD;
}

// MARK: - Ending

void kura_edit_end(struct kura_edited *edited) {
  int terminal = edited->terminal;
  if (tcgetpgrp(terminal) == edited->process) tcsetpgrp(terminal, getpgrp());
  if (edited->has_settings && tcgetpgrp(terminal) == getpgrp())
    tcsetattr(terminal, TCSADRAIN, &edited->settings);
  /* An editor that was killed leaves its own screen, its mouse and its cursor on (xterm's sequences). */
  if (edited->signal)
    kura_covering_show(terminal, "\033[?1049l\033[?2004l\033[?1000l\033[?1002l\033[?1004l\033[?1006l\033[?25h\033[m\r\n");
  close(edited->signals);
  if (edited->guard >= 0) {
    close(edited->guard);
    kura_child_wait(edited->guardian, 10000);
  }
  if (edited->interrupted) raise(edited->interrupted);
}

ptrdiff_t kura_real_path(const char *path, char *into, size_t capacity) {
  char real[PATH_MAX];
  if (!realpath(path, real)) return -errno;
  size_t count = strlen(real);
  if (count > capacity) return -ENAMETOOLONG;
  memcpy(into, real, count);
  return (ptrdiff_t)count;
}

ptrdiff_t kura_real_name(const char *program, char *into, size_t capacity) {
  char real[PATH_MAX];
  ptrdiff_t length = kura_real_path(program, real, sizeof real - 1);
  if (length < 0) return length;
  real[length] = 0;
  const char *name = strrchr(real, '/') + 1;
  size_t count = strlen(name);
  if (count > capacity) return -ENAMETOOLONG;
  memcpy(into, name, count);
  return (ptrdiff_t)count;
}
