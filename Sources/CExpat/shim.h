// SPDX-License-Identifier: MIT

#include <expat.h>
