// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "launching.h"

#include "arguments.h"
#include "memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Since Linux 6.3; what stands in a secret's file is never run. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

extern char **environ;

const char *kura_variable(int index) {
  for (int i = 0; environ && environ[i]; i++)
    if (i == index) return environ[i];
  return NULL;
}

int kura_process_id(void) { return getpid(); }

// MARK: - Files in memory

int kura_memory_file_create(int least) {
  unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int first = memfd_create("kura", flags | MFD_NOEXEC_SEAL);
  if (first < 0 && errno == EINVAL) first = memfd_create("kura", flags);
  if (first < 0) return -errno;
  int fd = fchmod(first, 0600) == 0 ? fcntl(first, F_DUPFD_CLOEXEC, least) : -1;
  int failed = fd < 0 ? -errno : 0;
  close(first);
  return failed ? failed : fd;
}

int kura_memory_file_empty(int fd) {
  return ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 ? 0 : -errno;
}

int kura_memory_file_seal(int fd) {
  int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  return fcntl(fd, F_ADD_SEALS, seals) == 0 && lseek(fd, 0, SEEK_SET) == 0 ? 0 : -errno;
}

// MARK: - Descriptors

int kura_descriptor_pass(int fd, int number) {
  if (fd != number) return dup2(fd, number) < 0 ? -errno : 0;
  return fcntl(fd, F_SETFD, 0) == 0 ? 0 : -errno;
}

int kura_descriptor_copy(int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return copy < 0 ? -errno : copy;
}

void kura_descriptor_withhold(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }

int kura_descriptor_exhaust(int fd) {
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0) return -errno;
  int failed = kura_descriptor_pass(null, fd);
  if (null != fd) close(null);
  return failed;
}

// MARK: - The environment

/* Whether `NAME=VALUE` entries have the same name. */
static int same_name(const char *one, const char *other) {
  while (*one && *one == *other && *one != '=') one++, other++;
  return *one == *other && *one == '=';
}

static int is_among(const char *entry, char *const entries[], size_t count) {
  for (size_t i = 0; i < count; i++)
    if (same_name(entry, entries[i])) return 1;
  return 0;
}

/* The block's entries, then ours that they do not replace; NULL when no memory is left. */
static char **environment(const char *variables, size_t size, int inherits) {
  size_t count = 0;
  for (size_t i = 0; i < size; i++) count += variables[i] == 0;
  if (inherits)
    for (size_t i = 0; environ && environ[i]; i++) count++;
  char **entries = calloc(count + 1, sizeof *entries);
  if (!entries) return NULL;
  size_t given = 0;
  for (size_t at = 0; at < size; at += strlen(variables + at) + 1)
    entries[given++] = (char *)variables + at;
  size_t next = given;
  for (size_t i = 0; inherits && environ && environ[i]; i++)
    if (!is_among(environ[i], entries, given)) entries[next++] = environ[i];
  return entries;
}

static const char *search_path(char *const entries[]) {
  for (size_t i = 0; entries[i]; i++)
    if (strncmp(entries[i], "PATH=", 5) == 0) return entries[i] + 5;
  const char *ours = getenv("PATH");
  return ours ? ours : "/bin:/usr/bin";
}

// MARK: - The program

/* As execvp(3) does: a file that no loader knows is a script of the shell's. */
static int run_script(const char *path, char *const arguments[], char *const entries[]) {
  size_t count = 0;
  while (arguments[count]) count++;
  char **ours = calloc(count + 2, sizeof *ours);
  if (!ours) return -ENOMEM;
  ours[0] = "/bin/sh";
  ours[1] = (char *)path;
  memcpy(ours + 2, arguments + 1, count * sizeof *ours);
  execve(ours[0], ours, entries);
  int failed = -errno;
  free(ours);
  return failed;
}

static int run_file(const char *path, char *const arguments[], char *const entries[]) {
  execve(path, arguments, entries);
  if (errno == ENOEXEC) return run_script(path, arguments, entries);
  int failed = -errno;
  if (failed == -ENOENT && access(path, F_OK) == 0) return KURA_INTERPRETER_MISSING;
  return failed;
}

/* What a directory of the PATH may answer without ending the search. */
static int is_elsewhere(int failed) {
  return failed == -ENOENT || failed == -ENOTDIR || failed == -EACCES || failed == -ENODEV
         || failed == -ESTALE || failed == -ETIMEDOUT;
}

static int search(const char *path, char *const arguments[], char *const entries[]) {
  const char *name = arguments[0];
  int found = -ENOENT;
  if (*name == 0) return found;
  for (;;) {
    const char *end = strchrnul(path, ':');
    char candidate[PATH_MAX];
    int count = snprintf(
        candidate, sizeof candidate, "%.*s%s%s", (int)(end - path), path, end == path ? "" : "/",
        name);
    int failed = count < (int)sizeof candidate ? run_file(candidate, arguments, entries) : -ENOENT;
    struct stat status;
    if (!is_elsewhere(failed)) return failed;
    /* A directory of that name is no program that may not be run. */
    if (failed == -EACCES && stat(candidate, &status) == 0 && !S_ISDIR(status.st_mode))
      found = failed;
    if (*end == 0) return found;
    path = end + 1;
  }
}

int kura_execute(int first, const char *variables, size_t count, int inherits) {
  char *const *arguments = kura_arguments(first);
  if (!arguments || !arguments[0]) return -EINVAL;
  char **entries = environment(variables, count, inherits);
  if (!entries) return -ENOMEM;
  kura_restore_process();
  int failed = strchr(arguments[0], '/')
                   ? run_file(arguments[0], arguments, entries)
                   : search(search_path(entries), arguments, entries);
  free(entries);
  return failed;
}
