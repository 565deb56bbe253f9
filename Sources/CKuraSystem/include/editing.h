// SPDX-License-Identifier: MIT

/* The editor that a person works in, at our terminal. */
#ifndef KURA_EDITING_H
#define KURA_EDITING_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/* An editor while it runs, and how it ended. */
struct kura_edited {
  /* Its exit status, or the signal that ended it. */
  int status, signal;
  /* The signal that was to end us, and has ended it; 0: none. It comes again at kura_editing_end. */
  int interrupted;
  /* Its own process group, too. */
  int process;
  /* Where it works, and what tells of signals. */
  int terminal, signals;
  /* Our end of a pipe to the process that gives the terminal back when we are killed; -1: none. */
  int guard, guardian;
  /* The process group that had the terminal when the editor was covered; 0: another program's. */
  int front;
  /* The terminal as it was before, and as a stopped editor left it. */
  bool has_settings, has_theirs;
  struct termios settings, theirs;
};

/* From here on no signal ends or stops us that a terminal or another process sends, until
   kura_editing_end: what has come meanwhile acts then. */
void kura_editing_begin(void);
void kura_editing_end(void);

/* Starts `program` at `terminal`, in a process group of its own. `arguments` are
   `count` bytes with a NUL behind each, its own name first. It gets mask, limits and signals as the user
   had them, no descriptors of ours but the standard ones, which are the terminal where they are no
   terminal, and `passed` (-1: none), and ends when we do, however that is. 0, or a negated errno when it
   was not started. */
int kura_edit_start(
    const char *_Nonnull program, const char *_Nonnull arguments, size_t count, int terminal,
    int passed, struct kura_edited *_Nonnull edited);

/* Waits until `other` (-1: nothing) has something to read, which is true, or the editor has ended. When it
   stops, so do we; SIGTERM and SIGHUP go to it; Ctrl-C is its own affair. */
bool kura_edit_await(struct kura_edited *_Nonnull edited, int other);

/* Stops the editor and all that it has started, takes the terminal, and erases what stands there, before anything is
   waited for. If we are killed from here on, all that was stopped is killed, too. */
void kura_edit_cover(struct kura_edited *_Nonnull edited);

/* Gives the terminal back to what had it of a covered editor, which goes on and draws its screen anew. */
void kura_edit_uncover(struct kura_edited *_Nonnull edited);

/* Kills a covered editor and all that it has started. */
void kura_edit_drop(struct kura_edited *_Nonnull edited);

/* Takes the terminal back from an editor that has ended, with its settings as they were. */
void kura_edit_end(struct kura_edited *_Nonnull edited);

/* The path of what stands at a path, links followed, without a terminator; its length. */
ptrdiff_t kura_real_path(const char *_Nonnull path, char *_Nonnull into, size_t capacity);

/* The name of the file that a program really is, links followed, without a terminator; its length. */
ptrdiff_t kura_real_name(const char *_Nonnull program, char *_Nonnull into, size_t capacity);

#endif
