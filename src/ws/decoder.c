/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder takes one step at a time: read a frame head, judge it, then either hand out
 * the payload where it lies or carry on collecting it in the assembly. Whatever arrives
 * in pieces ends up there: cut frames, fragmented messages, cut control frames in
 * between.
 */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ws/deflate.h"
#include "ws/ws.h"
#include "ws/ws_priv.h"

enum {
    BIT_FINAL = 0x80,
    BIT_DEFLATED = 0x40, /* RSV1 */
    BITS_RESERVED = 0x30,
    BIT_MASKED = 0x80,
    BIT_CONTROL = 0x08,
    LENGTH_16 = 126,
    LENGTH_64 = 127,
    MAX_HEAD = 14,
};

enum fault {
    FAULT_NONE,
    FAULT_RESERVED,
    FAULT_OPCODE,
    FAULT_UNMASKED,
    FAULT_MASKED,
    FAULT_LONG_LENGTH,
    FAULT_TOP_BIT,
    FAULT_CONTROL_FRAGMENT,
    FAULT_CONTROL_SIZE,
    FAULT_STRAY_CONTINUATION,
    FAULT_INTERLEAVED,
    FAULT_BINARY,
    FAULT_TOO_BIG,
    FAULT_FRAGMENTS,
    FAULT_UTF8,
    FAULT_DEFLATE,
    FAULT_CLOSE_SIZE,
    FAULT_CLOSE_CODE,
    FAULT_CLOSE_REASON,
};

/* clang-format off */
static const struct {
    uint16_t code;
    const char *why;
} faults[] = {
    [FAULT_NONE]               = { WS_CODE_NORMAL,      "no fault" },
    [FAULT_RESERVED]           = { WS_CODE_PROTOCOL,    "reserved bit set" },
    [FAULT_OPCODE]             = { WS_CODE_PROTOCOL,    "unknown opcode" },
    [FAULT_UNMASKED]           = { WS_CODE_PROTOCOL,    "client frame without a mask" },
    [FAULT_MASKED]             = { WS_CODE_PROTOCOL,    "server frame with a mask" },
    [FAULT_LONG_LENGTH]        = { WS_CODE_PROTOCOL,    "length not in its shortest form" },
    [FAULT_TOP_BIT]            = { WS_CODE_PROTOCOL,    "length with the top bit set" },
    [FAULT_CONTROL_FRAGMENT]   = { WS_CODE_PROTOCOL,    "fragmented control frame" },
    [FAULT_CONTROL_SIZE]       = { WS_CODE_PROTOCOL,    "control frame over 125 bytes" },
    [FAULT_STRAY_CONTINUATION] = { WS_CODE_PROTOCOL,    "continuation of no message" },
    [FAULT_INTERLEAVED]        = { WS_CODE_PROTOCOL,    "new message inside a message" },
    [FAULT_BINARY]             = { WS_CODE_UNSUPPORTED, "binary message" },
    [FAULT_TOO_BIG]            = { WS_CODE_TOO_BIG,     "message too big" },
    [FAULT_FRAGMENTS]          = { WS_CODE_TOO_BIG,     "too many fragments" },
    [FAULT_UTF8]               = { WS_CODE_UTF8,        "text is not UTF-8" },
    [FAULT_DEFLATE]            = { WS_CODE_UTF8,        "bad compressed data" },
    [FAULT_CLOSE_SIZE]         = { WS_CODE_PROTOCOL,    "close frame of one byte" },
    [FAULT_CLOSE_CODE]         = { WS_CODE_PROTOCOL,    "invalid close code" },
    [FAULT_CLOSE_REASON]       = { WS_CODE_UTF8,        "close reason is not UTF-8" },
};
/* clang-format on */

struct frame {
    uint64_t length;
    uint64_t taken; /* bytes of the payload already in the assembly */
    uint32_t mask;
    uint8_t opcode;
    uint8_t bits; /* BIT_FINAL, BIT_DEFLATED, BITS_RESERVED */
    bool is_masked;
    bool is_long; /* a shorter form of the length exists */
};

struct ws_assembly {
    struct frame frame; /* the one being received; valid with in_frame */
    bool in_frame;
    bool in_message; /* its first frame has been seen, its last has not been finished */
    bool is_spent;   /* what it holds was handed out; freed by the next call */
    bool is_binary;
    bool is_deflated;
    uint8_t control_len;
    struct utf8 utf8;
    uint8_t head[MAX_HEAD]; /* a frame head cut by the network */
    uint8_t head_len;
    size_t fragments;
    struct buf message;  /* unmasked, still compressed if is_deflated */
    struct buf inflated; /* the whole message, if is_deflated */
    uint8_t control[WS_MAX_CONTROL];
};

/* The received bytes are writable, although a str is not. */
static char *writable(const char *ptr)
{
    return (char *)(uintptr_t)ptr;
}

static struct str take(struct str *bytes, size_t count)
{
    struct str taken = { bytes->ptr, count };

    if (count)
        bytes->ptr += count;
    bytes->len -= count;
    return taken;
}

static void assembly_free(struct ws_assembly *a)
{
    if (!a)
        return;
    buf_done(&a->message);
    buf_done(&a->inflated);
    free(a);
}

static struct ws_assembly *assembly_of(struct ws_decoder *d)
{
    if (!d->assembly)
        d->assembly = xcalloc(1, sizeof(*d->assembly));
    return d->assembly;
}

static bool is_inside_message(const struct ws_decoder *d)
{
    return d->assembly && d->assembly->in_message;
}

/* --- frame heads --- */

static size_t head_size(uint8_t second)
{
    size_t size = second & BIT_MASKED ? 6 : 2;

    if ((second & ~BIT_MASKED) == LENGTH_16)
        return size + 2;
    return (second & ~BIT_MASKED) == LENGTH_64 ? size + 8 : size;
}

static bool has_part_of_head(const struct ws_decoder *d)
{
    return d->assembly && d->assembly->head_len;
}

/* All bytes of the next head, or NULL after keeping what there is of it. */
static const uint8_t *take_head(struct ws_decoder *d, struct str *bytes)
{
    struct ws_assembly *a;

    if (!has_part_of_head(d) && bytes->len >= 2) {
        size_t need = head_size((uint8_t)bytes->ptr[1]);

        if (bytes->len >= need)
            return (const uint8_t *)take(bytes, need).ptr;
    }
    if (bytes->len == 0)
        return NULL;
    a = assembly_of(d);
    while (a->head_len < 2 || a->head_len < head_size(a->head[1])) {
        if (bytes->len == 0)
            return NULL;
        a->head[a->head_len++] = (uint8_t)take(bytes, 1).ptr[0];
    }
    a->head_len = 0;
    return a->head;
}

static uint64_t read_number(const uint8_t *at, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | at[i];
    return number;
}

static struct frame read_head(const uint8_t *head)
{
    struct frame f = {
        .opcode = head[0] & 0x0f,
        .bits = head[0] & 0xf0,
        .is_masked = head[1] & BIT_MASKED,
        .length = head[1] & ~BIT_MASKED,
    };

    if (f.length == LENGTH_16) {
        f.length = read_number(head + 2, 2);
        f.is_long = f.length < LENGTH_16;
    } else if (f.length == LENGTH_64) {
        f.length = read_number(head + 2, 8);
        f.is_long = f.length <= UINT16_MAX;
    }
    if (f.is_masked)
        memcpy(&f.mask, head + head_size(head[1]) - 4, 4);
    return f;
}

static bool is_control(const struct frame *f)
{
    return f->opcode & BIT_CONTROL;
}

static bool is_final(const struct frame *f)
{
    return f->bits & BIT_FINAL;
}

static enum fault check_any(const struct ws_decoder *d, const struct frame *f)
{
    if (f->bits & BITS_RESERVED)
        return FAULT_RESERVED;
    if ((f->opcode > WS_OP_BINARY && f->opcode < WS_OP_CLOSE) || f->opcode > WS_OP_PONG)
        return FAULT_OPCODE;
    if (d->role == WS_SERVER && !f->is_masked)
        return FAULT_UNMASKED;
    if (d->role == WS_CLIENT && f->is_masked)
        return FAULT_MASKED;
    if (f->is_long)
        return FAULT_LONG_LENGTH;
    return f->length >> 63 ? FAULT_TOP_BIT : FAULT_NONE;
}

static enum fault check_control(const struct frame *f)
{
    if (f->bits & BIT_DEFLATED)
        return FAULT_RESERVED;
    if (!is_final(f))
        return FAULT_CONTROL_FRAGMENT;
    return f->length > WS_MAX_CONTROL ? FAULT_CONTROL_SIZE : FAULT_NONE;
}

/* How many payload bytes a message may bring. Compression makes random bytes longer, by
 * less than this even with the smallest blocks; the message itself is bounded later. */
static size_t payload_limit(const struct ws_shared *shared, bool is_deflated)
{
    size_t max = shared->message_bytes;

    if (!is_deflated)
        return max;
    return max > SIZE_MAX / 2 ? max : max + max / 16 + 64;
}

static enum fault check_first(const struct ws_decoder *d, const struct frame *f)
{
    bool is_deflated = f->bits & BIT_DEFLATED;

    if (is_deflated && !d->is_deflated)
        return FAULT_RESERVED;
    if (is_inside_message(d))
        return FAULT_INTERLEAVED;
    if (f->opcode == WS_OP_BINARY && d->shared->refuses_binary)
        return FAULT_BINARY;
    if (f->length > payload_limit(d->shared, is_deflated))
        return FAULT_TOO_BIG;
    return !is_final(f) && d->shared->fragments == 0 ? FAULT_FRAGMENTS : FAULT_NONE;
}

static enum fault check_continuation(const struct ws_decoder *d, const struct frame *f)
{
    const struct ws_assembly *a = d->assembly;

    if (f->bits & BIT_DEFLATED)
        return FAULT_RESERVED;
    if (!is_inside_message(d))
        return FAULT_STRAY_CONTINUATION;
    if (f->length > payload_limit(d->shared, a->is_deflated) - a->message.len)
        return FAULT_TOO_BIG;
    return a->fragments >= d->shared->fragments ? FAULT_FRAGMENTS : FAULT_NONE;
}

static enum fault check_head(const struct ws_decoder *d, const struct frame *f)
{
    enum fault fault = check_any(d, f);

    if (fault)
        return fault;
    if (is_control(f))
        return check_control(f);
    return f->opcode == WS_OP_CONT ? check_continuation(d, f) : check_first(d, f);
}

/* --- events --- */

static struct ws_event violation(struct ws_decoder *d, enum fault fault)
{
    ws_decoder_done(d);
    d->has_closed = true;
    return (struct ws_event){
        .type = WS_VIOLATION,
        .code = faults[fault].code,
        .why = faults[fault].why,
    };
}

static struct ws_event close_event(struct ws_decoder *d, struct str body)
{
    struct ws_event ev = { .type = WS_CLOSE, .code = WS_CODE_NONE };

    if (body.len == 1)
        return violation(d, FAULT_CLOSE_SIZE);
    if (body.len >= 2) {
        ev.code = (uint16_t)read_number((const uint8_t *)body.ptr, 2);
        ev.body = str_slice(body, 2, body.len);
        if (!ws_code_is_valid(ev.code))
            return violation(d, FAULT_CLOSE_CODE);
        if (!utf8_is_valid(ev.body))
            return violation(d, FAULT_CLOSE_REASON);
    }
    d->has_closed = true;
    return ev;
}

static struct ws_event control_event(struct ws_decoder *d, uint8_t opcode,
                                     struct str body)
{
    if (opcode == WS_OP_CLOSE)
        return close_event(d, body);
    return (struct ws_event){
        .type = opcode == WS_OP_PING ? WS_PING : WS_PONG,
        .body = body,
    };
}

/* The event of a compressed message, all of it unmasked in `compressed`. */
static struct ws_event inflated_event(struct ws_decoder *d, struct str compressed,
                                      bool is_binary)
{
    struct ws_assembly *a = assembly_of(d);
    enum err err;

    buf_init(&a->inflated, d->shared->message_bytes);
    err = ws_inflate(d->shared->inflater, compressed, &a->inflated);
    if (err)
        return violation(d, err == ERR_TOO_BIG ? FAULT_TOO_BIG : FAULT_DEFLATE);
    if (!is_binary && !utf8_is_valid(buf_str(&a->inflated)))
        return violation(d, FAULT_UTF8);
    a->is_spent = true;
    return (struct ws_event){
        .type = WS_MESSAGE,
        .is_binary = is_binary,
        .is_checked = true,
        .body = buf_str(&a->inflated),
    };
}

static struct ws_event assembled_event(struct ws_decoder *d)
{
    struct ws_assembly *a = d->assembly;

    a->in_message = false;
    if (a->is_deflated)
        return inflated_event(d, buf_str(&a->message), a->is_binary);
    if (!a->is_binary && !utf8_is_whole(&a->utf8))
        return violation(d, FAULT_UTF8);
    a->is_spent = true;
    return (struct ws_event){
        .type = WS_MESSAGE,
        .is_binary = a->is_binary,
        .is_checked = true,
        .body = buf_str(&a->message),
    };
}

/* --- payloads --- */

/* A frame that lies in the received bytes as a whole and is all of its message. */
static struct ws_event whole_frame(struct ws_decoder *d, const struct frame *f,
                                   struct str body)
{
    bool is_plain = !is_control(f) && !(f->bits & BIT_DEFLATED);

    if (f->is_masked && !is_plain)
        ws_unmask(writable(body.ptr), body.ptr, body.len, f->mask);
    if (is_control(f))
        return control_event(d, f->opcode, body);
    if (!is_plain)
        return inflated_event(d, body, f->opcode == WS_OP_BINARY);
    return (struct ws_event){
        .type = WS_MESSAGE,
        .is_binary = f->opcode == WS_OP_BINARY,
        .is_masked = f->is_masked,
        .mask = f->mask,
        .body = body,
    };
}

static void begin_frame(struct ws_decoder *d, const struct frame *f)
{
    struct ws_assembly *a = assembly_of(d);

    a->frame = *f;
    a->in_frame = true;
    if (is_control(f)) {
        a->control_len = 0;
        return;
    }
    if (f->opcode != WS_OP_CONT) {
        a->in_message = true;
        a->is_binary = f->opcode == WS_OP_BINARY;
        a->is_deflated = f->bits & BIT_DEFLATED;
        buf_init(&a->message, payload_limit(d->shared, a->is_deflated));
    }
    a->fragments++;
}

/* Unmasks what has arrived to where it stays. Room is made for that alone, never for what
 * the head announced. */
static enum fault take_payload(struct ws_assembly *a, struct str part)
{
    uint32_t mask = ws_mask_at(a->frame.mask, a->frame.taken);
    char *to = (char *)a->control + a->control_len;

    if (part.len == 0)
        return FAULT_NONE;
    if (is_control(&a->frame)) {
        a->control_len += (uint8_t)part.len;
    } else {
        if (buf_reserve(&a->message, part.len))
            return FAULT_TOO_BIG;
        to = a->message.ptr + a->message.len;
        a->message.len += part.len;
    }
    a->frame.taken += part.len;
    ws_unmask(to, part.ptr, part.len, mask);
    if (is_control(&a->frame) || a->is_binary || a->is_deflated)
        return FAULT_NONE;
    return utf8_feed(&a->utf8, (struct str){ to, part.len }) ? FAULT_NONE : FAULT_UTF8;
}

/* The frame in the assembly has all its bytes. WS_NEED_MORE: so has not its message. */
static struct ws_event finish_frame(struct ws_decoder *d)
{
    struct ws_assembly *a = d->assembly;

    a->in_frame = false;
    if (is_control(&a->frame)) {
        a->is_spent = !a->in_message;
        return control_event(d, a->frame.opcode,
                             (struct str){ (const char *)a->control, a->control_len });
    }
    if (is_final(&a->frame))
        return assembled_event(d);
    return (struct ws_event){ .type = WS_NEED_MORE };
}

static struct ws_event continue_frame(struct ws_decoder *d, struct str *bytes)
{
    struct ws_assembly *a = d->assembly;
    uint64_t missing = a->frame.length - a->frame.taken;
    size_t count = bytes->len < missing ? bytes->len : (size_t)missing;
    enum fault fault = take_payload(a, take(bytes, count));

    if (fault)
        return violation(d, fault);
    if (count < missing)
        return (struct ws_event){ .type = WS_NEED_MORE };
    return finish_frame(d);
}

static struct ws_event next_frame(struct ws_decoder *d, struct str *bytes)
{
    const uint8_t *head = take_head(d, bytes);
    struct frame f;
    enum fault fault;

    if (!head)
        return (struct ws_event){ .type = WS_NEED_MORE };
    f = read_head(head);
    fault = check_head(d, &f);
    if (fault)
        return violation(d, fault);
    if (f.length <= bytes->len && is_final(&f) && f.opcode != WS_OP_CONT) {
        if (d->assembly && !d->assembly->in_message)
            d->assembly->is_spent = true; /* it held a part of the head */
        return whole_frame(d, &f, take(bytes, (size_t)f.length));
    }
    begin_frame(d, &f);
    return continue_frame(d, bytes);
}

/* --- the decoder --- */

void ws_decoder_init(struct ws_decoder *d, enum ws_role role,
                     const struct ws_shared *shared, bool is_deflated)
{
    *d = (struct ws_decoder){
        .shared = shared,
        .role = (uint8_t)role,
        .is_deflated = is_deflated,
    };
}

void ws_decoder_done(struct ws_decoder *d)
{
    assembly_free(d->assembly);
    d->assembly = NULL;
}

struct ws_event ws_decode(struct ws_decoder *d, struct str *bytes)
{
    if (d->assembly && d->assembly->is_spent)
        ws_decoder_done(d);
    while (!d->has_closed) {
        bool in_frame = d->assembly && d->assembly->in_frame;
        struct ws_event ev = in_frame ? continue_frame(d, bytes) : next_frame(d, bytes);

        if (ev.type != WS_NEED_MORE || bytes->len == 0)
            return ev;
    }
    (void)take(bytes, bytes->len);
    return (struct ws_event){ .type = WS_NEED_MORE };
}

bool ws_decoder_is_idle(const struct ws_decoder *d)
{
    return !d->assembly || d->assembly->is_spent;
}
