// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "looking.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 64 * 1024 };

/* Over everything below. */
static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered;
static int is_ready, is_looking;
static char asked[PATH_MAX];
static struct kura_look found;
static int failed;

static void *look(void *nothing) {
  struct kura_look seen = {.is_readable = access(asked, R_OK) == 0, .size = -1};
  struct stat status;
  int missed = lstat(asked, &status) == 0 ? 0 : errno;
  if (!missed && S_ISREG(status.st_mode)) seen.size = status.st_size;
  pthread_mutex_lock(&desk);
  found = seen;
  failed = missed == ENOENT || missed == ENOTDIR ? 0 : missed;
  is_looking = 0;
  pthread_cond_signal(&answered);
  pthread_mutex_unlock(&desk);
  return nothing;
}

/* Signals are for the threads that there were before. */
static int start(void) {
  sigset_t all, before;
  pthread_attr_t attributes;
  pthread_t thread;
  int code = pthread_attr_init(&attributes);
  if (code) return -code;
  pthread_attr_setstacksize(&attributes, STACK);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  code = pthread_create(&thread, &attributes, look, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return -code;
}

/* No step of the wall clock makes a wait longer. */
static void prepare(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&answered, &attributes);
  pthread_condattr_destroy(&attributes);
  is_ready = 1;
}

static struct timespec after(int milliseconds) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += milliseconds / 1000;
  end.tv_nsec += milliseconds % 1000 * 1000000L;
  if (end.tv_nsec >= 1000000000L) {
    end.tv_sec++;
    end.tv_nsec -= 1000000000L;
  }
  return end;
}

int kura_look_at(const char *path, int milliseconds, struct kura_look *seen) {
  if (strlen(path) >= sizeof asked) return -ENAMETOOLONG;
  struct timespec end = after(milliseconds);
  pthread_mutex_lock(&desk);
  int result = is_looking ? -EBUSY : 0;
  if (!result) {
    if (!is_ready) prepare();
    strcpy(asked, path);
    is_looking = 1;
    result = start();
    if (result) is_looking = 0;
    int late = 0;
    while (!result && is_looking && !late)
      late = pthread_cond_timedwait(&answered, &desk, &end);
    if (!result && is_looking) result = -ETIMEDOUT;
    if (!result) result = -failed;
    if (!result) *seen = found;
  }
  pthread_mutex_unlock(&desk);
  return result;
}
