// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "memory.h"

#include <features.h>
#include <link.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Blocks come in size classes 64, 96, 128, 192, 256, … up to LARGE, carved off regions between two
   guard pages and kept in one free list a class. They are never merged: what a process holds at once
   bounds what the lists hold. A freed block is zero but for its link. */
enum {
  PAGE = 4096,
  ALIGNMENT = 64,
  CLASSES = 23,
  LARGE = 128 * 1024,
  FIRST_REGION = 64 * 1024,
  LATER_REGION = 512 * 1024,
};

struct link {
  struct link *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct link *lists[CLASSES];
static unsigned char *fresh, *fresh_end;
static size_t regions;
static struct kura_memory_status status;

/* The class of a size below LARGE: even ones are powers of two from 64, odd ones half-way up. */
static unsigned class_of(size_t count) {
  if (count <= ALIGNMENT) return 0;
  unsigned log = 63 - (unsigned)__builtin_clzl(count - 1);
  size_t half = (size_t)3 << (log - 1);
  return (log - 6) * 2 + (count <= half ? 1 : 2);
}

static size_t class_size(unsigned class) {
  size_t power = (size_t)ALIGNMENT << (class / 2);
  return class % 2 ? (power + power / 2 + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1) : power;
}

/* What is mapped, as far as there is room to note it: for a child, which has to lock it anew. */
enum { NOTED = 16 };
static struct {
  unsigned char *start;
  size_t size;
} noted[NOTED];

static void note(const unsigned char *instead, unsigned char *start, size_t size) {
  for (size_t i = 0; i < NOTED; i += 1) {
    if (noted[i].start != instead) continue;
    noted[i].start = start;
    noted[i].size = size;
    return;
  }
}

static size_t *counter(int is_locked) { return is_locked ? &status.locked : &status.unlocked; }

static size_t page_rounded(size_t count) { return (count + PAGE - 1) & ~(size_t)(PAGE - 1); }

/* Readable pages between two guard pages, out of core dumps and children, in RAM if we may. */
static unsigned char *map(size_t size, int *is_locked) {
  unsigned char *whole = mmap(NULL, size + 2 * PAGE, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) return NULL;
  unsigned char *usable = whole + PAGE;
  if (mprotect(usable, size, PROT_READ | PROT_WRITE) != 0) {
    munmap(whole, size + 2 * PAGE);
    return NULL;
  }
  madvise(usable, size, MADV_DONTDUMP);
  madvise(usable, size, MADV_WIPEONFORK);
  /* On fault: a client that holds two secrets must not pay for sixteen pages. */
  *is_locked = mlock2(usable, size, MLOCK_ONFAULT) == 0 || mlock(usable, size) == 0;
  __atomic_add_fetch(counter(*is_locked), size, __ATOMIC_RELAXED);
  return usable;
}

/* A block of a class off the newest region; what is left of a full region feeds the lists. */
static void *carve(unsigned class) {
  size_t size = class_size(class);
  if ((size_t)(fresh_end - fresh) < size) {
    size_t region = regions == 0 && size <= FIRST_REGION ? FIRST_REGION : LATER_REGION;
    int is_locked;
    unsigned char *mapped = map(region, &is_locked);
    if (mapped == NULL) return NULL;
    note(NULL, mapped, region);
    while (fresh_end - fresh >= ALIGNMENT) {
      struct link *rest = (struct link *)fresh;
      rest->next = lists[0];
      lists[0] = rest;
      fresh += ALIGNMENT;
    }
    regions += 1;
    fresh = mapped;
    fresh_end = mapped + region;
  }
  void *block = fresh;
  fresh += size;
  return block;
}

/* A large block has a mapping to itself; its first page remembers whether it could be locked. */
static void *allocate_large(size_t count) {
  if (count > SIZE_MAX / 2) return NULL;
  int is_locked;
  unsigned char *mapped = map(PAGE + page_rounded(count), &is_locked);
  if (mapped == NULL) return NULL;
  *(int *)mapped = is_locked;
  pthread_mutex_lock(&lock);
  note(NULL, mapped, PAGE + page_rounded(count));
  pthread_mutex_unlock(&lock);
  return mapped + PAGE;
}

static void free_large(unsigned char *block, size_t count) {
  size_t size = PAGE + page_rounded(count);
  unsigned char *mapped = block - PAGE;
  __atomic_sub_fetch(counter(*(int *)mapped), size, __ATOMIC_RELAXED);
  pthread_mutex_lock(&lock);
  note(mapped, NULL, 0);
  pthread_mutex_unlock(&lock);
  munmap(mapped - PAGE, size + 2 * PAGE);
}

void *kura_secret_allocate(size_t count) {
  if (count >= LARGE) return allocate_large(count);
  unsigned class = class_of(count);
  pthread_mutex_lock(&lock);
  struct link *block = lists[class];
  if (block != NULL) {
    lists[class] = block->next;
    block->next = NULL;
  } else {
    block = carve(class);
  }
  pthread_mutex_unlock(&lock);
  return block;
}

void kura_secret_free(void *block, size_t count) {
  if (block == NULL) return;
  explicit_bzero(block, count);
  if (count >= LARGE) {
    free_large(block, count);
    return;
  }
  unsigned class = class_of(count);
  struct link *link = block;
  pthread_mutex_lock(&lock);
  link->next = lists[class];
  lists[class] = link;
  pthread_mutex_unlock(&lock);
}

void kura_secret_lock_again(void) {
  for (size_t i = 0; i < NOTED; i += 1)
    if (noted[i].start != NULL && mlock2(noted[i].start, noted[i].size, MLOCK_ONFAULT) != 0)
      mlock(noted[i].start, noted[i].size);
}

void kura_secret_wipe(void *block, size_t count) { explicit_bzero(block, count); }

/* Not inlined, so that its frame lies below the caller's, where others' frames were. */
__attribute__((noinline)) void kura_stack_wipe(void) {
  unsigned char remains[65536];
  explicit_bzero(remains, sizeof remains);
}

void kura_memory_settle(void) {
#ifdef __GLIBC__
  /* A piece of a long value is a little over a MiB, in several copies, one after the other: mapped and unmapped each
     time, they cost more than all that is done with them. What is left over goes back by kura_memory_trim. */
  mallopt(M_MMAP_THRESHOLD, 16 * LARGE);
  mallopt(M_TRIM_THRESHOLD, 64 * LARGE);
#endif
}

void kura_memory_trim(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/* Only parts that are mapped without write access: what the loader adjusted is in the others. */
static int trim_part(struct dl_phdr_info *object, size_t size, void *nothing) {
  (void)size, (void)nothing;
  for (int i = 0; i < object->dlpi_phnum; i += 1) {
    const ElfW(Phdr) *part = object->dlpi_phdr + i;
    if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
    uintptr_t start = (object->dlpi_addr + part->p_vaddr) & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_memsz) & ~(uintptr_t)(PAGE - 1);
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void kura_code_trim(void) { dl_iterate_phdr(trim_part, NULL); }

int kura_secret_equal(const void *left, const void *right, size_t count) {
  const volatile unsigned char *a = left, *b = right;
  unsigned char difference = 0;
  for (size_t i = 0; i < count; i += 1) difference |= a[i] ^ b[i];
  return difference == 0;
}

struct kura_memory_status kura_secret_status(void) {
  return (struct kura_memory_status){
      .locked = __atomic_load_n(&status.locked, __ATOMIC_RELAXED),
      .unlocked = __atomic_load_n(&status.unlocked, __ATOMIC_RELAXED),
  };
}

/* Swift's backtracer prints the memory that registers point to. The client that links musl has none. */
#ifdef __GLIBC__
static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGQUIT};
enum { CRASHES = sizeof crashes / sizeof *crashes };
#else
static const int *const crashes = NULL;
enum { CRASHES = 0 };
#endif

static struct {
  int is_hardened;
  int was_ignored[CRASHES + 1];
  int has_core;
  rlim_t core;
  mode_t mask;
} before;

uint32_t kura_harden_process(void) {
  for (size_t i = 0; i < CRASHES; i += 1)
    before.was_ignored[i] = signal(crashes[i], SIG_DFL) == SIG_IGN;
  prctl(PR_SET_DUMPABLE, 0);
  struct rlimit core;
  if (getrlimit(RLIMIT_CORE, &core) == 0) {
    before.has_core = 1;
    before.core = core.rlim_cur;
    core.rlim_cur = 0;
    setrlimit(RLIMIT_CORE, &core);
  }
  before.is_hardened = 1;
  return before.mask = umask(077);
}

void kura_restore_process(void) {
  if (!before.is_hardened) return;
  for (size_t i = 0; i < CRASHES; i += 1)
    if (before.was_ignored[i]) signal(crashes[i], SIG_IGN);
  struct rlimit core;
  if (before.has_core && getrlimit(RLIMIT_CORE, &core) == 0) {
    core.rlim_cur = before.core;
    setrlimit(RLIMIT_CORE, &core);
  }
  umask(before.mask);
}
