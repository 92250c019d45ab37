/* SPDX-License-Identifier: Apache-2.0 */
#include "wish_stage.h"

#include <stdlib.h>

#include "mcp/message.h"

enum { ROOM = 1 << 20, STRANDS = 8 };

struct strand {
    char name[8];
    struct buf *said;
    bool is_over;
};

struct fake_seat fake;
struct hall hall;
struct attendee bot;
struct visit visit;
struct buf said;
static struct strand strands[STRANDS];
static struct buf last;
unsigned envelopes;

/* --- what the hall does --- */

void strand_send(struct strand *strand, struct str message, uint64_t)
{
    buf_putf(strand->said, "%s> " STR_FMT "\n", strand->name, STR_ARG(message));
}

void strand_answer(struct strand *strand, unsigned status, struct str message, uint64_t)
{
    CHECK(!strand->is_over);
    strand->is_over = true;
    buf_putf(strand->said, "%s %u " STR_FMT "\n", strand->name, status, STR_ARG(message));
}

void hall_due(struct hall *, uint64_t due_ms)
{
    if (due_ms < hall.due_ms)
        hall.due_ms = due_ms;
}

static enum verdict verdict(const char *type, struct str method, struct str key)
{
    char kind[256];

    (void)snprintf(kind, sizeof(kind), "%s:" STR_FMT "%s" STR_FMT, type, STR_ARG(method),
                   key.len ? ":" : "", STR_ARG(key));
    return occupant_verdict(fake.occupant, str_of(kind));
}

enum right attendee_right(struct attendee *, struct str method, struct str key)
{
    if (verdict("mcp/request", method, key) != VERDICT_DENY)
        return RIGHT_CALL;
    return verdict("mcp/proposal", method, key) != VERDICT_DENY ? RIGHT_PROPOSE
                                                                : RIGHT_NONE;
}

void asked_answer(const struct asked_for *ask, struct str result)
{
    struct buf out;

    buf_init(&out, ROOM);
    mcp_message_put_answer(&out, ask->in->message.id, S("result"), result);
    strand_answer(ask->strand, 200, buf_str(&out), 0);
    buf_done(&out);
}

void asked_fail(const struct asked_for *ask, int64_t code, struct str message,
                struct str data)
{
    struct buf out;

    buf_init(&out, ROOM);
    serve_put_error(&out, ask->in->message.id, code, message, data);
    strand_answer(ask->strand, serve_status(ask->in->era, code), buf_str(&out), 0);
    buf_done(&out);
}

void asked_refuse(const struct asked_for *ask, int64_t code, struct str error)
{
    struct buf out;

    buf_init(&out, ROOM);
    mcp_message_put_answer(&out, ask->in->message.id, S("error"), error);
    strand_answer(ask->strand, serve_status(ask->in->era, code), buf_str(&out), 0);
    buf_done(&out);
}

void hall_put_server(const struct hall *, struct buf *out)
{
    buf_put(out, S("{\"name\":\"hall\"}"));
}

enum err attendee_watch(struct attendee *, struct watcher *, struct str owner,
                        struct str uri)
{
    buf_putf(&said, "watch " STR_FMT " " STR_FMT "\n", STR_ARG(owner), STR_ARG(uri));
    return OK;
}

void attendee_unwatch(struct attendee *, struct watch *watch)
{
    buf_putf(&said, "unwatch " STR_FMT "\n", STR_ARG(watch->of->uri));
}

/* --- what the occupant hears --- */

static void on_heard(void *, const struct heard *heard)
{
    if (!wish_hear(&bot, heard) && !heard->is_system && heard->env.kind.method.ptr &&
        str_starts(heard->env.kind.method, S("notifications/")))
        buf_put(&said, S("nobody's\n"));
}

static void on_request(void *, const struct heard *heard, const struct str *reply_to,
                       size_t)
{
    if (!wish_asked(&bot, heard, reply_to[0]))
        buf_put(&said, S("not asked\n"));
}

static void on_cancelled(void *, struct str request_id, struct str from, struct str)
{
    wish_unasked(&bot, request_id, from);
}

/* --- the stage --- */

static void list(enum offer_type type, const char *items)
{
    showcase_begin(hall.showcase, S("srv"), type);
    CHECK_INT(showcase_add(hall.showcase, str_of(items)), OK);
    (void)showcase_end(hall.showcase);
}

static bool is_here(void *, struct str)
{
    return true;
}

void begin(const char *capabilities)
{
    static const struct occupant_ops ops = {
        .on_heard = on_heard,
        .on_request = on_request,
        .on_cancelled = on_cancelled,
    };
    struct occupant_settings settings = { .id_prefix = S("me"),
                                          .call_timeout_ms = 60'000 };

    settings.limits = (struct occupant_limits){ 64, 256, 64, 16, 16, 16, 0 };
    envelopes = 0;
    fake_seat_init(&fake, &(struct occupant_settings){});
    occupant_free(fake.occupant);
    fake.occupant = occupant_new(&fake.seat, &settings, &ops, &fake);
    fake_seat_welcome(&fake, capabilities, "{\"id\":\"srv\",\"capabilities\":[]}");
    hall = (struct hall){ .now = fake.now, .due_ms = UINT64_MAX };
    hall.settings = (struct hall_settings){
        .topic = S("t"),
        .boot = 7,
        .hold_ms = 25'000,
        .max_wishes = 4,
        .max_message = ROOM,
        .max_depth = 64,
    };
    hall.showcase = showcase_new(false);
    task_owners_init(&hall.task_owners, is_here, NULL);
    list(OFFER_TOOL, "[" LISTED("add") "," LISTED("rm") "]");
    list(OFFER_RESOURCE, "[{\"uri\":\"file:///a\",\"name\":\"a\"}]");
    bot = (struct attendee){ .hall = &hall, .id = S("bot"), .occupant = fake.occupant };
    list_init(&bot.wishes);
    visit = (struct visit){ .attendee = &bot, .level = 3 };
    visit.can = CAN_SAMPLE | CAN_FILL_FORMS;
    list_init(&visit.watcher.watched);
    memset(strands, 0, sizeof(strands));
    buf_init(&said, ROOM);
    buf_init(&last, ROOM);
}

void done(void)
{
    struct wish *wish;

    LIST_FOREACH(wish, &bot.wishes, link)
        wish_free(wish);
    CHECK_INT(bot.wish_count, 0);
    showcase_free(hall.showcase);
    task_owners_done(&hall.task_owners);
    fake_seat_done(&fake);
    buf_done(&said);
    buf_done(&last);
}

struct str said_so_far(void)
{
    buf_clear(&last);
    buf_put(&last, buf_str(&said));
    (void)buf_cstr(&last);
    buf_clear(&said);
    return buf_str(&last);
}

struct strand *strand_named(const char *name)
{
    for (size_t i = 0; i < STRANDS; i++) {
        struct strand *s = &strands[i];

        if (s->said && strcmp(s->name, name) != 0)
            continue;
        (void)snprintf(s->name, sizeof(s->name), "%s", name);
        s->said = &said;
        return s;
    }
    abort();
}

void post(const char *name, enum client client, const char *text)
{
    char *body = strdup(text);
    struct serve_post http = { .body = str_of(body), .max_depth = 64 };
    struct serve_incoming in;
    struct buf error;

    if (client == LEGACY)
        http.agreed = S("2025-11-25");
    buf_init(&error, ROOM);
    CHECK_INT(serve_judge(&http, &in, &error), 0);
    CHECK_STR(buf_str(&error), S(""));
    buf_done(&error);
    CHECK_INT(in.era, client == LEGACY ? ERA_LEGACY : ERA_MODERN);
    hall.now = fake.now;
    wish_begin(&(struct asked_for){ .attendee = &bot,
                                    .visit = client == LEGACY ? &visit : NULL,
                                    .in = &in,
                                    .http = &http,
                                    .strand = strand_named(name) });
    free(body);
}

void hear_from(const char *from, const char *kind, const char *rest)
{
    char id[32];

    (void)snprintf(id, sizeof(id), "e%u", ++envelopes);
    hall.now = fake.now;
    fake_hear_from(&fake, from, id, kind, rest);
}

void answer(const char *call, const char *what, const char *member)
{
    char kind[256], rest[4096];

    (void)snprintf(kind, sizeof(kind), "mcp/response:%s", what);
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"bot\"],\"correlation_id\":\"%s\",\"payload\":{"
                   "\"jsonrpc\":\"2.0\",\"id\":\"%s\",%s}",
                   call, call, member);
    hear_from("srv", kind, rest);
}

void say(const char *call, const char *method, const char *members)
{
    char kind[256], rest[4096];

    (void)snprintf(kind, sizeof(kind), "mcp/request:%s", method);
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"bot\"],\"correlation_id\":\"%s\",\"payload\":{"
                   "\"jsonrpc\":\"2.0\",\"method\":\"%s\",%s}",
                   call, method, members);
    hear_from("srv", kind, rest);
}

void pass(uint64_t ms)
{
    fake.now.mono_ms += ms;
    fake.now.wall_ms += ms;
    hall.now = fake.now;
    occupant_tick(fake.occupant, fake.now);
    wish_tick(&bot, fake.now.mono_ms);
}

bool reply(const char *text)
{
    struct mcp_message message;
    const char *what;

    CHECK_INT(mcp_message_read(str_of(text), 64, &message, &what), OK);
    return wish_reply(&visit, &message);
}

void find_text(const char *name, char *ret, size_t size)
{
    char mark[64];
    const char *at;

    (void)snprintf(mark, sizeof(mark), "\"%s\":\"", name);
    at = strstr(buf_cstr(&said), mark);
    CHECK(at);
    (void)snprintf(ret, size, "%.*s", (int)strcspn(at + strlen(mark), "\""),
                   at + strlen(mark));
}
