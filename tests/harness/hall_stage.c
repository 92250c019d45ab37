/* SPDX-License-Identifier: Apache-2.0 */
#include "hall_stage.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "envelope/envelope.h"
#include "harness.h"
#include "json/json.h"
#include "mcp/message.h"

enum { ROOM = 16 << 20, SCRATCH = 1 << 20, MORE = 4096, DEPTH = 128 };

/* A request that was heard. */
struct asked {
    struct buf payload;
    struct buf kind; /* what stands behind "mcp/request:" */
    struct buf id, from;
};

static void asked_init(struct asked *asked)
{
    buf_init(&asked->payload, ROOM);
    buf_init(&asked->kind, ROOM);
    buf_init(&asked->id, ROOM);
    buf_init(&asked->from, ROOM);
}

static void asked_done(struct asked *asked)
{
    buf_done(&asked->payload);
    buf_done(&asked->kind);
    buf_done(&asked->id);
    buf_done(&asked->from);
}

/* Somebody in the room: one of the hall's, or one that the test plays. */
struct stage_seat {
    struct seat seat;
    struct stage *stage;
    const struct seat_ops *ops; /* NULL: the test's */
    void *user;
    bool hears_presence, is_here, is_begun;
    char *id, *rights, *offers;
    const char *type;
    struct asked asked; /* the last that is no list */
};

/* On its way to a seat: a text, or (0 bytes) a fence. */
struct letter {
    struct link link;
    struct stage_seat *to;
    uint64_t fence;
    size_t len;
    char text[];
};

/* --- on the way --- */

static struct letter *letter_new(struct stage_seat *to, struct str text)
{
    struct letter *letter = xcalloc(1, sizeof(*letter) + text.len);

    letter->to = to;
    letter->len = text.len;
    memcpy(letter->text, text.ptr, text.len);
    list_append(&to->stage->post, &letter->link);
    return letter;
}

static void forget_letters(struct stage *stage, const struct stage_seat *to)
{
    struct letter *letter;

    LIST_FOREACH(letter, &stage->post, link)
        if (!to || letter->to == to) {
            list_remove(&letter->link);
            free(letter);
        }
}

static void play(struct stage_seat *seat, struct str text);

/* Nothing is told from inside what opened the seat. */
static void begin(struct stage_seat *seat)
{
    if (seat->ops && !seat->is_begun)
        seat->ops->on_begin(seat->user, false);
    seat->is_begun = true;
}

static void deliver(struct stage *stage)
{
    struct letter *letter;

    while ((letter = LIST_FIRST(&stage->post, struct letter, link)) != NULL) {
        struct stage_seat *to = letter->to;

        list_remove(&letter->link);
        begin(to);
        if (!to->ops)
            play(to, (struct str){ letter->text, letter->len });
        else if (letter->len)
            to->ops->on_text(to->user, (struct str){ letter->text, letter->len });
        else
            to->ops->on_judged(to->user, letter->fence);
        free(letter);
    }
}

/* --- the room --- */

static struct stage_seat *find_seat(const struct stage *stage, struct str id)
{
    for (size_t i = 0; i < stage->seat_count; i++)
        if (str_eq(str_of(stage->seats[i]->id), id))
            return stage->seats[i];
    return NULL;
}

/* Who is named hears it; without a name, who is no attendee. */
static void spread(struct stage *stage, const struct stage_seat *from,
                   const struct envelope *env)
{
    for (size_t i = 0; i < stage->seat_count; i++) {
        struct stage_seat *seat = stage->seats[i];

        if (seat == from || !seat->is_here)
            continue;
        if (env->to_count ? envelope_names(env, str_of(seat->id)) : seat->hears_presence)
            (void)letter_new(seat, env->text);
    }
}

static enum err say(struct stage *stage, const struct stage_seat *from, struct str text)
{
    CLEANUP(arena_done) struct arena scratch;
    struct envelope env;
    enum err err;

    arena_init(&scratch, SCRATCH);
    err = envelope_scan(text, DEPTH, DIALECT_SLASH, &scratch, &env, NULL);
    CHECK(!err);
    if (err)
        return OK;
    buf_put(&stage->log, text);
    buf_putc(&stage->log, '\n');
    spread(stage, from, &env);
    return OK;
}

static enum err on_send(struct seat *seat, struct str text)
{
    struct stage_seat *from = CONTAINER_OF(seat, struct stage_seat, seat);

    return from->is_here ? say(from->stage, from, text) : ERR_AGAIN;
}

static void on_fence(struct seat *seat, uint64_t number)
{
    letter_new(CONTAINER_OF(seat, struct stage_seat, seat), S(""))->fence = number;
}

static void put_participant(struct buf *out, const struct stage_seat *seat)
{
    buf_putf(out, "{\"id\":\"%s\",\"capabilities\":%s,\"moot\":{\"type\":\"%s\"}}",
             seat->id, seat->rights, seat->type);
}

static void put_system(struct stage *stage, struct buf *out, const char *kind)
{
    buf_putf(out,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"sys-%zu\",\"from\":\"system:gateway\","
             "\"kind\":\"system/%s\",",
             ++stage->ids, kind);
}

static void tell_presence(struct stage *stage, const struct stage_seat *who,
                          const char *event)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, ROOM);
    put_system(stage, &text, "presence");
    buf_putf(&text, "\"payload\":{\"event\":\"%s\",\"participant\":", event);
    put_participant(&text, who);
    buf_put(&text, S("}}"));
    for (size_t i = 0; i < stage->seat_count; i++)
        if (stage->seats[i] != who && stage->seats[i]->ops &&
            stage->seats[i]->hears_presence)
            (void)letter_new(stage->seats[i], buf_str(&text));
}

static void welcome(struct stage_seat *seat)
{
    struct stage *stage = seat->stage;
    CLEANUP(buf_done) struct buf text;
    const char *comma = "";

    buf_init(&text, ROOM);
    put_system(stage, &text, "welcome");
    buf_putf(&text,
             "\"to\":[\"%s\"],\"payload\":{\"you\":{\"id\":\"%s\",\"capabilities\":%s},"
             "\"participants\":[",
             seat->id, seat->id, seat->rights);
    for (size_t i = 0; i < stage->seat_count; i++) {
        if (stage->seats[i] == seat || !stage->seats[i]->is_here)
            continue;
        buf_put(&text, str_of(comma));
        put_participant(&text, stage->seats[i]);
        comma = ",";
    }
    buf_put(&text, S("]}}"));
    (void)letter_new(seat, buf_str(&text));
}

/* --- seats --- */

static struct stage_seat *add_seat(struct stage *stage, const char *id, const char *type)
{
    struct stage_seat *seat = xcalloc(1, sizeof(*seat));

    CHECK(stage->seat_count < STAGE_SEATS);
    seat->seat = (struct seat){ .send = on_send, .fence = on_fence };
    seat->stage = stage;
    seat->id = xstrdup(id);
    seat->rights = xstrdup("[\"*\"]");
    seat->type = type;
    asked_init(&seat->asked);
    stage->seats[stage->seat_count++] = seat;
    return seat;
}

static void sit(struct stage_seat *seat, const struct seat_ops *ops, void *user)
{
    seat->ops = ops;
    seat->user = user;
    seat->is_here = true;
    seat->is_begun = false;
}

/* The one that was made for its rights, or a new one. */
static struct stage_seat *take_seat(struct stage *stage, const char *id, const char *type)
{
    struct stage_seat *seat = find_seat(stage, str_of(id));

    if (seat && !seat->is_here)
        return seat;
    return add_seat(stage, id, type);
}

static void seat_free(struct stage_seat *seat)
{
    free(seat->id);
    free(seat->rights);
    free(seat->offers);
    asked_done(&seat->asked);
    free(seat);
}

void stage_rights(struct stage *stage, const char *id, const char *capabilities)
{
    struct stage_seat *seat = find_seat(stage, str_of(id));

    if (!seat)
        seat = add_seat(stage, id, "human");
    free(seat->rights);
    seat->rights = xstrdup(capabilities);
}

/* --- owners --- */

static void put_head(struct stage *stage, struct buf *out, const char *from)
{
    buf_putf(out, "{\"protocol\":\"mcpx/v0.1\",\"id\":\"s-%zu\",\"from\":\"%s\",",
             ++stage->ids, from);
}

static void respond(struct stage_seat *owner, const struct asked *asked, struct str rest)
{
    static const struct str name = S("id");
    CLEANUP(buf_done) struct buf text;
    struct json_span payload = { .type = JSON_OBJECT, .text = buf_str(&asked->payload) };
    struct json_span rpc_id = mcp_message_find(payload, &name, 1);
    struct json_writer w;

    buf_init(&text, ROOM);
    put_head(owner->stage, &text, owner->id);
    buf_putf(&text,
             "\"kind\":\"mcp/response:" STR_FMT "\",\"correlation_id\":\"" STR_FMT
             "\",\"to\":[\"" STR_FMT "\"],\"payload\":{\"jsonrpc\":\"2.0\",\"id\":",
             STR_ARG(buf_str(&asked->kind)), STR_ARG(buf_str(&asked->id)),
             STR_ARG(buf_str(&asked->from)));
    json_write_init(&w, &text);
    json_span(&w, rpc_id);
    buf_putf(&text, "," STR_FMT "}}", STR_ARG(rest));
    (void)say(owner->stage, owner, buf_str(&text));
}

static struct json_span offer_of(const struct stage_seat *owner, struct str name)
{
    struct json_span offers = { .type = JSON_OBJECT, .text = str_of(owner->offers) };

    return mcp_message_find(offers, &name, 1);
}

static void put_or(struct json_writer *w, const struct stage_seat *owner, struct str name,
                   const char *otherwise)
{
    struct json_span given = offer_of(owner, name);

    if (!given.text.ptr && !otherwise)
        return;
    json_key(w, name);
    if (given.text.ptr)
        json_span(w, given);
    else
        json_raw(w, str_of(otherwise));
}

static void answer_initialize(struct stage_seat *owner, struct json_writer *w)
{
    json_put_str(w, S("protocolVersion"), S("2025-11-25"));
    put_or(w, owner, S("capabilities"),
           "{\"tools\":{},\"resources\":{\"subscribe\":true},\"prompts\":{},"
           "\"logging\":{},\"completions\":{}}");
    put_or(w, owner, S("serverInfo"), "{\"name\":\"fake\",\"version\":\"1\"}");
    put_or(w, owner, S("instructions"), NULL);
}

/* clang-format off */
static const struct { struct str method, member; } lists[] = {
    { S("tools/list"),               S("tools") },
    { S("resources/list"),           S("resources") },
    { S("resources/templates/list"), S("resourceTemplates") },
    { S("prompts/list"),             S("prompts") },
};
/* clang-format on */

/* False: the test answers. */
static bool answer_itself(struct stage_seat *owner, const struct asked *asked)
{
    struct str kind = buf_str(&asked->kind);
    CLEANUP(buf_done) struct buf rest;
    struct json_writer w;
    bool is_known = str_eq(kind, S("initialize"));

    buf_init(&rest, ROOM);
    buf_put(&rest, S("\"result\":"));
    json_write_init(&w, &rest);
    json_object_open(&w);
    if (is_known)
        answer_initialize(owner, &w);
    for (size_t i = 0; i < COUNT(lists); i++)
        if (str_eq(kind, lists[i].method)) {
            put_or(&w, owner, lists[i].member, "[]");
            is_known = true;
        }
    json_object_close(&w);
    if (is_known)
        respond(owner, asked, buf_str(&rest));
    return is_known;
}

static void keep(struct buf *buf, struct str text)
{
    buf_clear(buf);
    buf_put(buf, text);
}

static void keep_asked(struct asked *asked, const struct envelope *env, struct str kind)
{
    keep(&asked->payload, env->payload.text);
    keep(&asked->kind, kind);
    keep(&asked->id, env->id);
    keep(&asked->from, env->from);
}

/* What an owner hears. A list is answered at once; the last other request is kept. */
static void play(struct stage_seat *owner, struct str text)
{
    static const struct str request = S("mcp/request:");
    CLEANUP(arena_done) struct arena scratch;
    CLEANUP(asked_done) struct asked asked;
    struct envelope env;
    struct str kind;

    asked_init(&asked);
    arena_init(&scratch, SCRATCH);
    if (envelope_scan(text, DEPTH, DIALECT_SLASH, &scratch, &env, NULL) ||
        !str_starts(env.kind_text, request) || !owner->offers)
        return;
    kind = str_slice(env.kind_text, request.len, env.kind_text.len);
    if (str_starts(kind, S("notifications/")))
        return;
    keep_asked(&asked, &env, kind);
    if (owner->stage->is_silent || !answer_itself(owner, &asked))
        keep_asked(&owner->asked, &env, kind);
}

void stage_owner(struct stage *stage, const char *id, const char *offers)
{
    struct stage_seat *seat = find_seat(stage, str_of(id));

    if (!seat)
        seat = add_seat(stage, id, "service");
    free(seat->offers);
    seat->offers = xstrdup(offers);
    seat->type = "service";
    sit(seat, NULL, NULL);
    tell_presence(stage, seat, "join");
    deliver(stage);
}

void stage_owner_leaves(struct stage *stage, const char *id)
{
    struct stage_seat *seat = find_seat(stage, str_of(id));

    seat->is_here = false;
    tell_presence(stage, seat, "leave");
    deliver(stage);
}

static struct str give(struct stage *stage, struct str text)
{
    keep(&stage->said, text);
    (void)buf_cstr(&stage->said);
    return buf_str(&stage->said);
}

struct str stage_asked(struct stage *stage, const char *id)
{
    struct stage_seat *seat = find_seat(stage, str_of(id));

    return give(stage, seat ? buf_str(&seat->asked.payload) : S(""));
}

void stage_answer(struct stage *stage, const char *id, const char *member)
{
    struct stage_seat *seat = find_seat(stage, str_of(id));
    struct str rest = str_of(member);

    CHECK(seat->asked.id.len > 0);
    if (str_starts(rest, S("{")))
        rest = str_slice(rest, 1, rest.len - 1);
    respond(seat, &seat->asked, rest);
    deliver(stage);
}

void stage_say(struct stage *stage, const char *id, const char *kind, const char *rest)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, ROOM);
    put_head(stage, &text, id);
    buf_putf(&text, "\"kind\":\"%s\",%s}", kind, rest);
    (void)say(stage, find_seat(stage, str_of(id)), buf_str(&text));
    deliver(stage);
}

/* --- the hall's own --- */

static struct seat *on_open_seat(void *user, struct attendee *attendee, void *credential)
{
    struct stage *stage = user;
    CLEANUP(xfreep) char *id = str_dup(str_of(credential));
    struct stage_seat *seat;

    id[strcspn(id, "#")] = '\0';
    seat = take_seat(stage, id, "human");
    seat->hears_presence = stage->settings.is_stdio;
    sit(seat, &attendee_seat_ops, attendee);
    welcome(seat);
    return &seat->seat;
}

static void on_close_seat(void *user, struct seat *seat, void *)
{
    struct stage *stage = user;
    struct stage_seat *mine = CONTAINER_OF(seat, struct stage_seat, seat);

    mine->is_here = false;
    mine->ops = NULL;
    forget_letters(stage, mine);
}

static struct moment on_now(void *user)
{
    return ((struct stage *)user)->now;
}

static const struct hall_ops hall_ops = { .open_seat = on_open_seat,
                                          .close_seat = on_close_seat,
                                          .now = on_now };

static void fill(struct hall_settings *s)
{
    static const struct hall_settings generous = {
        .topic = S("room"),
        .name = S("moot"),
        .version = S("1"),
        .boot = 1,
        .hold_ms = 25'000,
        .idle_ms = 30 * 60'000,
        .linger_ms = 30'000,
        .max_visits = 1000,
        .max_wishes = 256,
        .max_message = 1 << 20,
        .max_depth = DEPTH,
    };

    s->topic = s->topic.len ? s->topic : generous.topic;
    s->name = s->name.len ? s->name : generous.name;
    s->version = s->version.len ? s->version : generous.version;
    s->boot = s->boot ? s->boot : generous.boot;
    s->hold_ms = s->hold_ms ? s->hold_ms : generous.hold_ms;
    s->idle_ms = s->idle_ms ? s->idle_ms : generous.idle_ms;
    s->linger_ms = s->linger_ms ? s->linger_ms : generous.linger_ms;
    s->max_visits = s->max_visits ? s->max_visits : generous.max_visits;
    s->max_wishes = s->max_wishes ? s->max_wishes : generous.max_wishes;
    s->max_message = s->max_message ? s->max_message : generous.max_message;
    s->max_depth = s->max_depth ? s->max_depth : generous.max_depth;
}

static void seat_concierge(struct stage *stage)
{
    struct stage_seat *seat = add_seat(stage, "mcp", "service");

    seat->hears_presence = true;
    sit(seat, &hall_seat_ops, stage->hall);
    hall_sit(stage->hall, &seat->seat, stage->now);
    welcome(seat);
}

void stage_init(struct stage *stage, const struct hall_settings *settings)
{
    *stage = (struct stage){ .settings = *settings, .now = { 1000, 1'800'000'000'000 } };
    fill(&stage->settings);
    list_init(&stage->post);
    buf_init(&stage->said, ROOM);
    buf_init(&stage->log, ROOM);
    stage->hall = hall_new(&stage->settings, &hall_ops, stage);
    if (!stage->settings.is_stdio)
        seat_concierge(stage);
    deliver(stage);
}

void stage_done(struct stage *stage)
{
    hall_free(stage->hall);
    forget_letters(stage, NULL);
    for (size_t i = 0; i < stage->outlet_count; i++) {
        buf_done(&stage->outlets[i]->said);
        buf_done(&stage->outlets[i]->visit);
        free(stage->outlets[i]);
    }
    for (size_t i = 0; i < stage->seat_count; i++)
        seat_free(stage->seats[i]);
    buf_done(&stage->said);
    buf_done(&stage->log);
}

/* --- clients --- */

static struct stage_outlet *outlet_of(struct outlet *outlet)
{
    return CONTAINER_OF(outlet, struct stage_outlet, outlet);
}

static void on_reply(struct outlet *outlet, const struct outlet_reply *reply)
{
    struct stage_outlet *o = outlet_of(outlet);

    CHECK(!o->is_over && !outlet->is_stream);
    buf_putf(&o->said, "%u", reply->status);
    if (reply->message.len)
        buf_putf(&o->said, " " STR_FMT, STR_ARG(reply->message));
    buf_putc(&o->said, '\n');
    if (reply->visit.len)
        keep(&o->visit, reply->visit);
    o->is_over = true;
}

static bool on_event(struct outlet *outlet, const struct outlet_event *event)
{
    struct stage_outlet *o = outlet_of(outlet);

    CHECK(!o->is_over);
    if (event->visit.len)
        keep(&o->visit, event->visit);
    if (event->retry_ms)
        buf_putf(&o->said, "retry %llu\n", (unsigned long long)event->retry_ms);
    else if (event->message.len || event->id.len)
        buf_putf(&o->said, "event " STR_FMT " " STR_FMT "\n", STR_ARG(event->id),
                 STR_ARG(event->message));
    return true;
}

static void on_murmur(struct outlet *outlet)
{
    buf_put(&outlet_of(outlet)->said, S("~\n"));
}

static void on_end(struct outlet *outlet)
{
    struct stage_outlet *o = outlet_of(outlet);

    CHECK(!o->is_over && outlet->is_stream);
    buf_put(&o->said, S("end\n"));
    o->is_over = true;
}

static const struct outlet_ops outlet_ops = { on_reply, on_event, on_murmur, on_end };

static struct outlet *add_outlet(struct stage *stage)
{
    struct stage_outlet *o = xcalloc(1, sizeof(*o));

    CHECK(stage->outlet_count < STAGE_OUTLETS);
    o->outlet.ops = &outlet_ops;
    buf_init(&o->said, ROOM);
    buf_init(&o->visit, ROOM);
    stage->outlets[stage->outlet_count++] = o;
    return &o->outlet;
}

static struct attendee *attendee_of(struct stage *stage, const char *who)
{
    struct attendee *a = NULL;
    struct str id = str_of(who);

    id.len = strcspn(who, "#");
    CHECK(!hall_attendee(stage->hall, str_of(who), id, (void *)(uintptr_t)who, &a));
    return a;
}

static struct json_span find2(struct str body, struct str outer, struct str inner)
{
    struct json_span whole = { .type = JSON_OBJECT, .text = body };

    return mcp_message_find(whole, (const struct str[]){ outer, inner }, 2);
}

/* The headers that fit the body of the modern era. */
static void put_headers(struct serve_post *post)
{
    static const struct str meta[] = { S("params"), S("_meta"),
                                       S("io.modelcontextprotocol/protocolVersion") };
    static const struct str names[] = { S("name"), S("uri"), S("taskId") };
    struct json_span whole = { .type = JSON_OBJECT, .text = post->body };
    struct mcp_message message;
    const char *what;

    if (mcp_message_read(post->body, DEPTH, &message, &what) || !message.method.ptr)
        return;
    post->version = mcp_message_find(whole, meta, COUNT(meta)).text;
    if (!post->version.ptr)
        return;
    post->method = message.method;
    if (str_eq(message.method, S("completion/complete")))
        return;
    for (size_t i = 0; i < COUNT(names) && !post->name.ptr; i++)
        post->name = find2(post->body, S("params"), names[i]).text;
}

static struct str visit_of(const char *visit)
{
    return *visit ? str_of(visit) : (struct str){};
}

size_t stage_post(struct stage *stage, const char *who, const char *visit,
                  const char *body)
{
    struct outlet *outlet = add_outlet(stage);
    size_t number = stage->outlet_count - 1;
    struct serve_post http = { .body = str_of(body),
                               .is_http = !stage->settings.is_stdio,
                               .content_type = S("application/json"),
                               .accept = S("application/json, text/event-stream"),
                               .max_depth = DEPTH };

    put_headers(&http);
    hall_post(stage->hall,
              &(struct hall_post){ .attendee = attendee_of(stage, who),
                                   .visit = visit_of(visit),
                                   .http = &http },
              outlet, stage->now);
    deliver(stage);
    return number;
}

size_t stage_get(struct stage *stage, const char *who, const char *visit,
                 const char *after)
{
    struct outlet *outlet = add_outlet(stage);
    size_t number = stage->outlet_count - 1;
    struct serve_post http = { .is_http = !stage->settings.is_stdio,
                               .accept = S("text/event-stream") };

    hall_listen(stage->hall,
                &(struct hall_post){ .attendee = attendee_of(stage, who),
                                     .visit = visit_of(visit),
                                     .http = &http },
                visit_of(after), outlet, stage->now);
    deliver(stage);
    return number;
}

size_t stage_delete(struct stage *stage, const char *who, const char *visit)
{
    struct outlet *outlet = add_outlet(stage);

    hall_leave(stage->hall,
               &(struct hall_post){ .attendee = attendee_of(stage, who),
                                    .visit = visit_of(visit) },
               outlet, stage->now);
    deliver(stage);
    return stage->outlet_count - 1;
}

void stage_end(struct stage *stage, const char *who, const char *why)
{
    attendee_end(attendee_of(stage, who), why, stage->now);
    deliver(stage);
}

void stage_lose(struct stage *stage, size_t outlet)
{
    stage->outlets[outlet]->is_over = true;
    hall_lost(&stage->outlets[outlet]->outlet, stage->now);
    deliver(stage);
}

struct str stage_said(struct stage *stage, size_t outlet)
{
    struct buf *said = &stage->outlets[outlet]->said;

    (void)give(stage, buf_str(said));
    buf_clear(said);
    return buf_str(&stage->said);
}

struct str stage_visit(struct stage *stage, size_t outlet)
{
    struct buf *visit = &stage->outlets[outlet]->visit;

    (void)buf_cstr(visit);
    return buf_str(visit);
}

/* --- time --- */

void stage_pass(struct stage *stage, uint64_t ms)
{
    uint64_t end = stage->now.mono_ms + ms;

    while (hall_due_ms(stage->hall) <= end) {
        uint64_t due = hall_due_ms(stage->hall);
        uint64_t step = due > stage->now.mono_ms ? due - stage->now.mono_ms : 0;

        stage->now.mono_ms += step;
        stage->now.wall_ms += step;
        hall_tick(stage->hall, stage->now);
        deliver(stage);
    }
    stage->now.wall_ms += end - stage->now.mono_ms;
    stage->now.mono_ms = end;
}
