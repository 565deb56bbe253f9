// SPDX-License-Identifier: MIT

/* A client's look at a directory, and moves within one. */
#ifndef KURA_DIRECTORIES_H
#define KURA_DIRECTORIES_H

/* Callers compare with its numbers. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/* What a directory holds, in its own order. Where none stands, *failed is an errno. */
void *_Nullable kura_directory_open(const char *_Nonnull path, int *_Nonnull failed);

/* The next name, without a terminator: its length, 0 at the end, or a negated errno. Names that do
   not fit are left out. */
ptrdiff_t kura_directory_next(void *_Nonnull directory, char *_Nonnull into, size_t capacity);

void kura_directory_close(void *_Nonnull directory);

/* Gives a file another name on the same file system, one that nothing has; 0 or a negated errno. */
int kura_file_move(const char *_Nonnull from, const char *_Nonnull to);

/* Gives a file a second name on the same file system, one that nothing has; 0 or a negated errno. */
int kura_file_link(const char *_Nonnull path, const char *_Nonnull second);

/* Puts a file in the place of another one on the same file system, in one step; 0 or a negated errno. */
int kura_file_replace(const char *_Nonnull from, const char *_Nonnull to);

/* Whether two paths are names of one file, links not followed. */
int kura_file_same(const char *_Nonnull one, const char *_Nonnull other);

/* Makes a directory and those above it, with mode 0700, where they are missing; 0 or a negated errno. */
int kura_directory_make(const char *_Nonnull path);

/* Makes a directory with mode 0700 beside the path `wanted`, called like it and six characters more: the length of its
   path without a terminator, or a negated errno. */
ptrdiff_t kura_directory_begin(
    const char *_Nonnull wanted, char *_Nonnull into, size_t capacity);

/* Makes a directory with mode 0700, where there is none; 0 or a negated errno. */
int kura_directory_add(const char *_Nonnull path);

/* Removes a directory and all in it; no link is followed. 0 or a negated errno. */
int kura_directory_clear(const char *_Nonnull path);

/* Makes all that was written to the file system of a directory last; 0 or a negated errno. */
int kura_directory_settle(const char *_Nonnull path);

/* Removes a file; 0 or a negated errno. */
int kura_file_remove(const char *_Nonnull path);

/* Makes the names in a directory last through a power cut; 0 or a negated errno. */
int kura_directory_sync(const char *_Nonnull path);

/* The home directory that passwd(5) names for our user, without a terminator: its length, 0 for none. No
   other source is asked: that would take the C library's modules. */
ptrdiff_t kura_passwd_home(char *_Nonnull into, size_t capacity);

/* The name that group(5) has for a number, in the same way. */
ptrdiff_t kura_group_name(uint32_t group, char *_Nonnull into, size_t capacity);

/* The directory /run/user/UID that a login makes for our user, with a terminator: its length, 0 where it is not
   there or not ours alone. `home` is what HOME says: where that is not what passwd(5) says, somebody wants
   places of their own. */
ptrdiff_t kura_session_directory(
    const char *_Nonnull home, char *_Nonnull into, size_t capacity);

/* Where a symbolic link leads, without a terminator: its length, 0 for none. */
ptrdiff_t kura_link_target(const char *_Nonnull path, char *_Nonnull into, size_t capacity);

/* Who owns a file, links not followed: a user's number, or -1. */
int64_t kura_owner(const char *_Nonnull path);

/* Which user we are, and of which group. */
uint32_t kura_user(void);
uint32_t kura_group(void);

#endif
