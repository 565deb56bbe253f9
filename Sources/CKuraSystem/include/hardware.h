// SPDX-License-Identifier: MIT

/* Starting programs that speak to hardware, by a process that was made before this one gave up to become another. */
#ifndef KURA_HARDWARE_H
#define KURA_HARDWARE_H

/* Those that there are: what speaks to the TPM and to security keys, and what asks for a finger. */
enum { KURA_HARDWARE = 0, KURA_FINGER = 1, KURA_HELPERS = 2 };

/* Names the program of one of them, before kura_helper_prepare(). */
void kura_helper_name(int which, const char *_Nonnull program);

/* Makes a process that waits to start what was named, with nothing of ours but the wish for it: before any thread, and
   before kura_confine(). It ends when we do. 0 or a negated errno. */
int kura_helper_prepare(void);

/* Has one started: its standard input is our socket, and it gets none of our variables but those that say where what it
   speaks to is: `KURA_TCTI` and `KURA_FIDO2`, or `DBUS_SYSTEM_BUS_ADDRESS`. It has limits, one minute at most, and no way
   to other rights. The socket or a negated errno, -ENOENT where it was not named. */
int kura_helper_start(int which);

/* The same, and a descriptor that stands for the process, whatever becomes of its number; -1 where the kernel has none. */
int kura_helper_start_held(int which, int *_Nonnull process);

/* Ends what is said by such a socket, which is still to be closed: whoever waits for an answer there has none. And ends
   the process, unless that is -1. */
void kura_helper_end(int socket, int process);

#endif
