// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "random.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

int kura_random(void *into, size_t count) {
  char *next = into;
  while (count > 0) {
    ssize_t got = getrandom(next, count, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      return -errno;
    }
    next += got;
    count -= (size_t)got;
  }
  return 0;
}
