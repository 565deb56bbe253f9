// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "confinement.h"

#include <errno.h>
#include <features.h>
#include <stddef.h>
#include <sys/prctl.h>

static int is_confined;

int kura_is_confined(void) { return is_confined; }

/* The client, which may be built with another C library, confines nothing. */
#ifndef __GLIBC__

int kura_confine(void) { return -ENOSYS; }

#else

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* What an agent never calls, and what somebody who got hold of it would: other programs, other processes'
   memory by the calls for it, the kernel's key rings, name spaces and mounts, and the kernel's larger interfaces. A list of what
   it does call would have to follow each C library and each release of Swift. */
static const int refused[] = {
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    SYS_add_key, SYS_request_key, SYS_keyctl, SYS_bpf, SYS_userfaultfd, SYS_perf_event_open,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_swapon, SYS_swapoff,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_acct, SYS_quotactl,
    SYS_open_by_handle_at, SYS_personality, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex,
    SYS_clock_adjtime, SYS_syslog, SYS_sethostname, SYS_setdomainname, SYS_vhangup, SYS_fanotify_init,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    /* The same numbers everywhere, and unknown to older headers: pidfd_send_signal, io_uring_setup,
       io_uring_enter, io_uring_register, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick,
       pidfd_getfd, mount_setattr. */
    424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442,
};

/* What makes name spaces where a thread is made: CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID,
   _NEWNET of clone(2). */
enum { NAME_SPACES = 0x7e020000 };

/* clone3, whose flags stand in memory, where no filter sees them. A C library that is told that the kernel has none
   takes clone. */
enum { CLONE3 = 435 };

enum { REFUSED = sizeof refused / sizeof *refused, HEAD = 9, TAIL = 8 };

/* Where in the tail a jump leads. */
enum { SOCKET = 1, CLONE = 3, REFUSE = 6, UNKNOWN = 7 };

/* How far a jump at an index goes that leads there. */
#define TO(place, index) ((unsigned char)(HEAD + REFUSED + (place) - (index) - 1))

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

int kura_confine(void) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
#ifdef NATIVE
  const struct sock_filter head[HEAD] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      /* x32, which has numbers of its own on x86-64. */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, TO(SOCKET, 6), 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, TO(CLONE, 7), 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLONE3, TO(UNKNOWN, 8), 0),
  };
  const struct sock_filter tail[TAIL] = {
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      /* A socket that leads off this machine is none of its business. */
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 2, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAME_SPACES, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
  };
  struct sock_filter filter[HEAD + REFUSED + TAIL];
  for (int i = 0; i < HEAD; i += 1) filter[i] = head[i];
  for (int i = 0; i < REFUSED; i += 1)
    filter[HEAD + i] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused[i], TO(REFUSE, HEAD + i), 0);
  for (int i = 0; i < TAIL; i += 1) filter[HEAD + REFUSED + i] = tail[i];
  const struct sock_fprog program = {.len = HEAD + REFUSED + TAIL, .filter = filter};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return -errno;
  is_confined = 1;
  return 0;
#else
  return -ENOSYS;
#endif
}

#endif
