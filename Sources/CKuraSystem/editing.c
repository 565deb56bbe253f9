// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "editing.h"

#include "memory.h"
#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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
  /* An editor may leave the terminal to a group of its own; we take it back from the background. */
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

/* Ctrl-C and Ctrl-\ come from the terminal, to the editor as well; kill(1) says whom it means. */
static int is_end(int number, const siginfo_t *about) {
  struct sigaction set;
  if (number == SIGCHLD || number == SIGTSTP) return 0;
  if (sigaction(number, NULL, &set) != 0 || set.sa_handler == SIG_IGN) return 0;
  return (number != SIGINT && number != SIGQUIT) || about->si_code != SI_KERNEL;
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

// MARK: - Waiting

/* The shell sees us stopped, as it would see an editor that it had started. */
static void stop_as_well(pid_t editor, int terminal) {
  pid_t front = tcgetpgrp(terminal);
  raise(SIGSTOP);
  if (front == editor && tcgetpgrp(terminal) == getpgrp()) tcsetpgrp(terminal, front);
  kill(editor, SIGCONT);
}

static void end_editor(pid_t editor, int number) {
  kill(editor, number == SIGHUP ? SIGHUP : SIGTERM);
  kill(editor, SIGCONT);
}

static void await(pid_t editor, int terminal, struct kura_edited *edited) {
  const struct timespec patience = {.tv_sec = 2};
  for (;;) {
    int status;
    pid_t found = waitpid(editor, &status, WNOHANG | WUNTRACED);
    if (found == editor && WIFSTOPPED(status)) {
      if (edited->interrupted) kill(editor, SIGKILL);
      else stop_as_well(editor, terminal);
      continue;
    }
    if (found == editor) {
      edited->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
      edited->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      return;
    }
    if (found < 0 && errno == ECHILD) {
      edited->status = 255;
      return;
    }
    siginfo_t about;
    int number = sigtimedwait(&news, &about, edited->interrupted ? &patience : NULL);
    if (number < 0 && errno == EAGAIN) kill(editor, SIGKILL);
    if (number < 0 || !is_end(number, &about)) continue;
    edited->interrupted = number;
    end_editor(editor, number);
  }
}

/* An editor that was killed leaves its own screen, its mouse and its cursor on (xterm's sequences). */
static void calm(int terminal) {
  static const char words[] =
      "\033[?1049l\033[?2004l\033[?1000l\033[?1002l\033[?1004l\033[?1006l\033[?25h\033[m\r\n";
  const char *kind = getenv("TERM");
  if (!kind || !*kind || strcmp(kind, "dumb") == 0) return;
  ssize_t ignored = write(terminal, words, sizeof words - 1);
  (void)ignored;
}

int kura_edit(
    const char *program, const char *arguments, size_t count, int terminal, int passed,
    struct kura_edited *edited) {
  *edited = (struct kura_edited){0};
  char **words = kura_split_words(arguments, count);
  if (!words) return -ENOMEM;
  struct termios settings;
  int has_settings = tcgetattr(terminal, &settings) == 0;
  const struct order order = {program, words, terminal, passed};
  pid_t editor;
  int failed = kura_start_as(become, &order, &editor);
  free(words);
  if (failed) return failed;
  await(editor, terminal, edited);
  if (tcgetpgrp(terminal) == editor) tcsetpgrp(terminal, getpgrp());
  if (has_settings && tcgetpgrp(terminal) == getpgrp()) tcsetattr(terminal, TCSADRAIN, &settings);
  if (edited->signal) calm(terminal);
  if (edited->interrupted) raise(edited->interrupted);
  return 0;
}

ptrdiff_t kura_real_name(const char *program, char *into, size_t capacity) {
  char real[PATH_MAX];
  if (!realpath(program, real)) return -errno;
  const char *name = strrchr(real, '/') + 1;
  size_t count = strlen(name);
  if (count > capacity) return -ENAMETOOLONG;
  memcpy(into, name, count);
  return (ptrdiff_t)count;
}
