// SPDX-License-Identifier: MIT

#ifndef KURA_MEMORY_H
#define KURA_MEMORY_H

#endif
