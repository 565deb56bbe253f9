// SPDX-License-Identifier: MIT

/* A room for a command: what bubblewrap (bwrap(1)) starts, and what comes before and after it.
   Functions answer a descriptor or 0, or a negated errno. */
#ifndef KURA_ROOMING_H
#define KURA_ROOMING_H

/* Callers compare with its numbers. */
#include <errno.h>
#include <stddef.h>

/* What the room says through its descriptor once it stands. */
enum { KURA_ROOM_STANDS = 'R' };

/* A pipe, close-on-exec; the numbers of its ends are none of `taken`. */
int kura_room_pipe(int *_Nonnull ends, const int *_Nullable taken, size_t count);

/* Whether the room has said that it stands, or anything was said at all. */
int kura_room_stands(int fd);

/* Writes a filter of system calls to a file, for bwrap's --seccomp: no key rings, nothing typed at a terminal for
   somebody, no other limit of core files, and no calls of another architecture. */
int kura_room_write_filter(int fd);

/* Becomes bwrap: without variables, core files or descriptors but 0 to 2 and those in `kept`. Its arguments are `words`, `size`
   bytes with a NUL behind each word, then ours from `first` on. Where 0 is a terminal and `is_apart`, it is closed to the
   room. Answers only when that fails. */
int kura_room_enter(
    const char *_Nonnull program, const char *_Nonnull words, size_t size, int first,
    const int *_Nonnull kept, size_t count, int is_apart);

/* In the room: says that it stands, takes the terminal, keeps sockets and signals of outside away where the kernel can,
   and has the next program get no descriptors but 0 to 2 and those in `kept`. */
void kura_room_settle(int said, const int *_Nullable kept, size_t count);

/* The sockets below a directory at which a program listens: `visit` is given the path of each. */
void kura_room_visit_sockets(
    const char *_Nonnull directory, void *_Nonnull context,
    void (*_Nonnull visit)(void *_Nonnull context, const char *_Nonnull path));

#endif
