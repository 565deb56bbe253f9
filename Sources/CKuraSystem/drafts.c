// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "drafts.h"

#include "launching.h"
#include "process.h"
#include "spawning.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* Below each draft's own directory, named edit-…, the text stands under this name. */
#define TEXT "value"
#define EDITED "edit-"
/* What the names of the directories begin with that hold a command's files. */
#define GIVEN "run-"

// MARK: - Places

/* As statfs(2) has them. */
static int is_in_memory(int fd) {
  struct statfs system;
  if (fstatfs(fd, &system) != 0) return 0;
  uint32_t kind = (uint32_t)system.f_type;
  return kind == 0x01021994U || kind == 0x858458f6U;
}

static int open_directory(int at, const char *name) {
  int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

/* A directory is made in memory only. */
static int make_directory(const char *path) {
  const char *slash = strrchr(path, '/');
  char parent[PATH_MAX];
  if (!slash || slash == path || slash - path >= PATH_MAX) return -ENOENT;
  snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
  int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? KURA_DRAFT_ON_DISK : -errno;
  int failed = !is_in_memory(fd)                 ? KURA_DRAFT_ON_DISK
               : mkdirat(fd, slash + 1, 0700) == 0 || errno == EEXIST ? 0
                                                                      : -errno;
  close(fd);
  return failed;
}

/* One that is there. */
static int open_made_place(const char *path) {
  int fd = open_directory(AT_FDCWD, path);
  if (fd < 0) return fd;
  struct stat status;
  int failed = 0;
  if (!is_in_memory(fd)) failed = KURA_DRAFT_ON_DISK;
  else if (fstat(fd, &status) != 0) failed = -errno;
  else if (status.st_uid != geteuid() || (status.st_mode & 022)) failed = -EPERM;
  if (!failed) return fd;
  close(fd);
  return failed;
}

static int open_place(const char *path) {
  int fd = open_made_place(path);
  if (fd != -ENOENT) return fd;
  int failed = make_directory(path);
  return failed ? failed : open_made_place(path);
}

int kura_draft_check(const char *directory) {
  int fd = open_place(directory);
  if (fd < 0) return fd;
  close(fd);
  return 0;
}

// MARK: - Wiping

/* A text is small; what an editor made that large is no text. */
enum { MOST_OVERWRITTEN = 64 * 1024 * 1024 };

static void overwrite(int fd) {
  static const char zeros[4096];
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return;
  off_t end = status.st_size < MOST_OVERWRITTEN ? status.st_size : MOST_OVERWRITTEN;
  for (off_t at = 0; at < end;) {
    size_t rest = (size_t)(end - at) < sizeof zeros ? (size_t)(end - at) : sizeof zeros;
    ssize_t written = pwrite(fd, zeros, rest, at);
    if (written <= 0) break;
    at += written;
  }
  if (ftruncate(fd, 0) != 0) return;
}

static void wipe_within(int directory, int depth);

static void wipe(int directory, const char *name, int depth) {
  struct stat status;
  if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (S_ISDIR(status.st_mode)) {
    int inner = open_directory(directory, name);
    if (inner >= 0) {
      if (depth > 0) wipe_within(inner, depth - 1);
      close(inner);
    }
    unlinkat(directory, name, AT_REMOVEDIR);
    return;
  }
  if (S_ISREG(status.st_mode)) {
    if (!(status.st_mode & S_IWUSR)) fchmodat(directory, name, 0600, 0);
    int fd = openat(directory, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
      overwrite(fd);
      close(fd);
    }
  }
  unlinkat(directory, name, 0);
}

static int is_entry(const char *name) { return strcmp(name, ".") != 0 && strcmp(name, "..") != 0; }

static void wipe_within(int directory, int depth) {
  int again = open_directory(directory, ".");
  DIR *entries = again < 0 ? NULL : fdopendir(again);
  if (!entries) {
    if (again >= 0) close(again);
    return;
  }
  for (const struct dirent *entry; (entry = readdir(entries));)
    if (is_entry(entry->d_name)) wipe(directory, entry->d_name, depth);
  closedir(entries);
}

/* Three times: an editor that is just being ended may still write. */
static void wipe_draft(const struct kura_draft *draft) {
  if (draft->file >= 0) overwrite(draft->file);
  if (draft->directory < 0) return;
  for (int tries = 0; tries < 3; tries++) {
    wipe_within(draft->directory, 8);
    if (unlinkat(draft->parent, draft->name, AT_REMOVEDIR) == 0 || errno == ENOENT) return;
  }
}

/* Whoever works at a draft holds a lock on its directory, which ends with its process. */
static void sweep(int parent) {
  int again = open_directory(parent, ".");
  DIR *entries = again < 0 ? NULL : fdopendir(again);
  if (!entries) {
    if (again >= 0) close(again);
    return;
  }
  for (const struct dirent *entry; (entry = readdir(entries));) {
    if (strncmp(entry->d_name, EDITED, strlen(EDITED)) != 0
        && strncmp(entry->d_name, GIVEN, strlen(GIVEN)) != 0)
      continue;
    struct kura_draft left = {.file = -1, .parent = parent};
    left.directory = open_directory(parent, entry->d_name);
    if (left.directory < 0) continue;
    int known = strlen(entry->d_name) < sizeof left.name;
    if (known && flock(left.directory, LOCK_EX | LOCK_NB) == 0) {
      strcpy(left.name, entry->d_name);
      wipe_draft(&left);
    }
    close(left.directory);
  }
  closedir(entries);
}

void kura_draft_sweep(const char *directory) {
  int parent = open_made_place(directory);
  if (parent < 0) return;
  sweep(parent);
  close(parent);
}

// MARK: - Beginning

/* Between its making and our lock another process may have swept it away. */
static int make_draft(struct kura_draft *draft, const char *prefix) {
  for (int tries = 0; tries < 100; tries++) {
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random) return -errno;
    snprintf(draft->name, sizeof draft->name, "%s%016llx", prefix, (unsigned long long)random);
    if (mkdirat(draft->parent, draft->name, 0700) != 0) {
      if (errno == EEXIST) continue;
      return -errno;
    }
    draft->directory = open_directory(draft->parent, draft->name);
    if (draft->directory == -ENOENT) continue;
    if (draft->directory < 0) return draft->directory;
    struct stat status;
    if (flock(draft->directory, LOCK_EX | LOCK_NB) == 0
        && fstat(draft->directory, &status) == 0 && status.st_nlink > 0)
      return 0;
    close(draft->directory);
    draft->directory = -1;
  }
  return -EBUSY;
}

/* In the process that wipes in our place: it has nothing but the directory, whose lock is its own, too,
   and what tells it of our end. */
static void part(const struct kura_draft *draft, int end) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  setsid();
  prctl(PR_SET_NAME, "kura-draft");
  int kept[] = {end, draft->file, draft->directory, draft->parent};
  kura_close_but(kept, sizeof kept / sizeof *kept);
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; null >= 0 && fd <= 2; fd++) dup2(null, fd);
  if (chdir("/") != 0) _exit(1);
}

/* Waits for our end or our word. */
_Noreturn static void watch(const struct kura_draft *draft, int end) {
  part(draft, end);
  char byte;
  ssize_t got;
  do got = read(end, &byte, 1);
  while (got > 0 || (got < 0 && errno == EINTR));
  wipe_draft(draft);
  _exit(0);
}

static int start_guard(struct kura_draft *draft) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  pid_t child = fork();
  if (child == 0) watch(draft, ends[0]);
  int failed = child < 0 ? -errno : 0;
  close(ends[0]);
  if (failed) close(ends[1]);
  draft->guard = failed ? -1 : ends[1];
  draft->guardian = child;
  return failed;
}

int kura_draft_begin(const char *directory, struct kura_draft *draft) {
  *draft = (struct kura_draft){.file = -1, .directory = -1, .parent = -1, .guard = -1};
  if (!directory) {
    draft->file = kura_memory_file_create(10);
    return draft->file < 0 ? draft->file : 0;
  }
  draft->parent = open_place(directory);
  if (draft->parent < 0) return draft->parent;
  sweep(draft->parent);
  int failed = make_draft(draft, EDITED);
  if (!failed) {
    draft->file =
        openat(draft->directory, TEXT, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    failed = draft->file < 0 ? -errno : start_guard(draft);
  }
  if (failed) kura_draft_end(draft);
  return failed;
}

// MARK: - Beside a command

/* Waits for the end of the process that asked for it, whatever program that became meanwhile. */
_Noreturn static void outlive(const struct kura_draft *folder, int process) {
  part(folder, process);
  struct pollfd end = {.fd = process, .events = POLLIN};
  while (poll(&end, 1, -1) < 0 && errno == EINTR);
  wipe_draft(folder);
  _exit(0);
}

/* No child of ours: the command would find one that it never started. */
static int start_survivor(const struct kura_draft *folder) {
  int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (process < 0) return -errno;
  pid_t child = fork();
  if (child == 0) {
    pid_t survivor = fork();
    if (survivor == 0) outlive(folder, process);
    _exit(survivor < 0);
  }
  int status = 0, failed = child < 0 ? -errno : 0;
  while (!failed && waitpid(child, &status, 0) < 0)
    /* Where the user has children ignored, nothing tells how it went. */
    if (errno != EINTR) break;
  close(process);
  return failed ? failed : status ? -EAGAIN : 0;
}

int kura_draft_begin_folder(const char *directory, struct kura_draft *folder) {
  *folder = (struct kura_draft){.file = -1, .directory = -1, .parent = -1, .guard = -1};
  folder->parent = open_place(directory);
  if (folder->parent < 0) return folder->parent;
  sweep(folder->parent);
  int failed = make_draft(folder, GIVEN);
  if (!failed) failed = start_survivor(folder);
  if (failed) kura_draft_end(folder);
  return failed;
}

int kura_draft_add(const struct kura_draft *folder, const char *name) {
  int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(folder->directory, name, flags, 0600);
  return fd < 0 ? -errno : fd;
}

// MARK: - Afterwards

ptrdiff_t kura_draft_path(
    const struct kura_draft *draft, const char *directory, char *into, size_t capacity) {
  int count = draft->file < 0 ? snprintf(into, capacity, "%s/%s", directory, draft->name)
              : directory     ? snprintf(into, capacity, "%s/%s/" TEXT, directory, draft->name)
                              : snprintf(into, capacity, "/proc/self/fd/%d", draft->file);
  return count < 0 || (size_t)count >= capacity ? -ENAMETOOLONG : count;
}

int kura_draft_read(const struct kura_draft *draft) {
  if (draft->directory < 0) {
    int fd = fcntl(draft->file, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) return -errno;
    return lseek(fd, 0, SEEK_SET) == 0 ? fd : -errno;
  }
  int fd = openat(draft->directory, TEXT, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -errno;
  struct stat status;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
  close(fd);
  return -EINVAL;
}

int kura_draft_empty(struct kura_draft *draft) {
  int fd = draft->directory < 0
               ? fcntl(draft->file, F_DUPFD_CLOEXEC, 3)
               : openat(draft->directory, TEXT, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -errno;
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    return -EINVAL;
  }
  /* What the editor saved at first may be another file than the one that stands there now. */
  overwrite(draft->file);
  overwrite(fd);
  draft->times[0] = status.st_atim;
  draft->times[1] = status.st_mtim;
  if (lseek(fd, 0, SEEK_SET) == 0) return fd;
  close(fd);
  return -EINVAL;
}

void kura_draft_settle(const struct kura_draft *draft, int fd) {
  lseek(fd, 0, SEEK_SET);
  futimens(fd, draft->times);
  close(fd);
}

void kura_draft_end(struct kura_draft *draft) {
  if (draft->directory < 0 && draft->parent < 0 && draft->file < 0) return;
  wipe_draft(draft);
  int held[] = {draft->file, draft->directory, draft->parent, draft->guard};
  for (size_t i = 0; i < sizeof held / sizeof *held; i++)
    if (held[i] >= 0) close(held[i]);
  if (draft->guardian > 0) kura_child_wait(draft->guardian, 10000);
  *draft = (struct kura_draft){.file = -1, .directory = -1, .parent = -1, .guard = -1};
}
