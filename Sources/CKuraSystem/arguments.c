// SPDX-License-Identifier: MIT

#include "arguments.h"
