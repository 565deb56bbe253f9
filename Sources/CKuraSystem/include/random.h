// SPDX-License-Identifier: MIT

#ifndef KURA_RANDOM_H
#define KURA_RANDOM_H

#include <stddef.h>

/* Fills memory from the kernel's random source; 0, or a negated errno. */
int kura_random(void *_Nonnull into, size_t count);

#endif
