/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses that the generator connects from. One source address has some 28,000
 * ports towards one server; a range of them has so many more.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { SOURCES_MAX = 65'536 };

/* Consecutive IPv4 addresses, as numbers: 127.0.0.1 is 0x7f000001. */
struct source_range {
    uint32_t first;
    uint32_t count; /* 0: none was given */
};

/* "127.0.0.2" or "127.0.0.2-127.0.0.9". ERR_INVALID for anything else, a range that runs
 * backwards or one of more than SOURCES_MAX. */
enum err source_parse(struct str text, struct source_range *ret);

/* The address of a client; the range is not empty. */
uint32_t source_of(const struct source_range *range, uint32_t client);
