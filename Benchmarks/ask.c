// SPDX-License-Identifier: MIT
//
// A client that stays connected, as kura-protocol(5) describes: what the agent alone costs, without
// the start of a process for each request.
//
//   ask fill SOCKET VAULT FIRST COUNT        stores items FIRST to FIRST + COUNT - 1
//   ask get SOCKET VAULT ITEMS GETS LINES    GETS values of random items, over LINES connections
//                                            at once; prints microseconds a get
//
// Requests are sent ahead of their answers. Item i is gGGGG/item-IIIIIII with 32 bytes of value.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "timing.h"

enum { AHEAD = 32, MOST = 64, LONGEST = 8192 };

typedef struct {
  unsigned char bytes[512];
  size_t length;
} message;

static void number(message *m, uint64_t value, int size) {
  for (int i = 0; i < size; i++, value >>= 8) m->bytes[m->length++] = (unsigned char)value;
}

static void text(message *m, const char *string, size_t length, int size) {
  number(m, length, size);
  memcpy(m->bytes + m->length, string, length);
  m->length += length;
}

static message frame(int type) {
  message m = {.length = 4};
  number(&m, (uint64_t)type, 1);
  return m;
}

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "ask: %s\n", what);
  exit(1);
}

static void transmit(int fd, message *m) {
  size_t length = m->length;
  m->length = 0;
  number(m, length - 4, 4);
  for (size_t done = 0; done < length;) {
    ssize_t n = write(fd, m->bytes + done, length - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("the agent hung up");
    done += (size_t)n;
  }
}

static void take(int fd, unsigned char *bytes, size_t length) {
  for (size_t done = 0; done < length;) {
    ssize_t n = read(fd, bytes + done, length - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("the agent hung up");
    done += (size_t)n;
  }
}

// One frame: its type and, of a reply, that its code is 0.
static void answer(int fd, int expected) {
  unsigned char head[5], body[LONGEST];
  take(fd, head, sizeof head);
  uint32_t length = head[0] | head[1] << 8 | head[2] << 16 | (uint32_t)head[3] << 24;
  if (length < 1 || length > sizeof body || head[4] != expected) fail("not the answer expected");
  take(fd, body, length - 1);
  if (expected == 0x90 && (length < 3 || body[0] || body[1])) {
    fprintf(stderr, "ask: the agent answered with code %d\n", body[0] | body[1] << 8);
    exit(1);
  }
}

static int dial(const char *path, const char *vault) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (strlen(path) >= sizeof address.sun_path || strlen(vault) > 400) fail("path too long");
  strcpy(address.sun_path, path);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) fail("no agent");
  message hello = frame(0x01);
  memcpy(hello.bytes + hello.length, "KURA", 4);
  hello.length += 4;
  number(&hello, 1, 2);
  number(&hello, 0, 2);
  text(&hello, vault, strlen(vault), 2);
  text(&hello, "", 0, 2);
  transmit(fd, &hello);
  answer(fd, 0x81);
  return fd;
}

static void name(message *m, long item) {
  char string[64];
  int length = snprintf(string, sizeof string, "g%04ld/item-%07ld", item / 100, item);
  text(m, string, (size_t)length, 2);
}

static void put(int fd, long item) {
  char value[64];
  snprintf(value, sizeof value, "S%07ld-0123456789abcdefghijklmnop", item);
  message m = frame(0x10);
  number(&m, 7, 1);
  number(&m, 0, 1);
  number(&m, 0, 8);
  name(&m, item);
  number(&m, 0, 2);
  number(&m, 0, 1);
  text(&m, value, 32, 4);
  transmit(fd, &m);
}

static void get(int fd, long items) {
  message m = frame(0x10);
  number(&m, 5, 1);
  number(&m, 0, 8);
  /* No flags; for nothing but to get it. */
  number(&m, 0, 1);
  number(&m, 0, 1);
  name(&m, random() % items);
  transmit(fd, &m);
}

static void fill(int fd, long first, long count) {
  for (long sent = 0, seen = 0; seen < count; seen++) {
    for (; sent < count && sent - seen < AHEAD; sent++) put(fd, first + sent);
    answer(fd, 0x90);
  }
}

static double read_all(char **argv, long items, long gets, int lines) {
  int fds[MOST], ahead = lines == 1 ? AHEAD : 1;
  for (int i = 0; i < lines; i++) fds[i] = dial(argv[2], argv[3]);
  double start = now();
  long sent = 0;
  for (; sent < (long)lines * ahead && sent < gets; sent++) get(fds[sent % lines], items);
  for (long seen = 0; seen < gets; seen++) {
    answer(fds[seen % lines], 0x90);
    if (sent < gets) get(fds[seen % lines], items), sent++;
  }
  return (now() - start) * 1e3 / (double)gets;
}

int main(int argc, char **argv) {
  if (argc == 6 && !strcmp(argv[1], "fill")) {
    fill(dial(argv[2], argv[3]), atol(argv[4]), atol(argv[5]));
    return 0;
  }
  int lines = argc == 7 ? atoi(argv[6]) : 0;
  if (argc != 7 || strcmp(argv[1], "get") || lines < 1 || lines > MOST || atol(argv[4]) < 1) {
    fputs("usage: ask fill SOCKET VAULT FIRST COUNT | get SOCKET VAULT ITEMS GETS LINES\n", stderr);
    return 2;
  }
  printf("%.3f\n", read_all(argv, atol(argv[4]), atol(argv[5]), lines));
  return 0;
}
