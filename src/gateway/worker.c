/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/worker.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/agents_door.h"
#include "gateway/gateway.h"
#include "gateway/grants.h"
#include "gateway/http_door.h"
#include "gateway/mcp_halls.h"
#include "gateway/overview.h"
#include "gateway/provider.h"
#include "gateway/recording.h"
#include "gateway/resolve.h"
#include "gateway/room.h"
#include "gateway/servers.h"
#include "gateway/state.h"
#include "gateway/teams.h"
#include "gateway/verification.h"
#include "gateway/ws_door.h"

enum {
    SWEEP_MS = 2000,
    TICKETS_PER_ID = 1000,
    LOGIN_WINDOW_MS = 60'000,
    LOGIN_ADDRESSES = 4096,
};

static size_t wake_some(struct flush_source *source, size_t max)
{
    return rooms_wake_some(CONTAINER_OF(source, struct worker, flush_source), max);
}

static void on_sweep(struct loop_timer *timer)
{
    struct worker *worker = CONTAINER_OF(timer, struct worker, sweep_timer);

    rooms_sweep(worker);
    state_sweep(worker);
    standings_sweep(&worker->standings, loop_now_ms(worker->loop));
    ws_close_expired(worker);
    agents_sweep(worker->agents);
    mcp_halls_sweep(worker->halls);
    worker_forget_strangers(worker);
    loop_timer_set(worker->loop, timer, SWEEP_MS);
}

static bool next_credential(const struct rights_credentials *self, struct str id,
                            size_t *at, struct str_list *ret_own)
{
    const struct worker *worker =
        CONTAINER_OF((uintptr_t)self, struct worker, credentials); /* drops const */
    const struct identity *local = gateway_local_identity(worker->gateway);
    const struct identity *identity = NULL;

    while (*at != SIZE_MAX && (identity = map_next(&worker->tokens.by_hash, at)))
        if (str_eq(identity->id, id)) {
            *ret_own = identity->capabilities;
            return true;
        }
    if (*at == SIZE_MAX || !str_eq(local->id, id))
        return false;
    *at = SIZE_MAX; /* it stands in no table, and comes last */
    *ret_own = local->capabilities;
    return true;
}

static struct throttle_limits throttle_limits(const struct config *config)
{
    return (struct throttle_limits){ .max_addresses = LOGIN_ADDRESSES,
                                     .max_failures = config->limits.login_failures,
                                     .window_ms = LOGIN_WINDOW_MS,
                                     .refuse_ms = LOGIN_WINDOW_MS };
}

void worker_init(struct worker *worker, struct gateway *gateway, size_t index,
                 struct settings *settings)
{
    *worker = (struct worker){ .gateway = gateway,
                               .index = index,
                               .loop = loop_new(),
                               .settings = settings_ref(settings),
                               .capsets = capsets_new(),
                               .rights = rights_new(),
                               .credentials = { .next = next_credential },
                               .flush_source = { .wake_some = wake_some },
                               .sweep_timer = { .on_fire = on_sweep } };
    worker->flusher = conn_flusher_new(worker->loop, &worker->flush_source);
    token_table_init(&worker->tokens);
    rights_set_credentials(worker->rights, &worker->credentials);
    holdings_init(&worker->holdings, worker->rights, worker->capsets);
    ticket_table_init(&worker->tickets, settings->config->limits.tickets, TICKETS_PER_ID);
    ticket_table_init(&worker->links, settings->config->limits.tickets, TICKETS_PER_ID);
    throttle_init(&worker->throttle, throttle_limits(settings->config));
    map_init(&worker->rooms);
    recorder_init(worker);
    grants_init(worker);
    state_init(worker);
    teams_init(worker);
    list_init(&worker->dirty);
    list_init(&worker->offenders);
    list_init(&worker->lingering);
    list_init(&worker->http_clients);
    ws_clients_init(worker);
    ws_encodings_init(worker);
    for (size_t i = 0; i < settings->identity_count; i++)
        token_table_add(&worker->tokens, settings->identities[i]);
    worker->servers = servers_new(worker, gateway_data(gateway));
    worker->halls = mcp_halls_new(worker);
    if (index == 0) {
        worker->agents = agents_new(worker);
        worker->overview = overview_new(worker);
        worker->verification = verification_new(worker);
    }
    loop_timer_set(worker->loop, &worker->sweep_timer, SWEEP_MS);
}

static void free_rooms(struct worker *worker)
{
    struct live_room *room;

    while (worker->rooms.count) {
        size_t at = 0;

        room = map_next(&worker->rooms, &at);
        room_free(room);
    }
}

void worker_end_halls(struct worker *worker)
{
    mcp_halls_free(worker->halls);
    worker->halls = NULL;
}

void worker_end_servers(struct worker *worker)
{
    servers_free(worker->servers);
    worker->servers = NULL;
    provider_free(worker->provider);
    worker->provider = NULL;
}

void worker_done(struct worker *worker)
{
    worker_end_halls(worker);
    worker_end_servers(worker);
    agents_free(worker->agents);
    overview_free(worker->overview);
    verification_free(worker->verification);
    free_rooms(worker);
    recorder_done(worker);
    free(worker->listeners);
    ws_encodings_done(worker);
    map_done(&worker->rooms);
    holdings_done(&worker->holdings);
    rights_free(worker->rights);
    state_done(worker);
    teams_done(worker);
    throttle_done(&worker->throttle);
    ticket_table_done(&worker->tickets);
    ticket_table_done(&worker->links);
    token_table_done(&worker->tokens);
    capsets_free(worker->capsets);
    conn_flusher_free(worker->flusher);
    loop_free(worker->loop);
    settings_unref(worker->settings);
}

/* FNV-1a: any even spread will do, the same for every worker. */
struct worker *worker_of_topic(struct gateway *gateway, struct str topic)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (size_t i = 0; i < topic.len; i++)
        hash = (hash ^ (uint8_t)topic.ptr[i]) * 0x100000001b3;
    return gateway_worker(gateway,
                          (size_t)((hash >> 32) % gateway_worker_count(gateway)));
}

/* --- new settings --- */

static struct identity *find_session(const struct worker *worker, struct str id)
{
    struct identity *identity;

    MAP_FOREACH(identity, &worker->tokens.by_hash)
        if (identity_is_from(identity, SOURCES_SESSIONS) && str_eq(identity->id, id))
            return identity_ref(identity);
    return NULL;
}

static size_t end_credential(struct worker *worker, const struct identity *identity)
{
    (void)token_table_remove(&worker->tokens, identity->token_hash);
    mcp_halls_recheck(worker->halls, identity);
    return ws_close_token(worker, identity->token_hash) +
           agents_close_token(worker->agents, identity->token_hash);
}

/* Tickets and sessions of the participant go with its token: they may come from it. */
static size_t end_descendants(struct worker *worker, struct str id)
{
    struct identity *session;
    size_t count = 0;

    ticket_revoke(&worker->tickets, id);
    ticket_revoke(&worker->links, id);
    while ((session = find_session(worker, id))) {
        count += end_credential(worker, session);
        identity_unref(session);
    }
    return count;
}

static size_t end_token(struct worker *worker, const struct identity *identity)
{
    size_t count = end_credential(worker, identity);

    if (!identity_is_from(identity, SOURCES_SESSIONS))
        count += end_descendants(worker, identity->id);
    return count;
}

size_t worker_end_token(struct worker *worker, const struct identity *identity)
{
    size_t count = end_token(worker, identity);

    worker_forget_strangers(worker);
    return count;
}

void worker_drop_token(struct worker *worker, const struct identity *identity)
{
    (void)end_credential(worker, identity);
    worker_forget_strangers(worker);
}

void worker_forget_strangers(struct worker *worker)
{
    struct identity *local = gateway_local_identity(worker->gateway);
    uint64_t wall_ms = loop_wall_ms(worker->loop);
    struct identity *identity;
    struct map ids;

    ws_close_expired(worker); /* nobody acts whose strikes are forgotten */
    if (!rights_has_any(worker->rights))
        return;
    map_init(&ids);
    map_set(&ids, local->id, local);
    MAP_FOREACH(identity, &worker->tokens.by_hash)
        if (!identity->expires_ms || wall_ms < identity->expires_ms)
            map_set(&ids, identity->id, identity);
    teams_note_grants(worker);
    if (rights_retain(worker->rights, &ids)) {
        grants_plan(worker);
        teams_renew_grants(worker);
    }
    map_done(&ids);
}

bool worker_add_guest(struct worker *worker, struct identity *guest)
{
    if (token_table_find_like(&worker->tokens, guest->id, SOURCES_TOKENS))
        return false;
    token_table_add(&worker->tokens, guest);
    return true;
}

/* With what was granted to them: whoever has a token begins with what that says. */
static void end_guests(struct worker *worker, struct str id)
{
    struct identity *guest;

    while ((guest = token_table_find_like(&worker->tokens, id, SOURCES_GUESTS))) {
        (void)identity_ref(guest);
        (void)end_credential(worker, guest);
        rights_forget(worker->rights, guest->id);
        identity_unref(guest);
    }
}

void worker_add_token(struct worker *worker, struct identity *identity)
{
    worker_forget_strangers(worker);
    end_guests(worker, identity->id);
    token_table_add(&worker->tokens, identity);
}

/* Of tokens that were there before, under the same id, there are no guests. */
static void end_guests_of(struct worker *worker, const struct settings *settings)
{
    for (size_t i = 0; i < settings->identity_count; i++) {
        const struct identity *is = settings->identities[i];
        const struct identity *was =
            token_table_find_hash(&worker->tokens, is->token_hash);

        if (!was || !str_eq(was->id, is->id))
            end_guests(worker, is->id);
    }
}

/* Those that are gone end, those that changed mean something else from now on. */
static void replace_config_tokens(struct worker *worker, const struct settings *old,
                                  struct settings *settings, bool is_same_provider)
{
    end_guests_of(worker, settings);
    worker_forget_strangers(worker);
    token_table_drop_source(&worker->tokens, FROM_CONFIG);
    for (size_t i = 0; i < settings->identity_count; i++)
        token_table_add(&worker->tokens, settings->identities[i]);
    for (size_t i = 0; i < old->identity_count; i++) {
        const struct identity *was = old->identities[i];
        const struct identity *is =
            token_table_find_hash(&worker->tokens, was->token_hash);

        if (!is || is == was) /* of our own, and no longer wanted */
            (void)end_token(worker, was);
        else if (was->is_admin && !is->is_admin)
            (void)end_descendants(worker, was->id); /* they have the role still */
    }
    if (!settings_jwt_equal(old, settings) || !is_same_provider)
        resolve_end_jwts(worker);
    ws_change_tokens(worker);
    agents_change_tokens(worker->agents);
    worker_forget_strangers(worker);
}

static void apply_to_room(struct live_room *room, const struct settings *settings)
{
    const struct room_settings *next = settings_room(settings, room->room.topic.name);

    /* A topic that is closed now keeps its members, under the defaults. */
    room->settings = next ? next : &settings->rooms;
    room->room.topic.settings = &room->settings->topic;
    room->room.topic.ring.max_entries = room->settings->topic.ring_messages;
    room->room.topic.ring.max_bytes = room->settings->topic.ring_bytes;
    room->room.rules = &room->settings->rules;
    room->room.ledger.settings = &room->settings->ledger;
    switches_apply(room);
    recording_set(room);
}

void worker_apply(struct worker *worker, struct settings *settings)
{
    struct settings *old = worker->settings;
    bool is_same_provider = settings_provider_equal(old, settings);
    struct live_room *room;

    worker->settings = settings_ref(settings);
    ws_settings_changed(worker);
    recorder_apply(worker);
    throttle_set_limits(&worker->throttle, throttle_limits(settings->config));
    worker->tickets.max = settings->config->limits.tickets;
    worker->links.max = settings->config->limits.tickets;
    MAP_FOREACH(room, &worker->rooms)
        apply_to_room(room, settings);
    replace_config_tokens(worker, old, settings, is_same_provider);
    if (!is_same_provider) {
        provider_free(worker->provider);
        worker->provider = NULL;
    }
    MAP_FOREACH(room, &worker->rooms)
        room_tell_validation(room); /* those who may stay */
    servers_apply(worker->servers);
    mcp_halls_apply(worker->halls);
    settings_unref(old);
}

/* --- the end --- */

void worker_drain(struct worker *worker)
{
    if (!worker->is_draining)
        teams_hear_stop(worker); /* before all leave */
    worker->is_draining = true;
    for (size_t i = 0; i < worker->listener_count; i++)
        listener_done(&worker->listeners[i]);
    worker->listener_count = 0;
    ws_close_all(worker, WS_CODE_GOING_AWAY, S("the server is stopping"));
    agents_drain(worker->agents);
    servers_leave(worker->servers);
    mcp_halls_drain(worker->halls);
    http_drain(worker);
}

bool worker_is_empty(const struct worker *worker)
{
    return list_is_empty(&worker->http_clients) && ws_clients_are_gone(worker) &&
           agents_are_gone(worker->agents) && servers_are_gone(worker->servers);
}

/* --- calls on every worker --- */

static void on_part_back(struct loop_mail *mail)
{
    const struct gather_part *part = CONTAINER_OF(mail, struct gather_part, mail);
    struct gather *gather = part->gather;

    if (part->err)
        gather->err = part->err;
    if (--gather->left == 0)
        gather->done(gather);
}

static void send_back(struct recorder_waiter *waiter, enum err err)
{
    struct gather_part *part = CONTAINER_OF(waiter, struct gather_part, waiter);

    part->err = err;
    loop_post(part->gather->origin->loop, &part->mail);
}

static void on_part(struct loop_mail *mail)
{
    struct gather_part *part = CONTAINER_OF(mail, struct gather_part, mail);

    part->gather->visit(part->gather, part);
    part->mail.deliver = on_part_back;
    part->waiter = (struct recorder_waiter){ .ticket = part->gather->is_lasting
                                                           ? recorder_last(part->worker)
                                                           : 0,
                                             .on_end = send_back };
    recorder_wait(part->worker, &part->waiter);
}

void gather_start(struct gather *gather, struct worker *origin)
{
    struct gateway *gateway = origin->gateway;
    size_t count = gateway_worker_count(gateway);

    gather->origin = origin;
    gather->part_count = count;
    gather->left = count;
    gather->parts = xcalloc(count, sizeof(*gather->parts));
    for (size_t i = 0; i < count; i++) {
        struct gather_part *part = &gather->parts[i];

        *part = (struct gather_part){ .mail = { .deliver = on_part },
                                      .gather = gather,
                                      .worker = gateway_worker(gateway, i) };
        buf_init(&part->out, SIZE_MAX / 2);
    }
    for (size_t i = 0; i < count; i++)
        loop_post(gather->parts[i].worker->loop, &gather->parts[i].mail);
}

void gather_join(const struct gather *gather, struct buf *out)
{
    bool needs_comma = false;

    for (size_t i = 0; i < gather->part_count; i++) {
        if (gather->parts[i].out.len == 0)
            continue;
        if (needs_comma)
            buf_putc(out, ',');
        buf_put(out, buf_str(&gather->parts[i].out));
        needs_comma = true;
    }
}

size_t gather_total(const struct gather *gather)
{
    size_t total = 0;

    for (size_t i = 0; i < gather->part_count; i++)
        total += gather->parts[i].count;
    return total;
}

void gather_done(struct gather *gather)
{
    for (size_t i = 0; i < gather->part_count; i++)
        buf_done(&gather->parts[i].out);
    free(gather->parts);
}
