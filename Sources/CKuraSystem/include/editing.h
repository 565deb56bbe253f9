// SPDX-License-Identifier: MIT

/* The editor that a person works in, at our terminal. */
#ifndef KURA_EDITING_H
#define KURA_EDITING_H

#include <stddef.h>

/* How an editor ended. */
struct kura_edited {
  /* Its exit status, or the signal that ended it. */
  int status, signal;
  /* The signal that was to end us, and has ended it; 0: none. It comes again at kura_editing_end. */
  int interrupted;
};

/* From here on no signal ends or stops us that a terminal or another process sends, until
   kura_editing_end: what has come meanwhile acts then. */
void kura_editing_begin(void);
void kura_editing_end(void);

/* Runs `program` at `terminal`, in our own process group, and waits for its end. `arguments` are
   `count` bytes with a NUL behind each, its own name first. It gets mask, limits and signals as the user
   had them, no descriptors of ours but the standard ones, which are the terminal where they are no
   terminal, and `passed` (-1: none), and ends when we do, however that is. When it stops, so do we;
   SIGTERM and SIGHUP go to it; Ctrl-C is its own affair. The terminal's settings and foreground group
   are afterwards as they were. 0, or a negated errno when it was not started. */
int kura_edit(
    const char *_Nonnull program, const char *_Nonnull arguments, size_t count, int terminal,
    int passed, struct kura_edited *_Nonnull edited);

/* The name of the file that a program really is, links followed, without a terminator; its length. */
ptrdiff_t kura_real_name(const char *_Nonnull program, char *_Nonnull into, size_t capacity);

#endif
