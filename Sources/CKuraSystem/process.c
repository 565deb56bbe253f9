// SPDX-License-Identifier: MIT

#include "process.h"
