// SPDX-License-Identifier: MIT

/* A command whose output comes to us. There are three processes: the one that the user's shell waits for, which ends as
   the command does; the reader, which goes on behind it where others hold the command's streams; and the command.
   At a terminal a fourth leads the session of the terminal that the command gets.
   Functions answer 0 or a count, or a negated errno. */
#ifndef KURA_RELAYING_H
#define KURA_RELAYING_H

/* Callers compare with its numbers. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What kura_relay_await tells of: that something can be read, or what the command did. */
enum {
  KURA_RELAY_OUTPUT = 1,
  KURA_RELAY_ERRORS = 2,
  KURA_RELAY_ENDED = 4,
  KURA_RELAY_STOPPED = 8, /* what it wrote before is to be passed on, then comes kura_relay_stop */
  KURA_RELAY_NEEDLE = 16, /* the agent tells of a value, or has ended */
};

/* A command that runs, seen by the reader. */
struct kura_relay {
  /* The command; at a terminal it leads a group of its own. */
  int process;
  /* Our ends of what it writes; -1: it has come to its end, or was closed from the beginning. */
  int output, errors;
  /* Takes the command's variables. */
  int orders;
  /* Tells the process that the shell waits for. */
  int starter;
  /* Tells of signals, and the command's session of what it does; -1: it is our child. */
  int news, watcher;
  /* Tells of values that programs below us are handed; -1: nobody does. Somebody else's to close. */
  int agent;
  /* The terminal that we are at; -1: the streams are pipes. */
  int terminal;
  /* What happened and was not told yet, and how the command ended. */
  int happened, status;
  bool has_ended, is_raw, is_merged;
  /* The command takes the terminal that it gets itself, since its session is another yet. */
  bool is_room;
};

/* Goes on in a second process, the reader, which gets 0 and whose secrets are zeros; the other one gets its id. What is
   written to `channel` there is read here. The second ends when the first does. */
int kura_relay_part(int *_Nonnull channel);

/* Waits for the command, passes signals on, and ends as it did, or as the reader, where that ended first. */
_Noreturn void kura_relay_stand_in(int reader, int channel);

/* Makes the process that is to become the command, with its streams, and at a terminal one of its own: 0 in there, with
   `orders` to read from; its id in the reader. */
int kura_relay_start(struct kura_relay *_Nonnull relay, int starter, int is_room);

/* No more orders. */
void kura_relay_ordered(struct kura_relay *_Nonnull relay);

/* Waits at most `milliseconds` (-1: for ever), and serves signals, keys and the window's size meanwhile: some of the
   numbers above, 0 when the time is over. */
int kura_relay_await(struct kura_relay *_Nonnull relay, int milliseconds);

/* Writes what the command wrote to our stream of that number, 1 or 2, and serves signals meanwhile. It stops where the
   agent has something to say: how much was written, or a negated errno. */
ssize_t kura_relay_write(
    struct kura_relay *_Nonnull relay, int number, const void *_Nonnull bytes, size_t count);

/* Takes nothing more from a stream of the command's, 1 or 2, and tells who reads ours. */
void kura_relay_close(struct kura_relay *_Nonnull relay, int number);

/* Stops as the command did, and has it go on when we do. */
void kura_relay_stop(struct kura_relay *_Nonnull relay);

/* The command has ended: gives the terminal back. */
void kura_relay_leave(struct kura_relay *_Nonnull relay);

/* Then has the first process end as the command did. */
void kura_relay_tell(struct kura_relay *_Nonnull relay);

/* Gives the terminal back, and waits until the command's session is over. */
void kura_relay_end(struct kura_relay *_Nonnull relay);

#endif
