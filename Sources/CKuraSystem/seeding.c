// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>

/* What Embedded Swift seeds its hashing with; musl has none. */
#ifndef __GLIBC__
void arc4random_buf(void *into, size_t count) {
  unsigned char *next = into;
  while (count > 0) {
    ssize_t got = getrandom(next, count, 0);
    if (got < 0) abort();
    next += got;
    count -= (size_t)got;
  }
}
#else
typedef int kura_seeding_is_the_libraries_own;
#endif
