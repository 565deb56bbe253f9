// SPDX-License-Identifier: MIT

#define _GNU_SOURCE

#include "machine.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/timex.h>
#include <unistd.h>

static uint64_t limit(rlim_t value) { return value == RLIM_INFINITY ? UINT64_MAX : value; }

void kura_limits_read(struct kura_limits *limits) {
  struct rlimit lock = {0}, core = {0};
  getrlimit(RLIMIT_MEMLOCK, &lock);
  getrlimit(RLIMIT_CORE, &core);
  limits->lock = limit(lock.rlim_cur);
  limits->hard_lock = limit(lock.rlim_max);
  limits->core = limit(core.rlim_cur);
  limits->dumpable = prctl(PR_GET_DUMPABLE) != 0;
}

int kura_place_look(const char *path, struct kura_place *place) {
  struct stat facts;
  struct statfs system;
  if (stat(path, &facts) != 0 || statfs(path, &system) != 0) return -errno;
  place->file_system = (uint32_t)system.f_type;
  place->mode = facts.st_mode & 07777;
  place->is_own = facts.st_uid == geteuid();
  return 0;
}

int kura_clock_is_synchronised(void) {
  struct timex state = {0};
  int result = adjtimex(&state);
  return result >= 0 && result != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}
