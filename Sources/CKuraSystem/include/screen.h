// SPDX-License-Identifier: MIT

/* A whole terminal as a program's screen: its signals, its settings, its size, and programs that work there
   in between. Functions answer a descriptor, a count or 0, or a negated errno. */
#ifndef KURA_SCREEN_H
#define KURA_SCREEN_H

#include <stddef.h>
#include <stdint.h>

/* Sees to it that what the C library frees is overwritten, and what this process allocates is not kept by
   size: glibc's way, by a variable that it reads at the start of a program. The first call starts this
   program anew with it and answers only when that fails; in the new one it takes the variable away. */
int kura_screen_overwrite_freed(void);

/* Hands on no signal that would end, stop or resize us, but has them read from a descriptor. */
int kura_screen_signals(void);
/* The next one's number, or 0. */
int kura_screen_next_signal(int signals);
/* Ends or stops this process by a signal, as if nothing had kept it. Returns after a stop. */
void kura_screen_obey(int signal);

/* Whether this process works in the foreground of the terminal, or that is gone. */
int kura_screen_is_ours(int terminal);

/* Keeps the settings and hands every key on as a byte without echo; drops what was typed before. */
int kura_screen_begin(int terminal);
/* Gives the terminal back as it was; what was typed and not read is dropped. */
void kura_screen_end(void);

/* Starts a process that does no more than to wait for this one's end: where that comes between
   kura_screen_begin and kura_screen_end, as by SIGKILL, it gives the terminal back in our place, and sends it
   `farewell`, NUL-terminated. To be called once, before anything secret is in memory. */
void kura_screen_guard(int terminal, const char *_Nonnull farewell);

int kura_screen_size(int terminal, int *_Nonnull rows, int *_Nonnull columns);

/* The columns that a character takes in this locale; negative where it cannot be shown. */
int kura_screen_width(uint32_t character);

/* What kura_screen_wait answers, one bit each. */
enum { KURA_SCREEN_KEYS = 1, KURA_SCREEN_SIGNAL = 2, KURA_SCREEN_NEWS = 4 };

/* Waits at most `milliseconds` (-1: for ever) until one of them (-1: none) can be read or is closed. */
int kura_screen_wait(int terminal, int signals, int news, int milliseconds);

/* Whether the window is gone. Where it is, what waits for a key sees that no later than the signal that tells of it. */
int kura_screen_is_gone(int terminal);

/* Reads keys; 0 when the window is gone. */
ptrdiff_t kura_screen_read(int terminal, void *_Nonnull into, size_t capacity);
/* Writes all bytes to the window, as far as it takes them. */
void kura_screen_write(int terminal, const void *_Nonnull bytes, size_t count);

/* Runs `program` and waits for its end: `arguments` are `count` bytes with a NUL behind each, its own name
   first. It gets signals, mask and limits as the user had them. Where `terminal` is not -1 that is its input
   and output; else these are /dev/null. Where `said` is not -1, what it has to say goes there. Where `output` is not -1 its
   output goes there. Its status, or 128 and the signal that ended it. */
int kura_screen_run(
    const char *_Nonnull program, const char *_Nonnull arguments, size_t count, int terminal,
    int output, int said);

/* Becomes `program`, in the process that the user started: limits, umask and descriptors as they were.
   Answers only when that fails. */
int kura_screen_become(
    const char *_Nonnull program, const char *_Nonnull arguments, size_t count);

#endif
