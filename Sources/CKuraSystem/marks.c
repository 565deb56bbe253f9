// SPDX-License-Identifier: MIT

#define _GNU_SOURCE

#include "marks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int kura_mark_take(const char *parent, const char *directory, const char *path) {
  mkdir(parent, 0700);
  if (mkdir(directory, 0700) != 0 && errno != EEXIST) return -errno;
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_SETLK, &lock) == 0) return fd;
  int failed = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
  close(fd);
  return failed;
}

int kura_mark_holder(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return 0;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int failed = fcntl(fd, F_GETLK, &lock);
  close(fd);
  return failed != 0 || lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}
