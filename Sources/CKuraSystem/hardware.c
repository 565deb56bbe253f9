// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "hardware.h"

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
#include <unistd.h>

/* In seconds: a TPM makes a key of RSA in half of that; a security key is touched twice. */
enum { LONGEST = 60 };

enum { MOST_VARIABLES = 2 };

/* How each is started, and which variables say where what it speaks to is. */
static struct {
  const char *argument, *variables[MOST_VARIABLES], *program;
} helpers[KURA_HELPERS] = {
    [KURA_HARDWARE] = {NULL, {"KURA_TCTI", "KURA_FIDO2"}, NULL},
    [KURA_FINGER] = {"finger", {"DBUS_SYSTEM_BUS_ADDRESS", NULL}, NULL},
};

static int starter = -1;

static int receive(int from, char *word) {
  struct iovec part = {word, 1};
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
  ssize_t got;
  do got = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const struct cmsghdr *head = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
  if (!head || head->cmsg_type != SCM_RIGHTS) return -1;
  int given;
  memcpy(&given, CMSG_DATA(head), sizeof given);
  return given;
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

static void serve(int from) {
  prctl(PR_SET_NAME, "kura-starter");
  /* Nobody waits for what is started. */
  signal(SIGCHLD, SIG_IGN);
  char which;
  for (int end; (end = receive(from, &which)) >= 0; close(end)) {
    pid_t child = fork();
    if (child == 0) become(which, end);
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

void kura_hardware_hang_up(int descriptor) { shutdown(descriptor, SHUT_RDWR); }

int kura_helper_start(int which) {
  if (starter < 0 || !helpers[which].program) return -ENOENT;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  char word = (char)which;
  struct iovec part = {&word, 1};
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {0};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &ends[1], sizeof(int));
  int failed = sendmsg(starter, &message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
  close(ends[1]);
  if (!failed) return ends[0];
  close(ends[0]);
  return failed;
}
