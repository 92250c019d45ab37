/* SPDX-License-Identifier: Apache-2.0 */
/* What is announced to be authorized, and when that is over. */
#include <stdio.h>

#include "approval/petitions.h"
#include "base/buf.h"
#include "harness.h"
#include "json/scan.h"

enum { START = 1'000'000'000 };

struct desk {
    struct petitions petitions;
    struct arena arena;
};

static void desk_init(struct desk *desk)
{
    petitions_init(&desk->petitions);
    arena_init(&desk->arena, 64 << 20);
}

static void desk_done(struct desk *desk)
{
    petitions_done(&desk->petitions);
    arena_done(&desk->arena);
}

struct note {
    const char *id, *from, *to, *kind, *about, *payload;
};

static void say(struct desk *desk, struct note note)
{
    struct envelope env;
    struct buf text;
    struct str kept;

    buf_init(&text, 4 << 20);
    buf_putf(&text, "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"%s\"", note.id,
             note.from);
    if (note.to)
        buf_putf(&text, ",\"to\":[\"%s\"]", note.to);
    if (note.about)
        buf_putf(&text, ",\"correlation_id\":\"%s\"", note.about);
    buf_putf(&text, ",\"kind\":\"%s\",\"payload\":%s}", note.kind, note.payload);
    kept = arena_str(&desk->arena, buf_str(&text));
    buf_done(&text);
    CHECK_INT(
        envelope_scan(kept, JSON_MAX_DEPTH, DIALECT_SLASH, &desk->arena, &env, NULL), OK);
    CHECK_INT(kind_parse(env.kind_text, &env.kind), OK);
    if (petitions_is_concerned(&desk->petitions, &env.kind))
        petitions_hear(&desk->petitions, &env, START);
}

#define ANNOUNCING "mcp/request:notifications/authorization/request"
#define RESPONDING "mcp/request:authorization/respond"
#define ASKED(members) \
    "{\"params\":{\"id\":\"auth-1\",\"tool\":\"rm\",\"requester\":\"bot\"" members "}}"

static void announce(struct desk *desk, const char *id, const char *to)
{
    say(desk, (struct note){ id, "srv", to, ANNOUNCING, "q1",
                             ASKED(",\"arguments\":{\"f\":1},\"reason\":\"why\"") });
}

static void respond(struct desk *desk, const char *from, const char *about,
                    const char *decision)
{
    char payload[256];

    (void)snprintf(payload, sizeof(payload),
                   "{\"params\":{\"authorizationId\":\"auth-1\",\"decision\":\"%s\"}}",
                   decision);
    say(desk, (struct note){ "d1", from, "srv", RESPONDING, about, payload });
}

TEST(what_is_announced_is_open)
{
    const struct petition *a;
    struct desk desk;

    desk_init(&desk);
    announce(&desk, "n1", NULL);
    CHECK_INT(desk.petitions.count, 1);
    a = petitions_next(&desk.petitions, NULL, START);
    CHECK_STR(a->id, S("n1"));
    CHECK_STR(a->owner, S("srv"));
    CHECK_STR(a->authorization_id, S("auth-1"));
    CHECK_STR(a->request_id, S("q1"));
    CHECK_STR(a->tool, S("rm"));
    CHECK_STR(a->requester, S("bot"));
    CHECK_STR(a->reason, S("why"));
    CHECK_STR(a->asked, S(""));
    CHECK_STR(a->arguments, S("{\"f\":1}"));
    CHECK_INT(a->expires_ms, START + PETITIONS_EXPIRY_MS);
    CHECK(!petitions_next(&desk.petitions, a, START));
    CHECK(!petitions_next(&desk.petitions, NULL, START + PETITIONS_EXPIRY_MS));
    desk_done(&desk);
    CHECK_INT(desk.petitions.bytes, 0);
}

TEST(an_announcement_made_again_takes_the_place_of_the_former)
{
    struct desk desk;

    desk_init(&desk);
    announce(&desk, "n1", NULL);
    announce(&desk, "n2", "ann");
    CHECK_INT(desk.petitions.count, 1);
    CHECK_STR(petitions_next(&desk.petitions, NULL, START)->id, S("n2"));
    CHECK_STR(petitions_next(&desk.petitions, NULL, START)->asked, S("ann"));
    desk_done(&desk);
}

TEST(what_is_broken_is_not_entered)
{
    static const char *const payloads[] = {
        "{}",
        "{\"params\":[]}",
        "{\"params\":{\"id\":\"\",\"tool\":\"rm\",\"requester\":\"bot\"}}",
        "{\"params\":{\"id\":\"a\",\"tool\":7,\"requester\":\"bot\"}}",
        "{\"params\":{\"id\":\"a\",\"tool\":\"rm\",\"requester\":\"b\\u0000\"}}",
        ASKED(",\"arguments\":[1]"),
        ASKED(",\"tool\":\"ls\""),
        ASKED(",\"expiresAt\":\"1970-01-02T00:00:00Z\""),
    };
    struct desk desk;

    desk_init(&desk);
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        say(&desk, (struct note){ "n1", "srv", NULL, ANNOUNCING, "q1", payloads[i] });
        CHECK_INT(desk.petitions.count, 0);
    }
    desk_done(&desk);
}

TEST(a_word_that_counts_ends_it)
{
    static const struct {
        const char *from, *about, *decision, *asked;
        bool ends;
    } cases[] = {
        { "ann", "n1", "approve", NULL, true },
        { "ann", "n1", "deny", NULL, true },
        { "ann", NULL, "deny", NULL, true },
        { "ann", "n1", "delegate", NULL, false },
        { "bot", "n1", "approve", NULL, false },
        { "ann", "n0", "approve", NULL, false },
        { "ann", "n1", "approve", "eva", false },
        { "eva", "n1", "approve", "eva", true },
    };

    FOR_EACH_CASE(c, cases) {
        struct desk desk;

        desk_init(&desk);
        announce(&desk, "n1", c->asked);
        respond(&desk, c->from, c->about, c->decision);
        CHECK_INT(desk.petitions.count, c->ends ? 0 : 1);
        desk_done(&desk);
    }
}

TEST(what_has_expired_is_not_open)
{
    struct desk desk;

    desk_init(&desk);
    announce(&desk, "n1", NULL);
    CHECK_INT(petitions_open(&desk.petitions, START + PETITIONS_EXPIRY_MS - 1), 1);
    CHECK_INT(petitions_open(&desk.petitions, START + PETITIONS_EXPIRY_MS), 0);
    desk_done(&desk);
}

TEST(who_proposed_the_call_does_not_end_it)
{
    struct desk desk;

    desk_init(&desk);
    say(&desk, (struct note){ "n1", "srv", NULL, ANNOUNCING, "q1",
                              ASKED(",\"proposer\":\"eva\"") });
    respond(&desk, "eva", "n1", "deny");
    CHECK_INT(desk.petitions.count, 1);
    respond(&desk, "ann", "n1", "deny");
    CHECK_INT(desk.petitions.count, 0);
    desk_done(&desk);
}

TEST(the_final_response_of_the_owner_ends_it)
{
    static const struct {
        const char *from, *about, *payload;
        bool ends;
    } cases[] = {
        { "srv", "q1", "{\"result\":{}}", true },
        { "srv", "q1", "{\"error\":{\"code\":-32002}}", true },
        { "srv", "q1",
          "{\"error\":{\"code\":-32001,\"data\":{\"authorizationRequest\":{}}}}", false },
        { "srv", "q2", "{\"result\":{}}", false },
        { "bot", "q1", "{\"result\":{}}", false },
    };

    FOR_EACH_CASE(c, cases) {
        struct desk desk;

        desk_init(&desk);
        announce(&desk, "n1", NULL);
        say(&desk, (struct note){ "r1", c->from, NULL, "mcp/response:tools/call:rm",
                                  c->about, c->payload });
        CHECK_INT(desk.petitions.count, c->ends ? 0 : 1);
        desk_done(&desk);
    }
}

/* A flood: many ids of one owner, and of many. */
TEST(it_is_bounded)
{
    struct desk desk;

    desk_init(&desk);
    for (int owner = 0; owner < 8; owner++)
        for (int i = 0; i < 100; i++) {
            char id[32], from[32], payload[256];

            (void)snprintf(id, sizeof(id), "n%d-%d", owner, i);
            (void)snprintf(from, sizeof(from), "srv%d", owner);
            (void)snprintf(
                payload, sizeof(payload),
                "{\"params\":{\"id\":\"a%d\",\"tool\":\"rm\",\"requester\":\"bot\"}}", i);
            say(&desk, (struct note){ id, from, NULL, ANNOUNCING, "q1", payload });
            if (owner == 0)
                CHECK(desk.petitions.count <= PETITIONS_EACH);
        }
    CHECK_INT(desk.petitions.count, PETITIONS_MAX);
    CHECK_INT(petitions_missed(&desk.petitions, START), 800 - PETITIONS_MAX);
    CHECK_INT(petitions_missed(&desk.petitions, START + PETITIONS_EXPIRY_MS), 0);
    desk_done(&desk);
}

static void ask_long(struct desk *desk, const char *owner, int i, size_t len)
{
    char id[64];
    struct buf text;

    (void)snprintf(id, sizeof(id), "%s-n%d", owner, i);
    buf_init(&text, 1 << 20);
    buf_putf(&text,
             "{\"params\":{\"id\":\"a%d\",\"tool\":\"rm\",\"requester\":\"bot\","
             "\"arguments\":{\"x\":\"",
             i);
    while (len--)
        buf_putc(&text, 'y');
    buf_put(&text, S("\"}}}"));
    say(desk, (struct note){ id, owner, NULL, ANNOUNCING, "q1", buf_cstr(&text) });
    buf_done(&text);
}

static const struct petition *last_of(const struct desk *desk)
{
    const struct petition *a = NULL, *last = NULL;

    while ((a = petitions_next(&desk->petitions, a, START)))
        last = a;
    return last;
}

TEST(long_arguments_are_left_out_and_all_of_them_are_bounded)
{
    struct desk desk;

    desk_init(&desk);
    ask_long(&desk, "srv", 0, PETITIONS_ARGUMENTS + 1);
    CHECK_STR(last_of(&desk)->arguments, S(""));
    for (int i = 1; i < 40; i++) {
        ask_long(&desk, "srv", i, PETITIONS_ARGUMENTS - 1000);
        CHECK_INT(desk.petitions.count, i + 1);
        CHECK(desk.petitions.bytes <= PETITIONS_EACH_BYTES + (40 << 10));
    }
    CHECK_STR(last_of(&desk)->arguments, S(""));
    desk_done(&desk);
}

TEST(one_owner_leaves_room_for_the_others)
{
    struct desk desk;

    desk_init(&desk);
    for (int i = 0; i < PETITIONS_EACH; i++)
        ask_long(&desk, "greedy", i, PETITIONS_ARGUMENTS - 1000);
    ask_long(&desk, "modest", 0, 9000);
    CHECK_STR(last_of(&desk)->owner, S("modest"));
    CHECK(last_of(&desk)->arguments.len > 9000);
    CHECK_INT(petitions_missed(&desk.petitions, START), 0);
    desk_done(&desk);
}
