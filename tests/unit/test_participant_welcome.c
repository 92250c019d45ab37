/* SPDX-License-Identifier: Apache-2.0 */
/* Who we are, what we may do and who else is here, as an occupant learns it. */
#include "fake_seat.h"
#include "harness.h"
#include "participant/occupant.h"
#include "participant/roster.h"

#define CHAT "\"payload\":{\"text\":\"hi\"}"
#define PARTICIPANT \
    "\"participant\":{\"id\":\"ann\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"human\"}}"

static const struct occupant_settings plain = {};

/* --- the welcome --- */

TEST(nothing_is_heard_before_the_welcome)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_hear_from(&fake, "ann", "1", "chat", CHAT);
    fake_hear_gateway(&fake, "system/welcome", "\"you\":{\"id\":\"bot\"}");
    CHECK_STR(fake_told(&fake), S("offence 1 ann: unexpected, kind\n"
                                  "offence 1 system:gateway: unexpected, kind\n"));
    occupant_begin(fake.occupant, false);
    fake_hear_from(&fake, "ann", "2", "chat", CHAT);
    fake_hear_gateway(&fake, "system/presence", "\"event\":\"join\"," PARTICIPANT);
    CHECK_STR(fake_told(&fake), S("offence 2 ann: unexpected, kind\n"
                                  "offence 2 system:gateway: unexpected, kind\n"));
    CHECK(!occupant_is_welcome(fake.occupant));
    CHECK_STR(occupant_id(fake.occupant), S(""));
    CHECK_STR(occupant_last(fake.occupant), S(""));
    CHECK_STR(occupant_capabilities(fake.occupant), S("[]"));
    CHECK(!occupant_may(fake.occupant, S("chat"), (struct json_span){}));
    fake_seat_done(&fake);
}

TEST(the_welcome_tells_who_we_are_and_who_is_here)
{
    const struct roster_entry *ann;
    struct fake_seat fake;
    size_t at = 0;

    fake_seat_init(&fake, &plain);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(
        &fake, "system/welcome",
        "\"you\":{\"id\":\"bot\",\"capabilities\":[\"chat\",\"mcp/proposal:*\"],"
        "\"moot\":{\"type\":\"agent\",\"capabilities\":"
        "[{\"kind\":\"mcp/request:tools/call\",\"payload\":{\"params\":{\"name\":\"a*\"}}}]}},"
        "\"participants\":[{\"id\":\"ann\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"human\","
        "\"capabilities\":[{\"kind\":\"x\"}]}},{\"id\":\"bot\",\"capabilities\":[]}],"
        "\"moot\":{\"limits\":{\"envelope_bytes\":4096}}");
    CHECK_STR(fake_told(&fake), S("heard system/welcome to me\nwelcome\nhere ann\n"));
    CHECK(occupant_is_welcome(fake.occupant));
    CHECK_STR(occupant_id(fake.occupant), S("bot"));
    CHECK_STR(occupant_last(fake.occupant), S(""));
    CHECK_INT(occupant_envelope_bytes(fake.occupant), 4096);
    CHECK_STR(occupant_capabilities(fake.occupant),
              S("[\"chat\",\"mcp/proposal:*\",{\"kind\":\"mcp/request:tools/call\","
                "\"payload\":{\"params\":{\"name\":\"a*\"}}}]"));
    ann = occupant_find_participant(fake.occupant, S("ann"));
    CHECK(ann && ann == occupant_next_participant(fake.occupant, &at));
    CHECK_STR(ann->type, S("human"));
    CHECK_STR(ann->capabilities, S("[\"chat\",{\"kind\":\"x\"}]"));
    CHECK(!occupant_next_participant(fake.occupant, &at));
    CHECK(!occupant_find_participant(fake.occupant, S("bot")));
    fake_seat_done(&fake);
}

TEST(a_fresh_welcome_tells_what_has_changed)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"chat\"]", "{\"id\":\"ann\"},{\"id\":\"bob\"}");
    CHECK(
        !occupant_may(fake.occupant, S("mcp/request:tools/list"), (struct json_span){}));
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":[\"mcp/*\"]},"
                      "\"participants\":[{\"id\":\"bob\",\"capabilities\":[\"chat\"]},"
                      "{\"id\":\"eve\"}]");
    CHECK_STR(fake_told(&fake), S("heard system/welcome to me\nwelcome resumed\n"
                                  "leaves ann\nchanges bob\nhere eve\n"));
    CHECK(occupant_may(fake.occupant, S("mcp/request:tools/list"), (struct json_span){}));
    CHECK(!occupant_may(fake.occupant, S("chat"), (struct json_span){}));
    CHECK_STR(occupant_capabilities(fake.occupant), S("[\"mcp/*\"]"));
    fake_seat_done(&fake);
}

TEST(nobody_becomes_somebody_else_while_connected)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"chat\"]", "{\"id\":\"ann\"}");
    fake_hear_gateway(&fake, "system/welcome", "\"you\":{\"id\":\"ann\"}");
    CHECK_STR(fake_told(&fake),
              S("offence 1 system:gateway: malformed_envelope, payload.you.id\n"));
    CHECK_STR(occupant_id(fake.occupant), S("bot"));
    CHECK_STR(occupant_capabilities(fake.occupant), S("[\"chat\"]"));
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome", "\"you\":{\"id\":\"ann\"}");
    CHECK_STR(fake_told(&fake),
              S("heard system/welcome to me\nwelcome\ngap 0\nleaves ann\n"));
    CHECK_STR(occupant_id(fake.occupant), S("ann"));
    fake_seat_done(&fake);
}

TEST(a_broken_welcome_is_none)
{
    static const struct {
        const char *payload;
        const char *told;
    } cases[] = {
        { "\"participants\":[]", "payload.you" },
        { "\"you\":\"bot\"", "payload.you" },
        { "\"you\":{\"capabilities\":[]}", "payload.you" },
        { "\"you\":{\"id\":\"\"}", "payload.you" },
        { "\"you\":{\"id\":\"b\\u0000\"}", "payload.you" },
        { "\"you\":{\"id\":\"bot\",\"id\":\"eve\"}", "payload.you" },
        { "\"you\":{\"id\":\"bot\"},\"you\":{\"id\":\"eve\"}", "payload" },
        { "\"you\":{\"id\":\"bot\"},\"moot\":{\"limits\":{},\"limits\":{}}",
          "payload.moot" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_seat fake;
        struct buf want;

        fake_seat_init(&fake, &plain);
        buf_init(&want, 256);
        buf_putf(&want, "offence 1 system:gateway: malformed_envelope, %s\n", c->told);
        occupant_begin(fake.occupant, false);
        fake_hear_gateway(&fake, "system/welcome", c->payload);
        CHECK_STR(fake_told(&fake), buf_str(&want));
        CHECK(!occupant_is_welcome(fake.occupant));
        buf_done(&want);
        fake_seat_done(&fake);
    }
}

TEST(what_a_welcome_has_besides_is_passed_over)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":\"all\",\"moot\":7},"
                      "\"participants\":{},\"moot\":{\"limits\":[],\"proposals\":1,"
                      "\"grants\":{}}");
    CHECK_STR(fake_told(&fake), S("heard system/welcome to me\nwelcome\n"));
    CHECK_STR(occupant_capabilities(fake.occupant), S("[]"));
    CHECK_INT(occupant_envelope_bytes(fake.occupant), 0);
    fake_seat_done(&fake);
}

TEST(capabilities_that_are_none_here_are_left_out)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake,
                      "[\"chat\",1,\"no such\",null,\"{\\\"kind\\\":\\\"x\\\"}\",[],"
                      "\"ch\\u0061t\",\"mcp/*\"]",
                      "");
    CHECK_STR(occupant_capabilities(fake.occupant), S("[\"chat\",\"mcp/*\"]"));
    fake_seat_done(&fake);
}

static void put_many(struct buf *out, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_putc(out, c);
}

static void put_numbered(struct buf *out, const char *before, const char *behind)
{
    for (int i = 0; i < 3000; i++)
        buf_putf(out, "%s%d%s,", before, i, behind);
}

TEST(of_more_capabilities_than_a_set_may_have_the_first_count)
{
    static const struct {
        const char *before, *behind;
        struct str last, too_many;
    } cases[] = {
        { "\"x/y", "\"", S("x/y1023"), S("x/y1024") },
        { "{\"kind\":\"x/y", "\",\"payload\":{\"a\":\"b\"}}", S("x/y63"), S("x/y64") },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_span payload = { JSON_OBJECT, false, S("{\"a\":\"b\"}") };
        struct fake_seat fake;
        struct buf list;

        fake_seat_init(&fake, &plain);
        buf_init(&list, 1 << 20);
        buf_putc(&list, '[');
        put_numbered(&list, c->before, c->behind);
        buf_put(&list, S("\"chat\"]"));
        fake_seat_welcome(&fake, buf_cstr(&list), "");
        CHECK(occupant_is_welcome(fake.occupant));
        CHECK(occupant_may(fake.occupant, c->last, payload));
        CHECK(!occupant_may(fake.occupant, c->too_many, payload));
        buf_done(&list);
        fake_seat_done(&fake);
    }
}

TEST(ids_and_types_are_not_longer_than_they_may_be)
{
    static const struct {
        size_t id, type;
        bool is_known;
        size_t type_kept;
    } cases[] = {
        { 256, 32, true, 32 }, { 257, 32, false, 0 },   { 1 << 20, 1, false, 0 },
        { 1, 33, true, 0 },    { 1, 1 << 20, true, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        const struct roster_entry *who;
        struct fake_seat fake;
        struct buf text;
        size_t at = 0;

        fake_seat_init(&fake, &plain);
        buf_init(&text, 4 << 20);
        buf_put(&text, S("{\"id\":\""));
        put_many(&text, 'x', c->id);
        buf_put(&text, S("\",\"moot\":{\"type\":\""));
        put_many(&text, 't', c->type);
        buf_put(&text, S("\"}}"));
        fake_seat_welcome(&fake, "[]", buf_cstr(&text));
        who = occupant_next_participant(fake.occupant, &at);
        CHECK_INT(who != NULL, c->is_known);
        if (who)
            CHECK_INT(who->type.len, c->type_kept);
        buf_done(&text);
        fake_seat_done(&fake);
    }
}

TEST(a_welcome_for_an_id_that_is_too_long_is_none)
{
    struct fake_seat fake;
    struct buf text;

    fake_seat_init(&fake, &plain);
    buf_init(&text, 4 << 20);
    buf_put(&text, S("\"you\":{\"id\":\""));
    put_many(&text, 'x', 1 << 20);
    buf_put(&text, S("\"}"));
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome", buf_cstr(&text));
    CHECK_STR(fake_told(&fake),
              S("offence 1 system:gateway: malformed_envelope, payload.you\n"));
    buf_done(&text);
    fake_seat_done(&fake);
}

TEST(what_was_granted_for_a_number_of_times_may_be_done)
{
    struct json_span none = {};
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(
        &fake, "system/welcome",
        "\"you\":{\"id\":\"bot\",\"capabilities\":[\"chat\"]},\"moot\":"
        "{\"grants\":[{\"id\":\"g\",\"capabilities\":[\"x/y\"],\"max_uses\":2,"
        "\"uses_left\":1},{\"id\":\"h\",\"capabilities\":[\"x/z\"]},7]}");
    CHECK(occupant_may(fake.occupant, S("x/y"), none));
    CHECK(!occupant_may(fake.occupant, S("x/z"), none)); /* it would be in the list */
    fake_seat_done(&fake);
}

TEST(what_we_may_is_asked_of_our_capabilities)
{
    static const struct {
        struct str kind;
        struct str payload; /* "": none */
        bool may;
    } cases[] = {
        { S("chat"), S(""), true },
        { S("mcp/withdraw"), S(""), true }, /* needs no capability */
        { S("participant/routing"), S(""), true },
        { S("mcp/request:tools/list"), S(""), false },
        { S("mcp/request:tools/call:add"), S(""), false }, /* depends on the payload */
        { S("mcp/request:tools/call:add"), S("{\"params\":{\"name\":\"add\"}}"), true },
        { S("mcp/request:tools/call:del"), S("{\"params\":{\"name\":\"del\"}}"), false },
        { S("mcp/request:tools/call:add"), S("[]"), false },
        { S("system/error"), S(""), false },
        { S("no kind"), S(""), false },
    };
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":[\"chat\"],\"moot\":"
                      "{\"capabilities\":[{\"kind\":\"mcp/request:tools/call\","
                      "\"payload\":{\"params\":{\"name\":\"a*\"}}}]}}");
    FOR_EACH_CASE(c, cases) {
        struct json_span payload = { c->payload.len && c->payload.ptr[0] == '{'
                                         ? JSON_OBJECT
                                         : JSON_ARRAY,
                                     false, c->payload };

        if (c->payload.len == 0)
            payload = (struct json_span){};
        CHECK_INT(occupant_may(fake.occupant, c->kind, payload), c->may);
    }
    fake_seat_done(&fake);
}

/* --- presence --- */

TEST(joins_and_leaves_are_followed)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_gateway(&fake, "system/presence", "\"event\":\"join\"," PARTICIPANT);
    CHECK_STR(fake_told(&fake), S("heard system/presence\njoins ann\n"));
    CHECK_STR(occupant_find_participant(fake.occupant, S("ann"))->type, S("human"));
    fake_hear_gateway(&fake, "system/presence", "\"event\":\"join\"," PARTICIPANT);
    CHECK_STR(fake_told(&fake), S("heard system/presence\n"));
    fake_hear_gateway(&fake, "system/presence",
                      "\"event\":\"leave\",\"participant\":{\"id\":\"ann\"}");
    CHECK_STR(fake_told(&fake), S("heard system/presence\nleaves ann\n"));
    CHECK(!occupant_find_participant(fake.occupant, S("ann")));
    fake_seat_done(&fake);
}

TEST(a_batch_is_followed_in_its_order)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "{\"id\":\"ann\"}");
    fake_hear_gateway(
        &fake, "system/presence",
        "\"event\":\"batch\",\"participants\":["
        "{\"event\":\"join\",\"id\":\"bot\"},{\"event\":\"join\",\"id\":\"bob\"},"
        "{\"event\":\"leave\",\"id\":\"ann\"},{\"event\":\"join\",\"id\":\"ann\"},"
        "{\"event\":\"leave\",\"id\":\"nobody\"},{\"event\":\"leave\",\"id\":\"bob\"}]");
    CHECK_STR(fake_told(&fake),
              S("heard system/presence\njoins bob\nleaves ann\njoins ann\nleaves bob\n"));
    fake_seat_done(&fake);
}

TEST(elements_that_cannot_be_read_are_left_out)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]",
                      "7,{\"id\":7},{\"id\":\"\"},{\"id\":\"a\\u0007\"},"
                      "{\"id\":\"x\",\"id\":\"y\"},{\"id\":\"eve\"}");
    CHECK(occupant_find_participant(fake.occupant, S("eve")));
    fake_hear_gateway(&fake, "system/presence",
                      "\"event\":\"batch\",\"participants\":[{\"id\":\"ann\"},null,"
                      "{\"event\":\"dances\",\"id\":\"ann\"},"
                      "{\"event\":\"join\",\"id\":\"bob\"}]");
    CHECK_STR(fake_told(&fake), S("heard system/presence\njoins bob\n"));
    fake_seat_done(&fake);
}

TEST(broken_presence_is_an_offence)
{
    static const struct {
        const char *payload;
        const char *field;
    } cases[] = {
        { "", "payload.event" },
        { "\"event\":1", "payload.event" },
        { "\"event\":\"dances\"", "payload.event" },
        { "\"event\":\"join\"", "payload.participant" },
        { "\"event\":\"batch\"", "payload.participants" },
        { "\"event\":\"batch\",\"participants\":{}", "payload.participants" },
        { "\"event\":\"join\",\"event\":\"leave\"," PARTICIPANT, "payload.event" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_seat fake;
        struct buf want;

        fake_seat_init(&fake, &plain);
        buf_init(&want, 256);
        buf_putf(&want, "offence 1 system:gateway: malformed_envelope, %s\n", c->field);
        fake_seat_welcome(&fake, "[]", "");
        fake_hear_gateway(&fake, "system/presence", c->payload);
        CHECK_STR(fake_told(&fake), buf_str(&want));
        buf_done(&want);
        fake_seat_done(&fake);
    }
}

TEST(who_does_not_fit_is_a_flood)
{
    struct occupant_settings few = { .limits = { .participants = 2 } };
    struct fake_seat fake;
    size_t at = 0;

    fake_seat_init(&fake, &few);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\"},\"participants\":[{\"id\":\"a\"},"
                      "{\"id\":\"b\"},{\"id\":\"c\"},{\"id\":\"d\"}]");
    CHECK_STR(fake_told(&fake),
              S("heard system/welcome to me\nwelcome\nhere a\nhere b\n"
                "offence 1 system:gateway: flood, payload.participants\n"));
    fake_hear_gateway(&fake, "system/presence", "\"event\":\"join\"," PARTICIPANT);
    CHECK_STR(fake_told(&fake),
              S("heard system/presence\n"
                "offence 2 system:gateway: flood, payload.participants\n"));
    CHECK(occupant_next_participant(fake.occupant, &at));
    CHECK(occupant_next_participant(fake.occupant, &at));
    CHECK(!occupant_next_participant(fake.occupant, &at));
    fake_seat_done(&fake);
}

TEST(who_wants_callers_alone_knows_nobody_else)
{
    struct occupant_settings callers = { .knows = KNOWS_CALLERS,
                                         .limits = { .participants = 2 } };
    const char *call = "\"to\":[\"bot\"],\"payload\":{\"id\":1,\"method\":\"ping\"}";
    struct fake_seat fake;
    size_t at = 0;

    fake_seat_init(&fake, &callers);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_gateway(&fake, "system/presence",
                      "\"event\":\"batch\",\"participants\":["
                      "{\"event\":\"join\",\"id\":\"ann\"},"
                      "{\"event\":\"join\",\"id\":\"bob\"},"
                      "{\"event\":\"leave\",\"id\":\"bob\"}]");
    CHECK_STR(fake_told(&fake), S("heard system/presence\n"));
    CHECK(!occupant_next_participant(fake.occupant, &at));
    fake_hear_from(&fake, "ann", "1", "mcp/request:ping", call);
    fake_hear_from(&fake, "ann", "2", "mcp/request:ping", call);
    fake_hear_from(&fake, "bob", "3", "mcp/request:ping", call);
    (void)fake_told(&fake);
    CHECK(occupant_find_participant(fake.occupant, S("ann")));
    fake_hear_from(&fake, "cid", "4", "mcp/request:ping", call);
    CHECK_STR(fake_told(&fake),
              S("heard 4 cid mcp/request:ping to me\noffence 1 cid: flood, from\n"
                "request 4 to cid\n"));
    fake_hear_gateway(&fake, "system/presence",
                      "\"event\":\"leave\",\"participant\":{\"id\":\"ann\"}");
    CHECK_STR(fake_told(&fake), S("heard system/presence\nleaves ann\n"));
    occupant_begin(fake.occupant, false); /* bob has left meanwhile */
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\"},\"participants\":[{\"id\":\"dan\"}]");
    CHECK_STR(fake_told(&fake),
              S("heard system/welcome to me\nwelcome\ngap 0\nleaves bob\n"));
    fake_seat_done(&fake);
}
