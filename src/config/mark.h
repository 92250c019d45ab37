/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* A place in the file, counted from 1; line 0: it is not in the file. */
struct config_mark {
    uint32_t line, column;
};
