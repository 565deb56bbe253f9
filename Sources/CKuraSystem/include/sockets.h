// SPDX-License-Identifier: MIT

/* A client's end of the agent's socket. Counts and descriptors, or a negated errno. */
#ifndef KURA_SOCKETS_H
#define KURA_SOCKETS_H

/* Callers compare with its numbers. */
#include <errno.h>
#include <stddef.h>

/* What kura_agent_connect answers beside a descriptor and a negated errno. */
enum {
  KURA_DIRECTORY_UNSAFE = -10001, /* the socket's directory is not ours alone */
  KURA_PEER_FOREIGN = -10002,     /* another user listens there */
};

/* Connects to `agent.sock` in a directory that must be ours, 0700 and no symbolic link, through
   the checked directory's descriptor; then checks that the listener is of the same user.
   The descriptor is close-on-exec and does not block. */
int kura_agent_connect(const char *_Nonnull directory, int milliseconds);

/* The process that listens there, and whether it is stopped; 0 when that is not an agent's own. */
int kura_agent_process(const char *_Nonnull directory, int *_Nonnull stopped);

/* Sends some of the bytes, waiting at most `milliseconds` for room; never raises SIGPIPE. */
ptrdiff_t kura_socket_send(
    int fd, const void *_Nonnull bytes, size_t count, int milliseconds);

/* The same of a connection's first bytes: with them goes a pidfd_open(2) of this process, by which the agent knows
   that its number is no other's. */
ptrdiff_t kura_socket_send_first(
    int fd, const void *_Nonnull bytes, size_t count, int milliseconds);

/* Receives some bytes, waiting at most `milliseconds` for the first; 0 at the end. */
ptrdiff_t kura_socket_receive(int fd, void *_Nonnull into, size_t capacity, int milliseconds);

/* Whether a receive would not wait. */
int kura_socket_is_readable(int fd);

/* Lets a socket hold more of what is sent, for a long value in pieces. */
void kura_socket_widen(int fd);

void kura_socket_close(int fd);

#endif
