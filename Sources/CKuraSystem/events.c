// SPDX-License-Identifier: MIT

#include "events.h"
