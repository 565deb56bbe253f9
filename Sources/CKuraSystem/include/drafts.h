// SPDX-License-Identifier: MIT

/* Texts while a person edits them, and files that a command is given: in memory, and gone afterwards.
   Functions answer a descriptor or 0, or a negated errno. */
#ifndef KURA_DRAFTS_H
#define KURA_DRAFTS_H

#include <stddef.h>
#include <time.h>

/* A file that an editor reads and writes. */
struct kura_draft {
  int file;
  /* The directory that holds it, and the one that holds that; -1: it is in none. */
  int directory, parent;
  /* Our end of a pipe to the process that wipes in our place when we are killed; -1: none. */
  int guard, guardian;
  char name[32];
  /* When the text was read and changed last before it was taken away. */
  struct timespec times[2];
};

/* What kura_draft_begin answers beside a negated errno: the directory is on a disk. */
enum { KURA_DRAFT_ON_DISK = -10004 };

/* Whether drafts can be kept in a directory: it is in memory (tmpfs or ramfs), ours, and nobody else
   writes there. It is made where that in which it stands is in memory. 0, or as kura_draft_begin. */
int kura_draft_check(const char *_Nonnull directory);

/* Begins an empty file, 0600: in a new directory, 0700, within `directory`, or, where that is NULL, in
   no directory at all. Drafts there that nobody works at any more are wiped first. */
int kura_draft_begin(const char *_Nullable directory, struct kura_draft *_Nonnull draft);

/* Makes a directory, 0700, within `directory`, for files that a command is given: a process that is no
   child of ours wipes them and removes it when we end, whatever program we became. */
int kura_draft_begin_folder(const char *_Nonnull directory, struct kura_draft *_Nonnull folder);

/* An empty file in it, 0600, that is not there yet; its descriptor. */
int kura_draft_add(const struct kura_draft *_Nonnull folder, const char *_Nonnull name);

/* Wipes the drafts within a directory that nobody works at any more. */
void kura_draft_sweep(const char *_Nonnull directory);

/* The path by which an editor opens it, which inherits `file` where it is in no directory; that of a
   directory of files. Without a terminator; its length. */
ptrdiff_t kura_draft_path(
    const struct kura_draft *_Nonnull draft, const char *_Nullable directory, char *_Nonnull into,
    size_t capacity);

/* Opens what stands there now, which may be another file than before. */
int kura_draft_read(const struct kura_draft *_Nonnull draft);

/* Overwrites what stands there now, and empties the file; a descriptor of it, for the text to come back. */
int kura_draft_empty(struct kura_draft *_Nonnull draft);

/* Lets an editor find the file as unchanged as it is, and closes the descriptor. */
void kura_draft_settle(const struct kura_draft *_Nonnull draft, int fd);

/* Overwrites and removes it, and all that an editor left beside it. */
void kura_draft_end(struct kura_draft *_Nonnull draft);

#endif
