// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "covering.h"

#include "editing.h"
#include "process.h"
#include "spawning.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// MARK: - Processes

struct seen {
  pid_t process, parent, group;
  char state;
  /* Tells it from a later one of its number. */
  unsigned long long start;
};

/* What stands still because of us, those before what they started. Allocated when it is needed: the pages of the
   program's own data are all touched whenever a command starts. */
enum { MOST_STOPPED = 4096 };
static struct seen *stopped;
static size_t stopped_count;

/* As proc_pid_stat(5) has it; a name may hold blanks and brackets. */
static bool look_at(pid_t process, struct seen *seen) {
  char path[40], line[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t count = read(fd, line, sizeof line - 1);
  close(fd);
  if (count <= 0) return false;
  line[count] = 0;
  const char *rest = strrchr(line, ')');
  seen->process = process;
  return rest
         && sscanf(
                rest + 1,
                " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                &seen->state, &seen->parent, &seen->group, &seen->start)
                == 4;
}

/* All there are; to be freed. */
static struct seen *list(size_t *count) {
  struct seen *all = NULL;
  size_t room = 0;
  *count = 0;
  DIR *entries = opendir("/proc");
  if (!entries) return NULL;
  for (const struct dirent *entry; (entry = readdir(entries));) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    if (*count == room) {
      struct seen *larger = realloc(all, (room += 512) * sizeof *all);
      if (!larger) break;
      all = larger;
    }
    if (look_at(atoi(entry->d_name), &all[*count])) ++*count;
  }
  closedir(entries);
  return all;
}

static size_t take(struct seen *all, size_t found, size_t index) {
  struct seen taken = all[index];
  all[index] = all[found];
  all[found] = taken;
  return found + 1;
}

/* Puts `top`, its group, and what these have started, with their groups, first, each before what it started; how
   many they are. */
static size_t gather(struct seen *all, size_t count, pid_t top) {
  size_t found = 0;
  for (size_t i = found; i < count; i++)
    if (all[i].process == top) found = take(all, found, i);
  for (size_t i = found; i < count; i++)
    if (all[i].group == top) found = take(all, found, i);
  for (size_t next = 0; next < found; next++)
    for (size_t i = found; i < count; i++)
      if (all[i].parent == all[next].process || all[i].group == all[next].process)
        found = take(all, found, i);
  return found;
}

static bool stands(char state) { return state == 'T' || state == 't' || state == 'Z' || state == 'X'; }

static bool is_same(const struct seen *known) {
  struct seen now;
  return look_at(known->process, &now) && now.start == known->start;
}

static bool is_noted(const struct seen *seen) {
  for (size_t i = 0; i < stopped_count; i++)
    if (stopped[i].process == seen->process && stopped[i].start == seen->start) return true;
  return false;
}

/* One that waits for a disk stops when that answers, before it does anything else. */
static void await_stop(pid_t process, int *patience) {
  struct seen now;
  while (look_at(process, &now) && !stands(now.state) && now.state != 'D' && *patience > 0) {
    poll(NULL, 0, 1);
    --*patience;
  }
}

static void send(int number) {
  for (size_t i = stopped_count; i-- > 0;)
    if (is_same(&stopped[i])) kill(stopped[i].process, number);
}

// MARK: - When we are killed

static int guard = -1;
static pid_t guardian;

/* Else the kernel would have a group go on whose parent is gone, and show its text. */
static void start_guard(int top) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  guardian = fork();
  if (guardian == 0) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_NAME, "kura-cover");
    kura_close_but(ends, 1);
    for (int fd = 0; fd <= 2; fd++)
      if (fd != ends[0]) close(fd);
    char byte;
    ssize_t got;
    do got = read(ends[0], &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 0) kura_covering_kill(top);
    _exit(0);
  }
  close(ends[0]);
  if (guardian > 0) guard = ends[1];
  else close(ends[1]);
}

static void end_guard(void) {
  if (guard < 0) return;
  ssize_t ignored = write(guard, "", 1);
  (void)ignored;
  close(guard);
  guard = -1;
  kura_child_wait(guardian, 10000);
}

// MARK: - Stopping

bool kura_covering_stop(int top, int front, void (*erase)(int terminal), int terminal) {
  /* How long it may take in all, in ms: nothing that we show waits for it. */
  int patience = 2000;
  bool is_front = front == top || front == getpgrp();
  kill(-top, SIGSTOP);
  if (is_front) erase(terminal);
  stopped_count = 0;
  if (!stopped) stopped = malloc(MOST_STOPPED * sizeof *stopped);
  /* What is not stopped yet may have started more meanwhile. */
  for (int rounds = 0; rounds < 16; rounds++) {
    size_t count, before = stopped_count;
    struct seen *all = list(&count);
    size_t found = stopped ? gather(all, count, top) : 0;
    for (size_t i = 0; i < found; i++) {
      if (!is_front && all[i].group == front) {
        is_front = true;
        erase(terminal);
      }
      if (stands(all[i].state) && all[i].group != top) continue;
      if (is_noted(&all[i]) || stopped_count == MOST_STOPPED) continue;
      stopped[stopped_count++] = all[i];
      kill(all[i].process, SIGSTOP);
      /* A shell that saw its job stop would say so, and go on. */
      await_stop(all[i].process, &patience);
    }
    free(all);
    if (stopped_count == before) break;
  }
  start_guard(top);
  return is_front;
}

void kura_covering_continue(int top) {
  end_guard();
  /* It is there when they go on, and interrupts what they wait in: a little later it might come between two waits. */
  send(SIGWINCH);
  send(SIGCONT);
  kill(-top, SIGCONT);
  stopped_count = 0;
}

void kura_covering_kill(int top) {
  end_guard();
  send(SIGKILL);
  kill(-top, SIGKILL);
  stopped_count = 0;
}

// MARK: - The terminal

static int has_cursor(void) {
  const char *kind = getenv("TERM");
  return kind && *kind && strcmp(kind, "dumb") != 0;
}

void kura_covering_show(int terminal, const char *words) {
  if (!has_cursor()) return;
  ssize_t ignored = write(terminal, words, strlen(words));
  (void)ignored;
}

/* From the last cell back to the first: what is erased forwards, some terminals keep in their scrollback. */
#define ERASE "\033[m\033[r\033[9999;9999H\033[1J\033[H"
/* Mouse, focus and pasting in brackets, which would be typed as keys. */
#define MODES "\033[?1000;1002;1003;1004;1006;2004"

static void erase(int terminal) { kura_covering_show(terminal, ERASE); }

void kura_edit_cover(struct kura_edited *edited) {
  int front = tcgetpgrp(edited->terminal);
  bool is_front = kura_covering_stop(edited->process, front, erase, edited->terminal);
  /* That it has stopped is no news any more. */
  siginfo_t about;
  waitid(P_PID, (id_t)edited->process, &about, WSTOPPED | WNOHANG);
  edited->front = 0;
  /* Where another program has the terminal, it keeps it. */
  if (!is_front) return;
  edited->front = front == getpgrp() ? edited->process : front;
  tcsetpgrp(edited->terminal, getpgrp());
  edited->has_theirs = tcgetattr(edited->terminal, &edited->theirs) == 0;
  if (edited->has_settings) tcsetattr(edited->terminal, TCSAFLUSH, &edited->settings);
  kura_covering_show(edited->terminal, MODES "s" MODES "l\033[?25h" ERASE);
}

void kura_edit_uncover(struct kura_edited *edited) {
  if (edited->front > 0 && tcgetpgrp(edited->terminal) == getpgrp()) {
    kura_covering_show(edited->terminal, ERASE MODES "r");
    if (edited->has_theirs) tcsetattr(edited->terminal, TCSAFLUSH, &edited->theirs);
    if (tcsetpgrp(edited->terminal, edited->front) != 0) tcsetpgrp(edited->terminal, edited->process);
  }
  kura_covering_continue(edited->process);
}

void kura_edit_drop(struct kura_edited *edited) {
  kura_covering_kill(edited->process);
  kura_covering_show(edited->terminal, ERASE);
}
