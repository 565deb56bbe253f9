// SPDX-License-Identifier: MIT

/* How every child of the client is started. Not for Swift. */
#ifndef KURA_SPAWNING_H
#define KURA_SPAWNING_H

#include <spawn.h>
#include <stddef.h>

/* Has the child close every descriptor from `first` on that is open here and now; add it last.
   (Not every C library has posix_spawn_file_actions_addclosefrom_np.) */
void kura_spawn_closing_from(posix_spawn_file_actions_t *actions, int first);

/* Starts a program with an empty signal mask and default dispositions: a blocked mask would be
   inherited, and SIGTERM never arrive. 0 and its id, or a negated errno and 0. */
int kura_spawn(
    const char *program, char *const arguments[], char *const variables[], short flags,
    posix_spawn_file_actions_t *actions, int *process);

/* In a child: closes all descriptors from 3 on but those that are kept. */
void kura_close_but(const int *kept, size_t count);

/* In a child: has execve(2) close every descriptor from `first` on. */
void kura_close_at_start(int first);

#endif
