// SPDX-License-Identifier: MIT

/* Starting the engine, and what a client asks of the system. */
#ifndef KURA_PROCESS_H
#define KURA_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* The file of the running program, without a terminator; its length or a negated errno. */
ptrdiff_t kura_program_path(char *_Nonnull into, size_t capacity);

/* The name of the program that started this one, of 15 bytes at most, without a terminator; its
   length or a negated errno. */
ptrdiff_t kura_parent_name(char *_Nonnull into, size_t capacity);

/* The way up to the program that leads our session: to its end, too long to be gone to its end, or broken off where a
   program has ended or is not shown to us. */
enum { KURA_WAY_WHOLE, KURA_WAY_LONG, KURA_WAY_LOST };

enum { KURA_MOST_ANCESTORS = 4 };

/* What the programs above us call themselves, nearest first and so many at most, each with a NUL behind it, up to the
   one that leads our session, which is not named: a login's shell, mostly. The count of bytes. */
size_t kura_ancestor_names(char *_Nonnull into, size_t capacity, int *_Nonnull way);

/* How far above us a process is: 1 for the one that started us; 0 for one that is not, or is not shown to be. */
int kura_ancestor_distance(int process);

/* Whether a file can be executed by us. */
int kura_is_executable(const char *_Nonnull path);

/* A process that was started: its id, and our end of a pipe or socket to it. */
struct kura_child {
  int process;
  int descriptor;
};

/* Starts an agent that stays: cwd /, nothing of ours open but a pipe on descriptor 3, to which it
   writes `R` once it listens. What is started goes on in a process session of its own as a child
   of nobody's and ends itself, so that no program that we become has a child it does not know.
   0 or a negated errno. */
int kura_start_agent(const char *_Nonnull program, struct kura_child *_Nonnull child);

/* Starts an engine of our own that serves the socket on its descriptor 0 until we close ours.
   0 or a negated errno. `aside`: it neither knows nor notes what this machine has seen of vaults. */
int kura_start_engine(const char *_Nonnull program, int aside, struct kura_child *_Nonnull child);

/* Waits at most `milliseconds` for bytes of a pipe; their count, 0 at its end, -ETIMEDOUT. */
ptrdiff_t kura_pipe_read(int fd, void *_Nonnull into, size_t capacity, int milliseconds);

/* Waits at most `milliseconds` for a child's end: its exit status, 128 and the signal that ended
   it, or -ETIMEDOUT. */
int kura_child_wait(int process, int milliseconds);

/* Sleeps. */
void kura_pause(int milliseconds);

/* SIGINT writes this to stderr before it ends the process as ever; one that is ignored stays so. */
void kura_interrupt_says(const char *_Nonnull text, size_t count);

/* SIGINT does again what it did before. */
void kura_interrupt_says_nothing(void);

/* The next SIGINT is noted and does not end the process, until kura_interrupt_ends(); one that is
   ignored stays so, and a second one ends the process as ever. */
void kura_interrupt_is_noted(void);

/* SIGINT does again what it did before kura_interrupt_is_noted(). */
void kura_interrupt_ends(void);

/* Waits at most `milliseconds` (negative: for ever) until bytes or the end can be read: 1. 0 when the
   time is over, -EINTR once an interrupt was noted, whatever can be read. */
int kura_input_wait(int fd, int milliseconds);

/* A local time by strftime(3), without a terminator; 0 when it does not fit. */
size_t kura_local_time(
    uint64_t unix_milliseconds, const char *_Nonnull format, char *_Nonnull into,
    size_t capacity);

/* What an errno means, in English; never NULL. */
const char *_Nonnull kura_error_text(int number);

#endif
