// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "forkjoin.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "memory.h"

/* Enough for a part, and for kura_stack_wipe below it. */
enum { STACK = 256 * 1024 };

enum helper { UNKNOWN, STANDS_BY, IMPOSSIBLE };

/* Held by the caller whose parts are being done. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static enum helper helper;

/* Over everything below. */
static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
static pthread_cond_t rested = PTHREAD_COND_INITIALIZER;
static kura_part part;
static void *context;
static size_t next, end;
static int is_helping;

/* Does what parts are left; called and left with the desk held. */
static void do_parts(void) {
  while (next < end) {
    size_t index = next++;
    pthread_mutex_unlock(&desk);
    part(context, index);
    pthread_mutex_lock(&desk);
  }
}

static void *help(void *nothing) {
  pthread_mutex_lock(&desk);
  for (;;) {
    while (next == end) pthread_cond_wait(&given, &desk);
    is_helping = 1;
    do_parts();
    pthread_mutex_unlock(&desk);
    kura_stack_wipe();
    pthread_mutex_lock(&desk);
    is_helping = 0;
    pthread_cond_signal(&rested);
  }
  return nothing;
}

/* Signals are for the threads that there were before. */
static enum helper start(void) {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) < 2)
    return IMPOSSIBLE;
  sigset_t all, before;
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0) return IMPOSSIBLE;
  pthread_attr_setstacksize(&attributes, STACK);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int code = pthread_create(&thread, &attributes, help, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return code == 0 ? STANDS_BY : IMPOSSIBLE;
}

static void do_alone(size_t count, kura_part part, void *context) {
  for (size_t index = 0; index < count; index += 1) part(context, index);
}

void kura_fork_join(size_t count, kura_part asked, void *lent) {
  if (count < 2 || pthread_mutex_trylock(&turn) != 0) return do_alone(count, asked, lent);
  if (helper == UNKNOWN) helper = start();
  if (helper == STANDS_BY) {
    pthread_mutex_lock(&desk);
    part = asked;
    context = lent;
    next = 0;
    end = count;
    pthread_cond_signal(&given);
    /* The desk has been held since there are parts: the first one is ours. */
    do_parts();
    while (is_helping) pthread_cond_wait(&rested, &desk);
    pthread_mutex_unlock(&desk);
  } else {
    do_alone(count, asked, lent);
  }
  pthread_mutex_unlock(&turn);
}
