/* SPDX-License-Identifier: MIT */

#include "CMemoryScan.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* A random key has so many zero bytes once in a hundred million times; pointers and counters have more. */
enum { block = 8, length = 32, most_zeros = 5 };

/* The first 8 bytes of what stands at each multiple of 8, in open addressing; 0 = free. */
struct places {
  uint64_t *blocks;
  size_t mask;
};

static uint64_t load(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, block);
  return value;
}

static size_t slot(const struct places *places, uint64_t value) {
  size_t at = (size_t)(value * 0x9e3779b97f4a7c15u >> 20) & places->mask;
  while (places->blocks[at] != 0 && places->blocks[at] != value) at = (at + 1) & places->mask;
  return at;
}

static int may_be_key(const uint8_t *bytes) {
  int zeros = 0;
  for (int at = 0; at < length; at++) zeros += bytes[at] == 0;
  return zeros <= most_zeros;
}

/* Where a hash stands; its first block does somewhere. */
static long find(const uint8_t *bytes, size_t size, const uint8_t *hash) {
  for (size_t at = 0; at + length <= size; at += block) {
    if (memcmp(bytes + at, hash, length) == 0) return (long)at;
  }
  return -1;
}

static long search(
  const struct places *places, const uint8_t *bytes, size_t size, const uint8_t *word, size_t count,
  long *key) {
  /* Before the first place: no key. */
  for (long at = -block; at < 0 || (size_t)at + length <= size; at += block) {
    if (at >= 0 && !may_be_key(bytes + at)) continue;
    uint8_t hash[length];
    crypto_generichash(
      hash, length, word, count, at < 0 ? NULL : bytes + at, at < 0 ? 0 : (size_t)length);
    uint64_t first = load(hash);
    if (places->blocks[slot(places, first)] != first) continue;
    long found = find(bytes, size, hash);
    if (found < 0) continue;
    *key = at < 0 ? -1 : at;
    return found;
  }
  return -1;
}

long memory_find_hash(
  const uint8_t *bytes, size_t size, const uint8_t *word, size_t count, long *key) {
  size_t room = 1024;
  while (room < size / block * 2) room *= 2;
  struct places places = {calloc(room, sizeof(uint64_t)), room - 1};
  if (places.blocks == NULL || sodium_init() < 0) {
    free(places.blocks);
    return -2;
  }
  for (size_t at = 0; at + block <= size; at += block) {
    uint64_t value = load(bytes + at);
    if (value != 0) places.blocks[slot(&places, value)] = value;
  }
  long found = search(&places, bytes, size, word, count, key);
  free(places.blocks);
  return found;
}
