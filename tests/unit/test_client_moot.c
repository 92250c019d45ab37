/* SPDX-License-Identifier: Apache-2.0 */
/* libmoot in a room that the test plays itself, over loopback, in the same thread. */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "harness.h"
#include "moot.h"
#include "ws/handshake.h"
#include "ws/ws.h"

enum { STEPS = 500 /* of 10 ms at most */ };

#define HEAD(id, from, kind)                                         \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"" id "\",\"from\":\"" from \
    "\",\"kind\":\"" kind "\","
#define WELCOME                                                                \
    HEAD("w", "system:gateway", "system/welcome")                              \
    "\"to\":[\"bot\"],\"payload\":{\"you\":{\"id\":\"bot\",\"capabilities\":[" \
    "\"mcp/*\",\"chat\"]},\"participants\":[{\"id\":\"srv\",\"capabilities\":[]}]}}"
#define PROPOSAL(id)                                \
    HEAD(id, "agent", "mcp/proposal:tools/call:rm") \
    "\"to\":[\"srv\"],\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}}"

static struct {
    int listener;
    int far;
    char url[64];
    struct ws_shared shared;
    struct ws_decoder decoder;
    struct buf in;
    struct buf heard; /* texts of the client, a line each */
    struct buf told;
    struct moot *m;
} room;

static void tell(const char *what, const char *text)
{
    buf_putf(&room.told, "%s %s\n", what, text);
}

static void open_room(void)
{
    struct sockaddr_in any = { .sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(any);

    room.far = -1;
    room.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(room.listener, (struct sockaddr *)&any, sizeof(any)), 0);
    CHECK_INT(listen(room.listener, 8), 0);
    CHECK_INT(getsockname(room.listener, (struct sockaddr *)&any, &size), 0);
    (void)snprintf(room.url, sizeof(room.url), "ws://127.0.0.1:%u", ntohs(any.sin_port));
    room.shared = (struct ws_shared){ .message_bytes = 8 << 20, .fragments = 100 };
    ws_decoder_init(&room.decoder, WS_SERVER, &room.shared, false);
    buf_init(&room.in, 1 << 20);
    buf_init(&room.heard, 8 << 20);
    buf_init(&room.told, 1 << 20);
}

static void close_room(void)
{
    moot_free(room.m);
    room.m = NULL;
    if (room.far >= 0)
        (void)close(room.far);
    (void)close(room.listener);
    ws_decoder_done(&room.decoder);
    buf_done(&room.in);
    buf_done(&room.heard);
    buf_done(&room.told);
}

static void say_frame(enum ws_opcode op, struct str payload)
{
    CLEANUP(buf_done) struct buf frame;

    buf_init(&frame, 8 << 20);
    ws_frame_write(&frame, op, payload);
    CHECK_INT(send(room.far, frame.ptr, frame.len, MSG_NOSIGNAL), (ssize_t)frame.len);
}

static void say(const char *text)
{
    say_frame(WS_OP_TEXT, str_of(text));
}

static void upgrade(void)
{
    static const char name[] = "Sec-WebSocket-Key: ";
    const char *key = strstr(buf_cstr(&room.in), name);
    CLEANUP(buf_done) struct buf answer = {};

    if (!strstr(room.in.ptr, "\r\n\r\n"))
        return;
    buf_init(&answer, 4096);
    buf_put(&answer, S("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                       "Connection: Upgrade\r\nSec-WebSocket-Accept: "));
    ws_accept_write(&answer, (struct str){ key + strlen(name), 24 });
    buf_put(&answer, S("\r\n\r\n"));
    CHECK_INT(send(room.far, answer.ptr, answer.len, MSG_NOSIGNAL), (ssize_t)answer.len);
    buf_clear(&room.in);
    say(WELCOME);
}

static void hear_frames(struct str bytes)
{
    for (;;) {
        struct ws_event ev = ws_decode(&room.decoder, &bytes);

        if (ev.type == WS_PING)
            say_frame(WS_OP_PONG, ev.body);
        else if (ev.type == WS_MESSAGE)
            buf_putf(&room.heard, STR_FMT "\n", STR_ARG(ev.body));
        else if (ev.type == WS_CLOSE)
            say_frame(WS_OP_CLOSE, S("\x03\xe8"));
        if (ev.type == WS_NEED_MORE || ev.type == WS_CLOSE || ev.type == WS_VIOLATION)
            return;
    }
}

static void listen_to_far(void)
{
    static bool is_open;
    char bytes[65536];
    ssize_t got;

    if (room.far < 0) {
        room.far = accept(room.listener, NULL, NULL);
        is_open = false;
    }
    if (room.far < 0)
        return;
    got = recv(room.far, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got <= 0)
        return;
    if (is_open) {
        hear_frames((struct str){ bytes, (size_t)got });
        return;
    }
    buf_put(&room.in, (struct str){ bytes, (size_t)got });
    upgrade();
    is_open = room.in.len == 0;
}

static enum moot_err step(void)
{
    struct pollfd fd = { .fd = moot_fd(room.m), .events = moot_events(room.m) };
    int timeout = moot_timeout(room.m);
    enum moot_err err;

    (void)poll(&fd, 1, timeout >= 0 && timeout < 10 ? timeout : 10);
    err = moot_step(room.m);
    listen_to_far();
    return err;
}

/* Until that was told. */
static void step_until(const char *what)
{
    for (int i = 0; i < STEPS && !strstr(buf_cstr(&room.told), what); i++)
        (void)step();
    CHECK(strstr(buf_cstr(&room.told), what));
}

static void on_state(struct moot *m, void *, enum moot_state state, const char *why)
{
    static const char *const names[] = { "connecting", "joined", "waiting", "over" };

    CHECK_INT(moot_state(m), state);
    tell(names[state], why);
}

static void on_proposal(struct moot *, void *, const struct moot_proposal *p)
{
    tell(p->state == MOOT_OPEN ? "open" : "closed", p->id);
}

static void enter(const struct moot_options *more)
{
    struct moot_options options = *more;

    open_room();
    options.url = room.url;
    options.topic = "t";
    if (!options.handlers.on_state)
        options.handlers.on_state = on_state;
    if (!options.handlers.on_proposal)
        options.handlers.on_proposal = on_proposal;
    CHECK_INT(moot_new(&options, &room.m), MOOT_OK);
    step_until("joined");
    buf_clear(&room.told);
}

#define CHECK_TOLD(want) CHECK_STR(buf_str(&room.told), S(want))

TEST(what_is_no_text_is_no_name)
{
    struct moot_options options = { .url = "ws://127.0.0.1:1", .topic = "t" };

    options.name = "\xff";
    CHECK_INT(moot_new(&options, &room.m), MOOT_INVALID);
    CHECK_STR(str_of(moot_why(room.m)), S("name or version is not UTF-8"));
    moot_free(room.m);
    options.name = "calculator";
    options.version = "\xff";
    CHECK_INT(moot_new(&options, &room.m), MOOT_INVALID);
    moot_free(room.m);
}

/* --- the end --- */

static void ask_again(struct moot *m, void *, const struct moot_outcome *outcome)
{
    tell("done", outcome->error);
    CHECK_INT(moot_chat(m, "still here?"), MOOT_ENDED);
}

TEST(why_it_is_over_is_not_what_a_handler_tried_then)
{
    enter(&(struct moot_options){});
    CHECK_INT(moot_request(room.m,
                           &(struct moot_request){
                               .to = "srv", .method = "ping", .on_done = ask_again },
                           NULL),
              MOOT_OK);
    say_frame(WS_OP_CLOSE, S("\x03\xf0void")); /* 1008 */
    step_until("over");
    CHECK_TOLD("done lost\nover the server closed the connection with 1008: void\n");
    CHECK_STR(str_of(moot_why(room.m)),
              S("the server closed the connection with 1008: void"));
    close_room();
}

/* --- what is given stays --- */

TEST(a_proposal_stays_as_it_was_given_until_the_next_step)
{
    struct moot_request request = {
        .to = "srv", .method = "tools/call", .name = "x", .how = MOOT_PROPOSE
    };
    struct moot_proposal p;

    enter(&(struct moot_options){ .limits = { .proposals = 2 } });
    say(PROPOSAL("p"));
    step_until("open p");
    CHECK_INT(moot_reject(room.m, &(struct moot_decision){ .id = "p" }), MOOT_OK);
    CHECK(moot_find_proposal(room.m, "p", &p));
    CHECK_INT(moot_request(room.m, &request, NULL), MOOT_OK);
    CHECK_INT(moot_request(room.m, &request, NULL), MOOT_OK);
    CHECK(!moot_find_proposal(room.m, "p", &(struct moot_proposal){}));
    CHECK_STR(((struct str){ p.params.ptr, p.params.len }), S("{\"name\":\"rm\"}"));
    close_room();
}

/* --- ids --- */

TEST(nobody_can_tell_our_next_id)
{
    char ids[2][MOOT_ID];
    struct str tails[2];

    enter(&(struct moot_options){});
    for (size_t i = 0; i < 2; i++) {
        struct moot_envelope chat = { .kind = "chat", .payload = "{\"text\":\"x\"}" };
        struct str id;

        CHECK_INT(moot_send(room.m, &chat, ids[i]), MOOT_OK);
        id = str_of(ids[i]);
        CHECK_INT(id.len, 16 + 2 + 9);
        tails[i] = str_slice(id, id.len - 9, id.len);
    }
    CHECK(str_eq(str_slice(str_of(ids[0]), 0, 17), str_slice(str_of(ids[1]), 0, 17)));
    CHECK_INT(tails[0].ptr[0], '-');
    CHECK(!str_eq(tails[0], tails[1]));
    close_room();
}

/* One in 64 would, so this may pass by chance. */
TEST(no_id_looks_like_an_option)
{
    static const struct moot_envelope chat = { .kind = "chat",
                                               .payload = "{\"text\":\"x\"}" };

    for (int i = 0; i < 100; i++) {
        char id[MOOT_ID] = "-";

        enter(&(struct moot_options){});
        CHECK_INT(moot_send(room.m, &chat, id), MOOT_OK);
        CHECK(id[0] != '-');
        close_room();
    }
}

/* --- handlers that do everything they may --- */

static struct moot_call *kept;
static char last_id[MOOT_ID];
static bool leaves;

static void on_done(struct moot *m, void *user, const struct moot_outcome *outcome);
static void on_progress(struct moot *m, void *user, const struct moot_progress *progress);
static void serve_later(struct moot *m, void *user, struct moot_call *call);

static void add_tools(struct moot *m)
{
    CHECK_INT(moot_add_tool(m, &(struct moot_tool){ .name = "t", .call = serve_later }),
              MOOT_OK);
}

static void decide_all(struct moot *m)
{
    struct moot_proposal p;
    size_t at = 0;

    while (moot_next_proposal(m, &at, &p)) {
        struct moot_decision decision = { .id = p.id, .on_done = on_done };

        (void)(at % 2 ? moot_reject(m, &decision) : moot_fulfil(m, &decision));
        (void)moot_find_proposal(m, p.id, &p);
    }
}

static void meddle(struct moot *m)
{
    struct moot_request request = { .to = "srv",
                                    .method = "tools/call",
                                    .name = "x",
                                    .on_done = on_done,
                                    .on_progress = on_progress };
    struct moot_participant who;

    (void)moot_cancel(m, last_id, "never mind");
    (void)moot_request(m, &request, last_id);
    request.how = MOOT_PROPOSE;
    (void)moot_request(m, &request, NULL);
    (void)moot_send(m,
                    &(struct moot_envelope){ .kind = "chat",
                                             .payload = "{\"text\":\"x\"}",
                                             .on_done = on_done },
                    NULL);
    decide_all(m);
    (void)moot_remove_tool(m, "t");
    add_tools(m);
    (void)moot_find_participant(m, "srv", &who);
    (void)moot_parse(m, moot_capabilities(m));
    if (kept) {
        (void)moot_call_progress(kept, 1, 2, "half");
        (void)moot_reply_text(kept, "done");
        kept = NULL;
    }
    if (leaves)
        moot_leave(m);
}

static void on_done(struct moot *m, void *, const struct moot_outcome *outcome)
{
    static int count;

    tell("ended", outcome->id);
    if (++count % 8)
        meddle(m);
}

static void on_progress(struct moot *m, void *, const struct moot_progress *progress)
{
    (void)moot_cancel(m, progress->id, NULL);
}

static void serve_later(struct moot *m, void *, struct moot_call *call)
{
    meddle(m);
    kept = call;
    CHECK_STR(str_of(moot_call_name(call)), S("t"));
    moot_call_on_cancel(call, serve_later);
    if (moot_call_is_cancelled(call))
        meddle(m);
}

static void any_state(struct moot *m, void *, enum moot_state state, const char *why)
{
    on_state(m, NULL, state, why);
    meddle(m);
}

static void any_welcome(struct moot *m, void *, bool)
{
    meddle(m);
}

static void any_presence(struct moot *m, void *, enum moot_presence,
                         const struct moot_participant *who)
{
    meddle(m);
    tell("presence", who->id);
}

static void any_gap(struct moot *m, void *, uint64_t)
{
    meddle(m);
}

static void any_message(struct moot *m, void *, const struct moot_message *message)
{
    meddle(m);
    tell("message", message->id);
    (void)moot_payload(m, message);
}

static void any_chat(struct moot *m, void *, const struct moot_message *message,
                     const char *text)
{
    meddle(m);
    tell(message->from, text);
}

static void any_proposal(struct moot *m, void *, const struct moot_proposal *p)
{
    meddle(m);
    buf_putf(&room.told, "proposal %s %.*s\n", p->id, (int)p->params.len, p->params.ptr);
}

static void any_refusal(struct moot *m, void *, const struct moot_refusal *refusal)
{
    meddle(m);
    tell("refusal", refusal->error);
}

static void any_offence(struct moot *m, void *, const struct moot_offence *offence)
{
    meddle(m);
    tell("offence", offence->what);
}

static const char *const said[] = {
    HEAD("1", "agent", "chat") "\"payload\":{\"text\":\"hi\"}}",
    PROPOSAL("p1"),
    PROPOSAL("p2"),
    HEAD("2", "ann",
         "mcp/reject") "\"correlation_id\":\"p1\",\"payload\":{\"reason\":\"r\"}}",
    HEAD(
        "3", "ann",
        "mcp/request:tools/call:t") "\"to\":[\"bot\"],\"payload\":{\"jsonrpc\":\"2.0\","
                                    "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"_meta\":{\"progressToken\":1}}}}",
    HEAD(
        "4", "ann",
        "mcp/request:tools/call:t") "\"to\":[\"bot\"],\"payload\":{\"jsonrpc\":\"2.0\","
                                    "\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}}",
    HEAD(
        "5", "ann",
        "mcp/request:notifications/cancelled") "\"to\":[\"bot\"],\"correlation_id\":\"4\","
                                               "\"payload\":{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}}",
    HEAD(
        "6", "ann",
        "mcp/request:notifications/authorization/request") "\"payload\":{\"method\":\"notifications/authorization/request\",\"params\":{\"id\":\"a\","
                                                           "\"tool\":\"rm\",\"requester\":\"agent\"}}}",
    HEAD("7", "system:gateway", "system/presence") "\"payload\":{\"event\":\"leave\","
                                                   "\"participant\":{\"id\":\"srv\"}}}",
    HEAD("8", "system:gateway",
         "system/gap") "\"to\":[\"bot\"],\"payload\":{\"missed\":1}}",
    HEAD("9", "system:gateway",
         "system/error") "\"to\":[\"bot\"],\"payload\":{\"error\":\"paused\","
                         "\"message\":\"no\"}}",
    HEAD("10", "ann", "mcp/request:tools/call:t") "\"payload\":{}}",
    WELCOME,
    HEAD("11", "agent", "chat") "\"payload\":{\"text\":\"bye\"}}",
};

static void enter_meddling(void)
{
    kept = NULL;
    last_id[0] = '\0';
    enter(&(struct moot_options){
        .limits = { .calls = 20, .proposals = 8, .served = 2 },
        .handlers = { .on_state = any_state,
                      .on_welcome = any_welcome,
                      .on_presence = any_presence,
                      .on_gap = any_gap,
                      .on_message = any_message,
                      .on_chat = any_chat,
                      .on_proposal = any_proposal,
                      .on_refusal = any_refusal,
                      .on_offence = any_offence },
    });
    add_tools(room.m);
}

TEST(handlers_may_do_everything)
{
    enter_meddling();
    for (size_t i = 0; i < COUNT(said); i++) {
        say(said[i]);
        for (int j = 0; j < 3; j++)
            CHECK_INT(step(), MOOT_OK);
    }
    step_until("agent bye");
    CHECK(strstr(room.told.ptr, "proposal p1 {\"name\":\"rm\"}"));
    CHECK(strstr(room.told.ptr, "offence kind_payload_mismatch"));
    CHECK(strstr(room.told.ptr, "refusal paused"));
    CHECK(strstr(room.told.ptr, "presence srv"));
    say_frame(WS_OP_CLOSE, S("\x03\xf0"));
    step_until("over");
    close_room();
}

TEST(handlers_may_leave_at_any_time)
{
    for (size_t i = 0; i < COUNT(said); i++) {
        leaves = false;
        enter_meddling();
        leaves = true;
        say(said[i]);
        step_until("over left");
        CHECK_INT(moot_step(room.m), MOOT_ENDED);
        close_room();
    }
    leaves = false;
}
