// SPDX-License-Identifier: MIT

/* Becoming another program, and the files in memory that it is given.
   Functions answer a descriptor or 0, or a negated errno. */
#ifndef KURA_LAUNCHING_H
#define KURA_LAUNCHING_H

/* Callers compare with its numbers. */
#include <errno.h>
#include <stddef.h>

/* One variable of the environment, `NAME=VALUE`, alive until the process ends; NULL behind the
   last. */
const char *_Nullable kura_variable(int index);

int kura_process_id(void);

/* An empty file in memory, 0600, close-on-exec, that no directory holds. Its number is at least
   `least`: scripts use the small ones. */
int kura_memory_file_create(int least);

/* Empties it. */
int kura_memory_file_empty(int fd);

/* Ends all changes, whoever opens it, and goes back to its first byte. */
int kura_memory_file_seal(int fd);

/* Hands a descriptor on to the next program, under its own or another number. */
int kura_descriptor_pass(int fd, int number);

/* Another descriptor for the same, close-on-exec. */
int kura_descriptor_copy(int fd);

/* Keeps a descriptor from the next program. */
void kura_descriptor_withhold(int fd);

/* Reading from this descriptor comes to its end at once; 0. */
int kura_descriptor_exhaust(int fd);

/* What kura_execute answers beside a negated errno: the file is there, what is to run it is not. */
enum { KURA_INTERPRETER_MISSING = -10003 };

/* Becomes the program that our arguments from `first` on call for, in the process that the user
   started: mask, limits and signals as they were before kura_harden_process(), descriptors 0 to 2
   closed where they were. The environment: `variables`, `count` bytes of `NAME=VALUE` with a NUL
   behind each, no name twice; where `inherits` is set also ours, less those names. A name without
   a / is looked for along the PATH that the program gets, else along ours.
   Answers only when it fails: -ENOENT when there is no such program. */
int kura_execute(int first, const char *_Nullable variables, size_t count, int inherits);

#endif
