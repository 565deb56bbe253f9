// SPDX-License-Identifier: MIT

/* The network of a room: a program of its own that carries it, and lets it nowhere near this machine's loopback.
   Functions answer a descriptor, 0 or a process id, or a negated errno. */
#ifndef KURA_NETWORKING_H
#define KURA_NETWORKING_H

/* Callers compare with its numbers. */
#include <errno.h>

/* What carries it. */
enum { KURA_SLIRP = 1, KURA_PASTA = 2 };

/* What bwrap and the process beside it share: bwrap tells its child's number through `telling`; the child says through
   `arriving` that it is where its network is to be, and is let go on through `waiting`. */
struct kura_network {
  int telling, hearing;
  int arriving, awaiting;
  int waiting, going;
};

/* Makes the pipes, close-on-exec; their ends have none of the numbers `taken`. */
int kura_network_begin(
    struct kura_network *_Nonnull network, const int *_Nullable taken, unsigned long count);

/* In the process beside bwrap: has `program`, which is `kind`, carry the network of bwrap's child, and the child go on: the id
   of the carrier. Where it comes to nothing, its words go to `errors`, and the child is told by the end of its pipe. */
int kura_network_carry(
    struct kura_network *_Nonnull network, const char *_Nonnull program, int kind, int errors);

/* Whether this user can open the device that a carrier makes the network of. */
int kura_network_opens(void);

/* Ends the carrier. */
void kura_network_end(int carrier);

#endif
