/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "cli/audit_figures.h"
#include "harness.h"

#define START UINT64_C(1'800'000'000'000) /* 2027-01-15T08:00:00Z */

static struct audit_figures *figures;

static void begin(void)
{
    CHECK_INT(setenv("TZ", "UTC0", 1), 0);
    figures = xmalloc(sizeof(*figures));
    audit_figures_init(figures);
}

static void end(void)
{
    audit_figures_done(figures);
    free(figures);
}

static void add(enum audit_event event, uint64_t at_ms, const char *who, const char *kind,
                const char *id, const char *about)
{
    struct audit_record record = { .event = event,
                                   .at_ms = START + at_ms,
                                   .participant = str_of(who),
                                   .kind = str_of(kind),
                                   .id = str_of(id),
                                   .topic = S("room") };

    if (event == AUDIT_REFUSAL)
        record.verdict = str_of(about);
    else if (event == AUDIT_DROP)
        record.body = str_of(about);
    else
        record.correlation = str_of(about);
    audit_figures_add(figures, &record);
}

TEST(minutes_are_counted_and_grow_where_there_are_many)
{
    begin();
    add(AUDIT_ENVELOPE, 1, "ann", "chat", "", "");
    add(AUDIT_ENVELOPE, 59'999, "ann", "chat", "", "");
    add(AUDIT_ENVELOPE, 60'000, "ann", "chat", "", "");
    add(AUDIT_CONNECT, 120'000, "ann", "websocket", "", "");
    CHECK_INT(figures->slot_ms, 60'000);
    CHECK_INT(figures->slot_count, 3);
    CHECK_INT(figures->slots[0], 2);
    CHECK_INT(figures->slots[1], 1);
    CHECK_INT(figures->slots[2], 0);
    add(AUDIT_ENVELOPE, UINT64_C(60'000) * FIGURES_SLOTS * 3, "ann", "chat", "", "");
    CHECK_INT(figures->slot_ms, 240'000);
    CHECK_INT(figures->slots[0], 3);
    CHECK_INT(figures->slot_count, FIGURES_SLOTS * 3 / 4 + 1);
    CHECK_INT(figures->messages, 4);
    end();
}

TEST(proposals_wait_for_the_first_that_decides)
{
    begin();
    add(AUDIT_ENVELOPE, 0, "bot", "mcp/proposal:tools/call:x", "p1", "");
    add(AUDIT_ENVELOPE, 1'000, "ann", "mcp/approve", "a1",
        "p1"); /* a voice, no decision */
    add(AUDIT_ENVELOPE, 4'000, "ann", "mcp/request:tools/call:x", "f1", "p1");
    add(AUDIT_ENVELOPE, 9'000, "ann", "mcp/reject", "x1", "p1"); /* too late */
    add(AUDIT_ENVELOPE, 9'000, "ann", "mcp/request:tools/call:x", "f2", "nothing");
    add(AUDIT_ENVELOPE, 10'000, "bot", "mcp/proposal:tools/call:x", "p2", "");
    add(AUDIT_ENVELOPE, 12'000, "ann", "mcp/reject", "x2", "p2");
    add(AUDIT_ENVELOPE, 13'000, "bot", "mcp/proposal:tools/call:x", "p3", "");
    add(AUDIT_ENVELOPE, 14'000, "bot", "mcp/withdraw", "w3", "p3");
    add(AUDIT_ENVELOPE, 15'000, "bot", "mcp/proposal:tools/call:x", "p4", "");
    CHECK_INT(figures->proposed, 4);
    CHECK_INT(figures->fulfilled, 1);
    CHECK_INT(figures->rejected, 1);
    CHECK_INT(figures->withdrawn, 1);
    CHECK_INT(figures->proposals.count, 1);
    CHECK_INT(figures->waits.count, 2);
    CHECK_INT(figures->waits.max, 4'000);
    end();
}

TEST(names_beyond_the_bound_are_counted_together)
{
    char name[32];

    begin();
    for (int i = 0; i < FIGURES_NAMES + 50; i++) {
        (void)snprintf(name, sizeof(name), "p%d", i);
        add(AUDIT_ENVELOPE, 0, name, "chat", "", "");
    }
    CHECK_INT(figures->people.names.count, FIGURES_NAMES);
    CHECK_INT(figures->people.others, 50);
    CHECK_INT(figures->people.total, FIGURES_NAMES + 50);
    end();
}

static void fill(void)
{
    for (int i = 0; i < 90; i++)
        add(AUDIT_ENVELOPE, (uint64_t)i * i * 1'000, i % 3 ? "ann" : "\033bob", "chat",
            "", "");
    add(AUDIT_REFUSAL, 8'100'000, "bot", "chat", "", "rate_limited");
    add(AUDIT_DROP, 8'100'000, "", "", "", "{\"dropped\":12}");
    add(AUDIT_ENVELOPE, 8'100'000, "bot", "mcp/proposal:tools/call:x", "p1", "");
    add(AUDIT_ENVELOPE, 8'103'000, "ann", "mcp/request:tools/call:x", "f1", "p1");
}

TEST(figures_are_drawn_in_ascii_as_well)
{
    struct audit_figures_look look = { .ink = palette_none(), .columns = 60, .rows = 2 };
    struct buf out;

    begin();
    fill();
    buf_init(&out, 1 << 20);
    audit_figures_put(&out, figures, &look);
    CHECK_STR(buf_str(&out),
              S("2027-01-15 08:00:00.000 to 2027-01-15 10:15:03.000\n"
                "92 messages, 1 refused, 94 records in all, 12 dropped\n"
                "\n"
                "Messages per minute\n"
                "      4.7 #\n"
                "          #\n"
                "          #\n"
                "          #..\n"
                "          ###.... .\n"
                "        0 #######+#+++++:++:+:+:+:+:::+:::+::::::::::::+\n"
                "          2027-01-15 08:00              2027-01-15 10:16\n"
                "          a column is 3 min\n"
                "\n"
                "Refused, by reason\n"
                "  rate_limited           1  ##############################\n"
                "\n"
                "Busiest participants\n"
                "  ann                61  #################################\n"
                "  \\u001bbob          30  ################:\n"
                "  (others)            1  :\n"
                "\n"
                "Kinds\n"
                "  chat                               90  #################\n"
                "  mcp/proposal:tools/call:x           1  :\n"
                "  (others)                            1  :\n"
                "\n"
                "From proposal to decision\n"
                "  1 proposed, 1 fulfilled, 0 rejected, 0 withdrawn, 0 open\n"
                "  median 3.0 s, nine in ten within 3.0 s, the longest 3.0 s\n"
                "  up to 5 s              1  ##############################\n"));
    buf_done(&out);
    end();
}

TEST(no_line_is_wider_than_the_terminal)
{
    begin();
    fill();
    for (size_t columns = 60; columns < 200; columns++) {
        struct audit_figures_look look = { palette_none(), true, columns, 8 };
        struct str rest, line;
        struct buf out;

        buf_init(&out, 1 << 20);
        audit_figures_put(&out, figures, &look);
        rest = buf_str(&out);
        while (rest.len) {
            size_t count = 0;

            line = str_cut(&rest, '\n');
            for (size_t i = 0; i < line.len; i++)
                count += ((unsigned char)line.ptr[i] & 0xc0) != 0x80;
            CHECK(count <= columns || count <= 80);
            CHECK(!memchr(line.ptr, '\033', line.len));
        }
        buf_done(&out);
    }
    end();
}

TEST(figures_are_json)
{
    struct buf out;

    begin();
    add(AUDIT_ENVELOPE, 0, "ann", "mcp/proposal:tools/call:x", "p1", "");
    add(AUDIT_ENVELOPE, 2'000, "bob", "mcp/request:tools/call:x", "f1", "p1");
    add(AUDIT_REFUSAL, 3'000, "ann", "chat", "", "rate_limited");
    buf_init(&out, 1 << 20);
    audit_figures_put_json(&out, figures);
    CHECK_STR(buf_str(&out),
              S("{\"first\":\"2027-01-15T08:00:00.000Z\",\"last\":\"2027-01-15T08:00"
                ":03.000Z\",\"records\":3,\"messages\":2,\"refusals\":1,\"dropped\":0,"
                "\"messages_over_time\":{\"from\":\"2027-01-15T08:00:00.000Z\",\"ste"
                "p_ms\":60000,\"counts\":[2]},\"refusals_by_reason\":{\"rate_limite"
                "d\":1},\"participants\":{\"ann\":1,\"bob\":1},\"kinds\":{\"mcp/proposa"
                "l:tools/call:x\":1,\"mcp/request:tools/call:x\":1},\"topics\":{\"r"
                "oom\":2},\"proposals\":{\"proposed\":1,\"fulfilled\":1,\"rejected\":0"
                ",\"withdrawn\":0,\"open\":0,\"median_ms\":2000,\"p90_ms\":2000,\"max_"
                "ms\":2000}}\n"));
    buf_done(&out);
    end();
}
