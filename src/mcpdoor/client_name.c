/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a client calls itself, as whoever decides about its calls gets to see it.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "mcp/message.h"
#include "mcpdoor/attendee.h"

enum {
    SENT_BYTES = 4096, /* of a name that are looked at, and what is kept of it: */
    NAME_BYTES = 96,
    VERSION_BYTES = 48,
    PLAIN_GROWS = 6, /* plain_put() */
    ARENA_MORE = 64,
};

static void put_plain(struct buf *out, struct json_span object, struct str member,
                      size_t max)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf plain;
    struct json_span found = mcp_message_member(object, member);
    struct str text;

    arena_init(&arena, found.text.len + ARENA_MORE);
    buf_init(&plain, PLAIN_GROWS * max + 1); /* the end of what is printed into it */
    if (!found.text.ptr || found.type != JSON_STRING || found.text.len > SENT_BYTES ||
        json_unescape(found, &arena, &text))
        return;
    plain_put(&plain, utf8_cut(text, max), PLAIN_LINE);
    if (out->len && plain.len)
        buf_putc(out, ' ');
    buf_put(out, buf_str(&plain));
}

void client_put_name(struct buf *out, struct json_span client_info)
{
    if (!client_info.text.ptr || client_info.type != JSON_OBJECT)
        return;
    put_plain(out, client_info, S("name"), NAME_BYTES);
    if (out->len)
        put_plain(out, client_info, S("version"), VERSION_BYTES);
}
