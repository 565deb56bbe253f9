// SPDX-License-Identifier: MIT

/* Processes below an editor, and what stands on its terminal. Not for Swift. */
#ifndef KURA_COVERING_H
#define KURA_COVERING_H

#include <stdbool.h>

/* Writes to a terminal that understands more than lines. */
void kura_covering_show(int terminal, const char *words);

/* Stops a process, its group and all that it has started, those before what they started. Whether `front`, a process
   group, is one of theirs. */
bool kura_covering_stop(int top, int front, void (*erase)(int terminal), int terminal);

/* Has what was stopped go on, what was started last first. */
void kura_covering_continue(int top);

/* Kills what was stopped. */
void kura_covering_kill(int top);

#endif
