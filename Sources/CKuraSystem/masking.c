// SPDX-License-Identifier: MIT

#include "masking.h"

#include "memory.h"

static uint32_t turned(uint32_t word, int by) { return word << by | word >> (32 - by); }

/* RFC 8439, 2.1. */
static void quarter(uint32_t *s, int a, int b, int c, int d) {
  s[a] += s[b], s[d] = turned(s[d] ^ s[a], 16);
  s[c] += s[d], s[b] = turned(s[b] ^ s[c], 12);
  s[a] += s[b], s[d] = turned(s[d] ^ s[a], 8);
  s[c] += s[d], s[b] = turned(s[b] ^ s[c], 7);
}

static void mix(const uint32_t *state, uint32_t *block) {
  for (int i = 0; i < 16; i++) block[i] = state[i];
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < 4; i++) quarter(block, i, 4 + i, 8 + i, 12 + i);
    for (int i = 0; i < 4; i++)
      quarter(block, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
  }
  for (int i = 0; i < 16; i++) block[i] += state[i];
}

static uint32_t word(const uint8_t *bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

void kura_mask(void *bytes, size_t count, const uint8_t *key, uint8_t number) {
  uint32_t block[16], state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (int i = 0; i < 8; i++) state[4 + i] = word(key + 4 * i);
  state[15] = (uint32_t)number << 24;
  uint8_t *each = bytes;
  for (size_t i = 0; i < count; i++) {
    if (i % 64 == 0) {
      mix(state, block);
      state[12]++;
    }
    each[i] ^= (uint8_t)(block[i % 64 / 4] >> (i % 4 * 8));
  }
  kura_secret_wipe(state, sizeof state);
  kura_secret_wipe(block, sizeof block);
}
