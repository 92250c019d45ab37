/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "fake_seat.h"
#include "harness.h"
#include "participant/ask.h"

static struct fake_seat fake;

static void begin(const char *capabilities)
{
    fake_seat_init(&fake, &(struct occupant_settings){});
    fake_seat_welcome(&fake, capabilities, "");
}

static void done(void)
{
    fake_seat_done(&fake);
}

#define CHECK_TOLD(want) CHECK_STR(fake_told(&fake), S(want))

#define HEAD(id)                               \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"" id \
    "\",\"ts\":\"2027-01-15T08:00:00.000Z\",\"from\":\"bot\","
#define TO_SRV "\"to\":[\"srv\"],"

static enum err say(const char *kind, const char *payload, const char **ret_why)
{
    return occupant_say(
        fake.occupant,
        &(struct saying){ .kind = str_of(kind), .payload = str_of(payload) }, fake.now,
        NULL, ret_why);
}

/* --- saying --- */

TEST(what_is_said_is_sent_with_all_it_has)
{
    const struct str to[] = { S("ann"), S("bob") };
    struct str id = {};

    begin("[\"*\"]");
    CHECK_INT(occupant_say(fake.occupant,
                           &(struct saying){ .kind = S("mcp/request:ping"),
                                             .payload = S("{\"method\":\"ping\"}"),
                                             .correlation_id = S("7"),
                                             .to = to,
                                             .to_count = 2,
                                             .is_edited = true,
                                             .expires_ms = 1'800'000'000'001 },
                           fake.now, &id, NULL),
              OK);
    CHECK_STR(id, S("me-1"));
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-1") "\"to\":[\"ann\",\"bob\"],\"kind\":\"mcp/request:ping\","
                             "\"correlation_id\":\"7\",\"expires_at\":\"2027-01-15T08:00:"
                             "00.001Z\",\"edited\":true,"
                             "\"payload\":{\"method\":\"ping\"}}\n"));
    CHECK_INT(say("participant/status", "", NULL), OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-2") "\"kind\":\"participant/status\",\"payload\":{}}\n"));
    CHECK_INT(fake.fence, 0); /* nobody wants to know */
    done();
}

TEST(what_is_said_again_has_the_id_that_it_had)
{
    struct saying saying = { .kind = S("chat"),
                             .payload = S("{\"text\":\"hi\"}"),
                             .ops = fake_ask,
                             .user = &fake };
    struct str id = {};
    char kept[ASK_ID];

    begin("[\"*\"]");
    CHECK_INT(occupant_say(fake.occupant, &saying, fake.now, &id, NULL), OK);
    memcpy(kept, id.ptr, id.len);
    occupant_lost(fake.occupant, false, fake.now);
    CHECK(str_starts(fake_told(&fake), S("done me-1 lost")));
    (void)fake_sent(&fake);
    fake_seat_welcome(&fake, "[\"*\"]", "");
    saying.id = (struct str){ kept, id.len };
    CHECK_INT(occupant_say(fake.occupant, &saying, fake.now, &id, NULL), OK);
    CHECK_STR(id, S("me-1"));
    CHECK(str_starts(fake_sent(&fake), S(HEAD("me-1"))));
    fake_judge(&fake);
    CHECK_STR(fake_told(&fake), S("done me-1 sent\n"));
    done();
}

TEST(an_envelope_has_further_members_but_none_twice)
{
    static const struct {
        const char *members;
        struct str why;
    } cases[] = {
        { "[]", S("the further members are not a JSON object") },
        { "{\"a\":1},\"b\":{}", S("the further members are not a JSON object") },
        { "{\"from\":\"eve\"}", S("a field of the envelope is not what it must be") },
        { "{\"payload\":{}}", S("a field of the envelope is not what it must be") },
    };
    struct saying saying = { .kind = S("a/b"),
                             .members = S(" { \"a\" : [1], \"b\":\"\\u0041\"}") };

    begin("[\"*\"]");
    CHECK_INT(occupant_say(fake.occupant, &saying, fake.now, NULL, NULL), OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-1") "\"kind\":\"a/b\",\"a\" : [1],\"b\":\"\\u0041\","
                             "\"payload\":{}}\n"));
    FOR_EACH_CASE(c, cases) {
        const char *why = "";

        saying.members = str_of(c->members);
        CHECK_INT(occupant_say(fake.occupant, &saying, fake.now, NULL, &why),
                  ERR_INVALID);
        CHECK_STR(str_of(why), c->why);
    }
    CHECK_STR(fake_sent(&fake), S(""));
    done();
}

TEST(what_cannot_be_said_is_not_sent)
{
    static const struct {
        const char *kind, *payload;
        struct str why;
    } cases[] = {
        { "chat", "{", S("the payload is not a JSON object") },
        { "chat", "[]", S("the payload is not a JSON object") },
        { "chat", "{},\"to\":[\"x\"]", S("the payload is not a JSON object") },
        { "chat", "{\"text\":1}", S("the payload does not say what the kind says") },
        { "chat/x", "{}", S("this is no kind") },
        { "system/welcome", "{}", S("kinds of this name are the gateway's alone") },
        { "mcp/request:tools/call:a",
          "{\"method\":\"tools/call\",\"params\":{\"name\":\"b\"}}",
          S("the payload does not say what the kind says") },
        { "mcp/reject", "{}", S("it must say what it is about: correlation_id") },
    };

    FOR_EACH_CASE(c, cases) {
        const char *why = "";

        begin("[\"*\"]");
        CHECK_INT(say(c->kind, c->payload, &why), ERR_INVALID);
        CHECK_STR(str_of(why), c->why);
        CHECK_INT(say(c->kind, c->payload, NULL), ERR_INVALID);
        CHECK_STR(fake_sent(&fake), S(""));
        done();
    }
}

TEST(an_addressee_must_be_one)
{
    const struct str bad[] = { S("a\nb"), S("") };
    const char *why = "";

    begin("[\"*\"]");
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(occupant_say(fake.occupant,
                               &(struct saying){ .kind = S("participant/status"),
                                                 .to = &bad[i],
                                                 .to_count = 1 },
                               fake.now, NULL, &why),
                  ERR_INVALID);
        CHECK_STR(str_of(why), S("a field of the envelope is not what it must be"));
    }
    CHECK_STR(fake_sent(&fake), S(""));
    done();
}

TEST(only_what_we_may_is_sent)
{
    begin("[\"chat\"]");
    CHECK_INT(say("chat", "{\"text\":\"hi\"}", NULL), OK);
    CHECK_INT(say("participant/status", "{}", NULL), ERR_FORBIDDEN);
    CHECK_INT(say("participant/routing", "{\"mode\":\"all\"}", NULL), OK);
    CHECK_INT(fake.sent_count, 2);
    done();
}

TEST(nothing_is_sent_without_a_connection_or_over_the_limit)
{
    char text[5000];

    fake_seat_init(&fake, &(struct occupant_settings){});
    CHECK_INT(say("chat", "{\"text\":\"hi\"}", NULL), ERR_AGAIN);
    occupant_begin(fake.occupant, false);
    CHECK_INT(say("chat", "{\"text\":\"hi\"}", NULL), ERR_AGAIN);
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":[\"chat\"]},"
                      "\"moot\":{\"limits\":{\"envelope_bytes\":4096}}");
    CHECK_INT(say("chat", "{\"text\":\"hi\"}", NULL), OK);
    memset(text, 'x', sizeof(text));
    memcpy(text, "{\"text\":\"", 9);
    memcpy(text + sizeof(text) - 3, "\"}", 3);
    CHECK_INT(say("chat", text, NULL), ERR_TOO_BIG);
    fake.is_away = true;
    CHECK_INT(say("chat", "{\"text\":\"hi\"}", NULL), ERR_AGAIN);
    CHECK_INT(fake.sent_count, 1);
    done();
}

TEST(nesting_has_its_limit)
{
    const char *why = "";

    fake_seat_init(&fake, &(struct occupant_settings){ .limits = { .depth = 3 } });
    occupant_begin(fake.occupant, false);
    fake_hear(&fake,
              "{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"from\":\"system:gateway\","
              "\"kind\":\"system/welcome\",\"payload\":{\"you\":{\"id\":\"bot\"}}}");
    CHECK_INT(say("participant/x", "{\"a\":[[]]}", NULL), ERR_FORBIDDEN);
    CHECK_INT(say("participant/x", "{\"a\":[[[]]]}", &why), ERR_INVALID);
    done();
}

/* --- notifications and answers --- */

TEST(a_notification_has_no_id)
{
    const char *why = "";

    begin("[\"mcp/*\"]");
    CHECK_INT(occupant_notify(fake.occupant, S("srv"), S("notifications/x"),
                              S("{\"a\":1}"), fake.now, NULL),
              OK);
    CHECK_INT(occupant_notify(fake.occupant, S(""), S("notifications/x"), S(""), fake.now,
                              NULL),
              OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-1") TO_SRV
                "\"kind\":\"mcp/request:notifications/x\",\"payload\":{"
                "\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\","
                "\"params\":{\"a\":1}}}\n" HEAD(
                    "me-2") "\"kind\":\"mcp/request:notifications/x\","
                            "\"payload\":{\"jsonrpc\":\"2.0\",\"method\":"
                            "\"notifications/x\"}}\n"));
    CHECK_INT(occupant_notify(fake.occupant, S(""), S("ping"), S(""), fake.now, &why),
              ERR_INVALID);
    CHECK_STR(str_of(why), S("this method is not one of a notification"));
    CHECK_INT(occupant_notify(fake.occupant, S(""), S("notifications/x"), S("[]"),
                              fake.now, &why),
              ERR_INVALID);
    CHECK_STR(str_of(why), S("params is not a JSON object"));
    done();
}

TEST(an_answer_goes_to_who_asked)
{
    const struct str to[] = { S("srv"), S("ann") };
    struct answer answer = { .request_id = S("q1"),
                             .method = S("tools/call"),
                             .context = S("add"),
                             .rpc_id = { JSON_NUMBER, false, S("7") },
                             .to = to,
                             .to_count = 2,
                             .member = S("result"),
                             .json = S("{\"content\":[]}") };

    begin("[\"mcp/response:tools/*\"]");
    CHECK_INT(occupant_answer(fake.occupant, &answer, fake.now), OK);
    answer.context = (struct str){};
    answer.to_count = 1;
    answer.member = S("error");
    answer.json = S("{\"code\":-32601,\"message\":\"no\"}");
    CHECK_INT(occupant_answer(fake.occupant, &answer, fake.now), OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-1") "\"to\":[\"srv\",\"ann\"],\"kind\":\"mcp/response:tools/"
                             "call:add\",\"correlation_id\":\"q1\",\"payload\":{"
                             "\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[]}}}"
                             "\n" HEAD("me-2") TO_SRV
                "\"kind\":\"mcp/response:tools/call\",\"correlation_id\":\"q1\","
                "\"payload\":{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,"
                "\"message\":\"no\"}}}\n"));
    answer.method = S("ping");
    CHECK_INT(occupant_answer(fake.occupant, &answer, fake.now), ERR_FORBIDDEN);
    answer.json = S("{}");
    CHECK_INT(occupant_answer(fake.occupant, &answer, fake.now), ERR_INVALID);
    answer.member = S("result");
    answer.json = S("1},\"x\":{\"y\":1"); /* another field of the envelope */
    CHECK_INT(occupant_answer(fake.occupant, &answer, fake.now), ERR_INVALID);
    done();
}

/* --- asking --- */

static struct asking call(void)
{
    return (struct asking){ .to = S("srv"),
                            .method = S("tools/call"),
                            .name = S("add"),
                            .arguments = S("{\"a\":1}"),
                            .reason = S("why"),
                            .ops = { .on_done = fake_ask.on_done },
                            .user = &fake };
}

static enum err ask(const struct asking *asking, const char **ret_why)
{
    return occupant_request(fake.occupant, asking, fake.now, NULL, ret_why);
}

#define PARAMS "\"params\":{\"name\":\"add\",\"arguments\":{\"a\":1}"
#define CALLED                                                                     \
    HEAD("me-1")                                                                   \
    TO_SRV "\"kind\":\"mcp/request:tools/call:add\",\"payload\":{\"jsonrpc\":\"2." \
           "0\",\"id\":\"me-1\",\"method\":\"tools/call\"," PARAMS "}}}\n"
#define PROPOSED                                                                      \
    HEAD("me-1")                                                                      \
    TO_SRV "\"kind\":\"mcp/proposal:tools/call:add\",\"expires_at\":\"2027-01-15T08:" \
           "05:00.000Z\",\"payload\":{\"method\":\"tools/call\"," PARAMS              \
           "},\"reason\":\"why\"}}\n"

TEST(what_we_may_is_called_and_else_proposed)
{
    static const struct {
        const char *capabilities;
        enum ask_how how;
        enum err err;
        struct str sent;
    } cases[] = {
        { "[\"mcp/*\"]", ASK_CALL_OR_PROPOSE, OK, S(CALLED) },
        { "[\"mcp/*\"]", ASK_CALL, OK, S(CALLED) },
        { "[\"mcp/*\"]", ASK_PROPOSE, OK, S(PROPOSED) },
        { "[\"mcp/proposal:*\"]", ASK_CALL_OR_PROPOSE, OK, S(PROPOSED) },
        { "[\"mcp/proposal:*\"]", ASK_CALL, ERR_FORBIDDEN, S("") },
        { "[\"mcp/request:*\"]", ASK_PROPOSE, ERR_FORBIDDEN, S("") },
        { "[\"chat\"]", ASK_CALL_OR_PROPOSE, ERR_FORBIDDEN, S("") },
    };

    FOR_EACH_CASE(c, cases) {
        struct asking asking = call();

        begin(c->capabilities);
        asking.how = c->how;
        CHECK_INT(ask(&asking, NULL), c->err);
        CHECK_STR(fake_sent(&fake), c->sent);
        CHECK_INT(occupant_due_ms(fake.occupant) == UINT64_MAX, c->err != OK);
        done();
    }
}

TEST(a_capability_may_look_at_the_arguments)
{
    struct asking asking = call();

    fake_seat_init(&fake, &(struct occupant_settings){});
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":[],\"moot\":{"
                      "\"capabilities\":[{\"kind\":\"mcp/request:tools/call:add\","
                      "\"payload\":{\"params\":{\"arguments\":{\"a\":1}}}}]}}");
    asking.how = ASK_CALL;
    CHECK_INT(ask(&asking, NULL), OK);
    asking.arguments = S("{\"a\":2}");
    CHECK_INT(ask(&asking, NULL), ERR_FORBIDDEN);
    done();
}

TEST(who_wants_progress_gives_a_token)
{
    struct asking asking = call();

    begin("[\"mcp/*\"]");
    asking.ops = fake_ask;
    CHECK_INT(ask(&asking, NULL), OK);
    CHECK_STR(
        fake_sent(&fake),
        S(HEAD("me-1") TO_SRV
          "\"kind\":\"mcp/request:tools/call:add\",\"payload\":{\"jsonrpc\":\"2.0\","
          "\"id\":\"me-1\",\"method\":\"tools/call\"," PARAMS
          ",\"_meta\":{\"progressToken\":\"me-1\"}}}}\n"));
    done();
}

TEST(what_cannot_be_asked_is_not_sent)
{
    static const struct {
        struct asking asking;
        struct str why;
    } cases[] = {
        { { .to = S("srv"), .method = S("tools/call"), .params = S("[]") },
          S("params is not a JSON object") },
        { { .to = S("srv"), .method = S("tools/call"), .arguments = S("{}}") },
          S("arguments is not a JSON object") },
        { { .method = S("ping") }, S("it is not said who is asked") },
        { { .to = S("srv"), .method = S("notifications/x") },
          S("nobody answers a notification") },
        { { .to = S("srv"), .method = S("a b") }, S("this is no kind") },
        { { .to = S("srv"), .method = S("") }, S("this is no kind") },
        { { .to = S("srv"), .method = S("tools/call"), .name = S("a b") },
          S("this is no kind") },
        { { .to = S("srv"),
            .method = S("tools/call"),
            .name = S("a"),
            .params = S("{\"name\":\"b\"}") },
          S("the payload does not say what the kind says") },
    };

    FOR_EACH_CASE(c, cases) {
        const char *why = "";

        begin("[\"mcp/*\"]");
        CHECK_INT(ask(&c->asking, &why), ERR_INVALID);
        CHECK_STR(str_of(why), c->why);
        CHECK_STR(fake_sent(&fake), S(""));
        CHECK_INT(occupant_due_ms(fake.occupant), UINT64_MAX);
        done();
    }
}

TEST(so_many_wait_and_no_more)
{
    struct asking asking = call();

    begin("[\"mcp/*\",\"chat\"]");
    for (int i = 0; i < 16; i++)
        CHECK_INT(ask(&asking, NULL), OK);
    CHECK_INT(ask(&asking, NULL), ERR_OVERLOAD);
    CHECK_INT(occupant_say(fake.occupant,
                           &(struct saying){ .kind = S("chat"),
                                             .payload = S("{\"text\":\"hi\"}"),
                                             .ops = fake_ask,
                                             .user = &fake },
                           fake.now, NULL, NULL),
              ERR_OVERLOAD);
    CHECK_INT(say("chat", "{\"text\":\"hi\"}", NULL), OK); /* nobody waits for it */
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S(""), fake.now), OK);
    CHECK_INT(ask(&asking, NULL), ERR_OVERLOAD);
    fake_tick(&fake, 0);
    CHECK_INT(ask(&asking, NULL), OK);
    done();
}

TEST(a_proposal_expires_when_its_time_is_over)
{
    static const struct {
        uint64_t timeout_ms;
        const char *expires;
    } cases[] = {
        { 0, "\"expires_at\":\"2027-01-15T08:05:00.000Z\"" },
        { 1000, "\"expires_at\":\"2027-01-15T08:00:01.000Z\"" },
        { 1'000'000'000, "\"expires_at\":\"2027-01-16T08:00:00.000Z\"" },
    };

    FOR_EACH_CASE(c, cases) {
        struct asking asking = call();

        begin("[\"mcp/*\"]");
        asking.how = ASK_PROPOSE;
        asking.timeout_ms = c->timeout_ms;
        CHECK_INT(ask(&asking, NULL), OK);
        CHECK(strstr(fake_sent(&fake).ptr, c->expires));
        done();
    }
}

/* --- taking back --- */

TEST(a_call_is_cancelled_and_the_addressee_is_told)
{
    struct asking asking = call();

    begin("[\"mcp/*\"]");
    CHECK_INT(ask(&asking, NULL), OK);
    (void)fake_sent(&fake);
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S("never mind"), fake.now), OK);
    CHECK_TOLD("");
    CHECK_INT(occupant_due_ms(fake.occupant), 0);
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S(""), fake.now), ERR_NOT_FOUND);
    fake_tick(&fake, 0);
    CHECK_TOLD("done me-1 cancelled cancelled: never mind\n");
    CHECK_STR(fake_sent(&fake), S(HEAD("me-2") TO_SRV
                                  "\"kind\":\"mcp/request:notifications/cancelled\","
                                  "\"correlation_id\":\"me-1\",\"payload\":{\"jsonrpc\":"
                                  "\"2.0\",\"method\":\"notifications/cancelled\","
                                  "\"params\":{\"requestId\":\"me-1\",\"reason\":"
                                  "\"never mind\"}}}\n"));
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S(""), fake.now), ERR_NOT_FOUND);
    done();
}

TEST(a_call_is_cancelled_offline_too)
{
    struct asking asking = call();

    begin("[\"mcp/*\"]");
    CHECK_INT(ask(&asking, NULL), OK);
    fake.is_away = true;
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S(""), fake.now), OK);
    fake_tick(&fake, 0);
    CHECK_TOLD("done me-1 cancelled cancelled\n");
    done();
}

TEST(a_proposal_is_withdrawn_if_that_can_be_said)
{
    struct asking asking = call();

    begin("[\"mcp/proposal:*\"]");
    asking.how = ASK_PROPOSE;
    CHECK_INT(ask(&asking, NULL), OK);
    (void)fake_sent(&fake);
    fake_tick(&fake, 0);
    CHECK_TOLD("proposal me-1 open\n");
    fake.is_away = true;
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S(""), fake.now), ERR_AGAIN);
    fake.is_away = false;
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S("done"), fake.now), OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-3") "\"kind\":\"mcp/withdraw\",\"correlation_id\":\"me-1\","
                             "\"payload\":{\"reason\":\"done\"}}\n"));
    fake_tick(&fake, 0);
    CHECK_TOLD("done me-1 cancelled withdrawn: done\nproposal me-1 withdrawn\n");
    done();
}

TEST(what_is_only_said_cannot_be_cancelled)
{
    begin("[\"chat\"]");
    CHECK_INT(occupant_say(fake.occupant,
                           &(struct saying){ .kind = S("chat"),
                                             .payload = S("{\"text\":\"hi\"}"),
                                             .ops = fake_ask,
                                             .user = &fake },
                           fake.now, NULL, NULL),
              OK);
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S(""), fake.now), ERR_NOT_FOUND);
    done();
}

TEST(who_forgets_is_not_told)
{
    struct asking asking = call();

    begin("[\"mcp/*\"]");
    CHECK_INT(ask(&asking, NULL), OK);
    CHECK_INT(ask(&asking, NULL), OK);
    occupant_forget(fake.occupant, S("me-1"));
    occupant_forget(fake.occupant, S("me-7"));
    CHECK_INT(occupant_cancel(fake.occupant, S("me-2"), S(""), fake.now), OK);
    occupant_forget(fake.occupant, S("me-2"));
    fake_tick(&fake, 60'000);
    CHECK_TOLD("");
    CHECK_INT(occupant_due_ms(fake.occupant), UINT64_MAX);
    done();
}
