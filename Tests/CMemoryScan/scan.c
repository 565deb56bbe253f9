/* SPDX-License-Identifier: MIT */

#include "CMemoryScan.h"

#include <stdlib.h>
#include <string.h>

enum { block = 8, window = 16, table_size = 1 << 17, filter_size = 1 << 20 };

struct secret {
  uint8_t *bytes;
  size_t size;
};

/* A block of a secret: which, and where in it, plus one; 0 = free. */
struct entry {
  uint32_t number;
  uint32_t place;
};

struct memory_canaries {
  struct secret *secrets;
  int count;
  struct entry table[table_size];
  uint8_t filter[filter_size / 8];
};

struct memory_canaries *memory_canaries_create(void) {
  return calloc(1, sizeof(struct memory_canaries));
}

void memory_canaries_destroy(struct memory_canaries *canaries) {
  for (int number = 0; number < canaries->count; number++) free(canaries->secrets[number].bytes);
  free(canaries->secrets);
  free(canaries);
}

static uint64_t hash(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, block);
  return value * 0x9e3779b97f4a7c15u;
}

static void add_block(struct memory_canaries *canaries, int number, size_t place) {
  uint64_t key = hash(canaries->secrets[number].bytes + place);
  canaries->filter[(key >> 44) / 8] |= (uint8_t)(1u << ((key >> 44) % 8));
  size_t slot = key >> 47;
  while (canaries->table[slot].place != 0) slot = (slot + 1) % table_size;
  canaries->table[slot] = (struct entry){(uint32_t)number, (uint32_t)place + 1};
}

int memory_canaries_add(struct memory_canaries *canaries, const uint8_t *secret, size_t size) {
  size_t count = (size_t)canaries->count + 1;
  struct secret *grown = realloc(canaries->secrets, count * sizeof *grown);
  uint8_t *bytes = malloc(size);
  if (grown != NULL) canaries->secrets = grown;
  if (grown == NULL || bytes == NULL) {
    free(bytes);
    return -1;
  }
  memcpy(bytes, secret, size);
  int number = canaries->count++;
  canaries->secrets[number] = (struct secret){bytes, size};
  for (size_t place = 0; place + block <= size; place += block) {
    add_block(canaries, number, place);
  }
  return number;
}

/* Where a run of the secret around one of its blocks begins; -1 when it is too short. */
static long run(
  const struct secret *secret, size_t place, const uint8_t *bytes, size_t size, size_t at) {
  size_t low = 0;
  while (low < place && low < at && bytes[at - low - 1] == secret->bytes[place - low - 1]) low++;
  size_t high = 0;
  while (at + high < size && place + high < secret->size &&
         bytes[at + high] == secret->bytes[place + high]) {
    high++;
  }
  return high >= block && low + high >= window ? (long)(at - low) : -1;
}

long memory_scan(
  const struct memory_canaries *canaries, const uint8_t *bytes, size_t size, size_t start,
  int *number) {
  for (size_t at = start; at + block <= size; at++) {
    uint64_t key = hash(bytes + at);
    if ((canaries->filter[(key >> 44) / 8] >> ((key >> 44) % 8) & 1) == 0) continue;
    for (size_t slot = key >> 47; canaries->table[slot].place != 0; slot = (slot + 1) % table_size) {
      struct entry entry = canaries->table[slot];
      long begin = run(&canaries->secrets[entry.number], entry.place - 1, bytes, size, at);
      if (begin < 0) continue;
      *number = (int)entry.number;
      return begin;
    }
  }
  return -1;
}
