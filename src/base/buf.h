/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte buffer that grows up to a maximum given when it is made. Exceeding it is
 * ERR_TOO_BIG and leaves the content as it was.
 *
 * Writers that produce a bounded text use the buf_put* forms: they do not return an
 * error but set `is_full`, which the caller asks once at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct buf {
    char *ptr;
    size_t len;
    size_t size;
    size_t max;
    bool is_full; /* something did not fit */
};

void buf_init(struct buf *buf, size_t max);
void buf_done(struct buf *buf); /* empties it; it may be used again */

/* Makes room for `more` bytes after the content, for writing into directly; the caller
 * adds what it wrote to `len`. */
enum err buf_reserve(struct buf *buf, size_t more);

enum err buf_append(struct buf *buf, struct str bytes);

/* Drops the first `count` bytes. */
void buf_drop(struct buf *buf, size_t count);

/* Empties it and keeps the memory. */
void buf_clear(struct buf *buf);

struct str buf_str(const struct buf *buf);

void buf_put(struct buf *buf, struct str bytes);
void buf_putc(struct buf *buf, char c);
void buf_putu(struct buf *buf, uint64_t number);
void buf_putf(struct buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Terminates the content with a NUL that is not counted, and borrows it. */
const char *buf_cstr(struct buf *buf);
