// SPDX-License-Identifier: MIT

/* Work in parts, on the calling thread and one other. */
#ifndef KURA_FORKJOIN_H
#define KURA_FORKJOIN_H

#include <stddef.h>

/* One part of the work; called on either thread, for different parts on both at once. */
typedef void (*kura_part)(void *context, size_t index);

/* Does parts 0 to count - 1, each once, the first one on the calling thread, and returns when all are
   done.

   The other thread is started when first needed, stands by afterwards, and wipes its stack before this
   returns. Where there is one processor, no thread to be had, or another caller under way, the calling
   thread does all parts. Nothing is handed over by the hundred microseconds that waking a thread takes:
   make parts of that size or larger. */
void kura_fork_join(size_t count, kura_part part, void *context);

#endif
