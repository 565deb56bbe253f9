// SPDX-License-Identifier: MIT

/* A file by which a program shows that it runs: a record lock names its holder, and dies with it. */
#ifndef KURA_MARKS_H
#define KURA_MARKS_H

/* Holds the mark at `path`, in `directory`, which is made (0700) with its parent where it is missing. A descriptor
   to keep open, -EBUSY where another process holds it, or another negated errno. */
int kura_mark_take(
    const char *_Nonnull parent, const char *_Nonnull directory, const char *_Nonnull path);

/* The process that holds the mark; 0 for none. The mark is not touched. */
int kura_mark_holder(const char *_Nonnull path);

#endif
