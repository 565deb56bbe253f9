// SPDX-License-Identifier: MIT

#ifndef KURA_ARGUMENTS_H
#define KURA_ARGUMENTS_H

#endif
