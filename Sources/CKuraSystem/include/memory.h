// SPDX-License-Identifier: MIT

/* The arena that every secret lives in, and what a process does to keep its memory to itself. */
#ifndef KURA_MEMORY_H
#define KURA_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* What the arena holds: bytes that are locked into memory, and bytes for which mlock(2) failed. */
struct kura_memory_status {
  size_t locked;
  size_t unlocked;
};

/* A zeroed block of at least `count` bytes on a 64-byte boundary, NULL when no memory is left. */
void *kura_secret_allocate(size_t count);
/* Wipes and gives back a block; `count` is what it was allocated with. */
void kura_secret_free(void *block, size_t count);
/* Zeroes bytes so that no compiler can leave it out. */
void kura_secret_wipe(void *block, size_t count);
/* Zeroes what calls that have returned left on the calling thread's stack, 64 KiB deep. */
void kura_stack_wipe(void);
/* Has the C library keep blocks of a long value's pieces for the next ones, and take only far larger ones from
   the system one by one. What is left over stays until kura_memory_trim. */
void kura_memory_settle(void);
/* Gives memory that was freed back to the system, where the C library can. */
void kura_memory_trim(void);
/* Lets go of the pages of the program's own file that nothing was written to: what runs next takes from
   the system's cache those that it needs. */
void kura_code_trim(void);
/* Whether both hold the same bytes, in time that depends on `count` only. */
int kura_secret_equal(const void *left, const void *right, size_t count);
struct kura_memory_status kura_secret_status(void);
/* In a child that begins with the arena: mlock(2) is not inherited. */
void kura_secret_lock_again(void);

/* No core dump, no ptrace by the same user, umask 077, crash signals back to default; the old umask.
 */
uint32_t kura_harden_process(void);

/* Undoes that for a program that this one becomes: mask, limit and ignored signals as they were.
   The kernel makes a process dumpable again at execve(2). */
void kura_restore_process(void);

#endif
