/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saying, asking, deciding: texts of the user become those of the occupant, and what
 * becomes of it is handed back. Whom to tell stands on a ticket, until the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "client/moot_priv.h"
#include "json/json.h"
#include "participant/ask.h"
#include "participant/proposals.h"

/* --- tickets --- */

struct ticket {
    struct moot *m;
    void (*on_progress)(struct moot *m, void *user, const struct moot_progress *progress);
    moot_on_done *on_done;
    void *user;
    struct link link;
};

static enum moot_outcome_type public_end(enum ask_end end)
{
    switch (end) {
    case ASK_RESULT: return MOOT_RESULT;
    case ASK_TOOL_ERROR: return MOOT_TOOL_ERROR;
    case ASK_ERROR: return MOOT_ERROR;
    case ASK_DENIED: return MOOT_DENIED;
    case ASK_REFUSED: return MOOT_REFUSED;
    case ASK_DECLINED: return MOOT_DECLINED;
    case ASK_TIMED_OUT: return MOOT_TIMED_OUT;
    case ASK_CANCELLED: return MOOT_CANCELLED;
    case ASK_GONE: return MOOT_GONE;
    case ASK_LOST: return MOOT_LOST;
    case ASK_SENT: return MOOT_SENT;
    }
    return MOOT_LOST;
}

static enum moot_stage public_stage(enum ask_stage stage)
{
    switch (stage) {
    case ASK_PROPOSED: return MOOT_PROPOSED;
    case ASK_TAKEN_UP: return MOOT_TAKEN_UP;
    case ASK_AUTHORIZING: return MOOT_AUTHORIZING;
    case ASK_UNDERWAY: return MOOT_UNDERWAY;
    case ASK_APPROVED: return MOOT_APPROVED;
    }
    return MOOT_UNDERWAY;
}

static void ticket_free(struct ticket *ticket)
{
    list_remove(&ticket->link);
    free(ticket);
}

static void on_done(void *user, const struct outcome *outcome)
{
    struct ticket *ticket = user;
    struct moot *m = ticket->m;
    struct arena *arena = &m->desk->given;
    struct moot_outcome told;

    arena_reset(arena);
    told = (struct moot_outcome){
        .type = public_end(outcome->type),
        .id = view_text(arena, outcome->id),
        .by = view_text(arena, outcome->by),
        .error = view_text(arena, outcome->error),
        .message = view_text(arena, outcome->message),
        .code = outcome->code,
        .json = view_str(outcome->json.text),
    };
    if (ticket->on_done)
        ticket->on_done(m, ticket->user, &told);
    ticket_free(ticket);
}

static void on_progress(void *user, const struct progress *progress)
{
    struct ticket *ticket = user;
    struct moot *m = ticket->m;
    struct arena *arena = &m->desk->given;
    struct moot_progress told;

    arena_reset(arena);
    told = (struct moot_progress){
        .id = view_text(arena, progress->id),
        .type = public_stage(progress->type),
        .by = view_text(arena, progress->by),
        .message = view_text(arena, progress->message),
        .done = progress->done,
        .total = progress->total,
    };
    ticket->on_progress(m, ticket->user, &told);
}

/* NULL where nobody wants to know. */
static struct ticket *ticket_new(struct moot *m, struct ticket wanted)
{
    struct ticket *ticket;

    if (!wanted.on_done && !wanted.on_progress)
        return NULL;
    ticket = xmalloc(sizeof(*ticket));
    *ticket = wanted;
    ticket->m = m;
    list_append(&m->tickets, &ticket->link);
    return ticket;
}

static struct ask_ops ops_of(const struct ticket *ticket)
{
    return (struct ask_ops){
        .on_progress = ticket && ticket->on_progress ? on_progress : NULL,
        .on_done = ticket ? on_done : NULL,
    };
}

void tickets_free(struct moot *m)
{
    struct ticket *ticket;

    LIST_FOREACH(ticket, &m->tickets, link)
        ticket_free(ticket);
}

/* It was asked, or not: then nobody is told, and the ticket goes. */
static enum moot_err conclude(struct moot *m, struct ticket *ticket, enum err err,
                              const char *why)
{
    if (err && ticket)
        ticket_free(ticket);
    return handle_fail(m, err, why);
}

static void give_id(struct str id, char *ret_id)
{
    if (ret_id)
        (void)snprintf(ret_id, MOOT_ID, STR_FMT, STR_ARG(id));
}

/* --- saying --- */

static enum moot_err say(struct moot *m, struct saying *saying, struct ticket wanted,
                         char *ret_id)
{
    struct ticket *ticket = ticket_new(m, wanted);
    const char *why = NULL;
    struct str id;
    enum err err;

    saying->ops = ops_of(ticket);
    saying->user = ticket;
    err = occupant_say(m->occupant, saying, handle_now(), &id, &why);
    if (!err)
        give_id(id, ret_id);
    return conclude(m, ticket, err, why);
}

enum moot_err moot_send(struct moot *m, const struct moot_envelope *envelope,
                        char *ret_id)
{
    CLEANUP(xfreep) struct str *to = NULL;
    struct saying saying = {
        .kind = str_of(envelope->kind),
        .payload = str_of(envelope->payload),
        .correlation_id = str_of(envelope->correlation_id),
        .to_count = envelope->to_count,
        .members = str_of(envelope->members),
    };

    if (envelope->to_count > ENVELOPE_MAX_TO)
        return handle_fail(m, ERR_INVALID, "an envelope names at most 1024 addressees");
    to = xcalloc(envelope->to_count + 1, sizeof(*to));
    for (size_t i = 0; i < envelope->to_count; i++)
        to[i] = str_of(envelope->to[i]);
    saying.to = to;
    return say(m, &saying,
               (struct ticket){ .on_done = envelope->on_done, .user = envelope->user },
               ret_id);
}

enum moot_err moot_chat(struct moot *m, const char *text)
{
    CLEANUP(buf_done) struct buf payload;
    struct str s = str_of(text);
    struct json_writer w;

    buf_init(&payload, s.len * 6 + 64);
    json_write_init(&w, &payload);
    json_object_open(&w);
    json_put_str(&w, S("text"), s);
    json_put_str(&w, S("format"), S("plain"));
    json_object_close(&w);
    return say(m, &(struct saying){ .kind = S("chat"), .payload = buf_str(&payload) },
               (struct ticket){}, NULL);
}

enum moot_err moot_notify(struct moot *m, const char *to, const char *method,
                          const char *params)
{
    const char *why = NULL;
    enum err err = occupant_notify(m->occupant, str_of(to), str_of(method),
                                   str_of(params), handle_now(), &why);

    return handle_fail(m, err, why);
}

bool moot_may(struct moot *m, const char *kind, const char *payload)
{
    struct json_span span = {};
    struct json_scan scan;

    if (payload) {
        json_scan_init(&scan, str_of(payload), m->limits.depth);
        if (json_value(&scan, &span) || json_scan_end(&scan) || span.type != JSON_OBJECT)
            return false;
    }
    return occupant_may(m->occupant, str_of(kind), span);
}

/* --- asking --- */

static enum ask_how how_of(enum moot_how how)
{
    switch (how) {
    case MOOT_CALL_OR_PROPOSE: return ASK_CALL_OR_PROPOSE;
    case MOOT_CALL: return ASK_CALL;
    case MOOT_PROPOSE: return ASK_PROPOSE;
    }
    return ASK_CALL_OR_PROPOSE;
}

enum moot_err moot_request(struct moot *m, const struct moot_request *request,
                           char *ret_id)
{
    struct ticket *ticket = ticket_new(m, (struct ticket){
                                              .on_progress = request->on_progress,
                                              .on_done = request->on_done,
                                              .user = request->user,
                                          });
    struct asking asking = {
        .to = str_of(request->to),
        .method = str_of(request->method),
        .name = str_of(request->name),
        .params = str_of(request->params),
        .arguments = str_of(request->arguments),
        .reason = str_of(request->reason),
        .how = how_of(request->how),
        .timeout_ms = request->timeout_ms,
        .ops = ops_of(ticket),
        .user = ticket,
    };
    const char *why = NULL;
    struct str id;
    enum err err = occupant_request(m->occupant, &asking, handle_now(), &id, &why);

    if (!err)
        give_id(id, ret_id);
    return conclude(m, ticket, err, why);
}

enum moot_err moot_cancel(struct moot *m, const char *id, const char *reason)
{
    enum err err = occupant_cancel(m->occupant, str_of(id), str_of(reason), handle_now());

    return handle_fail(m, err, err == ERR_NOT_FOUND ? "nothing of that id waits" : NULL);
}

enum moot_err moot_prolong(struct moot *m, const char *id, uint32_t timeout_ms)
{
    enum err err = occupant_prolong(m->occupant, str_of(id), timeout_ms, handle_now());

    return handle_fail(m, err, err ? "no call of that id waits" : NULL);
}

/* --- deciding --- */

typedef enum err decide_fn(struct occupant *o, const struct deciding *deciding,
                           struct moment now, const char **ret_why);

static enum moot_err decide(struct moot *m, const struct moot_decision *decision,
                            decide_fn *fn)
{
    struct ticket *ticket = ticket_new(
        m, (struct ticket){ .on_done = decision->on_done, .user = decision->user });
    struct deciding deciding = {
        .id = str_of(decision->id),
        .to = str_of(decision->to),
        .params = str_of(decision->params),
        .reason = str_of(decision->reason),
        .timeout_ms = decision->timeout_ms,
        .valid_until_ms = decision->valid_until_ms,
        .rule = str_of(decision->rule),
        .ops = ops_of(ticket),
        .user = ticket,
    };
    const char *why = NULL;
    enum err err = fn(m->occupant, &deciding, handle_now(), &why);

    return conclude(m, ticket, err, why);
}

enum moot_err moot_fulfil(struct moot *m, const struct moot_decision *decision)
{
    return decide(m, decision, occupant_fulfil);
}

enum moot_err moot_reject(struct moot *m, const struct moot_decision *decision)
{
    return decide(m, decision, occupant_reject);
}

enum moot_err moot_approve(struct moot *m, const struct moot_decision *decision)
{
    return decide(m, decision, occupant_approve);
}

enum moot_err moot_delegate(struct moot *m, const struct moot_decision *decision)
{
    return decide(m, decision, occupant_delegate);
}

bool moot_next_proposal(const struct moot *m, size_t *at, struct moot_proposal *ret)
{
    const struct proposed *proposed = occupant_next_proposal(m->occupant, NULL);

    for (size_t i = 0; proposed && i < *at; i++)
        proposed = occupant_next_proposal(m->occupant, proposed);
    if (!proposed)
        return false;
    (*at)++;
    view_proposal(&m->desk->given, proposed, ret);
    return true;
}

bool moot_find_proposal(const struct moot *m, const char *id, struct moot_proposal *ret)
{
    const struct proposed *proposed = occupant_find_proposal(m->occupant, str_of(id));

    if (proposed)
        view_proposal(&m->desk->given, proposed, ret);
    return proposed;
}
