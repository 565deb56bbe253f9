// SPDX-License-Identifier: MIT
//
// The bare passcode hash: what `kura unlock` is measured against, in a process of its own.
//
//   argon2id MEMORY_BYTES PASSES
//
// Build: cc -O2 -o argon2id argon2id.c -l:libsodium.a -lpthread
#include <sodium.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  unsigned char key[32], salt[crypto_pwhash_SALTBYTES] = {0};
  if (argc != 3 || sodium_init() < 0) return 2;
  return crypto_pwhash(key, sizeof key, "eleven quiet storehouses", 24, salt,
                       strtoull(argv[2], NULL, 10), strtoull(argv[1], NULL, 10),
                       crypto_pwhash_ALG_ARGON2ID13);
}
