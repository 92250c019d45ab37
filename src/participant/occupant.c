/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The occupant's life: connections that begin and break, time that passes, and what it is
 * asked. What it hears is in hear.c, what it says in ask.c.
 */
#include "participant/occupant.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "participant/ask.h"
#include "participant/calls.h"
#include "participant/occupant_priv.h"
#include "participant/proposals_priv.h"

enum { CAPABILITIES = 16 << 20 }; /* bytes of our own as JSON: more than a set may have */

struct occupant *occupant_new(struct seat *seat, const struct occupant_settings *settings,
                              const struct occupant_ops *ops, void *user)
{
    struct occupant *o = xcalloc(1, sizeof(*o));

    assert(settings->id_prefix.len > 0 && settings->id_prefix.len <= OCCUPANT_PREFIX);
    o->seat = seat;
    o->ops = *ops;
    o->user = user;
    o->settings = *settings;
    memcpy(o->prefix, settings->id_prefix.ptr, settings->id_prefix.len);
    o->settings.id_prefix.ptr = o->prefix;
    if (settings->id_key) {
        o->id_key = *settings->id_key;
        o->settings.id_key = &o->id_key;
    }
    arena_init(&o->scratch, OCCUPANT_SCRATCH);
    arena_init(&o->names, OCCUPANT_SCRATCH);
    o->capsets = capsets_new();
    buf_init(&o->capabilities, CAPABILITIES);
    roster_init(&o->roster, settings->limits.participants);
    recent_init(&o->recent, settings->limits.recent);
    offenders_init(&o->offenders, settings->limits.offenders);
    o->calls = calls_new(settings->limits.calls);
    o->proposals = proposals_new(settings->limits.proposals);
    return o;
}

void occupant_free(struct occupant *o)
{
    if (!o)
        return;
    proposals_free(o->proposals);
    calls_free(o->calls);
    offenders_done(&o->offenders);
    recent_done(&o->recent);
    roster_done(&o->roster);
    buf_done(&o->capabilities);
    capset_unref(o->capset);
    capsets_free(o->capsets);
    arena_done(&o->names);
    arena_done(&o->scratch);
    free(o);
}

/* --- connections --- */

void occupant_begin(struct occupant *o, bool resumes)
{
    o->state = OCCUPANT_WAITING;
    o->resumes = resumes;
    o->replay_fence = 0;
    recent_begin(&o->recent);
}

void occupant_hear(struct occupant *o, struct str text, struct moment now)
{
    o->now = now;
    arena_reset(&o->scratch);
    hear_text(o, text);
}

uint64_t occupant_fence(struct occupant *o)
{
    uint64_t number = ++o->fences;

    o->seat->fence(o->seat, number);
    return number;
}

void occupant_judged(struct occupant *o, uint64_t fence, struct moment now)
{
    o->now = now;
    if (o->replay_fence && fence >= o->replay_fence)
        o->replay_fence = 0;
    calls_judged(o, fence);
}

void occupant_lost(struct occupant *o, bool is_final, struct moment now)
{
    o->now = now;
    o->state = OCCUPANT_AWAY;
    o->replay_fence = 0;
    if (is_final)
        calls_lost(o);
    else
        calls_broken(o);
}

void occupant_left(struct occupant *o, struct str id, struct moment now)
{
    o->now = now;
    calls_left(o, id, LEFT_NOW);
}

/* --- offences --- */

void occupant_offend(struct occupant *o, const struct heard *heard, struct str what,
                     struct str field)
{
    struct str from = heard->env.from.ptr ? heard->env.from : S("");
    uint64_t count = offenders_count(&o->offenders, from, what);

    if (o->ops.on_offence)
        o->ops.on_offence(o->user, &(struct offence){ .from = from,
                                                      .what = what,
                                                      .field = field,
                                                      .count = count,
                                                      .text = heard->env.text });
}

static bool reports_now(const struct occupant *o)
{
    return o->settings.reports && o->state == OCCUPANT_WELCOME;
}

/* Where we may not, or cannot now, nobody hears of it. */
static void report(struct occupant *o, const struct offender *offender)
{
    struct json_writer w;
    struct buf payload;

    buf_init(&payload, OCCUPANT_SCRATCH);
    json_write_init(&w, &payload);
    json_object_open(&w);
    json_put_str(&w, S("participant"), offender->from);
    json_put_str(&w, S("what"), offender->what);
    json_put_uint(&w, S("count"), offender->count);
    json_object_close(&w);
    (void)occupant_say(
        o,
        &(struct saying){ .kind = S("participant/report"), .payload = buf_str(&payload) },
        o->now, NULL, NULL);
    buf_done(&payload);
}

static void tick_reports(struct occupant *o)
{
    const struct offender *offender;

    if (!reports_now(o))
        return;
    while ((offender = offenders_take_report(&o->offenders, o->now.mono_ms)))
        report(o, offender);
}

/* --- time --- */

void occupant_tick(struct occupant *o, struct moment now)
{
    o->now = now;
    calls_tick(o);
    proposals_tick(o);
    tick_reports(o);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t occupant_due_ms(const struct occupant *o)
{
    uint64_t due = earlier(calls_due_ms(o), proposals_due_ms(o));

    return reports_now(o) ? earlier(due, offenders_due_ms(&o->offenders)) : due;
}

void occupant_rest(struct occupant *o)
{
    arena_done(&o->scratch);
    arena_done(&o->names);
    calls_rest(o->calls);
}

/* --- questions --- */

bool occupant_is_welcome(const struct occupant *o)
{
    return o->state == OCCUPANT_WELCOME;
}

struct str occupant_id(const struct occupant *o)
{
    return o->id.ptr ? o->id : S("");
}

struct str occupant_last(const struct occupant *o)
{
    return o->last.ptr ? o->last : S("");
}

size_t occupant_envelope_bytes(const struct occupant *o)
{
    return o->envelope_bytes;
}

struct str occupant_capabilities(const struct occupant *o)
{
    return o->capset ? buf_str(&o->capabilities) : S("[]");
}

static bool may_with(struct occupant *o, struct str kind, struct json_span payload)
{
    struct arena scratch;
    bool may;

    if (payload.type != JSON_OBJECT)
        return false;
    arena_init(&scratch, OCCUPANT_SCRATCH);
    may = capset_inspect(o->capset, kind, payload, &scratch) != NULL;
    arena_done(&scratch);
    return may;
}

enum verdict occupant_verdict(const struct occupant *o, struct str kind)
{
    struct kind parsed;

    if (!o->capset || kind_parse(kind, &parsed))
        return VERDICT_DENY;
    return kind_needs_capability(&parsed) ? capset_may(o->capset, kind) : VERDICT_ALLOW;
}

bool occupant_may(struct occupant *o, struct str kind, struct json_span payload)
{
    switch (occupant_verdict(o, kind)) {
    case VERDICT_DENY: return false;
    case VERDICT_ALLOW: return true;
    case VERDICT_INSPECT: break;
    }
    return may_with(o, kind, payload);
}

const struct roster_entry *occupant_next_participant(const struct occupant *o, size_t *at)
{
    return map_next(&o->roster.entries, at);
}

const struct roster_entry *occupant_find_participant(const struct occupant *o,
                                                     struct str id)
{
    return roster_find(&o->roster, id);
}
