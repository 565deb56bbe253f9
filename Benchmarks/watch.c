// SPDX-License-Identifier: MIT
//
// One command, looked at closely: prints the milliseconds to its first byte and to its end, the
// bytes that it wrote, and the most memory it had (KiB), with tabs between.
//
//   watch COMMAND…
//
// Small and static, because a child's peak counts what it had before it became the command.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timing.h"

int main(int argc, char **argv) {
  static char bytes[65536];
  int pipe_ends[2], status;
  struct rusage usage;
  if (argc < 2 || pipe2(pipe_ends, O_CLOEXEC)) {
    fputs("usage: watch COMMAND...\n", stderr);
    return 2;
  }
  double start = now(), first = 0;
  pid_t child = vfork();
  if (child == 0) {
    dup2(pipe_ends[1], 1);
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  close(pipe_ends[1]);
  long long total = 0;
  for (ssize_t n; (n = read(pipe_ends[0], bytes, sizeof bytes)) > 0; total += n)
    if (total == 0) first = now() - start;
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status) {
    fprintf(stderr, "watch: %s failed (%d)\n", argv[1], status);
    return 1;
  }
  printf("%.4f\t%.4f\t%lld\t%ld\n", first, now() - start, total, usage.ru_maxrss);
  return 0;
}
