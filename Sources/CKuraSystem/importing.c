// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "importing.h"

#include <errno.h>
#include <features.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int kura_memory_file(const void *bytes, size_t count) {
  int file = memfd_create("kura-import", MFD_CLOEXEC);
  if (file < 0) return -errno;
  for (size_t done = 0; done < count;) {
    ssize_t wrote = write(file, (const char *)bytes + done, count - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      int failed = wrote < 0 ? -errno : -EIO;
      close(file);
      return failed;
    }
    done += (size_t)wrote;
  }
  if (lseek(file, 0, SEEK_SET) == 0) return file;
  int failed = -errno;
  close(file);
  return failed;
}

int kura_entry_kind(const char *path) {
  struct stat entry;
  if (lstat(path, &entry) != 0) return -errno;
  if (S_ISREG(entry.st_mode)) return KURA_ENTRY_FILE;
  if (S_ISDIR(entry.st_mode)) return KURA_ENTRY_FOLDER;
  return S_ISLNK(entry.st_mode) ? KURA_ENTRY_LINK : KURA_ENTRY_OTHER;
}

int kura_reader_end(int process) {
  int status;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return -errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void kura_reader_kill(int process) { kill(process, SIGKILL); }

void kura_reader_exit(int status) { _exit(status); }

/* The client, which may be built with another C library, reads nothing of the kind. */
#ifndef __GLIBC__

int kura_reader_start(int input, struct kura_reader_limits limits, int *answers) {
  (void)input, (void)limits, (void)answers;
  return -ENOSYS;
}

#else

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* What a program without files needs: memory, a lock, chance, the time, and its end. */
static const int allowed[] = {
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex, SYS_getrandom, SYS_clock_gettime, SYS_sched_yield,
    SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall, SYS_exit, SYS_exit_group, SYS_ppoll,
#ifdef SYS_poll
    SYS_poll,
#endif
};

enum { ALLOWED = sizeof allowed / sizeof *allowed, HEAD = 10, TAIL = 10 };

/* Where in the tail a jump leads. */
enum { ALLOW = 0, READS = 1, WRITES = 4, MAPS = 7, KILL = 9 };

/* How far a jump at an index goes that leads there. */
#define TO(place, index) ((unsigned char)(HEAD + ALLOWED + (place) - (index) - 1))

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

/* The low half of an argument; descriptors and protections have no high one. */
#define ARGUMENT(index) offsetof(struct seccomp_data, args[index])

static int confine(void) {
#ifdef NATIVE
  const struct sock_filter head[HEAD] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      /* x32, which has numbers of its own on x86-64. */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, TO(READS, 6), 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, TO(WRITES, 7), 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, TO(MAPS, 8), 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, TO(MAPS, 9), 0),
  };
  const struct sock_filter tail[TAIL] = {
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, KILL - READS - 2),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, KILL - WRITES - 2),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(2)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  /* Behind the table comes a call that is not in it; behind the tail what maps memory that nobody can run. */
  struct sock_filter filter[HEAD + ALLOWED + 1 + TAIL + 1];
  size_t count = 0;
  for (int i = 0; i < HEAD; i++) {
    filter[count] = head[i];
    if (i >= 6) filter[count].jt += 1;
    count++;
  }
  for (int i = 0; i < ALLOWED; i++)
    filter[count++] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], (unsigned char)(ALLOWED - i), 0);
  filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  for (int i = 0; i < TAIL; i++) filter[count++] = tail[i];
  filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0 ? -errno : 0;
#else
  return -ENOSYS;
#endif
}

static int limit(int resource, rlim_t most) {
  const struct rlimit bounds = {most, most};
  return setrlimit(resource, &bounds);
}

/* In the child: 0, or a negated errno. */
static int give_up(int input, int output, struct kura_reader_limits limits, pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0) return -errno;
  if (getppid() != parent) return -ESRCH;
  /* Neither may be in the other's way. */
  int from = fcntl(input, F_DUPFD, 3), to = fcntl(output, F_DUPFD, 3);
  if (from < 0 || to < 0 || dup2(from, 0) < 0 || dup2(to, 1) < 0) return -errno;
  if (syscall(SYS_close_range, 2u, ~0u, 0u) != 0) return -errno;
  if (limit(RLIMIT_AS, limits.bytes) != 0 || limit(RLIMIT_DATA, limits.bytes) != 0) return -errno;
  if (limit(RLIMIT_CPU, limits.seconds) != 0 || limit(RLIMIT_CORE, 0) != 0) return -errno;
  if (limit(RLIMIT_FSIZE, 0) != 0 || limit(RLIMIT_NOFILE, 0) != 0) return -errno;
  return confine();
}

int kura_reader_start(int input, struct kura_reader_limits limits, int *answers) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  pid_t parent = getpid(), child = fork();
  if (child < 0) {
    int failed = -errno;
    close(ends[0]);
    close(ends[1]);
    return failed;
  }
  if (child == 0) {
    /* What cannot be confined reads nothing. */
    if (give_up(input, ends[1], limits, parent) != 0) _exit(KURA_READER_UNCONFINED);
    return 0;
  }
  close(ends[1]);
  *answers = ends[0];
  return child;
}

#endif
