// SPDX-License-Identifier: MIT

/*
 * The agent's system calls: readiness, clocks, signals and the server side of its socket.
 *
 * Unless said otherwise a function returns a descriptor or a count, or a negated errno. Every
 * descriptor is close-on-exec and does not block.
 */
#ifndef KURA_EVENTS_H
#define KURA_EVENTS_H

#include <stddef.h>
#include <stdint.h>

/* What a descriptor is watched for, and what it is ready for. Hang-up is always watched. */
enum { KURA_READABLE = 1, KURA_WRITABLE = 2, KURA_HUNG_UP = 4 };

/* One readiness; `token` is what kura_events_add was given. */
struct kura_event {
  uint64_t token;
  uint32_t ready;
};

int kura_events_create(void);
int kura_events_add(int events, int fd, uint32_t interest, uint64_t token);
int kura_events_change(int events, int fd, uint32_t interest, uint64_t token);
int kura_events_remove(int events, int fd);
/* Waits at most `milliseconds` (negative: for ever); 0 also when a signal interrupted it. */
int kura_events_wait(int events, struct kura_event *out, int capacity, int64_t milliseconds);

/* The three clocks at one time, in milliseconds; `wall` since 1970, the others since boot. */
struct kura_moment {
  uint64_t boot;
  uint64_t monotonic;
  uint64_t wall;
};

void kura_moment_now(struct kura_moment *now);

/* A timer on CLOCK_BOOTTIME, which counts sleep and does not follow the wall clock. */
int kura_timer_create(void);
/* Fires at `boot` milliseconds since boot, at once when that has passed; 0 disarms. */
int kura_timer_set(int timer, uint64_t boot);

/* Readable when the machine woke up or the wall clock was set: the kernel cancels the timer. */
int kura_wakeup_create(void);
/* Takes the notice and watches for the next one. */
int kura_wakeup_rearm(int wakeup);

/* Blocks SIGTERM, SIGHUP and SIGINT for the process and its later threads, and reads them. */
int kura_signals_create(void);
/* The next signal's number, or 0 when none is pending. */
int kura_signals_next(int signals);

/* From now on SIGTERM, SIGHUP and SIGINT end the process with status 0, whatever it is at; one that
   whoever started it has had ignored stays so. */
void kura_signals_end_well(void);

/* A counter that another thread posts to. */
int kura_notice_create(void);
int kura_notice_post(int notice);
/* Blocks until the notice was posted to, or that long unless negative, and empties it. */
void kura_notice_await(int notice, int milliseconds);
/* Empties a notice, a timer or a watch after it became readable. */
void kura_descriptor_drain(int fd);

/* Watches what happens to the names in a directory, and to the directory itself. */
int kura_directory_watch(int directory);

/* Device and inode of a file, by path bytes that need no terminator; symbolic links followed. */
int kura_file_identity(const void *path, size_t count, uint64_t *device, uint64_t *inode);

/* Opens a directory of our own; -EPERM unless it is ours and 0700, -ELOOP for a symbolic link. */
int kura_server_directory(const char *path);
/* Takes `agent.lock` in the directory for the life of the descriptor, or -EWOULDBLOCK. */
int kura_server_lock(int directory);
/* Whether somebody listens at `agent.sock` in the directory: 1, 0, or a negated errno. */
int kura_server_probe(int directory);
/* Replaces `agent.sock` by a socket of our own, 0600, that listens. */
int kura_server_listen(int directory);
/* Device and inode of `agent.sock`, symbolic links not followed. */
int kura_server_identity(int directory, uint64_t *device, uint64_t *inode);
/* Removes `agent.sock`. */
int kura_server_unlink(int directory);

/* The next connection, with its peer's user and process, or -EAGAIN. */
int kura_server_accept(int listener, uint32_t *user, int32_t *process);
/* Makes an inherited socket close-on-exec and non-blocking; -ENOTSOCK when it is none. */
int kura_server_adopt(int fd, uint32_t *user, int32_t *process);
/* Makes an inherited socket close-on-exec and non-blocking; with `listens`, -EINVAL unless it
   listens. */
int kura_server_inherit(int fd, int listens);
/* Bytes taken; 0 at the end of the stream. */
ptrdiff_t kura_server_receive(int fd, void *into, size_t capacity);
/* The same of a client's first bytes, with the process that sent them, as the kernel noted it, 0 where it did
   not, and the descriptor that was handed over with them, or -1. */
ptrdiff_t kura_server_receive_first(
    int fd, void *into, size_t capacity, int32_t *sender, int *handed);
/* Bytes sent; never raises SIGPIPE. */
ptrdiff_t kura_server_send(int fd, const void *bytes, size_t count);

/* Whether the client has closed its end: not one that only sends no more. */
int kura_server_has_hung_up(int fd);

/* Whether the process that connected has not ended, so that its number is still its own: 1 or 0;
   -ENOPROTOOPT where the kernel does not tell. */
int kura_server_peer_is_there(int fd);

/* Opens a descriptor that is readable once a process has ended; no other gets its number before that is seen.
   Takes Linux 5.3. */
int kura_process_hold(int process);
/* Whether such a process has ended: 1 or 0. */
int kura_process_has_ended(int held);

/* Whether a whole data frame of 64 KiB fits into what waits in the socket: poll(2) calls a Unix
   socket writable while three quarters of its buffer are free. */
int kura_server_has_room(int fd);

/* Whether a path still leads to the directory that is open as `directory`. */
int kura_server_is_at(int directory, const char *path);
/* Lifts the soft limit on descriptors to `wanted`, or to the hard limit when that is lower. */
void kura_server_raise_descriptors(uint64_t wanted);
/* Goes on in a process session of its own, in /. The caller becomes the child of a fork, and the
   parent waits until a byte is written to *ready, or for the child's end, and exits as that did.
   With `is_started` a caller that leads its session stays who it is; *ready is then -1. */
int kura_server_detach(int is_started, int *ready);
/* Signal mask empty, every disposition at its default; SIGPIPE and SIGXFSZ ignored, so that they
   are errors of write(2). */
void kura_server_reset_signals(void);
/* Opens /dev/null wherever 0 to 2 are closed, so that nothing else gets their numbers. */
void kura_server_keep_standard(void);
/* Points the standard descriptors at /dev/null, and keeps 0 to 2 taken. */
int kura_server_silence(void);

#endif
