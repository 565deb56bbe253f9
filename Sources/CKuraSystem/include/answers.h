// SPDX-License-Identifier: MIT

/* What was answered to which process, so that nobody is given a wrong answer again and again. */
#ifndef KURA_ANSWERS_H
#define KURA_ANSWERS_H

#include <stdint.h>

/* Notes that the process which started this one is given an answer, by a file without content in
   `directory`, which is made where it is missing; notes about processes that are gone are removed.
   1: it was not given that one before, or cannot be told from others; 0: it was; or a negated errno: nothing is known. */
int kura_answer_note(const char *_Nonnull directory, uint64_t answer);

#endif
