// SPDX-License-Identifier: MIT

#include "arguments.h"

#include <fcntl.h>
#include <stdlib.h>

static int count;
static char **values;

/* glibc hands a constructor what main gets; it runs before any Swift code. */
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
  count = argc;
  values = argv;
}

int kura_argument_count(void) { return count; }

const char *kura_argument(int index) {
  return index >= 0 && index < count ? values[index] : NULL;
}

const char *kura_environment(const char *name) { return getenv(name); }

void kura_fill_descriptors(void) {
  static const int modes[3] = {O_WRONLY, O_RDONLY, O_WRONLY};
  /* open(2) takes the lowest number that is free. */
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", modes[fd]);
}
