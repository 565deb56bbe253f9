// SPDX-License-Identifier: MIT
/* Gives a short command what memory it asks for from a block of the program's own, so that the C library's
   allocator, with its system calls and pages, starts only where more is wanted. The linker puts these in the way
   (--wrap, in the Makefile); for one thread, as the client is. What is secret lies elsewhere (memory.c). */
#ifdef KURA_FIRST_HEAP
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

enum { GRAIN = 16, ROOM = 3072 };

int __real_posix_memalign(void **into, size_t alignment, size_t size);
void __real_free(void *block);

static _Alignas(GRAIN) unsigned char room[ROOM];
static size_t used, last;

int __wrap_posix_memalign(void **into, size_t alignment, size_t size) {
  if (alignment > GRAIN || size >= ROOM - used) return __real_posix_memalign(into, alignment, size);
  last = used;
  *into = room + used;
  used += size ? (size + GRAIN - 1) & ~(size_t)(GRAIN - 1) : GRAIN;
  return 0;
}

/* Only the block given last can be given anew; what has no room here gets it from the library. */
void __wrap_free(void *block) {
  size_t offset = (uintptr_t)block - (uintptr_t)room;
  if (offset >= ROOM) return __real_free(block);
  if (offset == last) used = last;
}
#else
typedef int kura_heap_is_the_libraries_own;
#endif
