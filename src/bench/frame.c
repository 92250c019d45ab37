/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/frame.h"

#include <endian.h>
#include <string.h>

enum { FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f };
enum { LENGTH_16 = 126, LENGTH_64 = 127 };

static uint64_t big_endian(const char *at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | (uint8_t)at[i];
    return value;
}

static size_t length_size(uint8_t length)
{
    if (length == LENGTH_64)
        return 8;
    return length == LENGTH_16 ? 2 : 0;
}

enum err frame_parse(struct str bytes, struct frame *ret)
{
    struct frame frame = {};
    uint64_t length;
    size_t extra;
    size_t head;

    if (bytes.len < 2)
        return ERR_AGAIN;
    if (!(bytes.ptr[0] & FIN) || bytes.ptr[0] & RESERVED)
        return ERR_INVALID;
    frame.opcode = bytes.ptr[0] & OPCODE;
    frame.is_masked = bytes.ptr[1] & MASKED;
    length = bytes.ptr[1] & LENGTH;
    extra = length_size((uint8_t)length);
    head = 2 + extra + (frame.is_masked ? sizeof(frame.mask) : 0);
    if (bytes.len < head)
        return ERR_AGAIN;
    if (extra)
        length = big_endian(bytes.ptr + 2, extra);
    if (length > FRAME_BODY_MAX)
        return ERR_TOO_BIG;
    if (bytes.len - head < length)
        return ERR_AGAIN;
    if (frame.is_masked)
        memcpy(&frame.mask, bytes.ptr + 2 + extra, sizeof(frame.mask));
    frame.body = (struct str){ bytes.ptr + head, (size_t)length };
    frame.size = head + (size_t)length;
    *ret = frame;
    return OK;
}

void frame_mask(char *out, const char *in, size_t len, uint32_t mask)
{
    uint64_t wide = (uint64_t)mask << 32 | mask;
    size_t i = 0;

    for (; i + sizeof(wide) <= len; i += sizeof(wide)) {
        uint64_t word;

        memcpy(&word, in + i, sizeof(word));
        word ^= wide;
        memcpy(out + i, &word, sizeof(word));
    }
    for (; i < len; i++)
        out[i] = (char)(in[i] ^ ((const char *)&mask)[i % sizeof(mask)]);
}

static size_t head_write(char *out, uint8_t opcode, size_t len, uint8_t masked)
{
    out[0] = (char)(FIN | opcode);
    if (len < LENGTH_16) {
        out[1] = (char)(masked | len);
        return 2;
    }
    if (len <= UINT16_MAX) {
        uint16_t length = htobe16((uint16_t)len);

        out[1] = (char)(masked | LENGTH_16);
        memcpy(out + 2, &length, sizeof(length));
        return 2 + sizeof(length);
    }
    uint64_t length = htobe64(len);

    out[1] = (char)(masked | LENGTH_64);
    memcpy(out + 2, &length, sizeof(length));
    return 2 + sizeof(length);
}

enum err frame_write(struct buf *out, uint8_t opcode, struct str body)
{
    enum err err = buf_reserve(out, FRAME_HEAD_MAX + body.len);

    if (err)
        return err;
    out->len += head_write(out->ptr + out->len, opcode, body.len, 0);
    return buf_append(out, body);
}

enum err frame_write_masked(struct buf *out, uint8_t opcode, struct str body,
                            uint32_t mask)
{
    enum err err = buf_reserve(out, FRAME_HEAD_MAX + body.len);

    if (err)
        return err;
    out->len += head_write(out->ptr + out->len, opcode, body.len, MASKED);
    memcpy(out->ptr + out->len, &mask, sizeof(mask));
    out->len += sizeof(mask);
    frame_mask(out->ptr + out->len, body.ptr, body.len, mask);
    out->len += body.len;
    return OK;
}

enum err frame_forward(struct buf *out, const struct frame *frame)
{
    enum err err = buf_reserve(out, FRAME_HEAD_MAX + frame->body.len);

    if (err)
        return err;
    out->len += head_write(out->ptr + out->len, frame->opcode, frame->body.len, 0);
    frame_mask(out->ptr + out->len, frame->body.ptr, frame->body.len, frame->mask);
    out->len += frame->body.len;
    return OK;
}
