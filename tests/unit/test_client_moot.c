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
    CLEANUP(buf_done) struct buf answer;

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
        else
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
