// SPDX-License-Identifier: MIT

/* How every child of the client is started. Not for Swift. */
#ifndef KURA_SPAWNING_H
#define KURA_SPAWNING_H

#include <spawn.h>
#include <stddef.h>
#include <sys/types.h>

/* Has the child close every descriptor from `first` on that is open here and now; add it last.
   (Not every C library has posix_spawn_file_actions_addclosefrom_np.) */
void kura_spawn_closing_from(posix_spawn_file_actions_t *actions, int first);

/* Starts a program with an empty signal mask and default dispositions: a blocked mask would be
   inherited, and SIGTERM never arrive. 0 and its id, or a negated errno and 0. */
int kura_spawn(
    const char *program, char *const arguments[], char *const variables[], short flags,
    posix_spawn_file_actions_t *actions, int *process);

/* Forks; the child is to become another program by `become`, which returns an errno when it cannot.
   0 and its id, or a negated errno and 0. */
int kura_start_as(
    int (*become)(const void *order, pid_t parent), const void *order, int *process);

/* The words of a command line, each of which ends with a NUL, as execve(2) takes them; to be freed,
   NULL when no memory is left. */
char **kura_split_words(const char *arguments, size_t size);

/* In a child: closes all descriptors from 3 on but those that are kept. */
void kura_close_but(const int *kept, size_t count);

/* In a child: has execve(2) close every descriptor from `first` on. */
void kura_close_at_start(int first);

#endif
