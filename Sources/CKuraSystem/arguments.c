// SPDX-License-Identifier: MIT

#include "arguments.h"

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
