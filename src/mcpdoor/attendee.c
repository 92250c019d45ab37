/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A credential that is here by MCP: its seat, its occupant, and whose it is what that one
 * hears.
 */
#include "mcpdoor/attendee.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "mcp/ability.h"
#include "mcpdoor/hall_priv.h"
#include "mcpdoor/room_tools.h"
#include "mcpdoor/wish.h"
#include "participant/ask.h"
#include "participant/keep.h"
#include "participant/roster.h"

enum {
    PREFIX_BYTES = 9, /* 12 characters of base64 */
    CALL_MS = 24 * 3600'000,
    OFFENDERS = 16,
    LEVEL_PARAMS = 64,
};

/* --- what the occupant hears --- */

/* On stdio the concierge has no seat of its own. */
static bool is_concierges(const struct attendee *a)
{
    return !a->hall->seat && LIST_FIRST(&a->hall->attendees, struct attendee, link) == a;
}

/* What sessions wanted that it took over from another credential is wanted through it
 * from now on. */
static void greet_all(struct attendee *a)
{
    const struct owner_facts *owner;
    size_t at = 0;

    while ((owner = concierge_next_owner(a->hall->concierge, &at)) != NULL)
        attendee_greet(a, owner);
}

static void on_welcome(void *user, bool)
{
    struct attendee *a = user;
    struct hall *hall = a->hall;

    if (is_concierges(a)) {
        concierge_use(hall->concierge, a->occupant, hall->now);
        if (hall->desk)
            room_desk_use(hall->desk, a->occupant);
    }
    greet_all(a);
    hall_go_on(a);
}

static void on_presence(void *user, enum presence_change change,
                        const struct roster_entry *who)
{
    struct attendee *a = user;

    if (is_concierges(a))
        concierge_presence(a->hall->concierge, change, who->id, a->hall->now);
}

static void on_heard(void *user, const struct heard *heard)
{
    struct attendee *a = user;

    if (is_concierges(a)) {
        concierge_hear(a->hall->concierge, heard, a->hall->now);
        if (!heard->names_me)
            room_tools_hear(a->hall, NULL, heard);
    }
    room_tools_hear(a->hall, a, heard);
    if (!wish_hear(a, heard))
        listen_tell(a, heard);
}

/* Whatever belongs to no wish of ours may be for another seat of the same participant,
 * who answers it then. */
static void on_request(void *user, const struct heard *heard, const struct str *reply_to,
                       size_t reply_count)
{
    if (reply_count)
        (void)wish_asked(user, heard, reply_to[0]);
}

static void on_cancelled(void *user, struct str request_id, struct str from, struct str)
{
    wish_unasked(user, request_id, from);
}

static const struct occupant_ops occupant_ops = {
    .on_welcome = on_welcome,
    .on_presence = on_presence,
    .on_heard = on_heard,
    .on_request = on_request,
    .on_cancelled = on_cancelled,
};

/* --- its seat --- */

static void enter(struct attendee *a)
{
    struct hall *hall = a->hall;

    if (hall->ops.now)
        hall->now = hall->ops.now(hall->user);
}

static void on_begin(void *user, bool resumes)
{
    struct attendee *a = user;

    enter(a);
    occupant_begin(a->occupant, resumes);
}

static void on_text(void *user, struct str text)
{
    struct attendee *a = user;

    if (a->is_ending)
        return;
    enter(a);
    occupant_hear(a->occupant, text, a->hall->now);
    hall_settle(a->hall, a);
}

static void on_judged(void *user, uint64_t number)
{
    struct attendee *a = user;

    if (a->is_ending)
        return;
    enter(a);
    occupant_judged(a->occupant, number, a->hall->now);
    hall_settle(a->hall, a);
}

/* Who was sent away does not sit down again by itself: its next request does, if it may.
 * A client of its own (stdio) waits for its connection. */
static void on_lost(void *user, bool is_final, const char *why)
{
    struct attendee *a = user;
    bool is_over = is_final || !a->hall->settings.is_stdio;

    if (a->is_ending)
        return;
    enter(a);
    if (is_concierges(a))
        concierge_use(a->hall->concierge, NULL, a->hall->now);
    occupant_lost(a->occupant, is_over, a->hall->now);
    if (is_over)
        attendee_end(a, why, a->hall->now);
    else
        hall_settle(a->hall, a);
}

static struct str on_after(void *user)
{
    return occupant_last(((struct attendee *)user)->occupant);
}

const struct seat_ops attendee_seat_ops = {
    .on_begin = on_begin,
    .on_text = on_text,
    .on_judged = on_judged,
    .on_lost = on_lost,
    .on_after = on_after,
};

/* An id that looks like an option is a nuisance to people. */
static void put_prefix(struct buf *out)
{
    uint8_t random[PREFIX_BYTES];

    do {
        buf_clear(out);
        crypto_random(random, sizeof(random));
        base64url_write(out, (struct str){ (const char *)random, sizeof(random) });
    } while (out->ptr[0] == '-');
}

struct occupant *hall_occupant(const struct hall *hall, struct seat *seat,
                               size_t participants, const struct occupant_ops *ops,
                               void *user)
{
    CLEANUP(buf_done) struct buf prefix;
    struct hash_key key;

    hash_key_random(&key);
    buf_init(&prefix, (size_t)2 * PREFIX_BYTES);
    put_prefix(&prefix);
    return occupant_new(seat,
                        &(struct occupant_settings){
                            .id_prefix = buf_str(&prefix),
                            .id_key = &key,
                            .call_timeout_ms = CALL_MS,
                            .limits = { .depth = hall->settings.max_depth,
                                        .calls = ATTENDEE_CALLS,
                                        .proposals = ATTENDEE_PROPOSALS,
                                        .participants = participants,
                                        .offenders = OFFENDERS,
                                        .recent = ATTENDEE_RECENT },
                        },
                        ops, user);
}

enum err attendee_enter(struct attendee *a)
{
    struct hall *hall = a->hall;

    if (a->seat)
        return OK;
    a->seat = hall->ops.open_seat(hall->user, a, a->credential);
    if (!a->seat)
        return ERR_OVERLOAD;
    a->occupant = hall_occupant(hall, a->seat,
                                hall->seat ? ATTENDEE_PARTICIPANTS : HALL_PARTICIPANTS,
                                &occupant_ops, a);
    return OK;
}

bool attendee_is_ready(const struct attendee *a)
{
    return a->occupant && occupant_is_welcome(a->occupant) &&
           concierge_is_ready(a->hall->concierge);
}

/* --- life --- */

static void add_name(struct attendee *a)
{
    struct attendee *other = map_find(&a->hall->by_id, a->id);

    list_init(&a->namesakes);
    if (other)
        list_append(&other->namesakes, &a->namesakes);
    else
        map_set(&a->hall->by_id, a->id, a);
}

/* The table has the text of one that stays. */
static void remove_name(struct attendee *a)
{
    struct attendee *other = CONTAINER_OF(a->namesakes.next, struct attendee, namesakes);

    (void)map_remove(&a->hall->by_id, a->id);
    list_remove(&a->namesakes);
    if (other != a)
        map_set(&a->hall->by_id, other->id, other);
}

struct attendee *attendee_new(struct hall *hall, struct str key, struct str id)
{
    struct attendee *a = xcalloc(1, sizeof(*a) + key.len + id.len);
    char *at = (char *)(a + 1);

    a->hall = hall;
    a->key = keep_str(&at, key);
    a->id = keep_str(&at, id);
    a->level = -1;
    list_init(&a->visits);
    list_init(&a->strands);
    list_init(&a->listenings);
    list_init(&a->watched);
    list_init(&a->wishes);
    list_init(&a->waiting);
    list_append(&hall->attendees, &a->link);
    map_set(&hall->by_key, a->key, a);
    add_name(a);
    hall->counts.attendees++;
    attendee_stay(a);
    return a;
}

void attendee_stay(struct attendee *a)
{
    a->idle_since_ms = a->hall->now.mono_ms;
}

bool attendee_is_idle(const struct attendee *a)
{
    return list_is_empty(&a->visits) && list_is_empty(&a->strands) &&
           list_is_empty(&a->wishes);
}

static void end_wishes(struct attendee *a)
{
    while (!list_is_empty(&a->wishes))
        wish_free(LIST_FIRST(&a->wishes, struct wish, link));
}

static void leave_room(struct attendee *a)
{
    struct hall *hall = a->hall;

    if (!a->seat)
        return;
    if (is_concierges(a)) {
        concierge_use(hall->concierge, NULL, hall->now);
        if (hall->desk)
            room_desk_use(hall->desk, NULL);
    }
    hall->ops.close_seat(hall->user, a->seat, a->credential);
    a->seat = NULL;
}

void attendee_end(struct attendee *a, const char *why, struct moment now)
{
    struct hall *hall = a->hall;
    struct str reason = str_of(why && *why ? why : "the session has ended");

    if (a->is_ending)
        return;
    hall->now = now;
    a->is_ending = true;
    while (!list_is_empty(&a->strands))
        errand_end_first(&a->strands, reason);
    while (!list_is_empty(&a->visits)) {
        struct visit *visit = LIST_FIRST(&a->visits, struct visit, link);

        while (!list_is_empty(&visit->strands))
            errand_end_first(&visit->strands, reason);
        visit_end(visit);
    }
    end_wishes(a);
    if (a->occupant)
        room_tools_leave(a);
    leave_room(a);
    map_remove(&hall->by_key, a->key);
    remove_name(a);
    list_remove(&a->link);
    list_append(&hall->gone, &a->link);
    hall->counts.attendees--;
    hall_due(hall, now.mono_ms);
}

void attendee_free(struct attendee *a)
{
    struct watching *watching;

    list_remove(&a->link);
    LIST_FOREACH(watching, &a->watched, link) {
        list_remove(&watching->link);
        free(watching);
    }
    occupant_free(a->occupant);
    free(a);
}

/* --- what it may --- */

static struct str put_kind(char kind[static KIND_MAX_BYTES], struct str type,
                           struct str method, struct str key)
{
    char *at = kind;

    if (type.len + method.len + 1 + key.len > KIND_MAX_BYTES)
        return S("");
    (void)keep_str(&at, type);
    (void)keep_str(&at, method);
    if (key.len) {
        (void)keep_str(&at, S(":"));
        (void)keep_str(&at, key);
    }
    return (struct str){ kind, (size_t)(at - kind) };
}

static bool may(const struct attendee *a, struct str type, struct str method,
                struct str key)
{
    char text[KIND_MAX_BYTES];
    struct str kind = put_kind(text, type, method, key);

    return kind.len && occupant_verdict(a->occupant, kind) != VERDICT_DENY;
}

enum right attendee_right(struct attendee *a, struct str method, struct str key)
{
    if (!a->occupant)
        return RIGHT_NONE;
    if (may(a, S("mcp/request:"), method, key))
        return RIGHT_CALL;
    return may(a, S("mcp/proposal:"), method, key) ? RIGHT_PROPOSE : RIGHT_NONE;
}

static bool may_see(void *user, const struct exhibit *exhibit)
{
    static const struct str methods[OFFER_TYPES] = {
        [OFFER_TOOL] = S("tools/call"),
        [OFFER_RESOURCE] = S("resources/read"),
        [OFFER_TEMPLATE] = S("resources/read"),
        [OFFER_PROMPT] = S("prompts/get"),
    };

    return attendee_right(user, methods[exhibit->type], exhibit->key) != RIGHT_NONE;
}

struct showcase_view attendee_view(struct attendee *a)
{
    return (struct showcase_view){ .may = may_see, .user = a };
}

/* --- the level of messages --- */

static int wanted_level(const struct attendee *a)
{
    const struct visit *visit;
    int level = -1;

    LIST_FOREACH(visit, &a->visits, link)
        if (visit->level >= 0 && (level < 0 || visit->level < level))
            level = visit->level;
    return level;
}

static void tell_level(struct attendee *a, const struct owner_facts *owner)
{
    CLEANUP(buf_done) struct buf params = {};

    if (ability_missing(owner->capable, false, S("logging/setLevel")).len)
        return;
    buf_init(&params, LEVEL_PARAMS);
    buf_putf(&params, "{\"level\":\"" STR_FMT "\"}", STR_ARG(serve_level_name(a->level)));
    (void)occupant_request(a->occupant,
                           &(struct asking){ .to = owner->id,
                                             .method = S("logging/setLevel"),
                                             .params = buf_str(&params),
                                             .how = ASK_CALL,
                                             .timeout_ms = HALL_PATIENCE_MS },
                           a->hall->now, NULL, NULL);
}

void attendee_greet(struct attendee *a, const struct owner_facts *owner)
{
    if (!a->occupant || !occupant_is_welcome(a->occupant))
        return;
    if (a->level >= 0)
        tell_level(a, owner);
    watches_renew(a, owner->id);
}

void attendee_notify(struct attendee *a, struct str method)
{
    const struct owner_facts *owner;
    size_t at = 0;

    if (!a->occupant || !occupant_is_welcome(a->occupant))
        return;
    while ((owner = concierge_next_owner(a->hall->concierge, &at)) != NULL)
        (void)occupant_notify(a->occupant, owner->id, method, S(""), a->hall->now, NULL);
}

/* Once nobody wants any, owners go on and are not listened to. */
void attendee_set_level(struct attendee *a)
{
    const struct owner_facts *owner;
    int level = a->is_ending ? a->level : wanted_level(a);
    size_t at = 0;

    if (level == a->level)
        return;
    a->level = level;
    if (level < 0 || !a->occupant || !occupant_is_welcome(a->occupant))
        return;
    while ((owner = concierge_next_owner(a->hall->concierge, &at)) != NULL)
        tell_level(a, owner);
}
