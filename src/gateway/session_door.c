/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets and sessions. A ticket stands in for a token where none can be sent; a browser
 * that arrives with a sign-in ticket turns it into a session: a token of its own, kept in
 * memory only, for a working day.
 */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "gateway/auth.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/start.h"
#include "gateway/tokens.h"
#include "gateway/ws_door.h"

enum {
    WS_TICKET_MS = 30 * 1000, /* D2 */
    LINK_MS = 10 * 60 * 1000,
    SESSION_MS = 12 * 60 * 60 * 1000,
};

/* --- POST /ws-ticket and POST /admin/link --- */

/* `link`: where it is used, or "". */
static void reply_ticket(struct exchange *x, struct str ticket, uint64_t lifetime_ms,
                         struct str link)
{
    struct json_writer w;
    struct buf out;

    if (ticket.len == 0) {
        exchange_fail(x, ERR_OVERLOAD, "Too many tickets wait to be used.");
        return;
    }
    buf_init(&out, 4096);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("ticket"), ticket);
    json_put_given(&w, S("link"), link);
    json_put_uint(&w, S("expires_in"), lifetime_ms / 1000);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    crypto_wipe(out.ptr, out.len);
    buf_done(&out);
}

static void on_ws_ticket(struct exchange *x, struct str ticket)
{
    reply_ticket(x, ticket, WS_TICKET_MS, S(""));
}

void ticket_post(struct exchange *x)
{
    ticket_make(x, x->identity, TICKET_FOR_SOCKET, WS_TICKET_MS, on_ws_ticket);
}

static void on_link(struct exchange *x, struct str ticket)
{
    struct buf link;

    buf_init(&link, 1024);
    gateway_put_link(x->worker, ticket, &link);
    reply_ticket(x, ticket, LINK_MS, buf_str(&link));
    crypto_wipe(link.ptr, link.len);
    buf_done(&link);
}

/* Whoever may use the local socket has no name there: the link is that of the start. */
static struct identity *whom_to_sign_in(const struct exchange *x)
{
    struct identity *identity;

    if (x->identity != gateway_local_identity(x->worker->gateway))
        return x->identity;
    MAP_FOREACH(identity, &x->worker->tokens.by_hash)
        if (start_is_admin(identity))
            return identity;
    return x->identity;
}

void admin_link(struct exchange *x)
{
    ticket_make(x, whom_to_sign_in(x), TICKET_FOR_SESSION, LINK_MS, on_link);
}

/* --- sessions --- */

struct session {
    struct gather gather;
    struct exchange *x;
    struct identity *identity;
    struct identity *parent; /* what it comes from */
    struct buf secret;
};

static void session_free(struct session *session)
{
    gather_done(&session->gather);
    crypto_wipe(session->secret.ptr, session->secret.len);
    buf_done(&session->secret);
    identity_unref(session->identity);
    identity_unref(session->parent);
    free(session);
}

static void visit_begin(struct gather *gather, struct gather_part *part)
{
    const struct session *session = CONTAINER_OF(gather, struct session, gather);

    /* Old ones go, lest they pile up. */
    token_table_drop_expired(&part->worker->tokens, SOURCES_SESSIONS,
                             loop_wall_ms(part->worker->loop));
    worker_forget_strangers(part->worker);
    if (!auth_is_in_force(part->worker, session->parent))
        return; /* revoked meanwhile; another worker may not know yet */
    if (session->identity->source != FROM_GUEST)
        token_table_add(&part->worker->tokens, session->identity);
    else if (!worker_add_guest(part->worker, session->identity))
        return;
    part->count = 1;
    if (session->parent->source == FROM_INVITATION)
        (void)token_table_remove(&part->worker->tokens, session->parent->token_hash);
}

static void visit_end(struct gather *gather, struct gather_part *part)
{
    const struct session *session = CONTAINER_OF(gather, struct session, gather);

    part->count = worker_end_token(part->worker, session->identity);
}

static void refuse_ticket(struct exchange *x)
{
    x->worker->metrics.logins_failed++;
    throttle_failed(&x->worker->throttle, str_of(exchange_peer(x)->address),
                    loop_now_ms(x->worker->loop));
    exchange_fail(x, ERR_UNAUTHORIZED,
                  "The ticket is not known, was used, or has expired.");
}

static void answer_undone(struct gather *gather)
{
    struct session *session = CONTAINER_OF(gather, struct session, gather);

    if (exchange_resume(session->x))
        refuse_ticket(session->x);
    session_free(session);
}

/* It begins on all workers or on none. */
static void undo(struct session *session)
{
    gather_done(&session->gather);
    session->gather = (struct gather){ .visit = visit_end, .done = answer_undone };
    gather_start(&session->gather, session->x->worker);
}

/* Who it is, for the page that has to know. */
static void write_identity(const struct identity *identity, struct json_writer *w)
{
    json_put_str(w, S("id"), identity->id);
    json_put_str(w, S("type"), participant_type_name(identity->type));
    json_put_bool(w, S("admin"), identity->is_admin);
    json_put_strs(w, S("topics"), identity->topics);
    json_put_given_time(w, S("expires_at"), identity->expires_ms);
}

static void answer_begin(struct gather *gather)
{
    struct session *session = CONTAINER_OF(gather, struct session, gather);
    struct json_writer w;
    struct buf out;

    if (gather_total(gather) < gather->part_count) {
        undo(session);
        return;
    }
    if (exchange_resume(session->x)) {
        buf_init(&out, 1 << 20);
        json_write_init(&w, &out);
        json_object_open(&w);
        json_put_str(&w, S("token"), buf_str(&session->secret));
        write_identity(session->identity, &w);
        json_object_close(&w);
        exchange_json(session->x, 200, &out);
        buf_done(&out);
    }
    session_free(session);
}

/* Never outlives its token, nor the inviter's where it takes the place of an invitation,
 * which is to be used soon but not to end soon. */
static uint64_t session_end_ms(const struct identity *identity, uint64_t now_ms)
{
    uint64_t most_ms =
        identity->source == FROM_INVITATION ? identity->lasts_ms : identity->expires_ms;
    uint64_t ends_ms = now_ms + SESSION_MS;

    return most_ms && most_ms < ends_ms ? most_ms : ends_ms;
}

static void begin_session(struct exchange *x, struct identity *identity)
{
    struct session *session;
    struct identity template;

    if (identity && !auth_is_in_force(x->worker, identity)) {
        identity_unref(identity);
        identity = NULL;
    }
    if (!identity) {
        refuse_ticket(x);
        return;
    }
    session = xcalloc(1, sizeof(*session));
    buf_init(&session->secret, 256);
    template = *identity;
    template.source =
        identity_is_from(identity, SOURCES_GUESTS) ? FROM_GUEST : FROM_SESSION;
    template.token_name = token_make_name(S("session"), &x->arena);
    template.created_ms = loop_wall_ms(x->worker->loop);
    template.expires_ms = session_end_ms(identity, template.created_ms);
    template.lasts_ms = identity_lasts_ms(identity);
    token_draw(&template, &session->secret);
    session->identity = identity_new(&template);
    session->parent = identity; /* was given to us */
    session->x = x;
    session->gather.visit = visit_begin;
    session->gather.done = answer_begin;
    exchange_suspend(x);
    gather_start(&session->gather, x->worker);
}

struct session_request {
    struct str ticket;
};

static const struct json_field session_fields[] = {
    JSON_FIELD(struct session_request, ticket, JSON_REQUIRED),
};

void session_post(struct exchange *x)
{
    struct session_request req = {};
    const struct json *root;

    if (json_parse(x->body, &x->arena, &root, NULL) ||
        json_read(root, session_fields, COUNT(session_fields), &x->arena, &req, NULL)) {
        exchange_fail(x, ERR_BAD_REQUEST, "The body must be {\"ticket\": \"…\"}.");
        return;
    }
    if (!throttle_allows(&x->worker->throttle, str_of(exchange_peer(x)->address),
                         loop_now_ms(x->worker->loop))) {
        exchange_fail(x, ERR_THROTTLED, "Too many failed attempts from this address.");
        return;
    }
    ticket_spend(x, TICKET_FOR_SESSION, req.ticket, begin_session);
}

static struct str source_of(const struct identity *identity)
{
    if (identity_is_from(identity, SOURCES_GUESTS))
        return S("guest");
    return identity_is_from(identity, SOURCES_SESSIONS) ? S("session") : S("token");
}

/* What a page must know that was given a token. */
void session_get(struct exchange *x)
{
    const struct identity *identity = x->identity;
    struct json_writer w;
    struct buf out;

    buf_init(&out, 1 << 20);
    json_write_init(&w, &out);
    json_object_open(&w);
    write_identity(identity, &w);
    json_put_str(&w, S("name"), identity->token_name);
    json_put_str(&w, S("source"), source_of(identity));
    json_put_given(&w, S("profile"), identity->profile);
    json_put_time(&w, S("now"), loop_wall_ms(x->worker->loop));
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

static void answer_end(struct gather *gather)
{
    struct session *session = CONTAINER_OF(gather, struct session, gather);

    if (exchange_resume(session->x))
        exchange_reply(session->x, 204, S(""), S(""));
    session_free(session);
}

void session_delete(struct exchange *x)
{
    struct session *session;

    if (!identity_is_from(x->identity, SOURCES_SESSIONS)) {
        exchange_fail(x, ERR_CONFLICT, "This is no session but a token of its own.");
        return;
    }
    session = xcalloc(1, sizeof(*session));
    session->x = x;
    session->identity = identity_ref(x->identity);
    session->gather.visit = visit_end;
    session->gather.done = answer_end;
    exchange_suspend(x);
    gather_start(&session->gather, x->worker);
}
