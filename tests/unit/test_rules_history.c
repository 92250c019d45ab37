/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "rules/history.h"

/* What was told, a letter each: verdict, origin, and by whom. */
struct told {
    char text[4096];
    size_t len;
};

static void on_decided(void *user, const struct decision *d)
{
    struct told *t = user;

    t->len += (size_t)snprintf(t->text + t->len, sizeof(t->text) - t->len,
                               "%.*s=%c%c%.*s ", STR_ARG(d->id), "arcn"[d->verdict],
                               "posr"[d->origin], STR_ARG(d->by));
}

static void count_told(void *user, const struct decision *d [[maybe_unused]])
{
    *(uint64_t *)user += 1;
}

struct line {
    const char *from, *kind, *id, *correlation, *arguments, *more;
};

static void hear(struct history *h, const struct line *l, uint64_t at_ms)
{
    struct buf text;

    buf_init(&text, 1 << 20);
    buf_putf(&text,
             "{\"from\":\"%s\",\"kind\":\"%s\",\"to\":[\"o\"]%s,\"payload\":{\"method\":"
             "\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":%s}}}",
             l->from, l->kind, l->more ? l->more : "",
             l->arguments ? l->arguments : "{}");
    history_hear(h, &(struct history_heard){ .at_ms = at_ms,
                                             .topic = S("room"),
                                             .from = str_of(l->from),
                                             .kind = str_of(l->kind),
                                             .id = str_of(l->id),
                                             .correlation = str_of(l->correlation),
                                             .text = buf_str(&text) });
    buf_done(&text);
}

#define PROPOSAL "mcp/proposal:tools/call:t"
#define REQUEST  "mcp/request:tools/call:t"

TEST(how_a_proposal_ended_is_told)
{
    static const struct {
        struct line lines[4];
        const char *told;
    } cases[] = {
        { { { "bot", PROPOSAL, "p", "", "{\"a\":1}", NULL },
            { "ann", REQUEST, "r", "p", "{\"a\":1.0}", NULL } },
          "p=apann " },
        { { { "bot", PROPOSAL, "p", "", "{\"a\":1}", NULL },
            { "ann", REQUEST, "r", "p", "{\"a\":2}", NULL } },
          "p=cpann " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "robot", REQUEST, "r", "p", NULL, NULL } },
          "p=aorobot " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "ann", "mcp/approve", "a", "p", NULL, NULL },
            { "robot", REQUEST, "r", "p", NULL, NULL } },
          "p=apann " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "robot", "mcp/approve", "a", "p", NULL, NULL },
            { "robot", REQUEST, "r", "p", NULL, NULL } },
          "p=aorobot " },
        { { { "bot", PROPOSAL, "p", "", "{\"a\":1}", NULL },
            { "ann", "mcp/approve", "a", "p", NULL, NULL },
            { "robot", REQUEST, "r", "p", "{\"a\":2}", NULL } },
          "p=corobot " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "ann", "mcp/reject", "x", "p", NULL, NULL },
            { "ann", REQUEST, "r", "p", NULL, NULL } },
          "p=rpann " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "robot", "mcp/reject", "x", "p", NULL, NULL } },
          "p=rorobot " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "bot", "mcp/withdraw", "x", "p", NULL, NULL } },
          "p=nobot " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL } }, "p=no " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "ann", "mcp/approve", "a", "p", NULL, NULL } },
          "p=no " },
        { { { "ann", PROPOSAL, "p", "", NULL, NULL },
            { "ann", REQUEST, "r", "p", NULL, NULL } },
          "p=asann " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "ann", REQUEST, "r", "p", NULL, ",\"self_approved\":\"bot\"" } },
          "p=asann " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "ann", REQUEST, "r", "p", NULL, ",\"rule\":\"r-1\"" } },
          "p=arann " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "robot", REQUEST, "r", "p", NULL, ",\"rule\":\"r-1\"" },
            { "robot", "mcp/reject", "x", "p", NULL, NULL },
            { "ann", "mcp/reject", "y", "p", NULL, NULL } },
          "p=rpann " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "robot", REQUEST, "r", "p", NULL, ",\"rule\":\"r-1\"" },
            { "bot", "mcp/withdraw", "x", "p", NULL, NULL },
            { "ann", REQUEST, "y", "p", NULL, NULL } },
          "p=arrobot " },
        { { { "bot", PROPOSAL, "p", "", NULL, NULL },
            { "ann", "mcp/request:tools/call:t", "r", "q", NULL, NULL } },
          "p=no " },
        { { { "bot", PROPOSAL, "p", "", "{\"a\":1,\"a\":1}", NULL },
            { "ann", REQUEST, "r", "p", "{\"a\":1}", NULL } },
          "" },
        { { { "bot", PROPOSAL, "p", "", "{\"a\":1}", NULL },
            { "ann", REQUEST, "r", "p", "{\"a\":2,\"a\":1}", NULL } },
          "" },
    };

    FOR_EACH_CASE(c, cases) {
        struct told told = {};
        struct history *h = history_new(&(struct history_listener){ on_decided, &told });

        history_person(h, S("ann"), true);
        history_person(h, S("robot"), false);
        for (size_t i = 0; i < 4 && c->lines[i].from; i++)
            hear(h, &c->lines[i], 1000 * i);
        CHECK(history_end(h, SIZE_MAX));
        CHECK_STR(str_of(told.text), str_of(c->told));
        history_free(h);
    }
}

TEST(who_was_ever_something_else_is_no_person)
{
    struct told told = {};
    struct history *h = history_new(&(struct history_listener){ on_decided, &told });

    CHECK(!history_is_person(h, S("ann")));
    history_person(h, S("ann"), true);
    CHECK(history_is_person(h, S("ann")));
    history_person(h, S("ann"), false);
    history_person(h, S("ann"), true);
    CHECK(!history_is_person(h, S("ann")));
    history_free(h);
}

TEST(memory_of_open_proposals_is_bounded)
{
    struct told told = {};
    struct history *h = history_new(&(struct history_listener){ on_decided, &told });

    for (int i = 0; i < HISTORY_PROPOSALS + 2; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "p%d", i);
        hear(h, &(struct line){ "bot", PROPOSAL, id, "", NULL, NULL }, (uint64_t)i);
    }
    CHECK_STR(str_of(told.text), S("p0=no p1=no "));
    history_free(h);
}

/* Few long ones fill it as well: the oldest are told of, and make room. */
TEST(what_is_open_is_bounded_in_bytes)
{
    enum { LONG = 60 << 10, COUNT_OF = HISTORY_BYTES / LONG + 20 };
    static char arguments[LONG + 64];
    uint64_t told = 0;
    struct history *h;

    memset(arguments, 'x', sizeof(arguments) - 1);
    memcpy(arguments, "{\"a\":\"", 6);
    memcpy(arguments + LONG, "\"}", 3);
    h = history_new(&(struct history_listener){ count_told, &told });
    for (int i = 0; i < COUNT_OF; i++) {
        char id[32];

        (void)snprintf(id, sizeof(id), "p%d", i);
        hear(h, &(struct line){ "bot", PROPOSAL, id, "", arguments, NULL }, 1);
    }
    CHECK(told >= 15 && told < 40);
    told = 0;
    CHECK(!history_end(h, 7));
    CHECK_INT(told, 7);
    CHECK(history_end(h, SIZE_MAX));
    CHECK(told > COUNT_OF - 40 && told <= COUNT_OF - 15);
    history_free(h);
}
