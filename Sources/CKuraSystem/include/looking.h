// SPDX-License-Identifier: MIT

/* Looking at what a file system may never answer about. */
#ifndef KURA_LOOKING_H
#define KURA_LOOKING_H

#include <stdint.h>

/* What stands at a path. */
struct kura_look {
  /* Whether we may read it. */
  int is_readable;
  /* The length of a regular file; negative for anything else, a link among it. */
  int64_t size;
};

/* Looks what stands at a path, and waits `milliseconds` for it: 0, also where nothing stands there; -ETIMEDOUT, where the
   system call goes on, on a thread of its own, with -EBUSY until it is back; or what went wrong, as a negated errno. */
int kura_look_at(const char *_Nonnull path, int milliseconds, struct kura_look *_Nonnull look);

#endif
