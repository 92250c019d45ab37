/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both directions of permessage-deflate. A message is one raw deflate stream that ends at
 * a byte boundary with an empty stored block, whose last four bytes are not sent (RFC
 * 7692 7.2.1 and 7.2.2). zlib state is made once and reset for every message.
 */
#include "ws/deflate.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/xalloc.h"

enum {
    WINDOW_BITS = 15,
    LEVEL = 3, /* JSON of a few hundred bytes gains next to nothing from more */
    MEM_LEVEL = 8,
    STEP = 256,         /* the least room given to zlib at once */
    KEPT = 64 * 1024,   /* scratch that survives a message */
    AT_BLOCK_END = 128, /* in z_stream.data_type, after Z_BLOCK */
};

static const struct str tail = { "\x00\x00\xff\xff", 4 };

struct ws_inflater {
    z_stream z;
};

struct ws_deflater {
    z_stream z;
    struct buf scratch;
};

static voidpf z_alloc(voidpf, uInt count, uInt size)
{
    return xcalloc(count, size);
}

static void z_free(voidpf, voidpf block)
{
    free(block);
}

static void set_input(z_stream *z, struct str bytes)
{
    assert(bytes.len <= UINT_MAX);
    z->next_in = (z_const Bytef *)(uintptr_t)bytes.ptr;
    z->avail_in = (uInt)bytes.len;
}

struct ws_inflater *ws_inflater_new(void)
{
    struct ws_inflater *inflater = xcalloc(1, sizeof(*inflater));

    inflater->z = (z_stream){ .zalloc = z_alloc, .zfree = z_free };
    if (inflateInit2(&inflater->z, -WINDOW_BITS) != Z_OK)
        abort(); /* a zlib of another version, since memory never runs out */
    return inflater;
}

void ws_inflater_free(struct ws_inflater *inflater)
{
    if (!inflater)
        return;
    (void)inflateEnd(&inflater->z);
    free(inflater);
}

/* Points zlib at free room in `out`. At the maximum it is a single byte elsewhere, which
 * tells a message that just fits from one that goes on. */
static size_t give_room(z_stream *z, struct buf *out, Bytef *spare)
{
    size_t left = out->max - out->len;
    size_t room;

    if (left == 0) {
        z->next_out = spare;
        z->avail_out = 1;
        return 0;
    }
    if (out->len >= out->size) {
        room = out->size < STEP ? STEP : out->size;
        (void)buf_reserve(out, room < left ? room : left);
    }
    room = out->size - out->len < left ? out->size - out->len : left;
    if (room > UINT_MAX)
        room = UINT_MAX;
    z->next_out = (Bytef *)out->ptr + out->len;
    z->avail_out = (uInt)room;
    return room;
}

/* Inflates until the input is used up or the stream has ended; `*ret_ended` tells. */
static enum err inflate_input(z_stream *z, int flush, struct buf *out, bool *ret_ended)
{
    for (;;) {
        Bytef spare;
        size_t room = give_room(z, out, &spare);
        int status = inflate(z, flush);

        if (room == 0 && z->avail_out == 0)
            return ERR_TOO_BIG;
        if (room)
            out->len += room - z->avail_out;
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            return ERR_INVALID;
        *ret_ended = status == Z_STREAM_END;
        if (*ret_ended || (z->avail_in == 0 && z->avail_out > 0))
            return OK;
    }
}

/* All blocks of the message but the one whose end was not sent. A block may claim to be
 * the last of its stream and yet be followed by others (RFC 7692 7.2.3.4). */
static enum err inflate_blocks(z_stream *z, struct buf *out, bool *ret_ended)
{
    bool has_ended = false;

    do {
        enum err err;

        if (has_ended)
            (void)inflateReset(z);
        err = inflate_input(z, Z_SYNC_FLUSH, out, &has_ended);
        if (err)
            return err;
    } while (has_ended && z->avail_in > 0);
    *ret_ended = has_ended;
    return OK;
}

static enum err inflate_message(z_stream *z, struct str compressed, struct buf *out)
{
    bool has_ended = false;
    enum err err;

    set_input(z, compressed);
    err = inflate_blocks(z, out, &has_ended);
    if (err || has_ended)
        return err;
    set_input(z, tail);
    err = inflate_input(z, Z_BLOCK, out, &has_ended);
    if (err)
        return err;
    /* Anything but a block that ended with the tail was cut or made up. */
    return !has_ended && (z->data_type & AT_BLOCK_END) ? OK : ERR_INVALID;
}

enum err ws_inflate(struct ws_inflater *inflater, struct str compressed, struct buf *out)
{
    size_t len = out->len;
    enum err err;

    if (compressed.len == 0)
        return OK; /* not what RFC 7692 7.2.3.6 has for an empty message, yet clear */
    if (compressed.len > UINT_MAX)
        return ERR_TOO_BIG;
    (void)inflateReset(&inflater->z);
    err = inflate_message(&inflater->z, compressed, out);
    if (err)
        out->len = len;
    return err;
}

struct ws_deflater *ws_deflater_new(int window_bits)
{
    struct ws_deflater *deflater = xcalloc(1, sizeof(*deflater));

    assert(window_bits >= 9 && window_bits <= WINDOW_BITS);
    deflater->z = (z_stream){ .zalloc = z_alloc, .zfree = z_free };
    buf_init(&deflater->scratch, SIZE_MAX / 2);
    if (deflateInit2(&deflater->z, LEVEL, Z_DEFLATED, -window_bits, MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    return deflater;
}

void ws_deflater_free(struct ws_deflater *deflater)
{
    if (!deflater)
        return;
    (void)deflateEnd(&deflater->z);
    buf_done(&deflater->scratch);
    free(deflater);
}

/* Into the scratch, since the tail needs room that the message will not take. */
static void deflate_message(struct ws_deflater *deflater, struct str message)
{
    struct buf *scratch = &deflater->scratch;
    z_stream *z = &deflater->z;

    buf_clear(scratch);
    set_input(z, message);
    do {
        size_t room;

        (void)buf_reserve(scratch, message.len / 2 + STEP);
        room = scratch->size - scratch->len;
        if (room > UINT_MAX)
            room = UINT_MAX;
        z->next_out = (Bytef *)scratch->ptr + scratch->len;
        z->avail_out = (uInt)room;
        (void)deflate(z, Z_SYNC_FLUSH);
        scratch->len += room - z->avail_out;
    } while (z->avail_out == 0);
}

enum err ws_deflate(struct ws_deflater *deflater, struct str message, struct buf *out)
{
    struct buf *scratch = &deflater->scratch;
    enum err err;

    if (message.len > UINT_MAX)
        return ERR_TOO_BIG;
    (void)deflateReset(&deflater->z);
    deflate_message(deflater, message);
    assert(str_ends(buf_str(scratch), tail));
    err = buf_append(out, str_slice(buf_str(scratch), 0, scratch->len - tail.len));
    if (scratch->size > KEPT)
        buf_done(scratch);
    return err;
}
