/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients send: which session, which era, and whether it goes to the room at once.
 *
 *     POST ─► judged ─► visit ─┬─ notification, answer: 202
 *                              └─ request ─ strand ─► waits for a welcome ─► method, wish
 *     GET ──► visit ─► its stream, or the rest of another
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/rpc.h"
#include "mcpdoor/bundle.h"
#include "mcpdoor/hall_priv.h"
#include "mcpdoor/wish.h"

enum {
    ACCEPTED = 202,
    NO_CONTENT = 204,
    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    NOT_ACCEPTABLE = 406,
    CONFLICT = 409,
    BUSY = 503,
    NEWEST_LEGACY = 1, /* of mcp_versions; the only one with priming events */
};

/* One POST. */
struct posted {
    struct hall *hall;
    struct attendee *attendee;
    struct visit *visit; /* NULL: modern, or none */
    const struct serve_post *http;
    struct outlet *outlet;
    struct serve_incoming in;
};

/* --- short answers --- */

static void reply(struct outlet *outlet, unsigned status, struct str message)
{
    outlet->ops->reply(outlet,
                       &(struct outlet_reply){ .status = status, .message = message });
}

static void refuse(const struct hall *hall, struct outlet *outlet, unsigned status,
                   struct json_span id, const char *why)
{
    CLEANUP(buf_done) struct buf message;
    int64_t code = SERVE_REFUSED;

    if (status == NOT_FOUND)
        code = SERVE_NO_SESSION;
    buf_init(&message, HALL_MORE + hall->settings.max_message);
    serve_put_error(&message, id, code, str_of(why), S(""));
    reply(outlet, status, buf_str(&message));
}

/* The same words for what never was, what is over, and what is somebody else's. */
static void refuse_visit(const struct hall *hall, struct outlet *outlet, unsigned status,
                         struct json_span id)
{
    refuse(hall, outlet, status, id,
           status == NOT_FOUND ? "there is no such session"
                               : "Mcp-Session-Id is missing: initialize comes first");
}

/* --- to the room --- */

static void serve(const struct asked_for *ask)
{
    ask->attendee->hall->counts.requests++;
    if (!method_answer(ask))
        wish_begin(ask);
}

static bool needs_room(const struct serve_incoming *in)
{
    return !str_eq(in->message.method, S("ping"));
}

/* An answer to who cannot be helped. */
static void fail_busy(const struct asked_for *ask, const char *why)
{
    asked_fail(ask, RPC_INTERNAL, str_of(why), S(""));
}

/* Is the list of those that wait too long already? */
static bool has_room_to_wait(const struct attendee *a)
{
    const struct link *link;
    size_t count = 0;

    for (link = a->waiting.next; link != &a->waiting; link = link->next)
        count++;
    return count < HALL_WAITING;
}

static void begin(const struct asked_for *ask)
{
    struct attendee *a = ask->attendee;

    attendee_stay(a);
    if (!needs_room(ask->in)) {
        serve(ask);
        return;
    }
    if (attendee_enter(a)) {
        fail_busy(ask, "there is no seat in the room");
        return;
    }
    if (attendee_is_ready(a) && list_is_empty(&a->waiting))
        serve(ask);
    else if (has_room_to_wait(a))
        errand_wait(errand_of(ask->strand), ask->http);
    else
        fail_busy(ask, "too many requests wait already");
}

/* The text is judged again: what was read of it then is gone. */
static void go_on(struct errand *errand)
{
    CLEANUP(xfreep) struct serve_post *post = errand_go_on(errand);
    struct attendee *a = errand->attendee;
    CLEANUP(buf_done) struct buf error;
    struct serve_incoming in;
    struct asked_for ask = { .attendee = a,
                             .visit = errand->visit,
                             .in = &in,
                             .http = post,
                             .strand = errand->strand };

    buf_init(&error, HALL_MORE + a->hall->settings.max_message);
    if (serve_judge(post, &in, &error))
        strand_answer(errand->strand, BAD_REQUEST, buf_str(&error), a->hall->now.mono_ms);
    else if (occupant_is_welcome(a->occupant))
        serve(&ask);
    else
        fail_busy(&ask, "the room does not answer");
}

void hall_go_on(struct attendee *a)
{
    while (!a->is_ending && !list_is_empty(&a->waiting)) {
        struct errand *errand = CONTAINER_OF(a->waiting.next, struct errand, waiting);

        if (!attendee_is_ready(a) && errand->due_ms > a->hall->now.mono_ms)
            return;
        go_on(errand);
    }
}

/* --- requests --- */

static struct strand_terms terms_of(const struct posted *p)
{
    const struct hall_settings *settings = &p->hall->settings;
    struct strand_terms terms = {};

    if (!p->visit || settings->is_stdio)
        return terms;
    terms.is_resumable = true;
    terms.has_priming = p->visit->version == NEWEST_LEGACY;
    terms.poll_ms = settings->poll_ms;
    return terms;
}

static void take_request(const struct posted *p, struct strand_terms terms,
                         struct outlet *outlet, const struct serve_incoming *in)
{
    struct errand *errand =
        errand_new(p->attendee, p->visit, in->message.id, terms, outlet);

    begin(&(struct asked_for){ .attendee = p->attendee,
                               .visit = p->visit,
                               .in = in,
                               .http = p->http,
                               .strand = errand->strand });
}

/* --- initialize --- */

static uint8_t agree_on(struct json_span params)
{
    struct json_span version = mcp_message_member(params, S("protocolVersion"));

    for (size_t i = NEWEST_LEGACY; i < MCP_VERSIONS; i++)
        if (mcp_message_is(version, JSON_STRING) &&
            json_string_is(version, mcp_versions[i]))
            return (uint8_t)i;
    return NEWEST_LEGACY;
}

static uint32_t read_capable(struct json_span params)
{
    struct json_span capable = mcp_message_member(params, S("capabilities"));

    return mcp_message_is(capable, JSON_OBJECT) ? client_can(capable) : 0;
}

static bool has_version(struct json_span params)
{
    return mcp_message_is(mcp_message_member(params, S("protocolVersion")), JSON_STRING);
}

static void name_client(struct visit *visit, struct json_span params)
{
    CLEANUP(buf_done) struct buf name;

    buf_init(&name, HALL_MORE);
    client_put_name(&name, mcp_message_member(params, S("clientInfo")));
    free(visit->client);
    visit->client = name.len ? str_dup(buf_str(&name)) : NULL;
}

/* On stdio there is one, which may have been made for its stream. */
static struct visit *open_visit(const struct posted *p, struct json_span params)
{
    uint8_t version = agree_on(params);
    uint32_t can = read_capable(params);

    struct visit *visit = p->visit ? p->visit : visit_new(p->attendee, version, can);

    if (!visit)
        return NULL;
    visit->version = version;
    visit->can = can;
    name_client(visit, params);
    return visit;
}

static void initialize(struct posted *p)
{
    const struct mcp_message *message = &p->in.message;
    CLEANUP(buf_done) struct buf error;
    struct strand_terms terms;

    buf_init(&error, HALL_MORE + p->hall->settings.max_message);
    if (p->visit && !p->hall->settings.is_stdio) {
        serve_put_error(&error, message->id, RPC_INVALID_REQUEST,
                        S("the session is initialized already"), S(""));
        reply(p->outlet, BAD_REQUEST, buf_str(&error));
        return;
    }
    if (!has_version(message->params)) {
        serve_put_error(&error, message->id, RPC_INVALID_PARAMS,
                        S("protocolVersion is missing"), S(""));
        reply(p->outlet, 200, buf_str(&error));
        return;
    }
    p->visit = p->hall->is_draining ? NULL : open_visit(p, message->params);
    if (!p->visit) {
        refuse(p->hall, p->outlet, BUSY, message->id, "there is no room for a session");
        return;
    }
    terms = terms_of(p);
    terms.visit = p->visit->id;
    terms.poll_ms = 0; /* a session that is not known yet cannot be resumed */
    take_request(p, terms, p->outlet, &p->in);
}

/* --- what is no request --- */

/* Modern clients over HTTP close the stream. Without a session an id names nothing:
 * others of the same credential count from one as well. */
static void cancel(const struct posted *p, struct json_span params)
{
    static const struct str name = S("requestId");
    struct json_span id = mcp_message_member(params, name);

    if (!p->visit && !p->hall->settings.is_stdio)
        return;
    if (!id.text.ptr || (id.type != JSON_STRING && id.type != JSON_NUMBER))
        return;
    if (!errand_cancel(p->attendee, p->visit, id))
        wish_cancel(p->attendee, p->visit, id);
}

static void take_notice(const struct posted *p, const struct mcp_message *message)
{
    if (message->type != MESSAGE_NOTIFICATION) {
        if (p->visit)
            (void)wish_reply(p->visit, message);
        return;
    }
    if (str_eq(message->method, S("notifications/cancelled")))
        cancel(p, message->params);
    else if (p->visit && str_eq(message->method, S("notifications/roots/list_changed")))
        attendee_notify(p->attendee, message->method);
}

/* --- batches --- */

static size_t count_requests(const struct posted *p)
{
    struct mcp_message_walk walk;
    struct serve_incoming item;
    size_t count = 0;

    if (mcp_message_walk_begin(&walk, p->http->body, JSON_MAX_DEPTH))
        return 0;
    while (serve_batch_next(&p->in, &walk, &item))
        count += item.message.type == MESSAGE_REQUEST ? 1 : 0;
    return count;
}

/* The item as if it had come alone. */
static void take_item(const struct posted *p, struct bundle *bundle, size_t index,
                      const struct serve_incoming *item)
{
    struct serve_post http = *p->http;
    struct posted alone = *p;

    http.body = item->message.text;
    alone.http = &http;
    take_request(&alone, (struct strand_terms){}, bundle_outlet(bundle, index), item);
}

static void take_batch(const struct posted *p)
{
    size_t count = count_requests(p), index = 0;
    struct strand_terms terms = terms_of(p);
    struct mcp_message_walk walk;
    struct serve_incoming item;
    struct bundle *bundle = NULL;

    if (count) {
        terms.number = p->hall->next_strand++;
        bundle = bundle_new(&terms, p->outlet, count, p->hall->settings.max_message,
                            &p->hall->now.mono_ms);
        list_append(&p->visit->strands, strand_link(bundle_strand(bundle)));
        hall_strand_due(p->hall, bundle_strand(bundle));
    }
    if (mcp_message_walk_begin(&walk, p->http->body, JSON_MAX_DEPTH))
        return;
    while (serve_batch_next(&p->in, &walk, &item)) {
        if (item.message.type == MESSAGE_REQUEST)
            take_item(p, bundle, index++, &item);
        else
            take_notice(p, &item.message);
    }
    if (!count)
        reply(p->outlet, ACCEPTED, S(""));
}

/* --- POST --- */

static void take_message(struct posted *p)
{
    if (p->in.message.type == MESSAGE_REQUEST) {
        take_request(p, terms_of(p), p->outlet, &p->in);
        return;
    }
    take_notice(p, &p->in.message);
    reply(p->outlet, ACCEPTED, S(""));
}

/* A client on stdio that never said initialize has a session all the same. */
static void take_legacy(struct posted *p, unsigned visit_status)
{
    const struct mcp_message *message = &p->in.message;

    if (!p->in.is_batch && message->type == MESSAGE_REQUEST &&
        str_eq(message->method, S("initialize"))) {
        initialize(p);
        return;
    }
    if (!p->visit && p->hall->settings.is_stdio)
        p->visit = visit_new(p->attendee, NEWEST_LEGACY, 0);
    if (p->visit && p->in.is_batch)
        take_batch(p);
    else if (p->visit)
        take_message(p);
    else
        refuse_visit(p->hall, p->outlet, visit_status, message->id);
}

void hall_post(struct hall *hall, const struct hall_post *post, struct outlet *outlet,
               struct moment now)
{
    CLEANUP(buf_done) struct buf error;
    struct serve_post http = *post->http;
    struct posted p = {
        .hall = hall, .attendee = post->attendee, .http = &http, .outlet = outlet
    };
    unsigned status, visit_status;

    hall->now = now;
    buf_init(&error, HALL_MORE + hall->settings.max_message);
    p.visit = visit_find(p.attendee, post->visit, &visit_status);
    http.agreed = p.visit ? mcp_versions[p.visit->version] : S("");
    status = serve_judge(&http, &p.in, &error);
    if (status) {
        reply(outlet, status, buf_str(&error));
    } else if (p.in.era == ERA_MODERN) {
        p.visit = NULL;
        take_message(&p);
    } else {
        take_legacy(&p, visit_status);
    }
    hall_settle(hall, p.attendee);
}

/* --- GET, DELETE --- */

static struct strand *find_strand(const struct visit *visit, uint64_t number)
{
    struct link *link;

    for (link = visit->strands.next; link != &visit->strands; link = link->next)
        if (strand_number(strand_of(link)) == number)
            return strand_of(link);
    return NULL;
}

static bool resume(struct visit *visit, struct str after, struct outlet *outlet)
{
    struct hall *hall = visit->attendee->hall;
    uint64_t number, sequence;
    struct strand *strand;

    if (!after.ptr || !strand_read_id(after, &number, &sequence))
        return false;
    strand = find_strand(visit, number);
    if (!strand || !strand_resume(strand, outlet, sequence, hall->now.mono_ms))
        return false;
    hall->counts.resumed++;
    hall_strand_due(hall, strand);
    return true;
}

/* One that nobody holds any more makes room for the next. */
static void give_common(struct visit *visit, struct outlet *outlet)
{
    const struct hall *hall = visit->attendee->hall;
    struct strand_terms terms = {
        .is_resumable = !hall->settings.is_stdio,
        .has_priming = !hall->settings.is_stdio && visit->version == NEWEST_LEGACY,
        .is_standing = true,
    };

    if (visit->common && strand_is_attached(visit->common)) {
        refuse(hall, outlet, CONFLICT, (struct json_span){},
               "the session has a stream already");
        return;
    }
    strand_free(visit->common);
    visit->common =
        errand_new(visit->attendee, visit, (struct json_span){}, terms, outlet)->strand;
}

void hall_listen(struct hall *hall, const struct hall_post *post, struct str after,
                 struct outlet *outlet, struct moment now)
{
    struct visit *visit;
    unsigned status;

    hall->now = now;
    visit = visit_find(post->attendee, post->visit, &status);
    if (post->http && post->http->is_http && !serve_takes_events(post->http->accept)) {
        refuse(hall, outlet, NOT_ACCEPTABLE, (struct json_span){},
               "Accept must list text/event-stream");
        return;
    }
    if (!visit && hall->settings.is_stdio)
        visit = visit_new(post->attendee, NEWEST_LEGACY, 0);
    if (!visit) {
        refuse_visit(hall, outlet, status, (struct json_span){});
        return;
    }
    attendee_stay(post->attendee);
    if (attendee_enter(post->attendee))
        refuse(hall, outlet, BUSY, (struct json_span){}, "there is no seat in the room");
    else if (!resume(visit, after, outlet))
        give_common(visit, outlet);
    hall_settle(hall, post->attendee);
}

void hall_leave(struct hall *hall, const struct hall_post *post, struct outlet *outlet,
                struct moment now)
{
    struct visit *visit;
    unsigned status;

    hall->now = now;
    visit = visit_find(post->attendee, post->visit, &status);
    if (!visit) {
        refuse_visit(hall, outlet, status, (struct json_span){});
        return;
    }
    visit_end(visit);
    reply(outlet, NO_CONTENT, S(""));
    hall_settle(hall, post->attendee);
}

void hall_lost(struct outlet *outlet, struct moment now)
{
    struct strand *strand = outlet->strand;
    struct errand *errand = strand ? errand_of(strand) : NULL;
    struct attendee *a = errand ? errand->attendee : NULL;

    if (a)
        a->hall->now = now;
    strand_lost(outlet, now.mono_ms);
    if (a)
        hall_settle(a->hall, a);
}
