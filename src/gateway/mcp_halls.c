/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/mcp_halls.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/auth.h"
#include "gateway/gateway.h"
#include "gateway/mcp_house.h"
#include "gateway/room.h"
#include "gateway/topic_seat.h"
#include "oauth/vault.h"

enum {
    LINGER_MS = 30'000,
    SWEPT_HALLS = 64, /* at a time: a millisecond or two */
    SWEEP_GAP_MS = 5, /* … before the next ones */
};

/* All credentials of one id, in all halls of the worker. */
struct patron {
    struct link guests;
    size_t count;
    struct str id;
    char text[];
};

struct mcp_halls {
    struct worker *worker;
    struct map halls;  /* by topic */
    struct link order; /* the same; who is swept next stands first */
    size_t to_sweep;   /* so many of them */
    struct loop_timer sweeper;
    struct map patrons; /* by id */
    struct link outlets;
    uint8_t key[SEAL_KEY]; /* of what clients carry for us */
    bool has_key;
    uint64_t boot;
    struct hall_counts gone; /* what halls that are gone have counted */
};

/* A topic's. */
struct live_hall {
    struct mcp_halls *halls;
    struct hall *hall;
    struct topic_seat *concierge;
    struct map guests; /* by credential */
    struct loop_timer timer;
    struct link link; /* in the order of sweeps */
    struct str topic;
    char text[];
};

/* The credential of an attendee, and where that sits. It outlives the attendee for a
 * while: nobody tells when one goes. */
struct guest {
    struct live_hall *hall;
    struct patron *patron;
    struct link beside; /* those of the same patron */
    struct identity *identity;
    struct topic_seat *seat; /* NULL: it does not sit */
    struct link forgotten;   /* while those are freed whose attendee has gone */
    uint8_t key[SHA256_BYTES];
};

struct moment mcp_halls_now(const struct mcp_halls *halls)
{
    const struct loop *loop = halls->worker->loop;

    return (struct moment){ loop_now_ms(loop), loop_wall_ms(loop) };
}

static struct moment on_now(void *user)
{
    return mcp_halls_now(((const struct live_hall *)user)->halls);
}

/* --- time --- */

static void plan(struct live_hall *live)
{
    struct loop *loop = live->halls->worker->loop;
    uint64_t due_ms = hall_due_ms(live->hall);
    uint64_t now_ms = loop_now_ms(loop);

    if (due_ms == UINT64_MAX)
        loop_timer_clear(loop, &live->timer);
    else
        loop_timer_set(loop, &live->timer, due_ms > now_ms ? due_ms - now_ms : 0);
}

static void on_timer(struct loop_timer *timer)
{
    struct live_hall *live = CONTAINER_OF(timer, struct live_hall, timer);

    hall_tick(live->hall, mcp_halls_now(live->halls));
    plan(live);
}

static void on_due(void *user)
{
    struct live_hall *live = user;

    if (live->hall) /* else it is being made */
        plan(live);
}

static void on_note(void *user, struct str text)
{
    const struct live_hall *live = user;

    log_info("mcp.note", "topic=%s what=%s", LOG_TEXT(live->topic), LOG_TEXT(text));
}

/* --- guests and their seats --- */

static struct str key_of(const struct guest *guest)
{
    return (struct str){ (const char *)guest->key, sizeof(guest->key) };
}

static struct str key_in(const struct identity *identity)
{
    return (struct str){ (const char *)identity->token_hash,
                         sizeof(identity->token_hash) };
}

static struct patron *patron_of(struct mcp_halls *halls, struct str id)
{
    struct patron *patron = map_find(&halls->patrons, id);

    if (patron)
        return patron;
    patron = xcalloc(1, sizeof(*patron) + id.len);
    patron->id = (struct str){ memcpy(patron->text, id.ptr, id.len), id.len };
    list_init(&patron->guests);
    map_set(&halls->patrons, patron->id, patron);
    return patron;
}

static void join_patron(struct guest *guest)
{
    guest->patron = patron_of(guest->hall->halls, guest->identity->id);
    guest->patron->count++;
    list_append(&guest->patron->guests, &guest->beside);
}

static void leave_patron(struct guest *guest)
{
    struct patron *patron = guest->patron;

    list_remove(&guest->beside);
    if (--patron->count)
        return;
    (void)map_remove(&guest->hall->halls->patrons, patron->id);
    free(patron);
}

/* A token may be given to somebody else. */
static void set_identity(struct guest *guest, struct identity *identity)
{
    struct identity *was = guest->identity;

    guest->identity = identity_ref(identity);
    if (!str_eq(was->id, identity->id)) {
        leave_patron(guest);
        join_patron(guest);
    }
    if (guest->seat && was != identity)
        topic_seat_set_identity(guest->seat, identity);
    identity_unref(was);
}

static struct guest *guest_of(struct live_hall *live, struct identity *identity)
{
    struct guest *guest = map_find(&live->guests, key_in(identity));

    if (guest) {
        set_identity(guest, identity);
        return guest;
    }
    guest = xcalloc(1, sizeof(*guest));
    guest->hall = live;
    guest->identity = identity_ref(identity);
    memcpy(guest->key, identity->token_hash, sizeof(guest->key));
    map_set(&live->guests, key_of(guest), guest);
    join_patron(guest);
    return guest;
}

static void guest_free(struct guest *guest)
{
    leave_patron(guest);
    (void)map_remove(&guest->hall->guests, key_of(guest));
    topic_seat_close(guest->seat);
    identity_unref(guest->identity);
    free(guest);
}

/* An attendee hears nothing of who comes and goes: the concierge does, once for all. */
static struct seat *open_seat(void *user, struct attendee *attendee, void *credential)
{
    static const struct topic_seat_terms terms = { .type = CONNECTION_MCP,
                                                   .address = "mcp",
                                                   .presence = PRESENCE_OFF,
                                                   .is_limited = true,
                                                   .sits_once = true };
    const struct live_hall *live = user;
    struct guest *guest = credential;

    topic_seat_close(guest->seat);
    guest->seat = topic_seat_open(live->halls->worker, live->topic, guest->identity,
                                  &terms, &attendee_seat_ops, attendee);
    return topic_seat_of(guest->seat);
}

static void close_seat(void *user, struct seat *, void *credential)
{
    struct live_hall *live = user;
    struct guest *guest = credential;

    if (guest)
        topic_seat_close(TAKE(guest->seat));
    else
        topic_seat_close(TAKE(live->concierge));
}

static struct guest *guest_with(struct live_hall *live, struct str key)
{
    return map_find(&live->guests, key);
}

static bool may_use(void *user, struct str key, struct str tool)
{
    struct live_hall *live = user;
    const struct guest *guest = guest_with(live, key);

    return guest && mcp_house_may(live->halls->worker, guest->identity, tool);
}

static void on_house_result(void *user, struct str result)
{
    house_answer(user, result);
}

/* Who may use it was asked, so there is a guest. */
static void use(void *user, struct str key, struct str tool, struct json_span arguments,
                struct house_call *call)
{
    struct live_hall *live = user;

    mcp_house_use(&(struct house_asker){ live->halls->worker,
                                         guest_with(live, key)->identity, on_house_result,
                                         call },
                  tool, arguments);
}

static const struct hall_ops hall_ops = {
    .open_seat = open_seat,
    .close_seat = close_seat,
    .now = on_now,
    .on_due = on_due,
    .on_note = on_note,
    .may_use = may_use,
    .use = use,
};

/* --- halls --- */

/* So that sessions are recognised after a restart. */
static const uint8_t *door_key(struct mcp_halls *halls)
{
    const char *data = gateway_data(halls->worker->gateway);
    struct vault vault;
    enum err err;

    if (halls->has_key)
        return halls->key;
    halls->has_key = true;
    err = data ? vault_open(&vault, data) : ERR_NOT_FOUND;
    if (err) {
        log_warn("mcp.key", "err=%s what=\"sessions end with the process\"",
                 err_name(err));
        crypto_random(halls->key, sizeof(halls->key));
        return halls->key;
    }
    crypto_hmac_sha256((struct str){ (const char *)vault.key, sizeof(vault.key) },
                       S("mcp door"), halls->key);
    vault_close(&vault);
    return halls->key;
}

static const struct room_settings *room_settings(const struct live_hall *live)
{
    const struct worker *worker = live->halls->worker;
    const struct room_settings *own = room_settings_of(worker, live->topic);

    return own ? own : &worker->settings->rooms;
}

static struct hall_settings settings_of(const struct live_hall *live)
{
    const struct config *config = live->halls->worker->settings->config;
    struct hall_settings settings = {
        .topic = live->topic,
        .name = S("moot"),
        .version = S(MOOT_VERSION),
        .boot = live->halls->boot,
        .has_room_tools = config->mcp.room_tools,
        .names_are_prefixed = config->mcp.names == CONFIG_MCP_NAMES_PREFIXED,
        .may_self_approve = room_settings(live)->may_self_approve,
        .hold_ms = config->mcp.hold_ms,
        .poll_ms = config->mcp.poll_ms,
        .idle_ms = config->mcp.idle_ms,
        .linger_ms = LINGER_MS,
        .proposal_ms = room_settings(live)->ledger.expiry_ms,
        .max_visits = config->mcp.sessions,
        .max_wishes = config->mcp.calls,
        .max_message = config->limits.envelope,
        .max_depth = config->limits.depth,
    };

    memcpy(settings.sealer.key, door_key(live->halls), SEAL_KEY);
    settings.sealer.topic = live->topic;
    return settings;
}

/* Named for this topic, so that it may be in one that is not open to all. Where clients
 * may approve themselves it makes the calls that they have approved. */
static struct identity *concierge_identity(const struct live_hall *live)
{
    struct identity template = *live->halls->worker->settings->concierge;
    struct str capabilities[8];
    size_t count = template.capabilities.count;

    memcpy(capabilities, template.capabilities.items, count * sizeof(capabilities[0]));
    if (room_settings(live)->may_self_approve)
        capabilities[count++] = S("mcp/request:*");
    template.topics = (struct str_list){ &live->topic, 1 };
    template.capabilities = (struct str_list){ capabilities, count };
    return identity_new(&template);
}

static void seat_concierge(struct live_hall *live)
{
    static const struct topic_seat_terms terms = { .type = CONNECTION_MCP,
                                                   .address = "mcp" };
    struct identity *identity = concierge_identity(live);

    live->concierge = topic_seat_open(live->halls->worker, live->topic, identity, &terms,
                                      &hall_seat_ops, live->hall);
    hall_sit(live->hall, topic_seat_of(live->concierge), mcp_halls_now(live->halls));
    identity_unref(identity);
}

static struct live_hall *hall_of(struct mcp_halls *halls, struct str topic)
{
    struct live_hall *live = map_find(&halls->halls, topic);
    struct hall_settings settings;

    if (live)
        return live;
    live = xcalloc(1, sizeof(*live) + topic.len);
    live->halls = halls;
    live->topic = (struct str){ memcpy(live->text, topic.ptr, topic.len), topic.len };
    live->timer.on_fire = on_timer;
    map_init(&live->guests);
    map_set(&halls->halls, live->topic, live);
    list_append(&halls->order, &live->link);
    settings = settings_of(live);
    live->hall = hall_new(&settings, &hall_ops, live);
    crypto_wipe(&settings.sealer, sizeof(settings.sealer));
    seat_concierge(live);
    plan(live);
    return live;
}

/* Counters go on; how many there are now ends with the hall. */
static void add_counters(struct hall_counts *total, const struct hall_counts *part)
{
    total->requests += part->requests;
    total->calls += part->calls;
    total->proposals += part->proposals;
    total->joined += part->joined;
    total->refused += part->refused;
    total->questions += part->questions;
    total->parked += part->parked;
    total->resumed += part->resumed;
}

static void live_hall_free(struct live_hall *live)
{
    struct mcp_halls *halls = live->halls;
    struct hall_counts counts = hall_counts(live->hall);
    size_t at;

    add_counters(&halls->gone, &counts);
    loop_timer_clear(halls->worker->loop, &live->timer);
    hall_free(TAKE(live->hall));
    topic_seat_close(live->concierge);
    while (live->guests.count) {
        at = 0;
        guest_free(map_next(&live->guests, &at));
    }
    loop_timer_clear(halls->worker->loop, &live->timer); /* the end may have set it */
    (void)map_remove(&halls->halls, live->topic);
    list_remove(&live->link);
    map_done(&live->guests);
    free(live);
}

/* Its attendee has gone. */
static bool is_forgotten(const struct guest *guest)
{
    return !guest->seat && !hall_find(guest->hall->hall, key_of(guest));
}

/* How many of them are still here? */
static size_t count_present(const struct mcp_halls *halls, struct str id)
{
    const struct patron *patron = map_find(&halls->patrons, id);
    const struct guest *guest;
    size_t count = 0;

    if (!patron || patron->count < MCP_HALLS_EACH)
        return 0; /* few enough in any case */
    LIST_FOREACH(guest, &patron->guests, beside)
        count += is_forgotten(guest) ? 0 : 1;
    return count;
}

static bool is_here(const struct mcp_halls *halls, struct str topic,
                    const struct identity *identity)
{
    const struct live_hall *live = map_find(&halls->halls, topic);

    return live && hall_find(live->hall, key_in(identity));
}

enum err mcp_halls_enter(struct mcp_halls *halls, struct str topic,
                         struct identity *identity, struct hall **ret_hall,
                         struct attendee **ret_attendee)
{
    struct live_hall *live;
    struct guest *guest;
    enum err err;

    if (!is_here(halls, topic, identity) &&
        count_present(halls, identity->id) >= MCP_HALLS_EACH)
        return ERR_OVERLOAD;
    live = hall_of(halls, topic);
    guest = guest_of(live, identity);
    err = hall_attendee(live->hall, key_of(guest), identity->id, guest, ret_attendee);
    if (!err)
        *ret_hall = live->hall;
    return err;
}

/* --- who may still be here --- */

/* What the credential stands for now; NULL: nothing. Borrowed. */
static struct identity *current(const struct worker *worker, struct guest *guest)
{
    struct identity *now;

    if (!auth_is_in_force(worker, guest->identity))
        return NULL;
    now = token_table_find_hash(&worker->tokens, guest->key);
    return now ? now : guest->identity;
}

static void recheck(struct guest *guest)
{
    const struct live_hall *live = guest->hall;
    struct worker *worker = live->halls->worker;
    struct attendee *attendee = hall_find(live->hall, key_of(guest));
    struct identity *now = current(worker, guest);
    const char *why = NULL;

    if (!attendee)
        return;
    if (!now)
        why = "the token was revoked or has expired";
    else if (!str_eq(now->id, guest->identity->id))
        why = "the token is that of another participant now";
    else if (room_admit(worker, live->topic, now))
        why = "it may no longer be in this topic";
    if (why)
        attendee_end(attendee, why, mcp_halls_now(live->halls));
    else
        set_identity(guest, now);
}

void mcp_halls_recheck(struct mcp_halls *halls, const struct identity *identity)
{
    const struct patron *patron = halls ? map_find(&halls->patrons, identity->id) : NULL;
    struct guest *guest;

    if (!patron)
        return;
    LIST_FOREACH(guest, &patron->guests, beside)
        if (crypto_equal(guest->key, identity->token_hash, sizeof(guest->key)))
            recheck(guest);
}

static void recheck_all(const struct live_hall *live)
{
    struct guest *guest;

    MAP_FOREACH(guest, &live->guests)
        recheck(guest);
}

/* Tables must not change while they are walked, and one walk for each would be too many
 * where thousands go at once: so those that go are put aside first. */
static void free_forgotten(const struct live_hall *live)
{
    struct guest *guest;
    struct link gone;

    list_init(&gone);
    MAP_FOREACH(guest, &live->guests)
        if (is_forgotten(guest))
            list_append(&gone, &guest->forgotten);
    LIST_FOREACH(guest, &gone, forgotten) {
        list_remove(&guest->forgotten);
        guest_free(guest);
    }
}

static void sweep_one(struct live_hall *live)
{
    list_remove(&live->link);
    list_append(&live->halls->order, &live->link);
    if (hall_is_idle(live->hall)) {
        live_hall_free(live);
        return;
    }
    recheck_all(live);
    free_forgotten(live);
}

/* Thousands that went at once would hold up everybody else. */
static void sweep_some(struct mcp_halls *halls)
{
    for (size_t i = 0; i < SWEPT_HALLS && halls->to_sweep; i++, halls->to_sweep--) {
        struct live_hall *first = LIST_FIRST(&halls->order, struct live_hall, link);

        if (first)
            sweep_one(first);
    }
    if (halls->to_sweep)
        loop_timer_set(halls->worker->loop, &halls->sweeper, SWEEP_GAP_MS);
}

static void on_sweep(struct loop_timer *timer)
{
    sweep_some(CONTAINER_OF(timer, struct mcp_halls, sweeper));
}

void mcp_halls_sweep(struct mcp_halls *halls)
{
    if (!halls || halls->to_sweep)
        return; /* the last one is still under way */
    halls->to_sweep = halls->halls.count;
    sweep_some(halls);
}

/* --- all of them --- */

/* Other rights are renewed; under another name it comes in again. */
static void apply_concierge(struct live_hall *live)
{
    struct identity *identity = concierge_identity(live);

    if (str_eq(identity->id, topic_seat_id(live->concierge))) {
        topic_seat_set_identity(live->concierge, identity);
    } else {
        hall_stand(live->hall, mcp_halls_now(live->halls));
        seat_concierge(live);
    }
    identity_unref(identity);
}

static void apply(struct live_hall *live)
{
    struct hall_settings settings = settings_of(live);

    hall_apply(live->hall, &settings);
    crypto_wipe(&settings.sealer, sizeof(settings.sealer));
    apply_concierge(live);
    recheck_all(live);
    plan(live);
}

static void free_all(struct mcp_halls *halls)
{
    while (halls->halls.count) {
        size_t at = 0;

        live_hall_free(map_next(&halls->halls, &at));
    }
}

void mcp_halls_apply(struct mcp_halls *halls)
{
    struct live_hall *live;

    if (!halls)
        return;
    if (!halls->worker->settings->config->mcp.open)
        free_all(halls);
    MAP_FOREACH(live, &halls->halls)
        apply(live);
}

void mcp_halls_drain(struct mcp_halls *halls)
{
    struct live_hall *live;

    if (!halls)
        return;
    MAP_FOREACH(live, &halls->halls)
        hall_drain(live->hall, mcp_halls_now(halls));
    mcp_end_streams(halls);
}

void mcp_halls_count(const struct mcp_halls *halls, struct metrics *total)
{
    struct hall_counts sum = {};
    const struct live_hall *live;

    if (!halls)
        return;
    add_counters(&sum, &halls->gone);
    MAP_FOREACH(live, &halls->halls) {
        struct hall_counts counts = hall_counts(live->hall);

        add_counters(&sum, &counts);
        total->mcp_clients += counts.attendees;
        total->mcp_sessions += counts.visits;
        total->mcp_streams += counts.strands;
        total->mcp_waiting += counts.wishes;
    }
    total->mcp_halls += halls->halls.count;
    total->mcp_requests += sum.requests;
    total->mcp_calls += sum.calls;
    total->mcp_proposals += sum.proposals;
    total->mcp_joined += sum.joined;
    total->mcp_refused += sum.refused;
    total->mcp_questions += sum.questions;
    total->mcp_parked += sum.parked;
    total->mcp_resumed += sum.resumed;
}

struct link *mcp_halls_outlets(struct mcp_halls *halls)
{
    return &halls->outlets;
}

struct mcp_halls *mcp_halls_new(struct worker *worker)
{
    struct mcp_halls *halls = xcalloc(1, sizeof(*halls));

    halls->worker = worker;
    map_init(&halls->halls);
    map_init(&halls->patrons);
    list_init(&halls->order);
    halls->sweeper.on_fire = on_sweep;
    list_init(&halls->outlets);
    crypto_random(&halls->boot, sizeof(halls->boot));
    return halls;
}

void mcp_halls_free(struct mcp_halls *halls)
{
    if (!halls)
        return;
    loop_timer_clear(halls->worker->loop, &halls->sweeper);
    free_all(halls);
    map_done(&halls->halls);
    map_done(&halls->patrons);
    crypto_wipe(halls->key, sizeof(halls->key));
    free(halls);
}
