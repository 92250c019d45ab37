/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/bridge.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "crypto/crypto.h"
#include "participant/pick.h"
#include "participant/proposals.h"
#include "participant/roster.h"

enum {
    PREFIX = 16,
    NOTE_BYTES = 1024,
    STATUS_BYTES = 8 << 10,
    KEPT_BYTES = 1 << 20,
    LEAVE_LOOK_MS = 20
};

/* clang-format off */
static const struct str era_names[] = {
    [ERA_UNKNOWN] = S(""),
    [ERA_LEGACY]  = S("legacy"),
    [ERA_MODERN]  = S("modern"),
};
/* clang-format on */

void bridge_note(struct bridge *b, const char *format, ...)
{
    char text[NOTE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    logbook_add(b->logbook, S("moot"), str_of(text), loop_wall_ms(b->means.loop));
}

bool bridge_is_known(const struct bridge *b)
{
    return b->lists.is_known && b->facts.capable;
}

size_t bridge_answer_bytes(const struct bridge *b)
{
    size_t most = occupant_envelope_bytes(b->occupant);

    return most ? most : BRIDGE_ENVELOPE;
}

/* --- what is kept --- */

static void facts_done(struct bridge_facts *facts)
{
    free(facts->version);
    free(facts->server);
    free(facts->capable);
    free(facts->instructions);
    *facts = (struct bridge_facts){};
}

static void put_facts(struct json_writer *w, const struct bridge_facts *facts)
{
    json_object_open(w);
    json_put_str(w, S("era"), era_names[facts->era]);
    json_put_str(w, S("version"), str_of(facts->version));
    if (facts->server && *facts->server) {
        json_key(w, S("server"));
        json_raw(w, str_of(facts->server));
    }
    json_key(w, S("capabilities"));
    json_raw(w, str_of(facts->capable));
    json_put_str(w, S("instructions"), str_of(facts->instructions));
    json_object_close(w);
}

static void keep_server(struct bridge *b)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, KEPT_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    if (b->kept) {
        json_key(&w, S("supervisor"));
        json_raw(&w, str_of(b->kept));
    }
    if (b->facts.capable) {
        json_key(&w, S("facts"));
        put_facts(&w, &b->facts);
    }
    json_object_close(&w);
    if (b->keep && !out.is_full)
        b->keep(b->user, KEPT_SERVER, buf_str(&out));
}

static enum mcp_era era_named(struct str name)
{
    for (size_t i = 0; i < COUNT(era_names); i++)
        if (str_eq(era_names[i], name))
            return (enum mcp_era)i;
    return ERA_UNKNOWN;
}

static char *raw_or_null(const struct json *json)
{
    return json && json->type == JSON_OBJECT ? str_dup(json->raw) : NULL;
}

static void restore_facts(struct bridge *b, const struct json *facts)
{
    char *capable = raw_or_null(json_find(facts, S("capabilities")));

    if (!capable)
        return;
    b->facts = (struct bridge_facts){
        .era = era_named(json_text(json_find(facts, S("era")))),
        .version = str_dup(json_text(json_find(facts, S("version")))),
        .server = raw_or_null(json_find(facts, S("server"))),
        .capable = capable,
        .instructions = str_dup(json_text(json_find(facts, S("instructions")))),
    };
}

static void restore(struct bridge *b, const struct str kept[static BRIDGE_KEPT])
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root = NULL, *supervisor;

    arena_init(&arena, (size_t)KEPT_BYTES * BRIDGE_TREE);
    if (kept[KEPT_SERVER].len && !json_parse(kept[KEPT_SERVER], &arena, &root, NULL)) {
        restore_facts(b, json_find(root, S("facts")));
        supervisor = json_find(root, S("supervisor"));
        b->kept = raw_or_null(supervisor);
        if (b->kept)
            supervisor_restore(b->supervisor, str_of(b->kept));
    }
    if (kept[KEPT_CATALOGUE].len && !listing_restore(b->listing, kept[KEPT_CATALOGUE]))
        b->lists.is_known = true;
}

static void keep_catalogue(void *user, struct str json)
{
    struct bridge *b = user;

    if (b->keep)
        b->keep(b->user, KEPT_CATALOGUE, json);
}

/* --- how it is --- */

static void count_tools(const struct bridge *b, size_t *ret_shown, size_t *ret_held)
{
    const struct listed *listed;
    size_t at = 0;

    *ret_shown = *ret_held = 0;
    while ((listed = listing_next(b->listing, OFFER_TOOL, &at)) != NULL) {
        *ret_held += listed->is_held && listed->verdict != PIN_DROPPED;
        *ret_shown += !listed->is_held;
    }
}

bool bridge_lacks_sign_in(const struct bridge *bridge)
{
    return bridge->is_signed_out && bridge->state != SERVER_STOPPED;
}

static void put_state(struct json_writer *w, const struct bridge *b, struct str state_key)
{
    size_t shown, held;

    count_tools(b, &shown, &held);
    json_put_str(w, state_key,
                 bridge_lacks_sign_in(b) ? S("sign_in_needed")
                                         : str_of(server_state_name(b->state)));
    if (b->facts.era != ERA_UNKNOWN)
        json_put_str(w, S("era"), era_names[b->facts.era]);
    json_put_uint(w, S("tools"), shown);
    if (held)
        json_put_uint(w, S("held"), held);
    if (bridge_lacks_sign_in(b))
        json_put_str(w, S("why"), S("somebody must sign in: `moot sign-in` tells where"));
    else if (b->why && *b->why)
        json_put_str(w, S("why"), str_of(b->why));
}

/* One more attempt of a server that fails: the room hears when that has an end, or
 * another. */
static bool is_attempt(const struct bridge *b)
{
    return b->status && b->told_state == SERVER_FAILING &&
           (b->state == SERVER_PREPARING || b->state == SERVER_STARTING);
}

void bridge_tell_status(struct bridge *b)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, STATUS_BYTES);
    if (!b->occupant || !occupant_is_welcome(b->occupant) || is_attempt(b))
        return;
    json_write_init(&w, &out);
    json_object_open(&w);
    put_state(&w, b, S("status"));
    json_put_str(&w, S("server"), b->spec->name);
    json_object_close(&w);
    if (out.is_full || (b->status && str_eq(buf_str(&out), str_of(b->status))))
        return;
    if (occupant_say(
            b->occupant,
            &(struct saying){ .kind = S("participant/status"), .payload = buf_str(&out) },
            bridge_now(b), NULL, NULL))
        return;
    free(b->status);
    b->status = str_dup(buf_str(&out));
    b->told_state = b->state;
}

void bridge_set_signed_out(struct bridge *bridge, bool is_signed_out)
{
    if (bridge->is_signed_out == is_signed_out)
        return;
    bridge->is_signed_out = is_signed_out;
    bridge_note(bridge, "%s", is_signed_out ? "a sign-in is needed" : "signed in");
    bridge_tell_status(bridge);
    if (bridge->on_change)
        bridge->on_change(bridge->user);
    bridge_settle(bridge);
}

void bridge_put_json(const struct bridge *bridge, struct buf *out)
{
    const struct bridge_counts *counts = &bridge->counts;
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("name"), bridge->spec->name);
    json_put_str(&w, S("topic"), bridge->spec->topic);
    json_put_str(&w, S("id"), bridge->spec->id);
    put_state(&w, bridge, S("state"));
    json_put_uint(&w, S("calls"), counts->calls);
    json_put_uint(&w, S("errors"), counts->errors);
    json_put_uint(&w, S("restarts"), supervisor_restarts(bridge->supervisor));
    json_put_uint(&w, S("questions"), counts->questions);
    json_put_uint(&w, S("dropped"), counts->dropped);
    json_key(&w, S("supervisor"));
    supervisor_put_json(bridge->supervisor, out);
    json_object_close(&w);
}

/* --- time --- */

static uint64_t due_ms(const struct bridge *b)
{
    uint64_t dues[] = {
        occupant_due_ms(b->occupant),
        bridged_due_ms(b),
        relist_due_ms(b),
        missing_due_ms(b),
        inputs_due_ms(b),
        gate_due_ms(b->gate),
        b->is_leaving ? loop_now_ms(b->means.loop) + LEAVE_LOOK_MS : UINT64_MAX,
    };
    uint64_t due = UINT64_MAX;

    for (size_t i = 0; i < COUNT(dues); i++)
        if (dues[i] < due)
            due = dues[i];
    return due;
}

void bridge_settle(struct bridge *b)
{
    uint64_t now = loop_now_ms(b->means.loop);
    uint64_t due;

    if (!b->occupant)
        return;
    due = due_ms(b);
    if (due == UINT64_MAX)
        loop_timer_clear(b->means.loop, &b->timer);
    else
        loop_timer_set(b->means.loop, &b->timer, due > now ? due - now : 0);
}

/* The last thing that happens: whoever is told may free it soon. */
static bool has_left(struct bridge *b)
{
    void (*on_left)(void *user) = b->on_left;

    if (!b->is_leaving || !supervisor_is_quiet(b->supervisor))
        return false;
    b->on_left = NULL;
    if (on_left)
        on_left(b->left_user);
    return true;
}

static void on_fire(struct loop_timer *timer)
{
    struct bridge *b = CONTAINER_OF(timer, struct bridge, timer);

    occupant_tick(b->occupant, bridge_now(b));
    bridged_retry(b);
    relist_tick(b);
    missing_tick(b);
    inputs_tick(b);
    gates_tick(b);
    if (!has_left(b))
        bridge_settle(b);
}

/* --- what the supervisor tells --- */

static void on_state(void *user, enum server_state state, const char *why)
{
    struct bridge *b = user;
    bool is_other = state != b->state;

    b->state = state;
    free(b->why);
    b->why = xstrdup(why ? why : "");
    if (is_other)
        bridge_note(b, "%s%s%s", server_state_name(state), *b->why ? ": " : "", b->why);
    if (state == SERVER_READY && is_other && b->facts.capable) {
        relist_begin(b, RELIST_ALL);
        guests_watch_again(b);
    }
    if (state == SERVER_FAILING || state == SERVER_STOPPED || state == SERVER_RESTING)
        relist_lost(b);
    if (state == SERVER_FAILING || state == SERVER_STOPPED)
        bridge_fail_parked(b);
    bridge_tell_status(b);
    if (b->on_change)
        b->on_change(b->user);
    bridge_settle(b);
}

static void on_facts(void *user, const struct mcp_session_facts *facts)
{
    struct bridge *b = user;

    facts_done(&b->facts);
    b->facts = (struct bridge_facts){
        .era = facts->era,
        .version = str_dup(facts->version),
        .server = str_dup(facts->server),
        .capable = str_dup(facts->capable.text.len ? facts->capable.text : S("{}")),
        .instructions = str_dup(facts->instructions),
    };
    keep_server(b);
    if (b->state == SERVER_READY)
        relist_begin(b, RELIST_ALL);
}

/* Whose call it is; NULL: nobody's, or a list that we asked for ourselves. */
static struct bridged *call_of(const struct bridge *b, const struct server_order *order)
{
    void *user = order ? server_order_user(order) : NULL;

    return user == b || input_waits(b, order) ? NULL : user;
}

static void on_log(void *user, struct str line)
{
    struct bridge *b = user;

    logbook_add(b->logbook, S("server"), line, loop_wall_ms(b->means.loop));
}

static void on_notification(void *user, const struct server_notice *notice)
{
    const struct mcp_message *message = notice->message;
    struct bridge *b = user;
    struct hearing hearing = { message, call_of(b, notice->order), notice->is_likely };

    /* What a task says to its owner, who is modern and wants none of it, is not for all.
     */
    if (input_waits(b, notice->order) && !notice->is_likely &&
        str_eq(message->method, S("notifications/message")))
        on_log(b, message->params.text);
    else
        bridge_hear(b, &hearing);
    bridge_settle(b);
}

static struct str level_for(void *user, struct str caller)
{
    return guests_level(user, caller);
}

static void on_question(void *user, const struct server_question *from)
{
    struct bridge *b = user;

    bridge_ask(b, from->question, call_of(b, from->order), input_task(b, from));
    bridge_settle(b);
}

static void on_late_progress(void *user, struct server_origin of, struct json_span params)
{
    owned_task_progress(user, of, params);
    bridge_settle(user);
}

static void on_question_gone(void *user, struct mcp_question *question)
{
    struct bridge *b = user;

    bridge_unask(b, question);
    bridge_settle(b);
}

static void on_event(void *user, const char *line)
{
    bridge_note(user, "%s", line);
}

static void on_secret(void *user, struct str value)
{
    struct bridge *b = user;

    logbook_hide(b->logbook, value);
}

static void on_keep(void *user, struct str json)
{
    struct bridge *b = user;

    free(b->kept);
    b->kept = str_dup(json);
    keep_server(b);
}

static const struct supervisor_ops supervisor_ops = {
    .on_state = on_state,
    .on_facts = on_facts,
    .on_notification = on_notification,
    .level = level_for,
    .on_late_progress = on_late_progress,
    .on_question = on_question,
    .on_question_gone = on_question_gone,
    .on_log = on_log,
    .on_event = on_event,
    .on_secret = on_secret,
    .on_keep = on_keep,
};

/* --- what the room tells --- */

static void on_welcome(void *user, bool)
{
    struct bridge *b = user;

    if (b->seat->welcome)
        b->seat->welcome(b->seat, occupant_envelope_bytes(b->occupant));
    free(b->status);
    b->status = NULL;
    bridge_tell_status(b);
}

/* Where everybody is known, who never asked anything is not waited for. */
static void note_missing(struct bridge *b, struct str id)
{
    const struct bridged *call;
    bool is_caller = !b->is_gated || guest_find(b, id);

    LIST_FOREACH(call, &b->calls, link)
        is_caller |= str_eq(call->to[0], id);
    if (is_caller)
        missing_note(b, id);
    else
        bridge_caller_gone(b, id);
}

static void on_presence(void *user, enum presence_change change,
                        const struct roster_entry *who)
{
    struct bridge *b = user;

    if (change != PRESENCE_LEAVES)
        missing_back(b, who->id);
    else if (b->is_returning)
        note_missing(b, who->id);
    else
        bridge_caller_gone(b, who->id);
    if (change == PRESENCE_LEAVES)
        gates_gone(b, who->id);
}

static bool is_awaited(void *user, struct str id)
{
    return missing_is(user, id);
}

/* Comes before the proposals hear of it, and close the one that it fulfils. */
static void look_what_it_takes_up(struct bridge *b, const struct heard *heard)
{
    const struct proposed *p = NULL;

    if (!heard->is_system && heard->env.kind.type == KIND_REQUEST &&
        heard->env.correlation_id.ptr)
        p = occupant_find_proposal(b->occupant, heard->env.correlation_id);
    b->takes_up = p && p->state == PROPOSED_OPEN && !p->owner.len &&
                  p->expires_ms > loop_wall_ms(b->means.loop) &&
                  gate_is_call_proposed(p, &heard->env);
}

/* ROOT-01: the one notification of a client that concerns a server. */
static void on_heard(void *user, const struct heard *heard)
{
    const struct kind *kind = &heard->env.kind;
    struct bridge *b = user;

    if (b->is_gated)
        look_what_it_takes_up(b, heard);
    if (!heard->is_system && kind->type == KIND_REQUEST && heard->names_me &&
        !heard->is_mine && str_eq(kind->method, S("notifications/roots/list_changed")))
        bridge_roots_changed(b, heard->env.from);
}

static void on_request(void *user, const struct heard *heard, const struct str *reply_to,
                       size_t reply_count)
{
    bridge_serve(user, heard, reply_to, reply_count);
}

static void on_cancelled(void *user, struct str request_id, struct str from,
                         struct str reason)
{
    bridge_cancel(user, request_id, from, reason);
}

static const struct occupant_ops occupant_ops = {
    .on_welcome = on_welcome,
    .on_presence = on_presence,
    .is_awaited = is_awaited,
    .on_heard = on_heard,
    .on_request = on_request,
    .on_cancelled = on_cancelled,
};

static void seat_on_begin(void *user, bool resumes)
{
    struct bridge *b = user;

    b->is_returning = true;
    occupant_begin(b->occupant, resumes);
    bridge_settle(b);
}

static void seat_on_text(void *user, struct str text)
{
    struct bridge *b = user;

    occupant_hear(b->occupant, text, bridge_now(b));
    if (b->is_returning && occupant_is_welcome(b->occupant)) {
        b->is_returning = false;
        bridged_retry(b);
    }
    bridge_settle(b);
}

static void seat_on_judged(void *user, uint64_t number)
{
    struct bridge *b = user;

    occupant_judged(b->occupant, number, bridge_now(b));
    bridge_settle(b);
}

static void seat_on_lost(void *user, bool is_final, const char *why)
{
    struct bridge *b = user;

    occupant_lost(b->occupant, is_final, bridge_now(b));
    gates_close(b, S("the room was lost before anybody decided"));
    if (!b->is_leaving)
        bridge_note(b, "the room is lost: %s", why);
    bridge_settle(b);
}

static struct str seat_on_after(void *user)
{
    struct bridge *b = user;

    return occupant_last(b->occupant);
}

const struct seat_ops bridge_seat_ops = {
    .on_begin = seat_on_begin,
    .on_text = seat_on_text,
    .on_judged = seat_on_judged,
    .on_lost = seat_on_lost,
    .on_after = seat_on_after,
};

/* --- life --- */

struct bridge *bridge_new(const struct bridge_setup *setup)
{
    struct bridge *b = xcalloc(1, sizeof(*b));

    b->spec = server_spec_ref(setup->spec);
    b->means = setup->means;
    b->keep = setup->keep;
    b->on_change = setup->on_change;
    b->user = setup->user;
    b->timer.on_fire = on_fire;
    list_init(&b->calls);
    list_init(&b->guests);
    list_init(&b->tasks);
    list_init(&b->asked);
    list_init(&b->elicited);
    list_init(&b->missing);
    b->logbook = logbook_new(b->spec->max_log);
    b->listing = listing_new(b->spec->pin, keep_catalogue, b);
    b->supervisor = supervisor_new(b->spec, &b->means, &supervisor_ops, b);
    restore(b, setup->kept);
    b->is_gated = b->spec->gate.mode != GATE_ALWAYS_ALLOW || b->spec->gate.delegate.len;
    b->gate = gate_new();
    b->rules = gate_rules_new(&b->spec->gate);
    assert(b->rules); /* whoever made the spec has looked: server_spec_fault() */
    return b;
}

/* Does not begin with a minus: commands would take the ids for options. */
static void make_prefix(struct buf *out)
{
    uint8_t random[PREFIX * 3 / 4];

    do {
        buf_clear(out);
        crypto_random(random, sizeof(random));
        base64url_write(out, (struct str){ (const char *)random, sizeof(random) });
    } while (out->ptr[0] == '-');
}

static struct occupant *make_occupant(struct bridge *b)
{
    CLEANUP(buf_done) struct buf prefix;
    struct hash_key key;

    buf_init(&prefix, PREFIX);
    make_prefix(&prefix);
    hash_key_random(&key);
    return occupant_new(
        b->seat,
        &(struct occupant_settings){
            .id_prefix = buf_str(&prefix),
            .id_key = &key,
            .knows = b->is_gated ? KNOWS_ALL : KNOWS_CALLERS,
            .call_timeout_ms = BRIDGE_QUESTION_MS,
            .limits = { .depth = BRIDGE_DEPTH,
                        .calls = BRIDGE_ASKED + (b->is_gated ? GATE_PENDING : 0),
                        .proposals = b->is_gated ? BRIDGE_PROPOSALS : BRIDGE_ASKED,
                        .participants = BRIDGE_PARTICIPANTS,
                        .offenders = BRIDGE_ASKED,
                        .recent = BRIDGE_RECENT,
                        .envelope_bytes = BRIDGE_ENVELOPE },
        },
        &occupant_ops, b);
}

void bridge_sit(struct bridge *bridge, struct seat *seat)
{
    bridge->seat = seat;
    bridge->occupant = make_occupant(bridge);
    bridge->state = supervisor_state(bridge->supervisor);
    if (!bridge_is_known(bridge) || bridge->spec->starts_now)
        supervisor_start(bridge->supervisor);
    bridge_settle(bridge);
}

void bridge_free(struct bridge *bridge)
{
    if (!bridge)
        return;
    loop_timer_clear(bridge->means.loop, &bridge->timer);
    supervisor_free(bridge->supervisor);
    bridge_drop_calls(bridge);
    bridge_drop_asked(bridge);
    guests_free(bridge);
    owned_tasks_free(bridge);
    missing_free(bridge);
    gate_free(bridge->gate);
    gate_rules_free(bridge->rules);
    if (bridge->occupant)
        occupant_free(bridge->occupant);
    listing_free(bridge->listing);
    logbook_free(bridge->logbook);
    facts_done(&bridge->facts);
    free(bridge->lists.cursor);
    free(bridge->kept);
    free(bridge->why);
    free(bridge->status);
    server_spec_unref(bridge->spec);
    free(bridge);
}

void bridge_leave(struct bridge *bridge, void (*on_done)(void *user), void *user)
{
    bridge->is_leaving = true;
    bridge->on_left = on_done;
    bridge->left_user = user;
    supervisor_stop(bridge->supervisor, "leaving");
    bridge_fail_parked(bridge);
    gates_close(bridge, S("the server leaves before anybody decided"));
    bridge_settle(bridge);
}

struct supervisor *bridge_supervisor(struct bridge *bridge)
{
    return bridge->supervisor;
}

struct listing *bridge_listing(struct bridge *bridge)
{
    return bridge->listing;
}

struct logbook *bridge_logbook(struct bridge *bridge)
{
    return bridge->logbook;
}

struct bridge_counts bridge_counts(const struct bridge *bridge)
{
    struct bridge_counts counts = bridge->counts;

    counts.restarts = supervisor_restarts(bridge->supervisor);
    return counts;
}
