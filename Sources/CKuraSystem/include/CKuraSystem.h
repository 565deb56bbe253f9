// SPDX-License-Identifier: MIT

/* What Swift cannot call by itself, and all system calls of the client. One header a subject. */
#ifndef CKURASYSTEM_H
#define CKURASYSTEM_H

#include "answers.h"
#include "arguments.h"
#include "asking.h"
#include "bridging.h"
#include "clipboard.h"
#include "confinement.h"
#include "directories.h"
#include "drafts.h"
#include "editing.h"
#include "events.h"
#include "files.h"
#include "forkjoin.h"
#include "hardware.h"
#include "importing.h"
#include "launching.h"
#include "looking.h"
#include "machine.h"
#include "marks.h"
#include "masking.h"
#include "memory.h"
#include "networking.h"
#include "patterns.h"
#include "process.h"
#include "random.h"
#include "relaying.h"
#include "rooming.h"
#include "screen.h"
#include "sockets.h"
#include "terminal.h"

#endif
