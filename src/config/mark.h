/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* A place in the file, counted from 1; line 0: it is not in the file. */
struct config_mark {
    uint32_t line, column;
};

struct config_strs {
    const struct str *items;
    size_t count;
    const struct config_mark *marks; /* one per item */
};
