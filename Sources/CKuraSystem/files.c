// SPDX-License-Identifier: MIT

#include "files.h"
