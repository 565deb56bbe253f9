// SPDX-License-Identifier: MIT

/* What keeps an agent from doing what it never does. */
#ifndef KURA_CONFINEMENT_H
#define KURA_CONFINEMENT_H

/* For this process, its threads to come and its children, for good: no new privileges (prctl(2)), and a filter
   of system calls (seccomp(2)) that refuses with EPERM to become another program, to trace another
   process or to copy from it, to make a name space, to mount, to open a socket that leads elsewhere than to a Unix socket, and more of that kind. Calls
   of another architecture end the process. To be called while there is one thread. 0 or a negated errno. */
int kura_confine(void);

/* Whether that was done. */
int kura_is_confined(void);

#endif
