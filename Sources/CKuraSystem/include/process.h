// SPDX-License-Identifier: MIT

#ifndef KURA_PROCESS_H
#define KURA_PROCESS_H

#endif
