/* SPDX-License-Identifier: Apache-2.0 */
/* An outlet that writes down what it is told, for the tests of strands. */
#pragma once

#include "base/buf.h"
#include "harness.h"
#include "mcpdoor/outlet.h"

enum { ROOM = 4 << 20, NOW = 1000 };

/* What a client got: "200 JSON\n", or "[ID] JSON\n" for each event, "retry 1000\n", "~\n"
 * for a murmur, "end\n". */
struct wire {
    struct outlet outlet;
    struct buf said;
    size_t room; /* events it takes; then it is closed */
    bool is_over;
};

static void on_reply(struct outlet *outlet, const struct outlet_reply *reply)
{
    struct wire *wire = (struct wire *)outlet;

    CHECK(!wire->is_over && !outlet->is_stream && !outlet->strand);
    buf_putf(&wire->said, "%u " STR_FMT STR_FMT "\n", reply->status,
             STR_ARG(reply->message), STR_ARG(reply->visit));
    wire->is_over = true;
}

static bool on_event(struct outlet *outlet, const struct outlet_event *event)
{
    struct wire *wire = (struct wire *)outlet;

    CHECK(!wire->is_over && wire->room > 0);
    if (event->retry_ms)
        buf_putf(&wire->said, "retry %d\n", (int)event->retry_ms);
    else
        buf_putf(&wire->said, "[" STR_FMT "] " STR_FMT STR_FMT "\n", STR_ARG(event->id),
                 STR_ARG(event->message), STR_ARG(event->visit));
    return --wire->room > 0;
}

static void on_murmur(struct outlet *outlet)
{
    struct wire *wire = (struct wire *)outlet;

    CHECK(!wire->is_over && outlet->is_stream);
    buf_put(&wire->said, S("~\n"));
}

static void on_end(struct outlet *outlet)
{
    struct wire *wire = (struct wire *)outlet;

    CHECK(!wire->is_over && outlet->is_stream && !outlet->strand);
    buf_put(&wire->said, S("end\n"));
    wire->is_over = true;
}

static const struct outlet_ops ops = { on_reply, on_event, on_murmur, on_end };

static void wire_init(struct wire *wire)
{
    *wire = (struct wire){ .outlet = { .ops = &ops }, .room = SIZE_MAX };
    buf_init(&wire->said, ROOM);
}

/* What came since it was last asked. */
static void check_said(struct wire *wire, const char *text, int line)
{
    test_check_str(buf_str(&wire->said), str_of(text), __FILE__, line, "said");
    buf_clear(&wire->said);
}
#define SAID(wire, text) check_said(wire, text, __LINE__)
