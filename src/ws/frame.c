/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to single frames: heads and whole frames to send.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+-+-+-------+-+-------------+-------------------------------+
 *     |F|R|R|R| opcode|M| length (7)  |  length if 126 (16), 127 (64) |
 *     +-+-+-+-+-------+-+-------------+ - - - - - - - - - - - - - - - +
 *     |               mask (32), if M is set, then the payload        |
 *     +---------------------------------------------------------------+
 */
#include <string.h>

#include "ws/ws.h"
#include "ws/ws_priv.h"

enum { BIT_FINAL = 0x80, BIT_DEFLATED = 0x40, BIT_MASKED = 0x80 };
enum { LENGTH_16 = 126, LENGTH_64 = 127 };

size_t ws_head_size(size_t payload)
{
    if (payload < LENGTH_16)
        return 2;
    return payload <= UINT16_MAX ? 4 : 10;
}

static void write_length(uint8_t *out, uint64_t length, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(length >> 8 * (size - 1 - i));
}

size_t ws_head_write(uint8_t out[static WS_MAX_HEAD], enum ws_opcode op, size_t payload,
                     bool is_compressed)
{
    size_t size = ws_head_size(payload);

    out[0] = (uint8_t)(BIT_FINAL | (is_compressed ? BIT_DEFLATED : 0) | op);
    switch (size) {
    case 2: out[1] = (uint8_t)payload; break;
    case 4: out[1] = LENGTH_16; break;
    default: out[1] = LENGTH_64; break;
    }
    write_length(out + 2, payload, size - 2);
    return size;
}

void ws_frame_write(struct buf *out, enum ws_opcode op, struct str payload)
{
    uint8_t head[WS_MAX_HEAD];
    size_t size = ws_head_write(head, op, payload.len, false);

    if (buf_reserve(out, size + payload.len)) {
        out->is_full = true; /* half a frame would be worse than none */
        return;
    }
    buf_put(out, (struct str){ (const char *)head, size });
    buf_put(out, payload);
}

void ws_frame_write_masked(struct buf *out, enum ws_opcode op, struct str payload,
                           uint32_t mask)
{
    uint8_t head[WS_MAX_HEAD + sizeof(mask)];
    size_t size = ws_head_write(head, op, payload.len, false);

    head[1] |= BIT_MASKED;
    memcpy(head + size, &mask, sizeof(mask));
    size += sizeof(mask);
    if (buf_reserve(out, size + payload.len)) {
        out->is_full = true;
        return;
    }
    buf_put(out, (struct str){ (const char *)head, size });
    ws_unmask(out->ptr + out->len, payload.ptr, payload.len, mask);
    out->len += payload.len;
}

/* The longest beginning of at most `max` bytes that does not end inside a character. */
static struct str cut_text(struct str text, size_t max)
{
    if (text.len <= max)
        return text;
    while (max > 0 && ((uint8_t)text.ptr[max] & 0xc0) == 0x80)
        max--;
    return (struct str){ text.ptr, max };
}

void ws_close_write(struct buf *out, uint16_t code, struct str reason)
{
    char payload[WS_MAX_CONTROL] = { (char)(code >> 8), (char)code };

    if (code == WS_CODE_NONE) {
        ws_frame_write(out, WS_OP_CLOSE, S(""));
        return;
    }
    reason = cut_text(reason, WS_MAX_CONTROL - 2);
    if (reason.len)
        memcpy(payload + 2, reason.ptr, reason.len);
    ws_frame_write(out, WS_OP_CLOSE, (struct str){ payload, 2 + reason.len });
}

bool ws_code_is_valid(uint16_t code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

size_t ws_frame_size(struct str bytes)
{
    const uint8_t *head = (const uint8_t *)bytes.ptr;
    size_t code = bytes.len > 1 ? head[1] & 0x7f : 0;
    size_t extra = code == 127 ? 8 : 2;
    size_t payload = 0;

    if (code < 126)
        return 2 + code;
    for (size_t i = 0; i < extra && 2 + i < bytes.len; i++)
        payload = payload << 8 | head[2 + i];
    return 2 + extra + payload;
}

struct str ws_frame_body(struct str frame)
{
    size_t code = (uint8_t)frame.ptr[1] & 0x7f;
    size_t head = WS_MAX_HEAD;

    if (code < 126)
        head = 2;
    else if (code == 126)
        head = 4;
    return str_slice(frame, head, frame.len);
}
