// SPDX-License-Identifier: MIT

/* The way out of a room to the agent: bytes alone, by read(2) and write(2).
   Functions answer a descriptor, 0 or a process id, or a negated errno. */
#ifndef KURA_BRIDGING_H
#define KURA_BRIDGING_H

/* Callers compare with its numbers. */
#include <errno.h>
#include <stddef.h>

/* Makes a directory for a socket, 0700, below `parent`, and listens there at `agent.sock`. Its path is written, with a
   NUL; the directory outlives the process. */
int kura_bridge_listen(const char *_Nonnull parent, char *_Nonnull path, size_t capacity);

/* Removes such a directory. */
void kura_bridge_remove(const char *_Nonnull path);

/* Goes on in a process of its own, too, where no signal but SIGKILL arrives, with `listener`, `end`, those in `kept`, and 0 to 2
   on nothing: 0 there, its id here. `end` comes to its end when all processes are gone that have the other end of it. */
int kura_bridge_part(
    int listener, const int *_Nullable kept, size_t count, int *_Nonnull end);

/* Waits for the next who connects, and carries bytes meanwhile, through `buffer`, which is wiped behind each. -EPIPE: `end`
   has come to its end. */
int kura_bridge_await(int listener, int end, void *_Nonnull buffer, size_t capacity);

/* Carries bytes between two sockets from now on, until one of them has come to its end. */
void kura_bridge_join(int inside, int outside);

/* Ends that process. */
_Noreturn void kura_bridge_leave(void);

#endif
