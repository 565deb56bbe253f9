// SPDX-License-Identifier: MIT

/* What the program was started with: Embedded Swift has no CommandLine. */
#ifndef KURA_ARGUMENTS_H
#define KURA_ARGUMENTS_H

/* exit(3), strlen(3) and memcmp(3) come along. */
#include <stdlib.h>
#include <string.h>

/* How many arguments there are, the program's name included. */
int kura_argument_count(void);

/* One argument, alive until the process ends; NULL outside 0 ..< count. */
const char *_Nullable kura_argument(int index);

/* The arguments from one on, NULL behind the last; NULL outside 0 ..< count. */
char *const _Nonnull *_Nullable kura_arguments(int first);

/* A variable of the environment (getenv(3)), or NULL. */
const char *_Nullable kura_environment(const char *_Nonnull name);

/* What the build linked in, as NAME=VERSION with commas between. */
const char *_Nonnull kura_linked(void);

/* Fills descriptors 0 to 2 where they were closed, so that no file or socket of ours gets one of
   those numbers; reading from 0 and writing to 1 still fail. */
void kura_fill_descriptors(void);

/* Whether a descriptor from 0 to 2 was filled. */
int kura_is_filled(int fd);

/* Closes them again for the program that this one becomes. */
void kura_unfill_descriptors(void);

#endif
