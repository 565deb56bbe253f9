// SPDX-License-Identifier: MIT

#include <zxcvbn.h>
