// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "hardware.h"

#include "events.h"
#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* In seconds: a TPM makes a key of RSA in half of that; a security key is touched twice. */
enum { LONGEST = 60 };

enum { MOST_VARIABLES = 2 };

/* Beside which one is wanted: whether what stands for its process is, too. Or in its place: that such a one is to end. */
enum { SHOWN = 0x40, ENDED = 0x20 };

/* As in headers of glibc from 2.36 on. */
enum { BY_PIDFD = 3 };

/* How each is started, and which variables say where what it speaks to is. */
static struct {
  const char *argument, *variables[MOST_VARIABLES], *program;
} helpers[KURA_HELPERS] = {
    [KURA_HARDWARE] = {NULL, {"KURA_TCTI", "KURA_FIDO2"}, NULL},
    [KURA_FINGER] = {"finger", {"DBUS_SYSTEM_BUS_ADDRESS", NULL}, NULL},
};

static int starter = -1;

/* A message of one byte, and a descriptor where it has one. */
struct parcel {
  struct msghdr message;
  struct iovec part;
  char word;
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
};

static void wrap(struct parcel *parcel) {
  parcel->part = (struct iovec){&parcel->word, 1};
  parcel->message = (struct msghdr){
      .msg_iov = &parcel->part,
      .msg_iovlen = 1,
      .msg_control = parcel->control.room,
      .msg_controllen = sizeof parcel->control.room};
}

/* The descriptor that comes with a word; -1 where none does. False where nobody says anything any more. */
static int receive(int from, char *word, int *given) {
  struct parcel parcel;
  wrap(&parcel);
  ssize_t got;
  do got = recvmsg(from, &parcel.message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const struct cmsghdr *head = got == 1 ? CMSG_FIRSTHDR(&parcel.message) : NULL;
  *given = -1;
  if (head && head->cmsg_type == SCM_RIGHTS) memcpy(given, CMSG_DATA(head), sizeof *given);
  *word = parcel.word;
  return got == 1;
}

static int hand(int to, char word, int given) {
  struct parcel parcel = {.word = word};
  wrap(&parcel);
  struct cmsghdr *head = CMSG_FIRSTHDR(&parcel.message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof given);
  memcpy(CMSG_DATA(head), &given, sizeof given);
  if (given < 0) parcel.message.msg_controllen = 0;
  return sendmsg(to, &parcel.message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static void limit(int what, rlim_t most) {
  const struct rlimit both = {most, most};
  setrlimit(what, &both);
}

static void become(int which, int end) {
  int nothing = open("/dev/null", O_RDWR);
  if (nothing < 0 || dup2(end, 0) < 0 || dup2(nothing, 1) < 0 || dup2(nothing, 2) < 0) _exit(126);
  kura_close_at_start(3);
  signal(SIGCHLD, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 32);
  limit(RLIMIT_CPU, LONGEST);
  limit(RLIMIT_AS, (rlim_t)1 << 30);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  alarm(LONGEST);
  char *const arguments[] = {(char *)helpers[which].program, (char *)helpers[which].argument, NULL};
  static char places[MOST_VARIABLES][512];
  char *variables[MOST_VARIABLES + 1] = {NULL};
  for (int each = 0, next = 0; each < MOST_VARIABLES; each++) {
    const char *name = helpers[which].variables[each], *wanted = name ? getenv(name) : NULL;
    int length = wanted ? snprintf(places[each], sizeof places[each], "%s=%s", name, wanted) : -1;
    if (length > 0 && (size_t)length < sizeof places[each]) variables[next++] = places[each];
  }
  execve(helpers[which].program, arguments, variables);
  _exit(127);
}

/* Ends a process of ours, and nobody else's: who asks for it may have been taken over. */
static void finish(int process) {
  siginfo_t unused;
  if (waitid((idtype_t)BY_PIDFD, (id_t)process, &unused, WEXITED | WNOHANG | WNOWAIT) != 0) return;
  syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0u);
}

static void serve(int from) {
  prctl(PR_SET_NAME, "kura-starter");
  /* Nobody waits for what is started. */
  signal(SIGCHLD, SIG_IGN);
  char which;
  for (int end; receive(from, &which, &end) && end >= 0; close(end)) {
    if (which == ENDED) {
      finish(end);
      continue;
    }
    pid_t child = fork();
    if (child != 0) continue;
    /* Its own hand: its number is nobody else's meanwhile. */
    if (which & SHOWN) hand(end, 0, kura_process_hold(getpid()));
    become(which & ~SHOWN, end);
  }
  _exit(0);
}

void kura_helper_name(int which, const char *program) {
  helpers[which].program = strdup(program);
}

int kura_helper_prepare(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    int nothing = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
    kura_close_but(&ends[1], 1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* Whatever ends the agent ends this; a terminal's keys are none of its business. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    serve(ends[1]);
  }
  int failed = child < 0 ? -errno : 0;
  close(ends[1]);
  if (failed) close(ends[0]);
  else starter = ends[0];
  return failed;
}

void kura_helper_end(int descriptor, int process) {
  shutdown(descriptor, SHUT_RDWR);
  /* We may end nobody ourselves, once we have become another. */
  if (process >= 0) hand(starter, ENDED, process);
}

static int start(int which, int *process) {
  if (starter < 0 || !helpers[which].program) return -ENOENT;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  char word = (char)(process ? which | SHOWN : which);
  int failed = hand(starter, word, ends[1]);
  close(ends[1]);
  if (!failed && process && !receive(ends[0], &word, process)) failed = -ECHILD;
  if (!failed) return ends[0];
  close(ends[0]);
  return failed;
}

int kura_helper_start(int which) { return start(which, NULL); }

int kura_helper_start_held(int which, int *process) {
  *process = -1;
  return start(which, process);
}
