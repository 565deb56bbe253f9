// SPDX-License-Identifier: MIT

/* What `doctor` asks of the machine. */
#ifndef KURA_MACHINE_H
#define KURA_MACHINE_H

#include <stdint.h>

/* Limits of this process, in bytes; UINT64_MAX for none. */
struct kura_limits {
  uint64_t lock;
  uint64_t hard_lock;
  uint64_t core;
  int dumpable;
};
void kura_limits_read(struct kura_limits *_Nonnull limits);

/* A file or directory: its type of file system (statfs(2)), permission bits, and whether it is ours. */
struct kura_place {
  uint64_t file_system;
  uint32_t mode;
  int is_own;
};
/* Symbolic links are followed; 0 or a negated errno. */
int kura_place_look(const char *_Nonnull path, struct kura_place *_Nonnull place);

/* Whether something keeps the wall clock right (adjtimex(2)). */
int kura_clock_is_synchronised(void);

#endif
