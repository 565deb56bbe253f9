// SPDX-License-Identifier: MIT

#include <fido.h>
#include <fido/err.h>
