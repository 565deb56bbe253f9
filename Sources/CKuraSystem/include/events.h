// SPDX-License-Identifier: MIT

#ifndef KURA_EVENTS_H
#define KURA_EVENTS_H

#endif
