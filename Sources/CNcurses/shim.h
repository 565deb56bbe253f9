// SPDX-License-Identifier: MIT

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

/* Sends a byte through the buffer of what is drawn; putp(3) writes to stdout. */
int _nc_outch(int byte);
