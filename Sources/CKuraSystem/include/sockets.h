// SPDX-License-Identifier: MIT

#ifndef KURA_SOCKETS_H
#define KURA_SOCKETS_H

#endif
