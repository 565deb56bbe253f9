// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "spawning.h"

#include <signal.h>

int kura_spawn(
    const char *program, char *const arguments[], char *const variables[], short flags,
    posix_spawn_file_actions_t *actions, int *process) {
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int failed = posix_spawnattr_init(&attributes);
  if (failed) return -failed;
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(
      &attributes, (short)(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  pid_t started = 0;
  failed = posix_spawn(&started, program, actions, &attributes, arguments, variables);
  posix_spawnattr_destroy(&attributes);
  *process = failed ? 0 : started;
  return -failed;
}
