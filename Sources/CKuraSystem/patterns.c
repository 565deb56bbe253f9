// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "patterns.h"

#include <regex.h>
#include <stddef.h>

static regex_t pattern;
static int is_made;

int kura_pattern_use(const char *text, int ignores_case, int is_extended) {
  if (is_made) regfree(&pattern);
  int flags = REG_NOSUB | (ignores_case ? REG_ICASE : 0) | (is_extended ? REG_EXTENDED : 0);
  is_made = regcomp(&pattern, text, flags) == 0;
  return is_made;
}

int kura_pattern_matches(const char *text) {
  return is_made && regexec(&pattern, text, 0, NULL, 0) == 0;
}
