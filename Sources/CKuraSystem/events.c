// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOCKET_NAME "agent.sock"
#define LOCK_NAME "agent.lock"

static int or_errno(int result) { return result < 0 ? -errno : result; }

/* Readiness */

int kura_events_create(void) { return or_errno(epoll_create1(EPOLL_CLOEXEC)); }

static int control(int events, int operation, int fd, uint32_t interest, uint64_t token) {
  struct epoll_event event = {0};
  event.events = (interest & KURA_READABLE ? EPOLLIN : 0u) |
                 (interest & KURA_WRITABLE ? EPOLLOUT : 0u);
  event.data.u64 = token;
  return or_errno(epoll_ctl(events, operation, fd, &event));
}

int kura_events_add(int events, int fd, uint32_t interest, uint64_t token) {
  return control(events, EPOLL_CTL_ADD, fd, interest, token);
}

int kura_events_change(int events, int fd, uint32_t interest, uint64_t token) {
  return control(events, EPOLL_CTL_MOD, fd, interest, token);
}

int kura_events_remove(int events, int fd) {
  return or_errno(epoll_ctl(events, EPOLL_CTL_DEL, fd, NULL));
}

int kura_events_wait(int events, struct kura_event *out, int capacity, int64_t milliseconds) {
  enum { MOST = 64 };
  struct epoll_event ready[MOST];
  int timeout = milliseconds < 0 ? -1 : milliseconds > INT_MAX ? INT_MAX : (int)milliseconds;
  int count = epoll_wait(events, ready, capacity < MOST ? capacity : MOST, timeout);
  if (count < 0) return errno == EINTR ? 0 : -errno;
  for (int i = 0; i < count; i++) {
    out[i].token = ready[i].data.u64;
    out[i].ready = (ready[i].events & EPOLLIN ? KURA_READABLE : 0u) |
                   (ready[i].events & EPOLLOUT ? KURA_WRITABLE : 0u) |
                   (ready[i].events & (EPOLLHUP | EPOLLERR) ? KURA_HUNG_UP : 0u);
  }
  return count;
}

/* Clocks */

static uint64_t milliseconds(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* What the one clock is ahead of the other is how long the machine slept. They are cut to milliseconds, so the
   one that is never ahead is read first: a tick between the two must not make it pass for the later. And a
   processor that was away between the two must not pass for sleep. */
void kura_moment_now(struct kura_moment *now) {
  for (int tries = 0; tries < 8; tries++) {
    now->monotonic = milliseconds(CLOCK_MONOTONIC);
    now->boot = milliseconds(CLOCK_BOOTTIME);
    if (milliseconds(CLOCK_MONOTONIC) - now->monotonic <= 10) break;
  }
  now->wall = milliseconds(CLOCK_REALTIME);
}

int kura_timer_create(void) {
  return or_errno(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
}

int kura_timer_set(int timer, uint64_t boot) {
  struct itimerspec at = {0};
  at.it_value.tv_sec = (time_t)(boot / 1000);
  at.it_value.tv_nsec = (long)(boot % 1000) * 1000000;
  return or_errno(timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL));
}

int kura_wakeup_create(void) {
  int wakeup = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (wakeup < 0) return -errno;
  int armed = kura_wakeup_rearm(wakeup);
  if (armed == 0) return wakeup;
  close(wakeup);
  return armed;
}

/* timerfd_create(2), TFD_TIMER_CANCEL_ON_SET: the kernel cancels on resume, too. */
int kura_wakeup_rearm(int wakeup) {
  kura_descriptor_drain(wakeup);
  struct itimerspec never = {0};
  never.it_value.tv_sec = (time_t)1 << 40;
  int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  return or_errno(timerfd_settime(wakeup, flags, &never, NULL));
}

/* Signals and notices */

int kura_signals_create(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  sigaddset(&set, SIGINT);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -errno;
  return or_errno(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int kura_signals_next(int signals) {
  struct signalfd_siginfo info;
  ssize_t count = read(signals, &info, sizeof info);
  return count == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

/* _exit is async-signal-safe (POSIX.1-2017, 2.4.3). */
static void end_well(int number) {
  (void)number;
  _exit(0);
}

void kura_signals_end_well(void) {
  static const int all[] = {SIGTERM, SIGHUP, SIGINT};
  for (size_t index = 0; index < sizeof all / sizeof *all; index++) {
    struct sigaction before, after = {.sa_handler = end_well};
    if (sigaction(all[index], NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(all[index], &after, NULL);
  }
}

int kura_notice_create(void) { return or_errno(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

int kura_notice_post(int notice) {
  uint64_t one = 1;
  return write(notice, &one, sizeof one) == (ssize_t)sizeof one ? 0 : -errno;
}

void kura_notice_await(int notice, int milliseconds) {
  struct pollfd one = {.fd = notice, .events = POLLIN};
  while (poll(&one, 1, milliseconds) < 0 && errno == EINTR) {
  }
  kura_descriptor_drain(notice);
}

void kura_descriptor_drain(int fd) {
  char scrap[4096] __attribute__((aligned(8)));
  while (read(fd, scrap, sizeof scrap) > 0) {
  }
}

/* A path of our own that leads to an open descriptor: no length limit of sun_path, no race. */
static void descriptor_path(char *out, size_t capacity, int fd, const char *name) {
  snprintf(out, capacity, "/proc/self/fd/%d%s%s", fd, *name ? "/" : "", name);
}

int kura_directory_watch(int directory) {
  int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watch < 0) return -errno;
  char path[64];
  descriptor_path(path, sizeof path, directory, "");
  uint32_t mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |
                  IN_MOVE_SELF | IN_ONLYDIR;
  if (inotify_add_watch(watch, path, mask) >= 0) return watch;
  int failure = -errno;
  close(watch);
  return failure;
}

int kura_file_identity(const void *path, size_t count, uint64_t *device, uint64_t *inode) {
  char text[PATH_MAX];
  if (count == 0 || memchr(path, 0, count)) return -ENOENT;
  if (count >= sizeof text) return -ENAMETOOLONG;
  memcpy(text, path, count);
  text[count] = 0;
  struct stat status;
  if (stat(text, &status) != 0) return -errno;
  *device = status.st_dev;
  *inode = status.st_ino;
  return 0;
}

/* The server's socket */

int kura_server_directory(const char *path) {
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  /* O_DIRECTORY with O_NOFOLLOW says ENOTDIR of a symbolic link, as of any other file. */
  if (directory < 0) return -errno;
  struct stat status;
  int failure = fstat(directory, &status) != 0 ? -errno : 0;
  if (failure == 0 && (status.st_uid != geteuid() || (status.st_mode & 07777) != 0700))
    failure = -EPERM;
  if (failure == 0) return directory;
  close(directory);
  return failure;
}

int kura_server_lock(int directory) {
  int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  int lock = openat(directory, LOCK_NAME, flags, 0600);
  if (lock < 0) return -errno;
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  int failure = -errno;
  close(lock);
  return failure;
}

static struct sockaddr_un address(int directory) {
  struct sockaddr_un name = {0};
  name.sun_family = AF_UNIX;
  descriptor_path(name.sun_path, sizeof name.sun_path, directory, SOCKET_NAME);
  return name;
}

int kura_server_probe(int directory) {
  int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return -errno;
  struct sockaddr_un name = address(directory);
  int result = connect(probe, (struct sockaddr *)&name, sizeof name) == 0 ? 0 : errno;
  close(probe);
  /* EAGAIN: its queue is full, so somebody listens. */
  if (result == 0 || result == EAGAIN || result == EINPROGRESS) return 1;
  return result == ECONNREFUSED || result == ENOENT || result == ENOTSOCK ? 0 : -result;
}

/* The kernel notes of what is sent who sent it; of a listener, it does so of all that connect there. */
static int note_senders(int fd) {
  const int yes = 1;
  return or_errno(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes));
}

int kura_server_listen(int directory) {
  if (unlinkat(directory, SOCKET_NAME, 0) != 0 && errno != ENOENT) return -errno;
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -errno;
  struct sockaddr_un name = address(directory);
  int failure = bind(listener, (struct sockaddr *)&name, sizeof name) == 0 ? 0 : -errno;
  /* bind(2) gives the file 0777 less the mask. The mask is every thread's, so it stays; nobody else gets as
     far as into the directory. */
  if (failure == 0 && fchmodat(directory, SOCKET_NAME, 0600, 0) != 0) failure = -errno;
  if (failure == 0) failure = note_senders(listener);
  if (failure == 0 && listen(listener, 128) != 0) failure = -errno;
  if (failure == 0) return listener;
  close(listener);
  return failure;
}

int kura_server_identity(int directory, uint64_t *device, uint64_t *inode) {
  struct stat status;
  if (fstatat(directory, SOCKET_NAME, &status, AT_SYMLINK_NOFOLLOW) != 0) return -errno;
  *device = status.st_dev;
  *inode = status.st_ino;
  return 0;
}

int kura_server_unlink(int directory) {
  return or_errno(unlinkat(directory, SOCKET_NAME, 0));
}

static int peer(int fd, uint32_t *user, int32_t *process) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -errno;
  *user = credentials.uid;
  *process = credentials.pid;
  return 0;
}

int kura_server_accept(int listener, uint32_t *user, int32_t *process) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return -errno;
  int failure = peer(fd, user, process);
  if (failure == 0) return fd;
  close(fd);
  return failure;
}

int kura_server_inherit(int fd, int listens) {
  int accepts = 0;
  socklen_t size = sizeof accepts;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) != 0) return -errno;
  if (listens && !accepts) return -EINVAL;
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return -errno;
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return -errno;
  return note_senders(fd);
}

int kura_server_adopt(int fd, uint32_t *user, int32_t *process) {
  int failure = kura_server_inherit(fd, 0);
  return failure < 0 ? failure : peer(fd, user, process);
}

ptrdiff_t kura_server_receive(int fd, void *into, size_t capacity) {
  ssize_t count = recv(fd, into, capacity, MSG_DONTWAIT);
  return count < 0 ? -errno : count;
}

ptrdiff_t kura_server_receive_first(
    int fd, void *into, size_t capacity, int32_t *sender, int *handed) {
  struct iovec part = {.iov_base = into, .iov_len = capacity};
  /* Room for one descriptor: the kernel closes what is handed beside it. Where alignment leaves room for a
     second one, that is closed below. */
  _Alignas(struct cmsghdr) char beside[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = beside};
  message.msg_controllen = sizeof beside;
  *sender = 0;
  *handed = -1;
  ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) return -errno;
  for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET) continue;
    struct ucred credentials;
    if (one->cmsg_type == SCM_CREDENTIALS) {
      memcpy(&credentials, CMSG_DATA(one), sizeof credentials);
      *sender = credentials.pid;
    }
    if (one->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= one->cmsg_len; at += sizeof(int)) {
      if (*handed >= 0) close(*handed);
      memcpy(handed, CMSG_DATA(one) + at, sizeof(int));
    }
  }
  return count;
}

ptrdiff_t kura_server_send(int fd, const void *bytes, size_t count) {
  ssize_t sent = send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent < 0 ? -errno : sent;
}

int kura_server_has_room(int fd) {
  struct pollfd one = {.fd = fd, .events = POLLOUT};
  return poll(&one, 1, 0) == 1;
}

int kura_server_has_hung_up(int fd) {
  struct pollfd one = {.fd = fd};
  return poll(&one, 1, 0) == 1 && (one.revents & (POLLHUP | POLLERR)) != 0;
}

/* What headers from before Linux 6.5 do not have. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int kura_server_peer_is_there(int fd) {
  struct pollfd one = {.fd = -1, .events = POLLIN};
  socklen_t size = sizeof one.fd;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &one.fd, &size) != 0)
    return errno == ENOPROTOOPT ? -ENOPROTOOPT : 0;
  int has_ended = poll(&one, 1, 0) != 0;
  close(one.fd);
  return !has_ended;
}

/* pidfd_open(2), which is close-on-exec; the number is the same everywhere. */
int kura_process_hold(int process) { return or_errno((int)syscall(434, process, 0u)); }

int kura_process_has_ended(int held) {
  struct pollfd one = {.fd = held, .events = POLLIN};
  return poll(&one, 1, 0) != 0;
}

int kura_server_is_at(int directory, const char *path) {
  struct stat here, there;
  if (fstat(directory, &here) != 0 || lstat(path, &there) != 0) return 0;
  return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* The server's process */

void kura_server_raise_descriptors(uint64_t wanted) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void kura_server_reset_signals(void) {
  for (int number = 1; number < NSIG; number++)
    if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

void kura_server_keep_standard(void) {
  int fd;
  do fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd < 3);
  if (fd >= 0) close(fd);
}

int kura_server_silence(void) {
  int null = open("/dev/null", O_RDWR);
  if (null < 0) return -errno;
  for (int fd = 0; fd < 3; fd++)
    if (null != fd && dup2(null, fd) < 0) return -errno;
  if (null > 2) close(null);
  return 0;
}

/* The parent's share: its exit status is what the child came to. */
static void await_child(pid_t child, int ready) {
  char byte;
  ssize_t count;
  do count = read(ready, &byte, 1);
  while (count < 0 && errno == EINTR);
  if (count == 1) _exit(0);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int kura_server_detach(int is_started, int *ready) {
  *ready = -1;
  if (!is_started || getsid(0) != getpid()) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    pid_t child = fork();
    if (child < 0) return -errno;
    if (child > 0) {
      close(ends[1]);
      await_child(child, ends[0]);
    }
    close(ends[0]);
    *ready = ends[1];
    if (setsid() < 0) return -errno;
  }
  return chdir("/") == 0 ? 0 : -errno;
}
