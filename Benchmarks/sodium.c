// SPDX-License-Identifier: MIT
//
// libsodium's bare speed: SIZE bytes sealed, then opened, in pieces of 64 KiB, in memory, on one
// core. Prints the two times in milliseconds.
//
//   sodium SIZE
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

enum { PIECE = 65536 };

int main(int argc, char **argv) {
  static unsigned char plain[PIECE], sealed[PIECE + crypto_aead_xchacha20poly1305_ietf_ABYTES];
  unsigned char key[crypto_aead_xchacha20poly1305_ietf_KEYBYTES] = {1};
  unsigned char nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES] = {2};
  if (argc != 2 || sodium_init() < 0) return 2;
  unsigned long long pieces = strtoull(argv[1], NULL, 10) / PIECE, length;
  memset(plain, 'x', sizeof plain);
  double start = now();
  for (unsigned long long i = 0; i < pieces; i++)
    crypto_aead_xchacha20poly1305_ietf_encrypt(sealed, &length, plain, PIECE, NULL, 0, NULL, nonce,
                                               key);
  double half = now();
  for (unsigned long long i = 0; i < pieces; i++)
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain, &length, NULL, sealed, sizeof sealed,
                                                   NULL, 0, nonce, key))
      return 1;
  printf("%.3f\t%.3f\n", half - start, now() - half);
  return 0;
}
