// SPDX-License-Identifier: MIT
//
// Whole processes, timed from outside, taken in turn so that a busy machine is busy for all alike.
//
//   race ROUNDS [-s] NAME COMMAND… -- NAME COMMAND… [-- …]
//
// Prints a row a command: name, median, 10th and 90th percentile, in milliseconds. A command's
// output goes to /dev/null; with -s its input comes from the file named by RACE_INPUT.
// A command that fails ends the race.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timing.h"

extern char **environ;
enum { MOST = 16 };

static double run(char **command, const char *input) {
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  double start = now();
  if (posix_spawn(&child, command[0], &actions, NULL, command, environ)) {
    perror(command[0]);
    exit(1);
  }
  waitpid(child, &status, 0);
  double took = now() - start;
  posix_spawn_file_actions_destroy(&actions);
  if (status) {
    fprintf(stderr, "race: %s ended with status %d\n", command[0], WEXITSTATUS(status));
    exit(1);
  }
  return took;
}

int main(int argc, char **argv) {
  char *names[MOST], **commands[MOST];
  const char *input = "/dev/null";
  int count = 0, rounds = argc > 1 ? atoi(argv[1]) : 0, next = 2;
  if (argc > 2 && !strcmp(argv[2], "-s")) {
    input = getenv("RACE_INPUT");
    next = 3;
  }
  for (int i = next; i < argc && count < MOST; i++) {
    names[count] = argv[i];
    commands[count++] = argv + i + 1;
    while (i < argc && strcmp(argv[i], "--")) i++;
    if (i < argc) argv[i] = NULL;
  }
  if (rounds < 1 || count == 0 || !input) {
    fputs("usage: race ROUNDS [-s] NAME COMMAND... [-- NAME COMMAND...]\n", stderr);
    return 2;
  }
  double *took = malloc(sizeof *took * (size_t)rounds * (size_t)count);
  for (int c = 0; c < count; c++) run(commands[c], input);
  for (int r = 0; r < rounds; r++)
    for (int c = 0; c < count; c++) took[c * rounds + r] = run(commands[c], input);
  for (int c = 0; c < count; c++) {
    double *row = took + c * rounds;
    qsort(row, (size_t)rounds, sizeof *row, ascending);
    printf("%s\t%.4f\t%.4f\t%.4f\n", names[c], row[rounds / 2], row[rounds / 10], row[rounds * 9 / 10]);
  }
  return 0;
}
