// SPDX-License-Identifier: MIT
//
// The cheapest process that can ask an agent anything: what `kura get` is measured against.
//
//   floor serve PATH   answers 64 bytes with 64 bytes, one thread, until killed
//   floor get PATH     connects, sends 64 bytes, takes 64 bytes, ends
//   floor nop          ends at once: what a static process itself costs
//
// Build: cc -O2 -static -o floor floor.c
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SIZE = 64 };

static int move_all(int fd, char *bytes, int writing) {
  for (size_t done = 0; done < SIZE;) {
    ssize_t n = writing ? write(fd, bytes + done, SIZE - done) : read(fd, bytes + done, SIZE - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return -1;
    done += (size_t)n;
  }
  return 0;
}

static _Noreturn void serve(int listener) {
  char bytes[SIZE];
  signal(SIGPIPE, SIG_IGN);
  for (;;) {
    int peer = accept(listener, NULL, NULL);
    if (peer < 0) continue;
    while (move_all(peer, bytes, 0) == 0 && move_all(peer, bytes, 1) == 0) {
    }
    close(peer);
  }
}

int main(int argc, char **argv) {
  char bytes[SIZE] = "com.example.juice/userIdentifier";
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (argc == 2 && !strcmp(argv[1], "nop")) return 0;
  if (argc != 3 || strlen(argv[2]) >= sizeof address.sun_path) {
    fputs("usage: floor nop|serve PATH|get PATH\n", stderr);
    return 2;
  }
  strcpy(address.sun_path, argv[2]);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (!strcmp(argv[1], "serve")) {
    unlink(argv[2]);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 64)) {
      perror("floor: listen");
      return 1;
    }
    serve(fd);
  }
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) {
    perror("floor: connect");
    return 1;
  }
  return move_all(fd, bytes, 1) || move_all(fd, bytes, 0);
}
