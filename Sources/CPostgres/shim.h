// SPDX-License-Identifier: MIT

#include <postgresql/libpq-fe.h>
