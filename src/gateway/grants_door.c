/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities of participants, for administrators (MCPx v0.1, 11.3): the same records
 * that capability/grant and capability/revoke write in a room.
 *
 * What holds in all topics is decided and changed by the first worker, at once, and then
 * changed on every other: all changes come from there, so all workers see one order. What
 * holds in one topic is decided and changed by the worker where the topic lives.
 */
#include <stdlib.h>

#include "admit/command.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/grants.h"
#include "gateway/room.h"

enum { CHANGE_ARENA = 8 << 20, ID_BYTES = 6, ID_TEXT = 4 + 2 * ID_BYTES };

/* A change on its way through the workers. Its texts live in the exchange, what it finds
 * in its own arena. */
struct change {
    struct gather gather;
    struct exchange *x;
    struct worker *decider;
    struct rights_key who; /* topic "": all */
    struct str_list add;
    struct str_list remove;
    struct str_list revoke;
    struct grant_terms terms;
    uint64_t order; /* of the first of its parts; 0: as they come, in one topic */
    uint64_t wall_ms;
    struct arena arena;
    struct str_list old;
    struct str_list now;
    struct str ended;    /* the grant that is taken back; NULL: none, the lists count */
    struct str grant_id; /* that one, or the one that was made; "": neither */
    enum err err;
    const char *why;
};

struct change_request {
    const struct json *add;
    const struct json *remove;
    const struct json *revoke;
    struct str expires_at;
    uint64_t max_uses;
    struct str reason;
};

#define F(member, need) JSON_FIELD(struct change_request, member, need)
static const struct json_field change_fields[] = {
    F(add, JSON_OPTIONAL),        F(remove, JSON_OPTIONAL),   F(revoke, JSON_OPTIONAL),
    F(expires_at, JSON_OPTIONAL), F(max_uses, JSON_OPTIONAL), F(reason, JSON_OPTIONAL),
};
#undef F

static void change_free(struct change *change)
{
    if (change->gather.parts)
        gather_done(&change->gather);
    arena_done(&change->arena);
    free(change);
}

/* --- reading --- */

/* Whom and where: {id} of the path and ?topic=. */
static enum err read_key(struct exchange *x, struct change *change, const char **ret_why)
{
    struct str topic;

    *ret_why = "`topic` is the name of a topic, once.";
    if (exchange_param(x, S("topic"), &topic) ||
        (topic.ptr && !topic_name_is_valid(topic)))
        return ERR_BAD_REQUEST;
    *ret_why = "A participant id has 1 to 256 bytes.";
    if (x->params[0].len > ENVELOPE_MAX_ID)
        return ERR_BAD_REQUEST;
    change->who.topic = arena_str(&change->arena, topic);
    change->who.id = arena_str(&change->arena, x->params[0]);
    return OK;
}

static enum err read_list(struct exchange *x, const struct json *json,
                          struct str_list *ret, const char **ret_why)
{
    if (!json)
        return OK;
    if (capability_list(json, &x->arena, ret, ret_why) ||
        capset_check(*ret, NULL, ret_why))
        return ERR_BAD_REQUEST;
    return OK;
}

static enum err read_terms(const struct change_request *req, struct change *change,
                           const char **ret_why)
{
    struct grant_terms *terms = &change->terms;

    *ret_why = "`expires_at` is an RFC 3339 date-time in the future.";
    if (req->expires_at.len && (clock_parse(req->expires_at, &terms->expires_ms) ||
                                terms->expires_ms <= change->wall_ms))
        return ERR_BAD_REQUEST;
    *ret_why = "`max_uses` is at most 1000000000, and needs `topic`: uses are counted "
               "where a topic lives.";
    if (req->max_uses > COMMAND_MAX_USES || (req->max_uses && !change->who.topic.len))
        return ERR_BAD_REQUEST;
    *ret_why = "`reason` has at most 1024 bytes.";
    if (req->reason.len > COMMAND_MAX_REASON)
        return ERR_BAD_REQUEST;
    terms->max_uses = req->max_uses;
    terms->reason = req->reason;
    return OK;
}

static enum err read_change(struct exchange *x, struct change *change,
                            const char **ret_why)
{
    struct change_request req = {};
    const struct json *root;

    *ret_why = "The body must be {\"add\": […], \"remove\": […], \"revoke\": […], "
               "\"expires_at\": …, \"max_uses\": …, \"reason\": …}; all are optional.";
    if (json_parse(x->body, &x->arena, &root, NULL) ||
        json_read(root, change_fields, COUNT(change_fields), &x->arena, &req, NULL))
        return ERR_BAD_REQUEST;
    if (read_list(x, req.add, &change->add, ret_why) ||
        read_list(x, req.remove, &change->remove, ret_why) ||
        read_list(x, req.revoke, &change->revoke, ret_why) ||
        read_terms(&req, change, ret_why))
        return ERR_BAD_REQUEST;
    return OK;
}

/* --- deciding and changing, on the worker concerned --- */

static struct strike_terms strike_of(const struct change *change,
                                     struct str_list capabilities,
                                     enum strike_reach reach)
{
    return (struct strike_terms){ .by = change->terms.granter,
                                  .reason = change->terms.reason,
                                  .capabilities = capabilities,
                                  .reach = reach,
                                  .created_ms = change->wall_ms,
                                  .origin = RIGHTS_BY_ADMIN };
}

/* Would this lead to more than a set may have? What participants granted gives way. */
static bool are_too_many(struct change *change, struct worker *worker)
{
    const struct identity *identity =
        token_table_find_id(&worker->tokens, change->who.id);
    struct str_list own = identity ? identity->capabilities : (struct str_list){};
    struct str_list held, edited;

    return rights_in_force_by_admin(worker->rights, change->who, own, change->wall_ms,
                                    &change->arena, &held) ||
           capset_edit(held, change->add, change->remove, &change->arena, &edited) ||
           capset_check(edited, NULL, NULL);
}

static enum err decide(struct change *change, struct worker *worker)
{
    struct rights *rights = worker->rights;
    struct strike_terms remove = strike_of(change, change->remove, STRIKE_SAME);
    struct strike_terms revoke = strike_of(change, change->revoke, STRIKE_COVERED);

    change->why = "There is no such grant of that participant there.";
    if (change->ended.ptr)
        return rights_find(rights, change->who, change->ended) ? OK : ERR_NOT_FOUND;
    change->why = "Nobody of that name has a token or a connection.";
    if (!token_table_find_id(&worker->tokens, change->who.id) &&
        !rights_knows(rights, change->who))
        return ERR_NOT_FOUND;
    change->why = "Together these are too many capabilities.";
    if (are_too_many(change, worker))
        return ERR_TOO_LARGE;
    change->why = "Too much was changed for this participant.";
    if (rights_may_grant(rights, change->who, &change->terms) ||
        rights_may_strike(rights, change->who, &remove) ||
        rights_may_strike(rights, change->who, &revoke))
        return ERR_UNAVAILABLE;
    return OK;
}

/* What some credential of the participant may do, kept. */
static enum err note_in_force(struct change *change, struct worker *worker,
                              struct str_list *ret)
{
    const struct identity *identity =
        token_table_find_id(&worker->tokens, change->who.id);
    struct str_list list;
    struct str *items;
    enum err err =
        rights_in_force(worker->rights, change->who,
                        identity ? identity->capabilities : (struct str_list){},
                        change->wall_ms, &change->arena, &list);

    if (err)
        return err;
    items = arena_alloc(&change->arena, (list.count + 1) * sizeof(*items));
    for (size_t i = 0; items && i < list.count; i++)
        items[i] = arena_str(&change->arena, list.items[i]);
    if (!items || (list.count && !items[list.count - 1].ptr))
        return ERR_TOO_BIG;
    *ret = (struct str_list){ items, list.count };
    return OK;
}

/* The lasting grant that gives this already, or NULL. */
static const struct grant *find_lasting(const struct rights *rights,
                                        struct rights_key who, struct str capability)
{
    const struct grant *grant = NULL;

    while ((grant = rights_next_grant(rights, who, grant))) {
        if (grant->expires_ms || grant->max_uses || grant->origin != RIGHTS_BY_ADMIN)
            continue;
        for (size_t i = 0; i < grant->capabilities.count; i++)
            if (str_eq(grant->capabilities.items[i], capability))
                return grant;
    }
    return NULL;
}

/* Adding again what was added for good changes nothing, however often it is done. */
static struct str grant_missing(const struct change *change, struct worker *worker)
{
    struct str *missing = xcalloc(change->add.count + 1, sizeof(*missing));
    struct grant_terms terms = change->terms;
    size_t strikes = change->remove.count + change->revoke.count;
    const struct grant *found = NULL;
    struct str ret = S("");
    size_t count = 0;

    for (size_t i = 0; i < change->add.count; i++) {
        const struct grant *has =
            terms.expires_ms || terms.max_uses
                ? NULL
                : find_lasting(worker->rights, change->who, change->add.items[i]);

        if (has)
            found = has;
        else
            missing[count++] = change->add.items[i];
    }
    terms.capabilities = (struct str_list){ missing, count };
    terms.order = change->order ? change->order + strikes : 0;
    if (count && rights_grant(worker->rights, change->who, &terms) == OK)
        ret = terms.id;
    else if (found)
        ret = found->id;
    free(missing);
    return ret;
}

static void take_back(const struct change *change, struct worker *worker)
{
    struct grant *grant = rights_find(worker->rights, change->who, change->ended);

    if (grant) /* it may have expired here meanwhile */
        grants_take_back(worker, grant, change->terms.granter);
}

static void apply(const struct change *change, struct worker *worker, struct str *ret_id)
{
    struct strike_terms remove = strike_of(change, change->remove, STRIKE_SAME);
    struct strike_terms revoke = strike_of(change, change->revoke, STRIKE_COVERED);
    struct live_room *room;

    if (change->ended.ptr) {
        take_back(change, worker);
        *ret_id = change->ended;
        return;
    }
    if (change->order) {
        remove.order = change->order;
        revoke.order = change->order + change->remove.count;
    }
    /* Room for them was asked for. */
    (void)rights_strike(worker->rights, change->who, &remove);
    (void)rights_strike(worker->rights, change->who, &revoke);
    *ret_id = grant_missing(change, worker);
    grants_plan(worker);
    MAP_FOREACH(room, &worker->rooms)
        if (change->who.topic.len == 0 ||
            str_eq(change->who.topic, room->room.topic.name))
            grants_renew(room, change->who.id);
}

/* Where it is decided, nothing comes between the question and the deed. */
static enum err carry_out(struct change *change, struct worker *worker)
{
    enum err err = decide(change, worker);
    struct str id;

    if (!err)
        err = note_in_force(change, worker, &change->old);
    if (err)
        return err;
    apply(change, worker, &id);
    change->grant_id = arena_str(&change->arena, id);
    return note_in_force(change, worker, &change->now);
}

static void visit_change(struct gather *gather, struct gather_part *part)
{
    struct change *change = CONTAINER_OF(gather, struct change, gather);
    bool is_everywhere = change->who.topic.len == 0;
    struct str id;

    if (is_everywhere && part->worker != change->decider)
        apply(change, part->worker, &id);
    else if (!is_everywhere && part->worker == change->decider)
        change->err = carry_out(change, part->worker);
}

/* --- answering --- */

/* The lists of the protocol hold strings; what looks into payloads stands apart. */
static void write_objects(const struct change *change, struct json_writer *w)
{
    if (!capability_list_has_objects(change->old) &&
        !capability_list_has_objects(change->now))
        return;
    json_key(w, S("moot"));
    json_object_open(w);
    capability_list_put_objects(w, S("oldCapabilities"), change->old);
    capability_list_put_objects(w, S("newCapabilities"), change->now);
    json_object_close(w);
}

static void reply_change(const struct change *change)
{
    struct exchange *x = change->x;
    struct json_writer w;
    struct buf out;

    log_info("capability.change", "id=%s topic=%s by=%s", LOG_TEXT(change->who.id),
             LOG_TEXT(change->who.topic), LOG_TEXT(x->identity->id));
    buf_init(&out, SIZE_MAX / 2);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("participantId"), change->who.id);
    capability_list_put_patterns(&w, S("oldCapabilities"), change->old);
    capability_list_put_patterns(&w, S("newCapabilities"), change->now);
    json_put_str(&w, S("modifiedBy"), x->identity->id);
    json_put_time(&w, S("modifiedAt"), change->wall_ms);
    if (change->grant_id.len)
        json_put_str(&w, S("grant_id"), change->grant_id);
    write_objects(change, &w);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

static void answer(const struct change *change)
{
    if (change->err == ERR_TOO_BIG)
        exchange_fail(change->x, ERR_TOO_LARGE, "The lists are too long.");
    else if (change->err)
        exchange_fail(change->x, change->err, "%s", change->why);
    else
        reply_change(change);
}

static void answer_change(struct gather *gather)
{
    struct change *change = CONTAINER_OF(gather, struct change, gather);

    if (gather->err) {
        change->err = gather->err;
        change->why = recorder_problem;
    }
    if (exchange_resume(change->x))
        answer(change);
    change_free(change);
}

static struct str make_id(struct arena *arena)
{
    uint8_t random[ID_BYTES];
    struct buf id;
    struct str kept;

    crypto_random(random, sizeof(random));
    buf_init(&id, ID_TEXT + 1);
    buf_put(&id, S("adm-"));
    hex_write(&id, (struct str){ (const char *)random, sizeof(random) });
    kept = arena_str(arena, buf_str(&id));
    buf_done(&id);
    return kept;
}

/* Sends a change that was read on its way. It is over already if it is refused here. */
static void start_change(struct change *change)
{
    struct exchange *x = change->x;
    bool is_everywhere = change->who.topic.len == 0;
    size_t strikes = change->remove.count + change->revoke.count;

    change->decider = is_everywhere
                          ? x->worker
                          : worker_of_topic(x->worker->gateway, change->who.topic);
    change->terms.id = make_id(&change->arena);
    change->terms.granter = x->identity->id;
    change->terms.created_ms = change->wall_ms;
    change->terms.origin = RIGHTS_BY_ADMIN;
    change->terms.capabilities = change->add;
    if (is_everywhere) {
        change->order = rights_reserve(x->worker->rights, change->wall_ms, strikes + 1);
        change->err = carry_out(change, x->worker);
    }
    if (change->err) {
        answer(change);
        change_free(change);
        return;
    }
    exchange_suspend(x);
    gather_start(&change->gather, x->worker);
}

static struct change *change_new(struct exchange *x)
{
    struct change *change = xcalloc(1, sizeof(*change));

    change->x = x;
    change->wall_ms = loop_wall_ms(x->worker->loop);
    change->gather.visit = visit_change;
    change->gather.done = answer_change;
    change->gather.is_lasting = true;
    arena_init(&change->arena, CHANGE_ARENA);
    change->why = recorder_problem;
    change->err = recorder_is_able(x->worker) ? OK : ERR_UNAVAILABLE;
    if (!change->err)
        change->err = read_key(x, change, &change->why);
    return change;
}

/* It is on its way, or answered. */
static void run_change(struct change *change)
{
    if (!change->err) {
        start_change(change);
        return;
    }
    answer(change);
    change_free(change);
}

void admin_capabilities(struct exchange *x)
{
    struct change *change = change_new(x);

    if (!change->err)
        change->err = read_change(x, change, &change->why);
    run_change(change);
}

/* Ids of grants are ids of envelopes: there are some that no path can have. */
static enum err read_ended(struct exchange *x, struct change *change)
{
    struct str id;

    change->why = "`id` is that of a grant, once.";
    if (exchange_param(x, S("id"), &id) || !id.len)
        return ERR_BAD_REQUEST;
    change->ended = arena_str(&change->arena, id);
    return OK;
}

void admin_grant_end(struct exchange *x)
{
    struct change *change = change_new(x);

    if (!change->err)
        change->err = read_ended(x, change);
    run_change(change);
}

/* --- listing --- */

static void write_strike(const struct strike *strike, struct json_writer *w)
{
    json_object_open(w);
    json_key(w, S("capability"));
    capability_text_write(strike->text, w);
    json_put_str(w, S("reach"), strike->reach == STRIKE_SAME ? S("same") : S("covered"));
    json_put_str(w, S("by"), strike->by);
    json_put_time(w, S("created"), strike->created_ms);
    if (strike->reason.len)
        json_put_str(w, S("reason"), strike->reason);
    json_object_close(w);
}

/* What was said in one topic, or in all of them. */
static void write_record(const struct rights *rights, struct rights_key who,
                         struct json_writer *w)
{
    const struct grant *grant = NULL;
    const struct strike *strike = NULL;

    json_object_open(w);
    if (who.topic.len)
        json_put_str(w, S("topic"), who.topic);
    json_key(w, S("grants"));
    json_array_open(w);
    while ((grant = rights_next_grant(rights, who, grant)))
        grant_write(grant, w);
    json_array_close(w);
    json_key(w, S("strikes"));
    json_array_open(w);
    while ((strike = rights_next_strike(rights, who, strike)))
        write_strike(strike, w);
    json_array_close(w);
    json_object_close(w);
}

static void visit_grants(struct gather *gather, struct gather_part *part)
{
    const struct change *change = CONTAINER_OF(gather, struct change, gather);
    const struct rights *rights = part->worker->rights;
    struct rights_key who = { .id = change->who.id };
    struct json_writer w;
    size_t at = 0;

    json_write_init(&w, &part->out);
    while (rights_next_topic(rights, who.id, &at, &who.topic)) {
        bool is_everywhere = who.topic.len == 0;

        if (is_everywhere && part->worker->index > 0)
            continue; /* the same on every worker */
        if (is_everywhere || change->who.topic.len == 0 ||
            str_eq(who.topic, change->who.topic))
            write_record(rights, who, &w);
    }
}

static void answer_grants(struct gather *gather)
{
    struct change *change = CONTAINER_OF(gather, struct change, gather);
    struct json_writer w;
    struct buf out;

    if (exchange_resume(change->x)) {
        buf_init(&out, SIZE_MAX / 2);
        json_write_init(&w, &out);
        json_object_open(&w);
        json_put_str(&w, S("participantId"), change->who.id);
        json_key(&w, S("rights"));
        json_array_open(&w);
        gather_join(gather, &out);
        json_array_close(&w);
        json_object_close(&w);
        exchange_json(change->x, 200, &out);
        buf_done(&out);
    }
    change_free(change);
}

void admin_grants(struct exchange *x)
{
    struct change *change = xcalloc(1, sizeof(*change));
    const char *why = "";
    enum err err;

    change->x = x;
    change->gather.visit = visit_grants;
    change->gather.done = answer_grants;
    arena_init(&change->arena, CHANGE_ARENA);
    err = read_key(x, change, &why);
    if (err) {
        exchange_fail(x, err, "%s", why);
        change_free(change);
        return;
    }
    exchange_suspend(x);
    gather_start(&change->gather, x->worker);
}
