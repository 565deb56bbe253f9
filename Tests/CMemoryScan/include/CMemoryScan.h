/* SPDX-License-Identifier: MIT */

/* Looks for parts of secrets in bytes, and stops a process at its very end; for tests, as root. */

#ifndef C_MEMORY_SCAN_H
#define C_MEMORY_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Secrets of 16 bytes and more, indexed by all blocks of 8 bytes at multiples of 8. */
struct memory_canaries;

struct memory_canaries *memory_canaries_create(void);
void memory_canaries_destroy(struct memory_canaries *canaries);
/* Adds a secret; returns its number, from 0, or -1 without memory. */
int memory_canaries_add(struct memory_canaries *canaries, const uint8_t *secret, size_t size);

/* The first place at or after `start` where 16 bytes or more of a secret stand, or -1; `number` is which. */
long memory_scan(
  const struct memory_canaries *canaries, const uint8_t *bytes, size_t size, size_t start,
  int *number);

/*
 * Whether memory holds what a word can be guessed by: at a multiple of 8 the BLAKE2b hash of the word, 32 bytes,
 * under any 32 bytes of the same memory at a multiple of 8 that may be a key, or under none. Returns where
 * the hash stands, or -1 where none does; -2 without memory. `key` is where its key stands, or -1.
 */
long memory_find_hash(
  const uint8_t *bytes, size_t size, const uint8_t *word, size_t count, long *key);

/* Attaches to a process, so that it stops when it is about to be gone; 0 or -errno. */
int memory_trace(int process);
/* Waits for that stop, in which its memory is still all there. Passes its signals on. 0 or -errno. */
int memory_trace_await(int process);
/* Lets it go. */
void memory_trace_end(int process);

/* Lets a process leave a core file as large as it likes, as far as limits go; 0 or -errno. */
int memory_lift_core_limit(int process);

#endif
