// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "asking.h"

#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

/* Our variables and the mark; NULL when no memory is left. */
static char **marked_environment(void) {
  size_t count = 0;
  while (environ && environ[count]) count++;
  char **marked = calloc(count + 2, sizeof *marked);
  if (!marked) return NULL;
  if (count) memcpy(marked, environ, count * sizeof *marked);
  marked[count] = KURA_ASKED_MARK "=1";
  return marked;
}

static int start(
    const char *program, const char *argument, int feeds, char *const variables[], int theirs,
    int *process) {
  posix_spawn_file_actions_t actions;
  int failed = -posix_spawn_file_actions_init(&actions);
  if (failed) return failed;
  posix_spawn_file_actions_adddup2(&actions, theirs, 1);
  if (feeds)
    posix_spawn_file_actions_adddup2(&actions, theirs, 0);
  else
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  kura_spawn_closing_from(&actions, 3);
  char *const arguments[] = {(char *)program, (char *)argument, NULL};
  failed = kura_spawn(program, arguments, variables, 0, &actions, process);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

int kura_start_asked(
    const char *program, const char *argument, int feeds, int inherits, struct kura_child *child) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  char *none[] = {NULL};
  char **variables = inherits ? marked_environment() : none;
  int failed = -ENOMEM;
  if (variables) failed = start(program, argument, feeds, variables, ends[1], &child->process);
  if (inherits) free(variables);
  close(ends[1]);
  if (failed) close(ends[0]);
  child->descriptor = failed ? -1 : ends[0];
  return failed;
}

void kura_end_feed(int fd) { shutdown(fd, SHUT_WR); }
