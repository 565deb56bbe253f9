// SPDX-License-Identifier: MIT

#include <minizip/unzip.h>
