// SPDX-License-Identifier: MIT

/* Programs that are started to answer, and end: kura-strength, git, pinentry, and what KURA_ASKPASS
   names. */
#ifndef KURA_ASKING_H
#define KURA_ASKING_H

#include "process.h"

/* Set in the environment of a program that asks a person: a kura that finds it never asks. */
#define KURA_ASKED_MARK "KURA_ASKED"

/* Starts `program` with its stdout, and where `feeds` is set its stdin, on our socket; otherwise
   its stdin is /dev/null. `argument` is its only one, or NULL. Our environment goes with it where
   `inherits` is set, with the mark; else none. It has an empty signal mask and default dispositions,
   and ends when we do, however that is. 0 or a negated errno. */
int kura_start_asked(
    const char *_Nonnull program, const char *_Nullable argument, int feeds, int inherits,
    struct kura_child *_Nonnull child);

/* Starts a program that answers what it is told: its stdin and stdout are our socket, its stderr and its variables are
   ours. `arguments` are `count` bytes of words, its own name first, each with a NUL behind it. It ends when we do. 0 or a
   negated errno. */
int kura_start_answering(
    const char *_Nonnull program, const char *_Nonnull arguments, size_t count,
    struct kura_child *_Nonnull child);

/* Starts a program of which all is heard: its stdin is /dev/null, stdout and stderr are our socket, it has no terminal, and
   its variables are ours. `arguments` as above. It ends when we do. 0 or a negated errno. */
int kura_start_heard(
    const char *_Nonnull program, const char *_Nonnull arguments, size_t count,
    struct kura_child *_Nonnull child);

/* Starts a program that carries: its stdin is `in` (-1: /dev/null), its stdout our socket, its stderr `complaints`. It has
   no terminal, its variables are ours, and `arguments` as above. It ends when we do. 0 or a negated errno. */
int kura_start_carrying(
    const char *_Nonnull program, const char *_Nonnull arguments, size_t count, int in, int complaints,
    struct kura_child *_Nonnull child);

/* What is heard of a `kura` that asks the owner; the other one of the two is lost. */
enum {
  KURA_OWNER_VALUE = 1,
  KURA_OWNER_MESSAGES = 2,
};

/* Starts a `kura` that is to ask the owner: `arguments` are `count` bytes of words, its own name first, each with
   a NUL behind it. Its stdin is /dev/null, and one of stdout and stderr is our socket. It gets our environment; where
   `apart` is set it is in the background of our terminal, if we have one, and so asks nobody there. It ends when we do.
   0 or a negated errno. */
int kura_start_owner(
    const char *_Nonnull program, const char *_Nonnull arguments, size_t count, int end, int apart,
    struct kura_child *_Nonnull child);

/* Tells the program that nothing more comes. */
void kura_end_feed(int fd);

/* What kura_asked_read answers instead of a count of bytes. */
enum {
  KURA_ASKED_ENDED = 0,
  KURA_ASKED_FAILED = -1,
  KURA_ASKED_TIMEOUT = -2,
  KURA_ASKED_OTHER = -4, /* the other descriptor has something to read */
};

/* Waits at most `milliseconds` (-1: for ever) for words of the program, or for `other` (-1: none)
   to be readable, and reads what there is. At least 1, or one of the answers above. */
long kura_asked_read(
    int fd, void *_Nonnull bytes, size_t count, int milliseconds, int other);

/* Ends a program that is not to be asked any more: one that does not see by itself that nobody listens
   gets SIGTERM, and the terminal that it asked on is put right. Waits for its end. */
void kura_end_asked(int process);

/* Whether a program can show itself on a terminal that a path names: our own is left alone, which we
   do not read from either when this is asked. Keeps the terminal's settings; from
   now on a signal that ends us puts them back. */
int kura_can_show_on(const char *_Nonnull path);

/* Puts the settings back that a program left behind which ended in its prompt. */
void kura_show_ended(void);

/* Whether a program needs a terminal to show itself, by the name of the file that it really is. */
int kura_asks_on_terminal(const char *_Nonnull program);

#endif
