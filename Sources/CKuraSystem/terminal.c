// SPDX-License-Identifier: MIT

#include "terminal.h"
