// SPDX-License-Identifier: MIT

/* Descriptors and files that a user names on the command line. Each call answers 0 or more, or
   -errno. */
#ifndef KURA_STREAMS_H
#define KURA_STREAMS_H

#include <stdbool.h>
#include <stddef.h>

/* read(2), also where the descriptor does not block; 0 at the end. */
long kura_stream_read(int fd, void *_Nonnull bytes, size_t count);

/* write(2) until all is written. */
int kura_stream_write(int fd, const void *_Nonnull bytes, size_t count);

/* Opens a file for reading, close-on-exec. */
int kura_stream_open(const char *_Nonnull path);

void kura_stream_close(int fd);

/* What an errno means, in English; alive until the process ends. */
const char *_Nonnull kura_error_text(int number);

/* A file that appears under its name whole, or not at all. */
struct kura_new_file {
  int directory;
  int file;
  char name[256];      /* the last part of the path */
  char temporary[32];  /* "" while the file has no name */
};

/* Begins a file of mode 0600 in the directory of `path`. -ENOTSUP where something stands there
   that is no regular file. */
int kura_new_file_begin(const char *_Nonnull path, struct kura_new_file *_Nonnull file);

/* Makes it durable and puts it in place, over an older file if there is one. */
int kura_new_file_commit(struct kura_new_file *_Nonnull file);

/* Removes every trace of it; nothing after a commit. */
void kura_new_file_abandon(struct kura_new_file *_Nonnull file);

#endif
