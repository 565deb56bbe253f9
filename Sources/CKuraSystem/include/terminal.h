// SPDX-License-Identifier: MIT

#ifndef KURA_TERMINAL_H
#define KURA_TERMINAL_H

#endif
