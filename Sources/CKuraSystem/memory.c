// SPDX-License-Identifier: MIT

#include "memory.h"
