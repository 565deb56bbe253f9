// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "networking.h"

#include "process.h"
#include "rooming.h"
#include "spawning.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int kura_network_begin(struct kura_network *network, const int *taken, unsigned long count) {
  int ends[2];
  int failed = kura_room_pipe(ends, taken, count);
  if (failed) return failed;
  network->hearing = ends[0];
  network->telling = ends[1];
  failed = kura_room_pipe(ends, taken, count);
  if (failed) return failed;
  network->awaiting = ends[0];
  network->arriving = ends[1];
  failed = kura_room_pipe(ends, taken, count);
  network->waiting = ends[0];
  network->going = ends[1];
  return failed;
}

/* bwrap says `{ "child-pid": NUMBER … }`. */
static pid_t hear_child(int fd) {
  static const char title[] = "\"child-pid\":";
  char said[512];
  size_t count = 0;
  for (ssize_t got; count < sizeof said - 1; count += (size_t)got) {
    got = read(fd, said + count, sizeof said - 1 - count);
    if (got < 0 && errno == EINTR) got = 0;
    else if (got <= 0) return -1;
    said[count + (size_t)got] = 0;
    if (strchr(said, '}')) break;
  }
  const char *place = strstr(said, title);
  return place ? atoi(place + sizeof title - 1) : -1;
}

/* Becomes the carrier; it says through `ready` that it carries. */
_Noreturn static void become(const char *program, int kind, pid_t child, int ready, int words, pid_t parent) {
  char process[16], number[16], place[32];
  snprintf(process, sizeof process, "%d", child);
  snprintf(number, sizeof number, "%d", ready);
  snprintf(place, sizeof place, "/proc/self/fd/%d", ready);
  char *slirp[] = {"slirp4netns", "--configure", "--mtu=65520", "--disable-host-loopback", "--disable-dns", "--enable-sandbox",
                   "--enable-seccomp", "--ready-fd", number, process, "tap0", NULL};
  char *pasta[] = {"pasta", "--foreground", "--config-net", "--no-map-gw", "--quiet", "-t", "none", "-u", "none",
                   "-T", "none", "-U", "none", "--pid", place, process, NULL, NULL, NULL};
  /* Else it would become nobody, who may not look at the room. */
  if (geteuid() == 0) memcpy(pasta + 15, (char *[]){"--runas", "0", process}, 3 * sizeof *pasta);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (words >= 0) dup2(words, 2);
  kura_close_but(&ready, 1);
  fcntl(ready, F_SETFD, 0);
  execv(program, kind == KURA_SLIRP ? slirp : pasta);
  _exit(127);
}

/* What it says is of interest where it comes to nothing. */
static void pass_words(int words, int errors) {
  char said[1024];
  ssize_t count = words < 0 ? 0 : pread(words, said, sizeof said, 0);
  if (count <= 0 || errors < 0) return;
  ssize_t ignored = write(errors, said, (size_t)count);
  (void)ignored;
}

static pid_t start(const char *program, int kind, pid_t child, int errors) {
  int ready[2], words = memfd_create("words", MFD_CLOEXEC);
  if (pipe2(ready, O_CLOEXEC) != 0) return -errno;
  pid_t parent = getpid(), carrier = fork();
  if (carrier == 0) become(program, kind, child, ready[1], words, parent);
  close(ready[1]);
  char byte;
  ssize_t got = 0;
  if (carrier > 0) {
    do got = read(ready[0], &byte, 1);
    while (got < 0 && errno == EINTR);
  }
  close(ready[0]);
  bool carries = carrier < 0 || got == 1;
  if (!carries) pass_words(words, errors);
  if (words >= 0) close(words);
  if (carries) return carrier;
  kura_network_end(carrier);
  return -EIO;
}

int kura_network_carry(struct kura_network *network, const char *program, int kind, int errors) {
  pid_t child = hear_child(network->hearing), carrier = -ECHILD;
  char byte;
  /* Not before: bwrap sets its loopback up, and would find that it is up. */
  if (child > 0 && read(network->awaiting, &byte, 1) == 1) carrier = start(program, kind, child, errors);
  if (carrier > 0) {
    ssize_t ignored = write(network->going, "\n", 1);
    (void)ignored;
  }
  close(network->hearing);
  close(network->awaiting);
  close(network->going);
  return carrier;
}

int kura_network_opens(void) {
  int device = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  if (device < 0) return 0;
  close(device);
  return 1;
}

void kura_network_end(int carrier) {
  if (carrier <= 0) return;
  kill(carrier, SIGKILL);
  kura_child_wait(carrier, INT_MAX);
}
