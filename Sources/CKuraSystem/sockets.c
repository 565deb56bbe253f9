// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Whoever may rename the directory's files may also answer in the agent's place. */
static int open_directory(const char *path) {
  int directory = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return errno == ELOOP || errno == ENOTDIR ? KURA_DIRECTORY_UNSAFE : -errno;
  struct stat status;
  int failed = fstat(directory, &status) != 0 ? -errno : 0;
  if (!failed && (status.st_uid != geteuid() || (status.st_mode & 077) != 0))
    failed = KURA_DIRECTORY_UNSAFE;
  if (!failed) return directory;
  close(directory);
  return failed;
}

static int check_peer(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -errno;
  return peer.uid == geteuid() ? 0 : KURA_PEER_FOREIGN;
}

/* A full backlog answers EAGAIN at once: a stopped agent must not hold its clients for ever. */
static int connect_within(int fd, const struct sockaddr_un *address, int milliseconds) {
  const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
  for (int waited = 0;; waited += 5) {
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0) return 0;
    if (errno != EAGAIN && errno != EINTR) return -errno;
    if (waited >= milliseconds) return -ETIMEDOUT;
    nanosleep(&pause, NULL);
  }
}

/* By hand: printf(3) alone took a start two more pages. */
static void name_socket(char *into, unsigned directory) {
  char digits[10];
  size_t count = 0;
  do digits[count++] = (char)('0' + directory % 10);
  while ((directory /= 10) > 0);
  into = stpcpy(into, "/proc/self/fd/");
  while (count > 0) *into++ = digits[--count];
  strcpy(into, "/agent.sock");
}

int kura_agent_connect(const char *path, int milliseconds) {
  int directory = open_directory(path);
  if (directory < 0) return directory;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  name_socket(address.sun_path, (unsigned)directory);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int failed = fd < 0 ? -errno : connect_within(fd, &address, milliseconds);
  close(directory);
  if (!failed) failed = check_peer(fd);
  if (!failed) return fd;
  if (fd >= 0) close(fd);
  return failed;
}

/* `S` of `PID (NAME) S …` in proc_pid_stat(5), when NAME is the agent's; else 0. */
static char state_of_agent(int process) {
  char path[32], line[64];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t count = read(fd, line, sizeof line - 1);
  close(fd);
  line[count > 0 ? count : 0] = 0;
  const char *name = strstr(line, "(kura-agent) ");
  return name ? name[strlen("(kura-agent) ")] : 0;
}

int kura_agent_process(const char *path, int *stopped) {
  int fd = kura_agent_connect(path, 0);
  if (fd < 0) return 0;
  struct ucred peer;
  socklen_t size = sizeof peer;
  int failed = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  close(fd);
  /* A socket that a service manager made is known by the manager. */
  char state = failed ? 0 : state_of_agent(peer.pid);
  *stopped = state == 'T' || state == 't';
  return state ? peer.pid : 0;
}

static int wait_for(int fd, short events, int milliseconds) {
  struct pollfd watched = {.fd = fd, .events = events};
  int ready;
  do ready = poll(&watched, 1, milliseconds);
  while (ready < 0 && errno == EINTR);
  return ready < 0 ? -errno : ready == 0 ? -ETIMEDOUT : 0;
}

ptrdiff_t kura_socket_send(int fd, const void *bytes, size_t count, int milliseconds) {
  for (;;) {
    ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return -errno;
    int failed = wait_for(fd, POLLOUT, milliseconds);
    if (failed) return failed;
  }
}

/* Nothing is lost where this is not to be had: the agent asks the kernel first. */
ptrdiff_t kura_socket_send_first(int fd, const void *bytes, size_t count, int milliseconds) {
  /* pidfd_open(2), which is close-on-exec; the number is the same everywhere. */
  int own = (int)syscall(434, getpid(), 0u);
  if (own < 0) return kura_socket_send(fd, bytes, count, milliseconds);
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  _Alignas(struct cmsghdr) char beside[CMSG_SPACE(sizeof own)] = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = beside};
  message.msg_controllen = sizeof beside;
  struct cmsghdr *one = CMSG_FIRSTHDR(&message);
  one->cmsg_level = SOL_SOCKET;
  one->cmsg_type = SCM_RIGHTS;
  one->cmsg_len = CMSG_LEN(sizeof own);
  memcpy(CMSG_DATA(one), &own, sizeof own);
  ssize_t sent;
  do sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  while (sent < 0 && (errno == EINTR || (errno == EAGAIN && !wait_for(fd, POLLOUT, milliseconds))));
  ptrdiff_t result = sent < 0 ? (errno == EAGAIN ? -ETIMEDOUT : -errno) : sent;
  close(own);
  return result;
}

ptrdiff_t kura_socket_receive(int fd, void *into, size_t capacity, int milliseconds) {
  for (;;) {
    /* The answer is seldom there yet: waiting first saves a call. */
    int failed = wait_for(fd, POLLIN, milliseconds);
    if (failed) return failed;
    ssize_t received = recv(fd, into, capacity, 0);
    if (received >= 0) return received;
    if (errno != EINTR && errno != EAGAIN) return -errno;
  }
}

int kura_socket_is_readable(int fd) {
  struct pollfd watched = {.fd = fd, .events = POLLIN};
  return poll(&watched, 1, 0) > 0;
}

void kura_socket_widen(int fd) {
  /* The kernel takes what wmem_max allows, and doubles it for its own needs. */
  const int room = 512 * 1024;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
}

void kura_socket_close(int fd) { close(fd); }
