// SPDX-License-Identifier: MIT

/* Starting a program that speaks to hardware, by a process that was made before this one gave up to become another. */
#ifndef KURA_HARDWARE_H
#define KURA_HARDWARE_H

/* Makes a process that waits to start `program`, with nothing of ours but the wish for it: before any thread, and before
   kura_confine(). It ends when we do. 0 or a negated errno. */
int kura_hardware_prepare(const char *_Nonnull program);

/* Has the program started: its standard input is our socket, and it gets none of our variables but `KURA_TCTI` and `KURA_FIDO2`. It has
   limits, one minute at most, and no way to other rights. The socket or a negated errno, -ENOENT where nothing was made
   ready. */
int kura_hardware_start(void);

/* Ends what is said by such a socket, which is still to be closed: whoever waits for an answer there has none. */
void kura_hardware_hang_up(int socket);

#endif
