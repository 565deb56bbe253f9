// SPDX-License-Identifier: MIT
//
// Becomes a command whose input is a file: for those that read a passphrase or a secret there, so
// that no shell is timed with them.
//
//   feed FILE COMMAND…
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: feed FILE COMMAND...\n", stderr);
    return 2;
  }
  int input = open(argv[1], O_RDONLY | O_CLOEXEC);
  if (input < 0 || dup2(input, 0) < 0) {
    perror(argv[1]);
    return 2;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
