// SPDX-License-Identifier: MIT

#ifndef KURA_FILES_H
#define KURA_FILES_H

#endif
