/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "CMemoryScan.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

int memory_trace(int process) {
  return ptrace(PTRACE_SEIZE, process, 0, PTRACE_O_TRACEEXIT) == 0 ? 0 : -errno;
}

int memory_trace_await(int process) {
  for (;;) {
    int status;
    if (waitpid(process, &status, __WALL) < 0) {
      if (errno == EINTR) continue;
      return -errno;
    }
    if (!WIFSTOPPED(status)) return -ESRCH;
    if (status >> 16 == PTRACE_EVENT_EXIT) return 0;
    int signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
    if (ptrace(PTRACE_CONT, process, 0, signal) != 0) return -errno;
  }
}

void memory_trace_end(int process) { ptrace(PTRACE_DETACH, process, 0, 0); }

int memory_lift_core_limit(int process) {
  struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  return prlimit(process, RLIMIT_CORE, &all, NULL) == 0 ? 0 : -errno;
}
