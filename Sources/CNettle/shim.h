// SPDX-License-Identifier: MIT

#include <nettle/cbc.h>
#include <nettle/hmac.h>
#include <nettle/nettle-meta.h>
#include <nettle/pbkdf2.h>
#include <nettle/sha2.h>
