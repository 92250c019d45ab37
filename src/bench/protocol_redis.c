/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redis publish and subscribe over TCP, in RESP3: only there may a connection that has
 * subscribed publish as well. What was subscribed to comes as a push:
 *
 *     >3\r\n$7\r\nmessage\r\n$7\r\nbench-0\r\n$300\r\n…300 bytes…\r\n
 */
#include "bench/protocol.h"

enum { LINE_MAX_BYTES = 64 * 1024, BODY_MAX = 32 * 1024 * 1024, ELEMENTS_MAX = 1024 };
enum { KEPT = 3 }; /* of a push: what happened, where, with what */

static void hello(const struct seat *seat [[maybe_unused]], struct buf *out)
{
    buf_put(out, S("*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n"));
}

static void put_bulk(struct buf *out, struct str text)
{
    buf_putc(out, '$');
    buf_putu(out, text.len);
    buf_put(out, S("\r\n"));
    buf_put(out, text);
    buf_put(out, S("\r\n"));
}

static void subscribe(const struct seat *seat, struct buf *out)
{
    buf_put(out, S("*2\r\n$9\r\nSUBSCRIBE\r\n"));
    put_bulk(out, seat->topic);
}

static enum err publish(struct str topic, struct str text, uint32_t mask [[maybe_unused]],
                        struct buf *out)
{
    enum err err = buf_reserve(out, topic.len + text.len + 128);

    if (err)
        return err;
    buf_put(out, S("*3\r\n$7\r\nPUBLISH\r\n"));
    put_bulk(out, topic);
    put_bulk(out, text);
    return OK;
}

struct element {
    char type;
    struct str text;   /* of a line or of a bulk */
    uint64_t children; /* that follow it */
};

static enum err take_line(struct str *rest, struct str *ret)
{
    size_t end = str_find(*rest, '\n', 0);

    if (end == rest->len)
        return rest->len < LINE_MAX_BYTES ? ERR_AGAIN : ERR_TOO_BIG;
    if (end < 2 || rest->ptr[end - 1] != '\r')
        return ERR_INVALID;
    *ret = str_slice(*rest, 0, end - 1);
    *rest = str_slice(*rest, end + 1, rest->len);
    return OK;
}

static enum err take_bulk(struct str *rest, struct str length, struct str *ret)
{
    uint64_t size;

    if (str_eq(length, S("-1")))
        return OK; /* null */
    if (str_to_u64(length, BODY_MAX, &size))
        return ERR_INVALID;
    if (rest->len < size + 2)
        return ERR_AGAIN;
    *ret = str_slice(*rest, 0, (size_t)size);
    *rest = str_slice(*rest, (size_t)size + 2, rest->len);
    return OK;
}

static enum err take_element(struct str *rest, struct element *ret)
{
    struct str line;
    enum err err = take_line(rest, &line);

    if (err)
        return err;
    *ret = (struct element){ .type = line.ptr[0], .text = str_slice(line, 1, line.len) };
    switch (ret->type) {
    case '+':
    case '-':
    case ':':
    case '_':
    case '#':
    case ',':
    case '(': return OK;
    case '$':
    case '=':
    case '!': return take_bulk(rest, ret->text, &ret->text);
    case '*':
    case '~':
    case '>':
    case '%':
        err = str_to_u64(ret->text, ELEMENTS_MAX, &ret->children);
        ret->children *= ret->type == '%' ? 2 : 1;
        return err;
    default: return ERR_INVALID;
    }
}

static struct unit push_unit(const struct str *kept)
{
    if (str_eq(kept[0], S("message")))
        return (struct unit){ .type = UNIT_MESSAGE, .body = kept[2] };
    if (str_eq(kept[0], S("subscribe")))
        return (struct unit){ .type = UNIT_READY };
    return (struct unit){ .type = UNIT_NOTHING };
}

static struct unit unit_of(const struct element *first, const struct str *kept)
{
    switch (first->type) {
    case '>': return push_unit(kept);
    case '-': return (struct unit){ .type = UNIT_REFUSED, .body = first->text };
    case '%': return (struct unit){ .type = UNIT_ACCEPTED };
    default: return (struct unit){ .type = UNIT_NOTHING };
    }
}

static enum err parse(struct str bytes, struct unit *ret)
{
    struct str rest = bytes;
    struct str kept[KEPT] = {};
    struct element first;
    uint64_t left;
    enum err err = take_element(&rest, &first);

    if (err)
        return err;
    left = first.children;
    for (size_t i = 0; left; i++) {
        struct element element;

        err = take_element(&rest, &element);
        if (err)
            return err;
        if (i < KEPT)
            kept[i] = element.text;
        left += element.children;
        left--;
        if (left > ELEMENTS_MAX)
            return ERR_TOO_BIG;
    }
    *ret = unit_of(&first, kept);
    ret->size = bytes.len - rest.len;
    return OK;
}

const struct protocol protocol_redis = {
    .name = "redis",
    .port = 6379,
    .connect = hello,
    .subscribe = subscribe,
    .publish = publish,
    .parse = parse,
};
