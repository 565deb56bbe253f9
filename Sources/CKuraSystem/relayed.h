// SPDX-License-Identifier: MIT

/* A relayed command at a terminal of its own. Not for Swift. */
#ifndef KURA_RELAYED_H
#define KURA_RELAYED_H

#include "relaying.h"

#include <poll.h>

/* In a child: signals as they were before any was held. */
void kura_relay_release_signals(void);

/* Opens the terminal that stdout is, where it is ours; what it was set to is kept. */
void kura_relayed_find_terminal(void);

/* That terminal, or -1. */
int kura_relayed_terminal(void);

/* Gives it its settings back, where the reader was killed. */
void kura_relayed_mend_terminal(void);

/* Starts the command in a session of its own at a new terminal: 0 in there, its id here, or a negated errno. */
int kura_relayed_start(struct kura_relay *relay, const int *errors);

/* Whether a signal is for us, and not for the command. */
bool kura_relayed_took(struct kura_relay *relay, int number);

/* Our end of the command's terminal is about to be closed, if it is that. */
void kura_relayed_forget(int end);

/* Our terminal is gone, and so is the command's. */
void kura_relayed_hang_up(const struct kura_relay *relay);

/* Whether a child that has ended was the leader of the command's session. */
bool kura_relayed_lost(pid_t child);

/* Hears what the command did. */
void kura_relayed_look(struct kura_relay *relay);

/* Says what of keys and the command's terminal is to be polled, and how long at most (-1: for ever). */
int kura_relayed_prepare(struct kura_relay *relay, struct pollfd *keys, struct pollfd *output);

/* Passes keys on. */
void kura_relayed_pass_keys(
    struct kura_relay *relay, const struct pollfd *keys, const struct pollfd *output);

void kura_relayed_stop(struct kura_relay *relay);
void kura_relayed_leave_terminal(struct kura_relay *relay);
void kura_relayed_end(struct kura_relay *relay);

#endif
