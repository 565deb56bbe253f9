// SPDX-License-Identifier: MIT

#include "sockets.h"
