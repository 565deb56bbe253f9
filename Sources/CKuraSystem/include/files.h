// SPDX-License-Identifier: MIT

/* A client's files: values and passcodes on their way in and out. Nothing here is buffered.
   Functions answer a count or a descriptor, or a negated errno. */
#ifndef KURA_FILES_H
#define KURA_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens for reading, close-on-exec. */
int kura_file_open(const char *_Nonnull path);

/// Opens a regular file of just that size to read, and nothing that is named by a link.
/// A descriptor, or -errno: -ENOENT also for what is another file.
int kura_file_open_regular(const char *_Nonnull path, uint64_t size);

/* Opens a regular file to read, and waits for nobody: a descriptor, or -errno; -EISDIR for a directory, -ENXIO for what
   is neither, a link that is not followed among it. */
int kura_text_open(const char *_Nonnull path, int follows);
void kura_file_close(int fd);

/* Reads some bytes; 0 at the end. Waits where the descriptor itself would not. */
ptrdiff_t kura_file_read(int fd, void *_Nonnull into, size_t capacity);

/* Writes all bytes; 0. Raises SIGPIPE as any write(2). */
int kura_file_write(int fd, const void *_Nonnull bytes, size_t count);

/* Has the disk begin to take what was written; a hint, which nobody waits for. */
void kura_file_begin_sync(int fd);

/* What stands at a path, symbolic links followed: KURA_ABSENT, KURA_REGULAR, KURA_OTHER. */
enum { KURA_ABSENT = 0, KURA_REGULAR = 1, KURA_OTHER = 2 };
int kura_file_kind(const char *_Nonnull path);

/* Whether two descriptors read the same file, pipe, socket or terminal: by device and inode. */
bool kura_is_same_file(int first, int second);

/* The same of a path, for what can be read once only; two readers of a regular file do not disturb
   each other. */
bool kura_is_same_stream(const char *_Nonnull path, int fd);

/* The working directory, without a terminator; its length. */
ptrdiff_t kura_current_directory(char *_Nonnull into, size_t capacity);

enum { KURA_PATH_CAPACITY = 4096 };

/* A file that appears whole, with mode 0600, or not at all. */
struct kura_output {
  int descriptor;
  int directory;
  /* Empty for a file that has no name yet, or needs none. */
  char temporary[32];
  char name[256];
};

/* Begins a file at `path`. A pipe or device that stands there is written to as it is; a symbolic
   link of our own or root's is followed. 0. */
int kura_output_begin(const char *_Nonnull path, struct kura_output *_Nonnull output);

/* Makes it appear in the place of what stood there, and durable; 0. Ends the output. */
int kura_output_commit(struct kura_output *_Nonnull output);

/* Leaves what stood there as it was. Ends the output. */
void kura_output_abandon(struct kura_output *_Nonnull output);

#endif
