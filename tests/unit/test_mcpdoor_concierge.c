/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "fake_seat.h"
#include "harness.h"
#include "mcpdoor/concierge.h"

enum {
    ROOM = 1 << 24,
    TOOLS = 1 << OFFER_TOOL,
    RESOURCES = 1 << OFFER_RESOURCE,
    TEMPLATES = 1 << OFFER_TEMPLATE,
    PROMPTS = 1 << OFFER_PROMPT,
};

#define SERVICE(id) \
    "{\"id\":\"" id \
    "\",\"capabilities\":[\"mcp/response:*\"],\"moot\":{\"type\":\"service\"}}"
#define AGENT(id) \
    "{\"id\":\"" id "\",\"capabilities\":[\"mcp/*\"],\"moot\":{\"type\":\"agent\"}}"

/* A room with a concierge in it. */
struct room {
    struct fake_seat fake;
    struct showcase *showcase;
    struct concierge *concierge;
    struct buf log; /* "change BITS\n", "note TEXT\n" */
    struct buf last;
    uint64_t said;
};

static void on_change(void *user, unsigned types)
{
    struct room *room = user;

    buf_putf(&room->log, "change %u\n", types);
}

static void on_note(void *user, struct str text)
{
    struct room *room = user;

    buf_putf(&room->log, "note " STR_FMT "\n", STR_ARG(text));
}

static bool is_ours(void *, struct str id)
{
    return str_eq(id, S("ours"));
}

static struct moment now_of(void *user)
{
    return ((struct room *)user)->fake.now;
}

static void room_open(struct room *room, const char *participants)
{
    *room = (struct room){};
    fake_seat_init(&room->fake, &(struct occupant_settings){
                                    .limits.calls = 64, .limits.participants = 300 });
    buf_init(&room->log, ROOM);
    buf_init(&room->last, ROOM);
    room->showcase = showcase_new(false);
    room->concierge = concierge_new(&(struct concierge_setup){
        .showcase = room->showcase,
        .on_change = on_change,
        .on_note = on_note,
        .is_ours = is_ours,
        .now = now_of,
        .user = room,
    });
    CHECK(!concierge_is_ready(room->concierge));
    fake_seat_welcome(&room->fake, "[\"mcp/request:initialize\",\"mcp/request:*/list\"]",
                      participants);
    concierge_use(room->concierge, room->fake.occupant, room->fake.now);
}

static void room_close(struct room *room)
{
    concierge_free(room->concierge);
    showcase_free(room->showcase);
    fake_seat_done(&room->fake);
    buf_done(&room->log);
    buf_done(&room->last);
}

/* What was told since the last time. */
static struct str told(struct room *room)
{
    buf_clear(&room->last);
    buf_put(&room->last, buf_str(&room->log));
    buf_clear(&room->log);
    return buf_str(&room->last);
}

/* The questions sent since the last time: "TO METHOD PARAMS\n"; `ids` gets their ids,
 * one a line. */
static void text_between(const char *line, const char *before, const char *after,
                         struct buf *out)
{
    const char *from = strstr(line, before), *to;

    if (!from)
        return;
    from += strlen(before);
    to = strstr(from, after);
    if (to)
        buf_put(out, (struct str){ from, (size_t)(to - from) });
}

static struct str asked(struct room *room)
{
    struct str sent = fake_sent(&room->fake);

    buf_clear(&room->last);
    while (sent.len) {
        CLEANUP(buf_done) struct buf one;
        struct str line = str_cut(&sent, '\n');

        buf_init(&one, ROOM);
        buf_put(&one, line);
        text_between(buf_cstr(&one), "\"to\":[\"", "\"", &room->last);
        buf_putc(&room->last, ' ');
        text_between(buf_cstr(&one), "\"method\":\"", "\"", &room->last);
        if (strstr(buf_cstr(&one), "\"cursor\":"))
            text_between(buf_cstr(&one), "\"params\":", ",\"_meta", &room->last);
        buf_putc(&room->last, '\n');
    }
    return buf_str(&room->last);
}

/* The last question of all, and its answer. */
static void answer(struct room *room, const char *from, unsigned number,
                   const char *method, const char *result)
{
    CLEANUP(buf_done) struct buf id, kind, rest;

    buf_init(&id, ROOM);
    buf_init(&kind, ROOM);
    buf_init(&rest, ROOM);
    buf_putf(&id, "a-%llu", (unsigned long long)++room->said);
    buf_putf(&kind, "mcp/response:%s", method);
    buf_putf(&rest,
             "\"to\":[\"bot\"],\"correlation_id\":\"me-%u\",\"payload\":{\"jsonrpc\":\"2."
             "0\",\"id\":\"me-%u\",%s}",
             number, number, result);
    fake_hear_from(&room->fake, from, buf_cstr(&id), buf_cstr(&kind), buf_cstr(&rest));
}

static struct str tools(const struct room *room)
{
    static char text[1 << 16];
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, sizeof(text));
    CHECK_INT(showcase_put_page(room->showcase, OFFER_TOOL, &(struct showcase_view){},
                                S(""), ROOM, &out),
              OK);
    memcpy(text, out.ptr, out.len);
    return (struct str){ text, out.len };
}

static struct str silent(struct room *room)
{
    buf_clear(&room->last);
    concierge_put_silent(room->concierge, &room->last);
    return buf_str(&room->last);
}

static void pass(struct room *room, uint64_t ms)
{
    fake_tick(&room->fake, ms);
    concierge_tick(room->concierge, room->fake.now);
}

static void say(struct room *room, const char *from, const char *kind)
{
    struct heard heard = { .env = { .from = str_of(from) }, .names_me = true };

    CHECK_INT(kind_parse(str_of(kind), &heard.env.kind), OK);
    concierge_hear(room->concierge, &heard, room->fake.now);
}

static void joins(struct room *room, const char *who)
{
    CLEANUP(buf_done) struct buf rest;

    buf_init(&rest, ROOM);
    buf_putf(&rest, "\"event\":\"join\",\"participant\":%s", who);
    fake_hear_gateway(&room->fake, "system/presence", buf_cstr(&rest));
}

#define FACTS(capabilities)                                                           \
    "\"result\":{\"protocolVersion\":\"2025-11-25\",\"serverInfo\":{\"name\":\"x\"}," \
    "\"capabilities\":" capabilities ",\"instructions\":\"a\\nb\"}"

TEST(an_owner_is_asked_what_it_is_and_then_what_it_has)
{
    struct room room;
    const struct owner_facts *facts;
    size_t at = 0;

    room_open(&room, SERVICE("files"));
    CHECK_STR(asked(&room), S("files initialize\n"));
    CHECK(!concierge_is_ready(room.concierge));
    answer(&room, "files", 1, "initialize", FACTS("{\"tools\":{}}"));
    CHECK_STR(asked(&room), S("files tools/list\n"));
    answer(&room, "files", 2, "tools/list",
           "\"result\":{\"tools\":[ {\"name\":\"r\"} ]}");
    CHECK_STR(asked(&room), S(""));
    CHECK_STR(tools(&room), S("{\"tools\":[{\"name\":\"r\"}]}"));
    CHECK(concierge_is_ready(room.concierge));
    CHECK_STR(told(&room), S("change 1\nchange 0\n"));
    facts = concierge_next_owner(room.concierge, &at);
    CHECK(facts != NULL);
    CHECK_STR(facts->id, S("files"));
    CHECK_STR(facts->server.text, S("{\"name\":\"x\"}"));
    CHECK_STR(facts->capable.text, S("{\"tools\":{}}"));
    CHECK_STR(facts->instructions, S("a\nb"));
    CHECK(concierge_next_owner(room.concierge, &at) == NULL);
    CHECK_INT(concierge_due_ms(room.concierge), UINT64_MAX);
    room_close(&room);
}

TEST(all_lists_that_the_capabilities_name_are_asked_for)
{
    struct room room;

    room_open(&room, SERVICE("a"));
    answer(&room, "a", 1, "initialize", FACTS("{\"resources\":{},\"prompts\":{}}"));
    answer(&room, "a", 2, "resources/list",
           "\"result\":{\"resources\":[{\"uri\":\"u\"}]}");
    answer(&room, "a", 3, "resources/templates/list",
           "\"error\":{\"code\":-32601,\"message\":\"none\"}");
    answer(&room, "a", 4, "prompts/list", "\"result\":{\"prompts\":[]}");
    CHECK_STR(asked(&room),
              S("a initialize\na resources/list\na resources/templates/list\n"
                "a prompts/list\n"));
    CHECK(showcase_find(room.showcase, OFFER_RESOURCE, S("u")) != NULL);
    CHECK(concierge_is_ready(room.concierge));
    CHECK_STR(silent(&room), S(""));
    room_close(&room);
}

TEST(pages_are_put_together)
{
    struct room room;

    room_open(&room, SERVICE("a"));
    answer(&room, "a", 1, "initialize", FACTS("{\"tools\":{}}"));
    answer(&room, "a", 2, "tools/list",
           "\"result\":{\"tools\":[{\"name\":\"1\"}],\"nextCursor\":\"p\\\"2\"}");
    CHECK(showcase_find(room.showcase, OFFER_TOOL, S("1")) == NULL);
    answer(&room, "a", 3, "tools/list",
           "\"result\":{\"tools\":[],\"nextCursor\":\"p3\"}");
    answer(&room, "a", 4, "tools/list", "\"result\":{\"tools\":[{\"name\":\"2\"}]}");
    CHECK_STR(tools(&room), S("{\"tools\":[{\"name\":\"1\"},{\"name\":\"2\"}]}"));
    CHECK(strstr(fake_sent(&room.fake).ptr, "{\"cursor\":\"p\\\"2\"") != NULL);
    room_close(&room);
}

TEST(a_list_without_end_ends)
{
    struct room room;

    room_open(&room, SERVICE("a"));
    answer(&room, "a", 1, "initialize", FACTS("{\"tools\":{}}"));
    for (unsigned i = 0; i < CONCIERGE_PAGES + 5; i++)
        answer(&room, "a", 2 + i, "tools/list",
               "\"result\":{\"tools\":[{\"name\":\"1\"}],\"nextCursor\":\"on\"}");
    CHECK_INT(room.fake.sent_count, 1 + CONCIERGE_PAGES);
    CHECK_STR(tools(&room), S("{\"tools\":[{\"name\":\"1\"}]}"));
    room_close(&room);
}

TEST(who_does_not_know_initialize_is_asked_for_everything)
{
    struct room room;

    room_open(&room, AGENT("bot2"));
    answer(&room, "bot2", 1, "initialize",
           "\"error\":{\"code\":-32601,\"message\":\"none\"}");
    answer(&room, "bot2", 2, "tools/list", "\"result\":{\"tools\":[{\"name\":\"t\"}]}");
    for (unsigned i = 3; i < 6; i++)
        answer(&room, "bot2", i,
               i < 4 ? "resources/list"
                     : (i < 5 ? "resources/templates/list" : "prompts/list"),
               "\"error\":{\"code\":-32601,\"message\":\"none\"}");
    CHECK_STR(tools(&room), S("{\"tools\":[{\"name\":\"t\"}]}"));
    CHECK(concierge_is_ready(room.concierge));
    room_close(&room);
}

TEST(only_those_who_may_answer_are_asked)
{
    static const char *const others[] = {
        "{\"id\":\"ann\",\"capabilities\":[\"mcp/*\"],\"moot\":{\"type\":\"human\"}}",
        "{\"id\":\"eve\",\"capabilities\":[\"mcp/*\"]}",
        "{\"id\":\"ear\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"service\"}}",
        "{\"id\":\"call\",\"capabilities\":[\"mcp/response:tools/call:*\"],"
        "\"moot\":{\"type\":\"agent\"}}",
        AGENT("ours"),
    };

    FOR_EACH_CASE(c, others) {
        struct room room;

        room_open(&room, *c);
        CHECK_STR(asked(&room), S(""));
        CHECK(concierge_is_ready(room.concierge));
        room_close(&room);
    }
}

TEST(who_does_not_answer_is_left_out_until_it_says_something)
{
    struct room room;

    room_open(&room, SERVICE("dead") "," SERVICE("live"));
    CHECK_STR(asked(&room), S("dead initialize\nlive initialize\n"));
    answer(&room, "live", 2, "initialize", FACTS("{\"tools\":{}}"));
    answer(&room, "live", 3, "tools/list", "\"result\":{\"tools\":[{\"name\":\"t\"}]}");
    CHECK(!concierge_is_ready(room.concierge));
    (void)told(&room);
    pass(&room, CONCIERGE_PATIENCE_MS);
    CHECK(concierge_is_ready(room.concierge));
    CHECK_STR(told(&room), S("note dead is left out: initialize: no answer\nchange 0\n"));
    CHECK_STR(silent(&room), S("dead"));
    (void)asked(&room);
    pass(&room, 60'000);
    CHECK_STR(asked(&room), S(""));
    say(&room, "dead", "chat");
    CHECK_STR(asked(&room), S(""));
    say(&room, "dead", "mcp/request:notifications/tools/list_changed");
    CHECK_STR(asked(&room), S("dead initialize\n"));
    answer(&room, "dead", 5, "initialize", FACTS("{}"));
    CHECK_STR(silent(&room), S(""));
    room_close(&room);
}

TEST(an_answer_that_comes_too_late_is_a_sign_of_life)
{
    struct room room;

    room_open(&room, SERVICE("slow"));
    say(&room, "slow",
        "mcp/response:initialize"); /* of which nobody can say it is late */
    pass(&room, CONCIERGE_PATIENCE_MS);
    CHECK_STR(silent(&room), S("slow"));
    CHECK_STR(asked(&room), S("slow initialize\n"));
    say(&room, "slow", "mcp/response:initialize");
    CHECK_STR(asked(&room), S("slow initialize\n"));
    /* what is said while it is asked is its answer, and if it is wrong, that was it */
    say(&room, "slow", "mcp/response:initialize");
    answer(&room, "slow", 2, "initialize", "\"result\":3");
    CHECK_STR(silent(&room), S("slow"));
    pass(&room, 60'000);
    CHECK_STR(asked(&room), S(""));
    room_close(&room);
}

TEST(what_was_offered_stays_while_a_new_list_does_not_come)
{
    struct room room;

    room_open(&room, SERVICE("a"));
    answer(&room, "a", 1, "initialize", FACTS("{\"tools\":{}}"));
    answer(&room, "a", 2, "tools/list", "\"result\":{\"tools\":[{\"name\":\"1\"}]}");
    pass(&room, CONCIERGE_GAP_MS);
    say(&room, "a", "mcp/request:notifications/tools/list_changed");
    pass(&room, CONCIERGE_PATIENCE_MS);
    CHECK_STR(silent(&room), S("a"));
    CHECK_STR(tools(&room), S("{\"tools\":[{\"name\":\"1\"}]}"));
    (void)asked(&room);
    say(&room, "a", "mcp/request:notifications/tools/list_changed");
    CHECK_STR(asked(&room), S("a initialize\n"));
    room_close(&room);
}

TEST(the_time_for_an_answer_begins_with_its_question)
{
    struct room room;

    room_open(&room, SERVICE("a"));
    fake_tick(&room.fake, CONCIERGE_PATIENCE_MS - 1);
    answer(&room, "a", 1, "initialize", FACTS("{\"tools\":{}}"));
    fake_tick(&room.fake, CONCIERGE_PATIENCE_MS - 1);
    CHECK_STR(silent(&room), S(""));
    answer(&room, "a", 2, "tools/list", "\"result\":{\"tools\":[{\"name\":\"1\"}]}");
    CHECK_STR(tools(&room), S("{\"tools\":[{\"name\":\"1\"}]}"));
    room_close(&room);
}

TEST(agents_are_not_waited_for_as_long)
{
    struct room room;

    room_open(&room, AGENT("bot2"));
    CHECK_INT(concierge_due_ms(room.concierge),
              room.fake.now.mono_ms + CONCIERGE_AGENT_MS);
    pass(&room, CONCIERGE_AGENT_MS - 1);
    CHECK(!concierge_is_ready(room.concierge));
    pass(&room, 1);
    CHECK(concierge_is_ready(room.concierge));
    CHECK_STR(told(&room), S("change 0\n"));
    answer(&room, "bot2", 1, "initialize", FACTS("{\"tools\":{}}"));
    answer(&room, "bot2", 2, "tools/list", "\"result\":{\"tools\":[{\"name\":\"t\"}]}");
    CHECK_STR(tools(&room), S("{\"tools\":[{\"name\":\"t\"}]}"));
    room_close(&room);
}

TEST(a_changed_list_is_asked_for_again_and_nothing_else)
{
    struct room room;

    room_open(&room, SERVICE("a"));
    answer(&room, "a", 1, "initialize", FACTS("{\"tools\":{},\"prompts\":{}}"));
    answer(&room, "a", 2, "tools/list", "\"result\":{\"tools\":[{\"name\":\"1\"}]}");
    answer(&room, "a", 3, "prompts/list", "\"result\":{\"prompts\":[]}");
    (void)asked(&room);
    (void)told(&room);
    say(&room, "a", "mcp/request:notifications/tools/list_changed");
    say(&room, "b", "mcp/request:notifications/tools/list_changed");
    CHECK_STR(asked(&room), S("")); /* not twice in a second */
    CHECK_INT(concierge_due_ms(room.concierge), room.fake.now.mono_ms + CONCIERGE_GAP_MS);
    pass(&room, CONCIERGE_GAP_MS);
    CHECK_STR(asked(&room), S("a tools/list\n"));
    say(&room, "a", "mcp/request:notifications/tools/list_changed"); /* meanwhile */
    answer(&room, "a", 4, "tools/list", "\"result\":{\"tools\":[{\"name\":\"2\"}]}");
    CHECK_STR(told(&room), S("change 1\nchange 0\n"));
    pass(&room, CONCIERGE_GAP_MS);
    CHECK_STR(asked(&room), S("a tools/list\n"));
    answer(&room, "a", 5, "tools/list", "\"result\":{\"tools\":[{\"name\":\"2\"}]}");
    CHECK_STR(told(&room), S("change 0\n"));
    pass(&room, 10'000);
    CHECK_STR(asked(&room), S(""));
    say(&room, "a", "participant/status");
    CHECK_STR(asked(&room), S("a initialize\n"));
    room_close(&room);
}

TEST(what_is_no_longer_a_capability_is_no_longer_shown)
{
    struct room room;

    room_open(&room, SERVICE("a"));
    answer(&room, "a", 1, "initialize", FACTS("{\"tools\":{}}"));
    answer(&room, "a", 2, "tools/list", "\"result\":{\"tools\":[{\"name\":\"1\"}]}");
    pass(&room, CONCIERGE_GAP_MS);
    say(&room, "a", "participant/status");
    answer(&room, "a", 3, "initialize", FACTS("{}"));
    CHECK_STR(tools(&room), S("{\"tools\":[]}"));
    room_close(&room);
}

TEST(who_leaves_takes_everything_along_and_who_joins_is_asked)
{
    struct room room;

    room_open(&room, SERVICE("a"));
    answer(&room, "a", 1, "initialize", FACTS("{\"tools\":{}}"));
    concierge_presence(room.concierge, PRESENCE_HERE, S("a"), room.fake.now);
    answer(&room, "a", 2, "tools/list", "\"result\":{\"tools\":[{\"name\":\"1\"}]}");
    (void)asked(&room);
    (void)told(&room);
    joins(&room, SERVICE("b"));
    concierge_presence(room.concierge, PRESENCE_JOINS, S("b"), room.fake.now);
    CHECK_STR(asked(&room), S("b initialize\n"));
    CHECK(concierge_is_ready(room.concierge)); /* whoever comes later is not waited for */
    concierge_presence(room.concierge, PRESENCE_LEAVES, S("a"), room.fake.now);
    CHECK_STR(told(&room), S("change 1\n"));
    CHECK_STR(tools(&room), S("{\"tools\":[]}"));
    concierge_presence(room.concierge, PRESENCE_LEAVES, S("b"), room.fake.now);
    concierge_presence(room.concierge, PRESENCE_LEAVES, S("b"), room.fake.now);
    answer(&room, "b", 3, "initialize", FACTS("{\"tools\":{}}"));
    CHECK_STR(asked(&room), S(""));
    room_close(&room);
}

TEST(so_many_are_asked_at_a_time)
{
    struct room room;
    CLEANUP(buf_done) struct buf all;

    buf_init(&all, ROOM);
    buf_put(&all, S(AGENT("agent")));
    for (int i = 0; i < CONCIERGE_AT_ONCE + 1; i++)
        buf_putf(&all, "," SERVICE("s%d"), i);
    room_open(&room, buf_cstr(&all));
    CHECK_INT(room.fake.sent_count, CONCIERGE_AT_ONCE);
    CHECK(strstr(fake_sent(&room.fake).ptr, "agent") == NULL);
    answer(&room, "s3", 4, "initialize", FACTS("{}"));
    CHECK_STR(asked(&room), S("s8 initialize\n"));
    pass(&room, CONCIERGE_PATIENCE_MS);
    CHECK_STR(asked(&room), S("agent initialize\n"));
    room_close(&room);
}

TEST(malformed_answers_leave_it_out)
{
    static const char *const results[] = {
        "\"result\":[]",
        "\"result\":{\"tools\":{}}",
        "\"result\":{}",
        "\"error\":{\"code\":-32603,\"message\":\"broken\"}",
    };

    FOR_EACH_CASE(c, results) {
        struct room room;

        room_open(&room, SERVICE("a"));
        answer(&room, "a", 1, "initialize", FACTS("{\"tools\":{}}"));
        answer(&room, "a", 2, "tools/list", *c);
        pass(&room, CONCIERGE_PATIENCE_MS);
        CHECK_STR(silent(&room), S("a"));
        CHECK(concierge_is_ready(room.concierge));
        room_close(&room);
    }
}

TEST(who_may_not_ask_says_so)
{
    struct room room;

    room_open(&room, "");
    fake_seat_welcome(&room.fake, "[\"chat\"]", SERVICE("a"));
    concierge_use(room.concierge, room.fake.occupant, room.fake.now);
    CHECK_STR(told(&room), S("change 0\nnote a is left out: initialize: forbidden\n"
                             "change 0\n"));
    room_close(&room);
}

TEST(without_a_connection_it_asks_later)
{
    struct room room;

    room_open(&room, "");
    room.fake.is_away = true;
    joins(&room, SERVICE("a"));
    concierge_presence(room.concierge, PRESENCE_JOINS, S("a"), room.fake.now);
    CHECK_STR(silent(&room), S(""));
    room.fake.is_away = false;
    pass(&room, 500);
    CHECK_STR(asked(&room), S("a initialize\n"));
    room_close(&room);
}

TEST(another_seat_asks_again_and_what_is_shown_stays_meanwhile)
{
    struct room room;

    room_open(&room, SERVICE("a") "," SERVICE("b"));
    answer(&room, "a", 1, "initialize", FACTS("{\"tools\":{}}"));
    answer(&room, "a", 3, "tools/list", "\"result\":{\"tools\":[{\"name\":\"1\"}]}");
    (void)asked(&room);
    concierge_use(room.concierge, NULL, room.fake.now);
    CHECK_STR(tools(&room), S("{\"tools\":[{\"name\":\"1\"}]}"));
    pass(&room, 10'000);
    CHECK_STR(asked(&room), S(""));
    fake_seat_welcome(&room.fake, "[\"mcp/*\"]", SERVICE("a"));
    concierge_use(room.concierge, room.fake.occupant, room.fake.now);
    CHECK_STR(asked(&room), S("a initialize\n"));
    CHECK_STR(showcase_only_owner(room.showcase), S("a"));
    room_close(&room);
}
