// SPDX-License-Identifier: MIT

/* The controlling terminal while a person types a passcode: what tcsetattr(3) and signals need. */
#ifndef KURA_TERMINAL_H
#define KURA_TERMINAL_H

/* Callers compare with its numbers. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The editing keys as stty(1) has set them up; 0 is a key switched off. */
struct kura_terminal_keys {
  uint8_t erase, kill, word_erase, interrupt, quit, suspend, end_of_file;
};

/* What kura_terminal_read answers instead of a count of bytes. */
enum {
  KURA_TERMINAL_CLOSED = 0,     /* the window is gone */
  KURA_TERMINAL_FAILED = -1,
  KURA_TERMINAL_TIMEOUT = -2,
  KURA_TERMINAL_CONTINUED = -3, /* stopped and continued: the prompt must be drawn again */
  KURA_TERMINAL_OTHER = -4,     /* the other descriptor has something to read */
};

/* /dev/tty for reading and writing, close-on-exec; -1 where there is none. */
int kura_terminal_open(void);

/* Whether this process may read there: it is in the foreground group. */
bool kura_terminal_is_foreground(int fd);

/* isatty(3). */
bool kura_is_terminal(int fd);

/* The width in columns; 0 where the terminal does not say. */
int kura_terminal_columns(int fd);

/* The height in lines; 0 where the terminal does not say. */
int kura_terminal_lines(int fd);

/* Has a process watch this one, which takes what is shown apart off the terminal `fd`, and gives that its settings back,
   where this one is killed by SIGKILL. Begun before there is anything secret in memory. */
void kura_terminal_guard(int fd);

/* Goes to the terminal's other screen, or erases that and comes back from it. While it is shown, a signal that ends or
   stops us comes back first. Only between kura_terminal_begin and kura_terminal_end. */
void kura_terminal_show_apart(bool is_apart);

/* The terminal's own name, such as pts/3, for people; its length, or a negated errno. */
int kura_terminal_name(int fd, char *_Nonnull into, size_t capacity);

/* Keeps other prompts off the same terminal, by flock(2) on it: a descriptor to close at the end,
   -EWOULDBLOCK while another prompt stands there, or another negated errno where the terminal
   cannot be told apart. */
int kura_terminal_lock(int fd);

/* Waits at most `milliseconds` for something to read from a descriptor (-1: none). */
bool kura_terminal_await(int other, int milliseconds);

/* Keeps the settings, mends those that a killed prompt left behind, and hands every key on as a
   byte without echo; what was typed before is dropped. From here to kura_terminal_end, a signal that ends the process gives the
   terminal back first, and a stopped process sets it up again when it continues.
   One prompt at a time; 0, or -errno. */
int kura_terminal_begin(int fd, struct kura_terminal_keys *_Nonnull keys);

/* Between the last key and the answer: no echo still, but Ctrl-C and Ctrl-Z act by themselves. */
void kura_terminal_pause(void);

/* Reads keys again after a pause, and drops those typed in between; whether there was a pause. */
bool kura_terminal_resume(void);

/* Gives the terminal back as it was. What was typed and not read is dropped: it may be a passcode
   that must not appear at the shell's prompt. */
void kura_terminal_end(void);

/* What Ctrl-Z does: gives the terminal back, stops the whole process group, and sets the terminal
   up again when the group is continued. */
void kura_terminal_suspend(void);

/* Waits at most `milliseconds` (-1: for ever) for keys, or for `other` (-1: none) to be readable or
   closed, and reads what there is. At least 1, or one of the answers above. */
long kura_terminal_read(void *_Nonnull bytes, size_t count, int milliseconds, int other);

#endif
