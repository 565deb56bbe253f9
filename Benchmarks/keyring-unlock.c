// SPDX-License-Identifier: MIT
//
// Unlocks gnome-keyring's login keyring as PAM does, over the daemon's control socket.
//
//   keyring-unlock SOCKET <PASSCODE
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { UNLOCK = 1, HEAD = 13, LONGEST = 256 };

int main(int argc, char **argv) {
  unsigned char message[HEAD + LONGEST] = {0}, reply[8];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) return 2;
  strcpy(address.sun_path, argv[1]);
  ssize_t length = read(0, message + HEAD, LONGEST);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (length < 1 || fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) {
    perror("keyring-unlock");
    return 2;
  }
  // A zero byte, with which the daemon asks the system who this is; then the packet.
  uint32_t head[] = {htonl(12 + (uint32_t)length), htonl(UNLOCK), htonl((uint32_t)length)};
  memcpy(message + 1, head, sizeof head);
  if (write(fd, message, HEAD + (size_t)length) < 0) return 2;
  if (recv(fd, reply, sizeof reply, MSG_WAITALL) != sizeof reply) return 2;
  return reply[4] | reply[5] | reply[6] | reply[7];
}
