// SPDX-License-Identifier: MIT

#include "arguments.h"

#include <fcntl.h>
#include <stdlib.h>

static int count;
static char **values;

/* Both constructors run before any Swift code. */
#ifdef __GLIBC__
/* glibc hands a constructor what main gets. */
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
  count = argc;
  values = argv;
}
#else
extern char **environ;

/* musl hands it nothing; but the kernel lays argc, argv, a null and the environment side by side
   (System V ABI for x86-64, 3.4.1), and nothing has moved environ yet. */
__attribute__((constructor)) static void keep_arguments(void) {
  char **end = environ - 1;
  while (count != (int)(long)end[-1 - count]) count++;
  values = end - count;
}
#endif

int kura_argument_count(void) { return count; }

const char *kura_argument(int index) {
  return index >= 0 && index < count ? values[index] : NULL;
}

char *const *kura_arguments(int first) {
  return first >= 0 && first < count ? values + first : NULL;
}

/* The build says NAME=VERSION,... of what it links in; a build that does not say it knows nothing. */
#ifndef KURA_LINKED
#define KURA_LINKED
#endif
#define QUOTED(...) #__VA_ARGS__
#define TEXT_OF(...) QUOTED(__VA_ARGS__)

const char *kura_linked(void) { return TEXT_OF(KURA_LINKED); }

const char *kura_environment(const char *name) { return getenv(name); }

static int filled[3];

void kura_fill_descriptors(void) {
  static const int modes[3] = {O_WRONLY, O_RDONLY, O_WRONLY};
  /* open(2) takes the lowest number that is free. */
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0) filled[fd] = open("/dev/null", modes[fd]) == fd;
}

int kura_is_filled(int fd) { return filled[fd]; }

void kura_unfill_descriptors(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (filled[fd]) fcntl(fd, F_SETFD, FD_CLOEXEC);
}
