// SPDX-License-Identifier: MIT

/* Patterns as grep(1) takes them. */
#ifndef KURA_PATTERNS_H
#define KURA_PATTERNS_H

/* Makes a pattern the one that is matched against; false: it is none. */
int kura_pattern_use(const char *_Nonnull text, int ignores_case, int is_extended);

/* Whether a text matches it, or a part of it does. */
int kura_pattern_matches(const char *_Nonnull text);

#endif
