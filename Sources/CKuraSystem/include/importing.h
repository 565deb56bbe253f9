// SPDX-License-Identifier: MIT

/* A process that reads what a stranger wrote, and can do nothing else.
   Functions answer 0, or a negated errno. */
#ifndef KURA_IMPORTING_H
#define KURA_IMPORTING_H

#include <stddef.h>

/* What the reader may take. */
struct kura_reader_limits {
  /* Of address space and of data, each. */
  size_t bytes;
  /* Of a processor's time. */
  unsigned seconds;
};

/* The status of one that could not give that up, and has read nothing. */
enum { KURA_READER_UNCONFINED = 99 };

/* Makes a child that goes on as this process does, and gives up all it could do harm with: it has `input` as
   descriptor 0, a pipe as descriptor 1 and no other, cannot open a file, make a socket or a process, become another
   program or make memory executable (seccomp(2): it is killed when it tries), takes no more than the limits, dumps no
   core, and ends with its parent. To be called while there is one thread.
   Answers 0 in the child; in the parent the child's id, and in `answers` the pipe's other end. */
int kura_reader_start(int input, struct kura_reader_limits limits, int *_Nonnull answers);

/* A descriptor of a file that is in memory alone, with these bytes, to be read from its start. */
int kura_memory_file(const void *_Nonnull bytes, size_t count);

/* What stands at a path, where no symbolic link is followed. */
enum { KURA_ENTRY_OTHER = 0, KURA_ENTRY_FILE = 1, KURA_ENTRY_FOLDER = 2, KURA_ENTRY_LINK = 3 };
int kura_entry_kind(const char *_Nonnull path);

/* Waits for its end: its status, or 128 and the number of the signal that ended it. */
int kura_reader_end(int process);

/* Kills it. */
void kura_reader_kill(int process);

/* In the child: ends it, with nothing done at exit. */
_Noreturn void kura_reader_exit(int status);

#endif
