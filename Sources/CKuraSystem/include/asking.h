// SPDX-License-Identifier: MIT

/* Programs that are started to answer one question and end: kura-strength, and what KURA_ASKPASS
   names. */
#ifndef KURA_ASKING_H
#define KURA_ASKING_H

#include "process.h"

/* Set in the environment of a program that asks a person: a kura that finds it never asks. */
#define KURA_ASKED_MARK "KURA_ASKED"

/* Starts `program` with its stdout, and where `feeds` is set its stdin, on our socket; otherwise
   its stdin is /dev/null. `argument` is its only one, or NULL. Our environment goes with it where
   `inherits` is set, with the mark; else none. 0 or a negated errno. */
int kura_start_asked(
    const char *_Nonnull program, const char *_Nullable argument, int feeds, int inherits,
    struct kura_child *_Nonnull child);

/* Tells the program that nothing more comes. */
void kura_end_feed(int fd);

#endif
