/* SPDX-License-Identifier: Apache-2.0 */
/* A handle against a gateway that the test plays, in the same thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "wire_stage.h"

/* --- what the handlers tell --- */

static struct buf *tell(void *user)
{
    struct stage *s = user;

    CHECK(s->is_stepping); /* never from the function that asked */
    return &s->told;
}

static void on_state(struct moot *m, void *user, enum moot_state state, const char *why)
{
    static const char *const names[] = { "connecting", "joined", "waiting", "over" };

    CHECK_INT(moot_state(m), state);
    buf_putf(tell(user), "%s%s%s\n", names[state], *why ? ": " : "", why);
}

static void on_welcome(struct moot *m, void *user, bool resumed)
{
    buf_putf(tell(user), "welcome %s%s\n", moot_id(m), resumed ? " again" : "");
}

static void on_presence(struct moot *m, void *user, enum moot_presence change,
                        const struct moot_participant *who)
{
    static const char *const names[] = { "here", "joins", "leaves", "changes" };
    struct stage *s = user;

    (void)m;
    s->texts++;
    if (!s->is_quiet)
        buf_putf(tell(user), "%s %s %s %.*s\n", names[change], who->id, who->type,
                 (int)who->capabilities.len, who->capabilities.ptr);
}

static void on_gap(struct moot *m, void *user, uint64_t missed)
{
    (void)m;
    buf_putf(tell(user), "gap %u\n", (unsigned)missed);
}

static void on_message(struct moot *m, void *user, const struct moot_message *message)
{
    const struct moot_json *payload = moot_payload(m, message);

    if (strncmp(message->kind, "system/", 7) == 0)
        return;
    buf_putf(tell(user), "message %s %s %s %s %s", message->id, message->from,
             message->kind, message->ts ? message->ts : "-",
             message->correlation_id ? message->correlation_id : "-");
    for (size_t i = 0; i < message->to_count; i++)
        buf_putf(tell(user), " >%s", message->to[i]);
    if (message->is_replay)
        buf_put(tell(user), S(" replay"));
    if (message->is_mine)
        buf_put(tell(user), S(" mine"));
    CHECK(payload && moot_raw(payload).len == message->payload.len);
    CHECK(message->text.ptr[message->text.len - 1] == '}');
    buf_putc(tell(user), '\n');
}

static void on_chat(struct moot *m, void *user, const struct moot_message *message,
                    const char *text)
{
    struct stage *s = user;

    buf_putf(tell(user), "chat %s %s\n", message->from, text);
    if (s->leaves_on_text) {
        moot_leave(m);
        moot_stop(m);
    }
}

static void on_proposal(struct moot *m, void *user, const struct moot_proposal *p)
{
    (void)m;
    buf_putf(tell(user), "proposal %s %s %s %s %s %.*s\n", p->id, p->proposer, p->method,
             p->name ? p->name : "-", p->to_count ? p->to[0] : "-", (int)p->params.len,
             p->params.ptr);
}

static void on_refusal(struct moot *m, void *user, const struct moot_refusal *refusal)
{
    (void)m;
    buf_putf(tell(user), "refused %s %s %s\n", refusal->id, refusal->error,
             refusal->message);
}

static void on_offence(struct moot *m, void *user, const struct moot_offence *offence)
{
    (void)m;
    buf_putf(tell(user), "offence %s %s %s %u\n", offence->from, offence->what,
             offence->field, (unsigned)offence->count);
}

static void on_done(struct moot *m, void *user, const struct moot_outcome *outcome)
{
    (void)m;
    buf_putf(tell(user), "done %d %s %s\n", (int)outcome->type, outcome->by,
             outcome->error);
}

/* --- the gateway --- */

static struct moot_options options_of(struct stage *s)
{
    return (struct moot_options){
        .topic = "lobby",
        .token = "t0k",
        .retry_min_ms = 1,
        .retry_max_ms = 1,
        .handlers = { on_state, on_welcome, on_presence, on_gap, on_chat, on_message,
                      on_proposal, on_refusal, on_offence },
        .user = s,
    };
}

static void begin(struct stage *s, struct moot_options options)
{
    stage_init(s);
    stage_listen(s);
    options.url = stage_url(s).ptr;
    options.user = s;
    CHECK_INT(moot_new(&options, &s->moot), MOOT_OK);
    CHECK(moot_user(s->moot) == s);
}

static void say(struct stage *s, const char *text)
{
    far_say_frame(s, WS_OP_TEXT, str_of(text));
}

static const char welcome[] =
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"w\",\"from\":\"system:gateway\","
    "\"to\":[\"bot\"],\"kind\":\"system/welcome\",\"payload\":{\"you\":{\"id\":\"bot\","
    "\"capabilities\":[\"mcp/*\",\"chat\"]},\"participants\":[{\"id\":\"ann\","
    "\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"human\"}}]}}";

static bool has(struct str text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part));
}

/* Steps until a line begins so; gives all that was told. */
static struct str hear(struct stage *s, const char *line)
{
    char wanted[200];

    (void)snprintf(wanted, sizeof(wanted), "\n%s", line);
    for (int i = 0; i < STAGE_STEPS; i++) {
        const char *told = buf_cstr(&s->told);

        if (s->told.len &&
            (strstr(told, wanted) || strncmp(told, line, strlen(line)) == 0))
            break;
        stage_step(s);
    }
    return stage_told(s);
}

static void join(struct stage *s, struct moot_options options)
{
    begin(s, options);
    far_accept(s, S(""));
    say(s, welcome);
    CHECK_STR(hear(s, "here"),
              S("connecting\njoined\nwelcome bot\nhere ann human [\"chat\"]\n"));
}

/* --- life --- */

TEST(options_that_are_wrong_leave_a_handle_that_says_why)
{
    static const struct {
        struct moot_options options;
        const char *why;
    } cases[] = {
        { {}, "there is no url in the options" },
        { { .url = "ws://x" }, "there is no topic in the options" },
        { { .url = "ws://x", .topic = "t", .limits = { .depth = 1025 } },
          "limits.depth is above 1024" },
        { { .url = "gopher://x", .topic = "t" },
          "the URL begins with none of ws://, wss://, http://, https://, unix:" },
    };

    FOR_EACH_CASE(c, cases) {
        struct moot_participant who;
        struct moot_proposal proposal;
        struct moot *m = NULL;
        size_t at = 0;

        CHECK_INT(moot_new(&c->options, &m), MOOT_INVALID);
        CHECK(m != NULL);
        CHECK_STR(str_of(moot_why(m)), str_of(c->why));
        CHECK_INT(moot_state(m), MOOT_OVER);
        CHECK_INT(moot_step(m), MOOT_ENDED);
        CHECK_INT(moot_run(m), MOOT_ENDED);
        CHECK_INT(moot_fd(m), -1);
        CHECK_INT(moot_events(m), 0);
        CHECK_INT(moot_timeout(m), 0);
        CHECK_INT(moot_chat(m, "x"), MOOT_ENDED);
        CHECK_INT(moot_cancel(m, "x", NULL), MOOT_UNKNOWN);
        CHECK(!moot_may(m, "chat", NULL));
        CHECK(!moot_next_participant(m, &at, &who) &&
              !moot_next_proposal(m, &at, &proposal));
        CHECK_STR(str_of(moot_id(m)), S(""));
        CHECK_STR(str_of(moot_last(m)), S(""));
        moot_leave(m);
        moot_stop(m);
        moot_free(m);
    }
    CHECK_INT(moot_new(&cases[0].options, NULL), MOOT_INVALID);
    moot_free(NULL);
    CHECK_STR(str_of(moot_why(NULL)), S(""));
}

TEST(every_error_has_a_name)
{
    for (int err = MOOT_OK; err <= MOOT_ENDED; err++)
        CHECK(strlen(moot_strerror((enum moot_err)err)) > 3);
    CHECK(strcmp(moot_strerror((enum moot_err)(MOOT_ENDED + 1)), "unknown error") == 0);
    CHECK_STR(str_of(moot_version()), S(MOOT_VERSION));
}

TEST(options_decide_what_is_asked_of_the_gateway)
{
    static const struct {
        struct moot_options options;
        const char *target;
    } cases[] = {
        { {}, "/ws?topic=lobby&presence=batch&echo=off " },
        { { .hears_itself = true }, "/ws?topic=lobby&presence=batch " },
        { { .is_directed = true },
          "/ws?topic=lobby&presence=batch&routing=directed&echo=off " },
        { { .after = "x/1" }, "/ws?topic=lobby&presence=batch&echo=off&after=x%2F1 " },
    };

    FOR_EACH_CASE(c, cases) {
        struct moot_options options = c->options;
        char request[300];
        struct stage s;
        const char *target;

        options.topic = "lobby";
        begin(&s, options);
        (void)snprintf(request, sizeof(request), STR_FMT, STR_ARG(far_hear_request(&s)));
        target = strchr(request, ' ') + 1;
        CHECK_STR(((struct str){ target, strcspn(target, " ") + 1 }), str_of(c->target));
        CHECK_STR(str_of(moot_last(s.moot)), str_of(c->options.after));
        stage_done(&s);
    }
}

TEST(what_is_heard_reaches_the_handlers)
{
    struct stage s;

    join(&s, options_of(&s));
    CHECK_STR(str_of(moot_last(s.moot)), S(""));
    say(&s,
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m1\",\"from\":\"ann\",\"kind\":\"chat\","
        "\"to\":[\"bot\",\"bob\"],\"ts\":\"2026-01-01T00:00:00Z\","
        "\"correlation_id\":\"m0\",\"payload\":{\"text\":\"a\\u0000\\u00e4\"}}");
    CHECK_STR(hear(&s, "chat"),
              S("message m1 ann chat 2026-01-01T00:00:00Z m0 >bot >bob\n"
                "chat ann a\xef\xbf\xbd\xc3\xa4\n"));
    CHECK_STR(str_of(moot_last(s.moot)), S("m1"));
    say(&s, "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m2\",\"from\":\"ann\","
            "\"kind\":\"mcp/proposal:tools/call:x\",\"to\":[\"bob\"],\"payload\":"
            "{\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}}");
    CHECK_STR(hear(&s, "proposal"),
              S("message m2 ann mcp/proposal:tools/call:x - - >bob\n"
                "proposal m2 ann tools/call x bob {\"name\":\"x\"}\n"));
    say(&s, "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m3\",\"from\":\"eve\","
            "\"kind\":\"mcp/request:tools/call\",\"payload\":{\"method\":\"other\"}}");
    CHECK_STR(hear(&s, "offence"),
              S("offence eve kind_payload_mismatch payload.method 1\n"));
    say(&s, "{\"protocol\":\"mcpx/v0.1\",\"id\":\"e\",\"from\":\"system:gateway\","
            "\"to\":[\"bot\"],\"kind\":\"system/error\",\"correlation_id\":\"q\","
            "\"payload\":{\"error\":\"paused\",\"message\":\"no\"}}");
    CHECK_STR(hear(&s, "refused"), S("refused q paused no\n"));
    stage_done(&s);
}

TEST(handlers_that_are_not_there_are_not_missed)
{
    struct moot_options options = { .topic = "lobby" };
    struct stage s;

    begin(&s, options);
    far_accept(&s, S(""));
    say(&s, welcome);
    say(&s,
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m1\",\"from\":\"ann\",\"kind\":\"chat\","
        "\"payload\":{\"text\":\"x\"}}");
    say(&s,
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m2\",\"from\":\"ann\",\"kind\":\"chat\","
        "\"payload\":{\"text\":1}}");
    say(&s, "not json");
    say(&s,
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m3\",\"from\":\"ann\",\"kind\":\"chat\","
        "\"payload\":{\"text\":\"y\"}}");
    for (int i = 0; i < STAGE_STEPS && strcmp(moot_last(s.moot), "m3") != 0; i++)
        stage_step(&s);
    CHECK_STR(str_of(moot_last(s.moot)), S("m3"));
    CHECK_INT(moot_state(s.moot), MOOT_JOINED);
    stage_done(&s);
}

TEST(a_connection_that_breaks_comes_back_behind_the_last_envelope)
{
    struct stage s;
    struct str request;

    join(&s, options_of(&s));
    say(&s,
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m1\",\"from\":\"ann\",\"kind\":\"chat\","
        "\"payload\":{\"text\":\"x\"}}");
    (void)hear(&s, "chat");
    far_hang_up(&s);
    CHECK_STR(hear(&s, "waiting"), S("waiting: the connection was lost\n"));
    CHECK_INT(moot_chat(s.moot, "x"), MOOT_OFFLINE);
    CHECK_STR(str_of(moot_why(s.moot)), S("not connected"));
    request = far_hear_request(&s);
    CHECK(str_starts(request,
                     S("GET /ws?topic=lobby&presence=batch&echo=off&after=m1 HTTP")));
    far_accept(&s, S(""));
    say(&s, welcome);
    CHECK_STR(hear(&s, "welcome"), S("connecting\njoined\nwelcome bot again\n"));
    say(&s,
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m2\",\"from\":\"ann\",\"kind\":\"chat\","
        "\"payload\":{\"text\":\"meanwhile\"}}");
    CHECK_STR(hear(&s, "chat"),
              S("message m2 ann chat - - replay\nchat ann meanwhile\n"));
    stage_done(&s);
}

TEST(who_hears_itself_knows_its_own_envelopes)
{
    struct moot_options options;
    char id[MOOT_ID], text[300], told[200];
    struct stage s;

    stage_init(&s);
    options = options_of(&s);
    stage_done(&s);
    options.hears_itself = true;
    join(&s, options);
    CHECK_INT(moot_send(s.moot,
                        &(struct moot_envelope){ .kind = "chat",
                                                 .payload = "{\"text\":\"x\"}" },
                        id),
              MOOT_OK);
    (void)snprintf(text, sizeof(text),
                   "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"bot\","
                   "\"kind\":\"chat\",\"payload\":{\"text\":\"x\"}}",
                   id);
    (void)snprintf(told, sizeof(told), "message %s bot chat - - mine\nchat bot x\n", id);
    say(&s, text);
    CHECK_STR(hear(&s, "chat"), str_of(told));
    stage_done(&s);
}

TEST(a_room_larger_than_an_envelope_can_be_entered)
{
    enum { MANY = 10'000 };
    struct stage s;
    struct buf text;

    buf_init(&text, 8 * MIB);
    begin(&s, options_of(&s));
    s.is_quiet = true;
    far_accept(&s, S(""));
    buf_putf(&text, "%.*s", (int)(strstr(welcome, "[{\"id\":\"ann\"") - welcome) + 1,
             welcome);
    for (int i = 0; i < MANY; i++)
        buf_putf(&text,
                 "%s{\"id\":\"participant-%06d\",\"capabilities\":[\"mcp/*\",\"chat\","
                 "\"participant/status\",\"capability/grant\",\"topic/invite\"]}",
                 i ? "," : "", i);
    buf_put(&text, S("]}}"));
    CHECK(text.len > MIB);
    say(&s, buf_cstr(&text));
    for (int i = 0; i < STAGE_STEPS && s.texts < MANY; i++)
        stage_step(&s);
    CHECK_INT(s.texts, MANY);
    CHECK_INT(moot_state(s.moot), MOOT_JOINED);
    buf_done(&text);
    stage_done(&s);
}

/* --- the end --- */

TEST(who_leaves_is_gone_when_all_was_judged)
{
    struct stage s;
    struct str frames;
    char ping[8];

    join(&s, options_of(&s));
    CHECK_INT(moot_chat(s.moot, "bye"), MOOT_OK);
    moot_leave(s.moot);
    CHECK_INT(moot_timeout(s.moot), 0);
    CHECK_INT(moot_chat(s.moot, "too late"), MOOT_OFFLINE);
    frames = far_hear_frames(&s);
    CHECK(str_starts(frames, S("text {\"protocol\"")) && has(frames, "bye"));
    CHECK(has(frames, "\nping ") && !has(frames, "close"));
    memset(ping, 0xff, sizeof(ping));
    far_say_frame(&s, WS_OP_PONG, (struct str){ ping, sizeof(ping) });
    for (int i = 0; i < 10; i++) /* at once, not when its time is over */
        stage_step(&s);
    far_listen(&s);
    CHECK(s.heard.len > 0);
    CHECK_STR(far_hear_frames(&s), S("close 1000 \n"));
    far_say_close(&s, 1000, S(""));
    (void)hear(&s, "over");
    CHECK_INT(moot_state(s.moot), MOOT_OVER);
    CHECK_INT(moot_step(s.moot), MOOT_ENDED);
    stage_done(&s);
}

TEST(who_leaves_before_it_came_never_comes)
{
    struct stage s;

    begin(&s, options_of(&s));
    moot_leave(s.moot);
    CHECK_INT(moot_timeout(s.moot), 0);
    s.is_stepping = true;
    CHECK_INT(moot_step(s.moot), MOOT_ENDED);
    CHECK_STR(stage_told(&s), S("over: left\n"));
    CHECK_STR(str_of(moot_why(s.moot)), S("left"));
    stage_done(&s);
}

TEST(what_waits_at_the_end_is_told_before_it)
{
    struct moot_request request = {
        .to = "ann",
        .method = "tools/call",
        .name = "x",
        .on_done = on_done,
    };
    struct stage s;

    join(&s, options_of(&s));
    request.user = &s;
    CHECK_INT(moot_request(s.moot, &request, NULL), MOOT_OK);
    (void)far_hear_frames(&s);
    far_say_close(&s, 1008, S("revoked"));
    CHECK_STR(hear(&s, "over"),
              S("done 9  lost\nover: the server closed the connection with "
                "1008: revoked\n"));
    CHECK_INT(moot_request(s.moot, &request, NULL), MOOT_ENDED);
    CHECK_STR(str_of(moot_why(s.moot)),
              S("the server closed the connection with 1008: revoked"));
    stage_done(&s);
}

TEST(running_stops_when_it_is_told_to)
{
    struct stage s;

    begin(&s, options_of(&s));
    moot_stop(s.moot); /* before it runs: as a signal might */
    CHECK_INT(moot_run(s.moot), MOOT_OK);
    CHECK_STR(stage_told(&s), S(""));
    far_accept(&s, S(""));
    s.leaves_on_text = true;
    say(&s, welcome);
    say(&s,
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m1\",\"from\":\"ann\",\"kind\":\"chat\","
        "\"payload\":{\"text\":\"x\"}}");
    s.is_stepping = true;
    CHECK_INT(moot_run(s.moot), MOOT_OK); /* the handler stops it */
    CHECK(has(buf_str(&s.told), "chat ann x"));
    stage_done(&s);
}

/* --- saying --- */

TEST(what_cannot_be_sent_is_told_at_once)
{
    struct moot_options options;
    char *large = calloc(1, 60'000);
    struct stage s;
    enum moot_err err = MOOT_OK;

    stage_init(&s);
    options = options_of(&s);
    options.limits = (struct moot_limits){ .outbox_bytes = 50'000, .calls = 2 };
    stage_done(&s);
    join(&s, options);
    memset(large, 'x', 59'999);
    CHECK_INT(moot_chat(s.moot, large), MOOT_TOO_LARGE);
    large[20'000] = '\0';
    for (int i = 0; i < 100'000 && !err; i++)
        err = moot_chat(s.moot, large);
    CHECK_INT(err, MOOT_FULL);
    CHECK_INT(
        moot_send(s.moot, &(struct moot_envelope){ .kind = "participant/kick" }, NULL),
        MOOT_FORBIDDEN);
    CHECK_INT(moot_send(s.moot, &(struct moot_envelope){ .kind = "x y" }, NULL),
              MOOT_INVALID);
    CHECK_INT(moot_send(s.moot,
                        &(struct moot_envelope){ .kind = "chat", .payload = "[]" }, NULL),
              MOOT_INVALID);
    CHECK_INT(moot_notify(s.moot, NULL, "tools/call", NULL), MOOT_INVALID);
    CHECK(strlen(moot_why(s.moot)) > 10);
    CHECK_INT(moot_send(s.moot,
                        &(struct moot_envelope){ .kind = "chat", .to_count = 1025 },
                        NULL),
              MOOT_INVALID);
    CHECK_INT(moot_fulfil(s.moot, &(struct moot_decision){ .id = "none" }), MOOT_UNKNOWN);
    CHECK(moot_may(s.moot, "chat", NULL) && moot_may(s.moot, "chat", "{}"));
    CHECK(!moot_may(s.moot, "chat", "[]") && !moot_may(s.moot, "chat", "{"));
    CHECK(!moot_may(s.moot, "participant/kick", "{}"));
    free(large);
    stage_done(&s);
}

TEST(ids_are_ours_and_fit)
{
    static const struct moot_envelope chat = { .kind = "chat",
                                               .payload = "{\"text\":\"\"}" };
    char first[MOOT_ID], second[MOOT_ID];
    struct stage s;

    join(&s, options_of(&s));
    CHECK_INT(moot_send(s.moot, &chat, first), MOOT_OK);
    CHECK_INT(moot_send(s.moot, &chat, second), MOOT_OK);
    CHECK(strlen(first) >= 18 && strcmp(first, second) != 0);
    CHECK(strncmp(first, second, 16) == 0);
    stage_done(&s);
}

TEST(a_call_that_is_cancelled_is_told_with_a_later_step)
{
    struct moot_request request = { .to = "ann", .method = "ping", .on_done = on_done };
    char id[MOOT_ID];
    struct stage s;

    join(&s, options_of(&s));
    request.user = &s;
    CHECK_INT(moot_request(s.moot, &request, id), MOOT_OK);
    CHECK_INT(moot_prolong(s.moot, id, 1000), MOOT_OK);
    CHECK_INT(moot_prolong(s.moot, "x", 1000), MOOT_UNKNOWN);
    CHECK_INT(moot_cancel(s.moot, id, "enough"), MOOT_OK);
    CHECK_INT(moot_cancel(s.moot, id, "enough"), MOOT_UNKNOWN);
    CHECK_STR(stage_told(&s), S(""));
    CHECK_INT(moot_timeout(s.moot), 0);
    CHECK(str_starts(hear(&s, "done"), S("done 7 ")));
    stage_done(&s);
}

TEST(what_is_still_asked_and_served_goes_with_the_handle)
{
    struct moot_request request = { .to = "ann", .method = "ping", .on_done = on_done };
    struct stage s;

    join(&s, options_of(&s));
    request.user = &s;
    CHECK_INT(moot_request(s.moot, &request, NULL), MOOT_OK);
    stage_done(&s); /* a sanitizer would tell of what is left */
}

/* --- serving --- */

static struct moot_call *last_call;

static void serve_later(struct moot *m, void *user, struct moot_call *call)
{
    (void)m;
    (void)user;
    last_call = call;
}

/* clang-format off */
#define REQUEST_OF_TOOL \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"ann\",\"to\":[\"bot\"]%s," \
    "\"kind\":\"mcp/request:tools/call:t\",\"payload\":{\"jsonrpc\":\"2.0\",\"id\":1," \
    "\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"a\":\"b\"}}}}"
/* clang-format on */

static void say_request(struct stage *s, const char *id)
{
    char text[500];

    (void)snprintf(text, sizeof(text), REQUEST_OF_TOOL, id,
                   strcmp(id, "c2") == 0 ? ",\"correlation_id\":\"c1\"" : "");
    last_call = NULL;
    say(s, text);
    for (int i = 0; i < STAGE_STEPS && !last_call; i++)
        stage_step(s);
    CHECK(last_call != NULL);
}

TEST(a_call_lives_until_it_is_answered)
{
    struct moot_call *first;
    struct stage s;

    join(&s, options_of(&s));
    CHECK_INT(
        moot_add_tool(s.moot, &(struct moot_tool){ .name = "t", .call = serve_later }),
        MOOT_OK);
    (void)far_hear_frames(&s); /* the room is told of it */
    say_request(&s, "c1");
    first = last_call;
    say_request(&s, "c2");
    CHECK_INT(moot_remove_tool(s.moot, "t"), MOOT_OK);
    stage_step(&s);
    CHECK_STR(str_of(moot_call_from(first)), S("ann"));
    CHECK_STR(str_of(moot_call_method(first)), S("tools/call"));
    CHECK_STR(str_of(moot_call_name(first)), S("t"));
    CHECK_STR(str_of(moot_text(moot_call_argument(first, "a"))), S("b"));
    CHECK_STR(str_of(moot_call_correlation_id(first)), S(""));
    CHECK_STR(str_of(moot_call_correlation_id(last_call)), S("c1"));
    CHECK(!moot_call_is_cancelled(first) && !moot_call_argument(first, "b"));
    far_listen(&s);
    buf_clear(&s.heard);
    CHECK_INT(moot_reply_text(first, "x"), MOOT_OK);
    CHECK(has(far_hear_frames(&s), "\"correlation_id\":\"c1\""));
    far_hang_up(&s);
    (void)hear(&s, "waiting");
    CHECK_INT(moot_reply_text(last_call, "nobody hears it"), MOOT_OFFLINE);
    stage_done(&s);
}

TEST(calls_that_nobody_answers_go_with_the_handle)
{
    struct stage s;

    join(&s, options_of(&s));
    CHECK_INT(
        moot_add_tool(s.moot, &(struct moot_tool){ .name = "t", .call = serve_later }),
        MOOT_OK);
    say_request(&s, "c1");
    say_request(&s, "c2");
    stage_done(&s);
}

TEST(what_cannot_be_offered_is_refused)
{
    struct moot *m;

    CHECK_INT(moot_new(NULL, &m), MOOT_INVALID);
    CHECK_INT(moot_add_tool(m, &(struct moot_tool){ .name = "t" }), MOOT_INVALID);
    CHECK_STR(str_of(moot_why(m)), S("there is no function that serves it"));
    CHECK_INT(moot_add_tool(m, &(struct moot_tool){ .name = "t",
                                                    .call = serve_later,
                                                    .input_schema = "[]" }),
              MOOT_INVALID);
    CHECK_STR(str_of(moot_why(m)), S("the input schema is not a JSON object"));
    CHECK_INT(moot_add_tool(m, &(struct moot_tool){ .call = serve_later }), MOOT_INVALID);
    CHECK_INT(moot_add_resource(
                  m, &(struct moot_resource){ .uri = "x:}", .read = serve_later }),
              MOOT_INVALID);
    CHECK_INT(moot_add_resource(
                  m, &(struct moot_resource){ .uri = "x:y", .read = serve_later }),
              MOOT_OK);
    CHECK_INT(moot_add_prompt(m, &(struct moot_prompt){ .name = "p",
                                                        .get = serve_later,
                                                        .arguments = "{}" }),
              MOOT_INVALID);
    CHECK_INT(moot_remove_resource(m, "x:{y}"), MOOT_UNKNOWN);
    CHECK_INT(moot_remove_resource(m, "x:y"), MOOT_OK);
    CHECK_INT(moot_remove_prompt(m, "p"), MOOT_UNKNOWN);
    CHECK_INT(moot_remove_tool(m, NULL), MOOT_UNKNOWN);
    moot_free(m);
}
