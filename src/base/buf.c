/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

enum { FIRST_SIZE = 64 };

void buf_init(struct buf *buf, size_t max)
{
    *buf = (struct buf){ .max = max };
}

void buf_done(struct buf *buf)
{
    free(buf->ptr);
    *buf = (struct buf){ .max = buf->max };
}

enum err buf_reserve(struct buf *buf, size_t more)
{
    size_t need = buf->len + more;
    size_t size = buf->size ? buf->size : FIRST_SIZE;

    if (more > buf->max || need > buf->max)
        return ERR_TOO_BIG;
    if (need <= buf->size)
        return OK;
    while (size < need)
        size *= 2;
    if (size > buf->max)
        size = buf->max;
    buf->ptr = xrealloc(buf->ptr, size);
    buf->size = size;
    return OK;
}

enum err buf_append(struct buf *buf, struct str bytes)
{
    enum err err = buf_reserve(buf, bytes.len);

    if (err)
        return err;
    if (bytes.len)
        memcpy(buf->ptr + buf->len, bytes.ptr, bytes.len);
    buf->len += bytes.len;
    return OK;
}

void buf_drop(struct buf *buf, size_t count)
{
    buf->len -= count;
    if (buf->len)
        memmove(buf->ptr, buf->ptr + count, buf->len);
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->is_full = false;
}

struct str buf_str(const struct buf *buf)
{
    return (struct str){ buf->ptr, buf->len };
}

void buf_put(struct buf *buf, struct str bytes)
{
    if (buf_append(buf, bytes))
        buf->is_full = true;
}

void buf_putc(struct buf *buf, char c)
{
    if (buf->len < buf->size)
        buf->ptr[buf->len++] = c;
    else
        buf_put(buf, (struct str){ &c, 1 });
}

void buf_putu(struct buf *buf, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    buf_put(buf, (struct str){ digits + at, sizeof(digits) - at });
}

void buf_putf(struct buf *buf, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || buf_reserve(buf, (size_t)length + 1)) {
        buf->is_full = true;
        return;
    }
    va_start(args, format);
    (void)vsnprintf(buf->ptr + buf->len, (size_t)length + 1, format, args);
    va_end(args);
    buf->len += (size_t)length;
}

const char *buf_cstr(struct buf *buf)
{
    if (buf->len == buf->size) {
        buf->size = buf->len + 1;
        buf->ptr = xrealloc(buf->ptr, buf->size);
    }
    buf->ptr[buf->len] = '\0';
    return buf->ptr;
}
