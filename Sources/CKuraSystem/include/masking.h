// SPDX-License-Identifier: MIT

/* What a client that holds no vault does to a text of its own while the vault is locked: the key is the agent's. */
#ifndef KURA_MASKING_H
#define KURA_MASKING_H

#include <stddef.h>
#include <stdint.h>

enum { KURA_MASK_KEY = 32 };

/* Adds the keystream of ChaCha20 (RFC 8439) to bytes in their place, so that nothing is left of them; the same once
   more gives them back. The nonce ends with `number`, the block counter begins at 0: a key and a number serve for one
   text, of 256 GiB at most. What was reckoned with is wiped. */
void kura_mask(
    void *_Nonnull bytes, size_t count, const uint8_t *_Nonnull key, uint8_t number);

#endif
