// SPDX-License-Identifier: MIT

#include <argon2.h>
