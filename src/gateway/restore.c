/* SPDX-License-Identifier: Apache-2.0 */
/* Reading back, at the start, what was kept. */
#include "gateway/restore.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "gateway/gateway.h"
#include "gateway/grants.h"
#include "gateway/kept.h"
#include "gateway/rulebooks.h"
#include "gateway/server_list.h"
#include "gateway/server_uids.h"
#include "gateway/servers.h"
#include "gateway/teams.h"
#include "policy/keeping.h"

enum { ARENA_BYTES = 1 << 20, ARENA_FACTOR = 8 }; /* of what is read */

struct restoring {
    struct gateway *gateway;
    uint64_t order; /* the last of all grants and strikes */
    size_t counts[STORE_SECTION_COUNT];
    size_t skipped;
};

/* Reads one item into the arena and puts it where it belongs. ERR_NOT_FOUND: it is over.
 */
typedef enum err restorer(struct restoring *r, const struct kept_text *text,
                          struct arena *arena);

static struct worker *home_of(struct gateway *gateway, struct str topic)
{
    return topic.len ? worker_of_topic(gateway, topic) : gateway_worker(gateway, 0);
}

/* The workers that hold what was said there: one, or (topic "") all. */
static size_t holders_of(struct gateway *gateway, struct str topic, size_t *ret_first)
{
    *ret_first = topic.len ? worker_of_topic(gateway, topic)->index : 0;
    return topic.len ? 1 : gateway_worker_count(gateway);
}

static void note_order(struct restoring *r, uint64_t order)
{
    if (order > r->order)
        r->order = order;
}

static enum err restore_grant(struct restoring *r, const struct kept_text *text,
                              struct arena *arena)
{
    struct kept_grant kept;
    size_t first;
    size_t count = holders_of(r->gateway, text->topic, &first);
    enum err err = kept_read_grant(text, arena, &kept);

    if (err)
        return err;
    note_order(r, kept.terms.order);
    if ((kept.terms.expires_ms && kept.terms.expires_ms <= clock_wall_ms()) ||
        (kept.terms.max_uses && kept.uses >= kept.terms.max_uses))
        return ERR_NOT_FOUND;
    for (size_t i = first; !err && i < first + count; i++)
        err = rights_restore_grant(gateway_worker(r->gateway, i)->rights, kept.holder,
                                   &kept.terms, kept.uses);
    return err;
}

static enum err restore_strike(struct restoring *r, const struct kept_text *text,
                               struct arena *arena)
{
    struct kept_strike kept;
    size_t first;
    size_t count = holders_of(r->gateway, text->topic, &first);
    enum err err = kept_read_strike(text, arena, &kept);

    if (err)
        return err;
    note_order(r, kept.terms.order);
    for (size_t i = first; !err && i < first + count; i++)
        err = rights_restore_strike(gateway_worker(r->gateway, i)->rights, kept.holder,
                                    &kept.terms);
    return err;
}

static struct standings *standings_of(struct worker *worker, struct str topic)
{
    return topic.len ? &state_park(worker, topic)->standings : &worker->standings;
}

/* A clock that was set back makes no bar longer than a kick does. */
static uint64_t left_of(const struct worker *worker, uint64_t until_ms)
{
    uint64_t now_ms = clock_wall_ms();
    uint64_t left_ms = until_ms > now_ms ? until_ms - now_ms : 0;
    uint64_t most_ms = worker->settings->config->limits.kick_bar_ms;

    return left_ms < most_ms ? left_ms : most_ms;
}

static enum err restore_standing(struct restoring *r, const struct kept_text *text,
                                 struct arena *arena)
{
    struct kept_standing kept;
    size_t first;
    size_t count = holders_of(r->gateway, text->topic, &first);
    enum err err = kept_read_standing(text, arena, &kept);
    uint64_t left_ms;

    if (err)
        return err;
    left_ms = left_of(gateway_worker(r->gateway, first), kept.barred_until_ms);
    if (!kept.is_paused && left_ms == 0)
        return ERR_NOT_FOUND;
    for (size_t i = first; i < first + count; i++) {
        struct worker *worker = gateway_worker(r->gateway, i);
        struct standings *standings = standings_of(worker, text->topic);
        void (*changed)(struct standings *, const struct standing *) = standings->changed;

        standings->changed = NULL; /* it is kept already */
        if (left_ms)
            standing_bar(standings, text->key, loop_now_ms(worker->loop) + left_ms);
        if (kept.is_paused)
            standing_pause(standings, text->key, kept.is_held);
        standings->changed = changed;
    }
    return OK;
}

static enum err restore_proposal(struct restoring *r, const struct kept_text *text,
                                 struct arena *arena)
{
    struct kept_proposal kept;
    enum err err = kept_read_proposal(text, arena, &kept);
    bool is_open = kept.past.state == PROPOSAL_OPEN;
    struct parked *parked;

    if (err)
        return err;
    if (kept.past.expires_ms <= clock_wall_ms())
        return ERR_NOT_FOUND;
    parked = state_park(home_of(r->gateway, text->topic), text->topic);
    err = ledger_restore(&parked->ledger, &kept.past, is_open ? &kept.env : NULL);
    state_settle(parked);
    return err;
}

/* What cannot be understood stays where it is: another version may. */
static enum err restore_server(struct restoring *r, const struct kept_text *text,
                               struct arena *arena [[maybe_unused]])
{
    struct server_spec *spec = NULL;
    char *why = NULL;
    enum err err = server_spec_read(text->value, &spec, &why);

    if (!err)
        err = server_list_add(gateway_added(r->gateway), spec, (struct str_list){}, &why);
    if (err)
        log_warn("server.skip", "name=%s reason=%s", LOG_TEXT(text->key),
                 LOG_TEXT(str_of(why ? why : err_name(err))));
    server_spec_unref(spec);
    free(why);
    return err == ERR_NOT_FOUND ? ERR_INVALID : err; /* it is not over */
}

static enum err restore_topic(struct restoring *r, const struct kept_text *text,
                              struct arena *arena)
{
    return text->topic.len
               ? switches_restore(worker_of_topic(r->gateway, text->topic), text, arena)
               : ERR_INVALID;
}

static enum err restore_rule(struct restoring *r, const struct kept_text *text,
                             struct arena *arena)
{
    return topic_name_is_valid(text->topic)
               ? rulebooks_restore(worker_of_topic(r->gateway, text->topic), text, arena)
               : ERR_INVALID;
}

static enum err restore_uid(struct restoring *r, const struct kept_text *text,
                            struct arena *arena [[maybe_unused]])
{
    uint64_t uid;
    enum err err = str_to_u64(text->value, UINT32_MAX, &uid);

    if (err)
        return err;
    return server_uids_restore(gateway_uids(r->gateway), text->key, (uid_t)uid)
               ? OK
               : ERR_INVALID;
}

static enum err restore_team(struct restoring *r, const struct kept_text *text,
                             struct arena *arena [[maybe_unused]])
{
    return text->topic.len ? teams_restore(worker_of_topic(r->gateway, text->topic), text)
                           : ERR_INVALID;
}

static restorer *const restorers[STORE_SECTION_COUNT] = {
    [STORE_GRANT] = restore_grant,       [STORE_STRIKE] = restore_strike,
    [STORE_STANDING] = restore_standing, [STORE_PROPOSAL] = restore_proposal,
    [STORE_SERVER] = restore_server,     [STORE_UID] = restore_uid,
    [STORE_TOPIC] = restore_topic,       [STORE_RULE] = restore_rule,
    [STORE_TEAM] = restore_team,
};

static void on_item(void *user, const struct store_item *item)
{
    struct restoring *r = user;
    struct kept_text text = { item->topic, item->key, item->value };
    struct arena arena;
    enum err err;

    arena_init(&arena, ARENA_BYTES + ARENA_FACTOR * item->value.len);
    err = restorers[item->section](r, &text, &arena);
    arena_done(&arena);
    if (!err) {
        r->counts[item->section]++;
    } else if (err == ERR_NOT_FOUND) {
        (void)recorder_remove(home_of(r->gateway, item->topic), item);
    } else {
        r->skipped++;
        log_warn("state.skip", "section=%d topic=%s key=%s err=%s", (int)item->section,
                 LOG_TEXT(item->topic), LOG_TEXT(item->key), err_name(err));
    }
}

enum err state_restore(struct gateway *gateway)
{
    struct restoring r = { .gateway = gateway };
    enum err err = OK;

    for (size_t i = 0; !err && i < STORE_SECTION_COUNT; i++)
        if (restorers[i])
            err = store_item_each(gateway_store(gateway), (enum store_section)i, on_item,
                                  &r);
    for (size_t i = 0; !err && i < gateway_worker_count(gateway); i++) {
        struct worker *worker = gateway_worker(gateway, i);

        state_attend(worker);
        servers_restore(worker->servers, gateway_added(gateway));
        (void)rights_restored(worker->rights, r.order);
        worker_forget_strangers(worker);
        grants_plan(worker);
    }
    if (!err && r.counts[STORE_GRANT] + r.counts[STORE_STRIKE] +
                    r.counts[STORE_STANDING] + r.counts[STORE_PROPOSAL] +
                    r.counts[STORE_TOPIC] + r.counts[STORE_RULE] + r.skipped)
        log_info(
            "state.restore",
            "grants=%zu strikes=%zu standings=%zu proposals=%zu switches=%zu rules=%zu "
            "skipped=%zu",
            r.counts[STORE_GRANT], r.counts[STORE_STRIKE], r.counts[STORE_STANDING],
            r.counts[STORE_PROPOSAL], r.counts[STORE_TOPIC], r.counts[STORE_RULE],
            r.skipped);
    return err;
}
