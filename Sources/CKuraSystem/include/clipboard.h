// SPDX-License-Identifier: MIT

/* Programs that hold a display's clipboard, and the process that clears it later.
   Functions answer a descriptor, a process or 0, or a negated errno. */
#ifndef KURA_CLIPBOARD_H
#define KURA_CLIPBOARD_H

#include "process.h"

#include <stddef.h>

/* Which end of a program is our socket; the other standard descriptors are /dev/null. */
enum { KURA_CLIP_FEEDS = 0, KURA_CLIP_LISTENS = 1 };

/* Starts `program` with `arguments`, `count` bytes with a NUL behind each, its own name first, in a
   process session of its own: it outlives us and the terminal. No core dumps, files 0600, and
   temporary files in `directory` where that is not NULL. */
int kura_clip_start(
    const char *_Nonnull program, const char *_Nonnull arguments, size_t count, int end,
    const char *_Nullable directory, struct kura_child *_Nonnull child);

/* Sends that program away, whatever it does. */
void kura_clip_end(int process);

/* Goes on in a process of its own, too: in / and without descriptors, but for a terminal that is
   stderr, and for *ready. There 0; in the caller the process, and *ready reads a byte when that has
   used kura_clip_ready(). */
int kura_clip_detach(int *_Nonnull ready);
void kura_clip_ready(int ready);
/* Ends that process. */
_Noreturn void kura_clip_leave(void);

/* Takes the file at `path` for this process as long as it runs. Whoever has it is ended first. */
int kura_clip_take(const char *_Nonnull directory, const char *_Nonnull path);

#endif
