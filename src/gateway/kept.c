/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/kept.h"

#include <stdio.h>

#include "admit/command.h"
#include "identity/identity.h"
#include "policy/capset.h"

#define LAST_MS    KEPT_LAST_MS
#define LAST_ORDER (UINT64_MAX / 2)

struct str kept_key(uint64_t order, char out[static KEPT_KEY])
{
    (void)snprintf(out, KEPT_KEY, "%016llx", (unsigned long long)order);
    return (struct str){ out, KEPT_KEY - 1 };
}

static enum err read_key(struct str key, uint64_t *ret)
{
    uint64_t order = 0;

    if (key.len != KEPT_KEY - 1)
        return ERR_INVALID;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];

        if (c >= '0' && c <= '9')
            order = order << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            order = order << 4 | (uint64_t)(c - 'a' + 10);
        else
            return ERR_INVALID;
    }
    if (order == 0 || order > LAST_ORDER)
        return ERR_INVALID;
    *ret = order;
    return OK;
}

static bool is_id(struct str id)
{
    return id.len > 0 && id.len <= ENVELOPE_MAX_ID;
}

static bool is_place(struct str topic)
{
    return topic.len == 0 || topic_name_is_valid(topic);
}

static enum err read_value(const struct kept_text *text, const struct json_field *fields,
                           size_t count, struct arena *arena, void *ret)
{
    const struct json *root;

    if (json_parse(text->value, arena, &root, NULL) ||
        json_read(root, fields, count, arena, ret, NULL))
        return ERR_INVALID;
    return OK;
}

/* --- grants --- */

struct grant_item {
    struct str holder, id, granter, reason;
    const struct json *capabilities;
    uint64_t created, expires, max_uses, uses;
    bool told, admin;
};

#define F(member, need) JSON_FIELD(struct grant_item, member, need)
static const struct json_field grant_fields[] = {
    F(holder, JSON_REQUIRED),  F(id, JSON_REQUIRED),           F(granter, JSON_REQUIRED),
    F(reason, JSON_OPTIONAL),  F(capabilities, JSON_REQUIRED), F(created, JSON_REQUIRED),
    F(expires, JSON_OPTIONAL), F(max_uses, JSON_OPTIONAL),     F(uses, JSON_OPTIONAL),
    F(told, JSON_OPTIONAL),    F(admin, JSON_OPTIONAL),
};
#undef F

static void put_some(struct json_writer *w, struct str key, uint64_t value)
{
    if (value)
        json_put_uint(w, key, value);
}

void kept_write_grant(const struct grant *grant, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("holder"), grant->holder.id);
    json_put_str(&w, S("id"), grant->id);
    json_put_str(&w, S("granter"), grant->granter);
    if (grant->reason.len)
        json_put_str(&w, S("reason"), grant->reason);
    json_key(&w, S("capabilities"));
    capability_list_write(grant->capabilities, &w);
    json_put_uint(&w, S("created"), grant->created_ms);
    put_some(&w, S("expires"), grant->expires_ms);
    put_some(&w, S("max_uses"), grant->max_uses);
    put_some(&w, S("uses"), grant->uses);
    if (grant->is_told)
        json_put_bool(&w, S("told"), true);
    if (grant->origin == RIGHTS_BY_ADMIN)
        json_put_bool(&w, S("admin"), true);
    json_object_close(&w);
}

static bool is_possible(const struct grant_item *item, struct str topic)
{
    if (!is_place(topic) || !is_id(item->holder) || !is_id(item->id) ||
        !is_id(item->granter) || item->reason.len > COMMAND_MAX_REASON)
        return false;
    if (item->created > LAST_MS || item->expires > LAST_MS)
        return false;
    return item->max_uses <= COMMAND_MAX_USES && item->uses <= item->max_uses &&
           (item->max_uses == 0 || topic.len > 0);
}

static enum rights_origin origin_of(bool is_admin)
{
    return is_admin ? RIGHTS_BY_ADMIN : RIGHTS_IN_ROOM;
}

enum err kept_read_grant(const struct kept_text *text, struct arena *arena,
                         struct kept_grant *ret)
{
    struct grant_item item = {};
    struct str_list list;
    uint64_t order;

    if (read_key(text->key, &order) ||
        read_value(text, grant_fields, COUNT(grant_fields), arena, &item) ||
        !is_possible(&item, text->topic) ||
        capability_list(item.capabilities, arena, &list, NULL) ||
        list.count > RIGHTS_MAX_CAPABILITIES || capset_check(list, NULL, NULL))
        return ERR_INVALID;
    *ret = (struct kept_grant){ .holder = { text->topic, item.holder },
                                .terms = { .id = item.id,
                                           .granter = item.granter,
                                           .reason = item.reason,
                                           .capabilities = list,
                                           .order = order,
                                           .created_ms = item.created,
                                           .expires_ms = item.expires,
                                           .max_uses = item.max_uses,
                                           .is_told = item.told,
                                           .origin = origin_of(item.admin) },
                                .uses = item.uses };
    return OK;
}

/* --- strikes --- */

struct strike_item {
    struct str holder, by, reason;
    const struct json *capability;
    uint64_t created;
    bool same, admin;
};

#define F(member, need) JSON_FIELD(struct strike_item, member, need)
static const struct json_field strike_fields[] = {
    F(holder, JSON_REQUIRED),     F(by, JSON_REQUIRED),      F(reason, JSON_OPTIONAL),
    F(capability, JSON_REQUIRED), F(created, JSON_REQUIRED), F(same, JSON_OPTIONAL),
    F(admin, JSON_OPTIONAL),
};
#undef F

void kept_write_strike(struct rights_key holder, const struct strike *strike,
                       struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("holder"), holder.id);
    json_put_str(&w, S("by"), strike->by);
    if (strike->reason.len)
        json_put_str(&w, S("reason"), strike->reason);
    json_key(&w, S("capability"));
    capability_text_write(strike->text, &w);
    json_put_uint(&w, S("created"), strike->created_ms);
    if (strike->reach == STRIKE_SAME)
        json_put_bool(&w, S("same"), true);
    if (strike->origin == RIGHTS_BY_ADMIN)
        json_put_bool(&w, S("admin"), true);
    json_object_close(&w);
}

enum err kept_read_strike(const struct kept_text *text, struct arena *arena,
                          struct kept_strike *ret)
{
    struct strike_item item = {};
    uint64_t order;

    if (read_key(text->key, &order) ||
        read_value(text, strike_fields, COUNT(strike_fields), arena, &item) ||
        !is_place(text->topic) || !is_id(item.holder) || !is_id(item.by) ||
        item.reason.len > COMMAND_MAX_REASON || item.created > LAST_MS ||
        capability_normal(item.capability, arena, &ret->capability, NULL))
        return ERR_INVALID;
    ret->holder = (struct rights_key){ text->topic, item.holder };
    ret->terms = (struct strike_terms){ .by = item.by,
                                        .reason = item.reason,
                                        .capabilities = { &ret->capability, 1 },
                                        .reach = item.same ? STRIKE_SAME : STRIKE_COVERED,
                                        .order = order,
                                        .created_ms = item.created,
                                        .origin = origin_of(item.admin) };
    return OK;
}

/* --- proposals --- */

/* The envelope is a string: so its bytes stay what they are. */
struct proposal_item {
    struct str envelope, state, id, proposer, kind, subject, by, reason, rule;
    const struct json *approvals;
    uint64_t created, expires, decided;
};

#define F(member, need) JSON_FIELD(struct proposal_item, member, need)
static const struct json_field proposal_fields[] = {
    F(envelope, JSON_OPTIONAL), F(state, JSON_OPTIONAL),   F(id, JSON_OPTIONAL),
    F(proposer, JSON_OPTIONAL), F(kind, JSON_OPTIONAL),    F(subject, JSON_OPTIONAL),
    F(by, JSON_OPTIONAL),       F(reason, JSON_OPTIONAL),  F(approvals, JSON_OPTIONAL),
    F(created, JSON_REQUIRED),  F(expires, JSON_REQUIRED), F(decided, JSON_OPTIONAL),
    F(rule, JSON_OPTIONAL),
};
#undef F

struct approval_item {
    struct str id, profile;
    uint64_t at;
    bool human;
};

#define F(member, need) JSON_FIELD(struct approval_item, member, need)
static const struct json_field approval_fields[] = {
    F(id, JSON_REQUIRED),
    F(profile, JSON_OPTIONAL),
    F(at, JSON_REQUIRED),
    F(human, JSON_OPTIONAL),
};
#undef F

static void write_approvals(const struct approvals *approvals, struct json_writer *w)
{
    if (approvals->count == 0)
        return;
    json_key(w, S("approvals"));
    json_array_open(w);
    for (size_t i = 0; i < approvals->count; i++) {
        const struct approver *approver = &approvals->items[i];

        json_object_open(w);
        json_put_str(w, S("id"), approver->id);
        json_put_given(w, S("profile"), approver->profile);
        json_put_uint(w, S("at"), approver->at_ms);
        if (approver->is_human)
            json_put_bool(w, S("human"), true);
        json_object_close(w);
    }
    json_array_close(w);
}

void kept_write_proposal(const struct proposal *proposal, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_uint(&w, S("created"), proposal->created_ms);
    json_put_uint(&w, S("expires"), proposal->expires_ms);
    if (proposal->envelope) {
        json_put_str(&w, S("envelope"),
                     (struct str){ proposal->envelope, proposal->envelope_bytes });
    } else {
        json_put_str(&w, S("state"),
                     str_of(proposal_state_name((enum proposal_state)proposal->state)));
        json_put_str(&w, S("id"), proposal->id);
        json_put_str(&w, S("proposer"), proposal->proposer);
        json_put_str(&w, S("kind"), proposal->kind.text);
        if (!proposal->kind.context.ptr)
            json_put_given(&w, S("subject"), proposal->subject);
        json_put_given(&w, S("by"), proposal->by);
        json_put_given(&w, S("reason"), proposal->reason);
        json_put_given(&w, S("rule"), proposal->rule);
        put_some(&w, S("decided"), proposal->decided_ms);
    }
    write_approvals(&proposal->approvals, &w);
    json_object_close(&w);
}

static enum err read_envelope(struct str text, struct arena *arena, struct envelope *ret)
{
    if (envelope_scan(text, JSON_MAX_DEPTH, DIALECT_SLASH, arena, ret, NULL) ||
        envelope_read_kind(ret, DIALECT_SLASH, arena))
        return ERR_INVALID;
    return OK;
}

static enum err read_state(const struct proposal_item *item, enum proposal_state *ret)
{
    static const enum proposal_state closed[] = { PROPOSAL_FULFILLED, PROPOSAL_REJECTED,
                                                  PROPOSAL_WITHDRAWN, PROPOSAL_EXPIRED };

    for (size_t i = 0; i < COUNT(closed); i++)
        if (str_eq(item->state, str_of(proposal_state_name(closed[i])))) {
            *ret = closed[i];
            return is_id(item->id) && is_id(item->proposer) ? OK : ERR_INVALID;
        }
    return ERR_INVALID;
}

static enum err read_approval(const struct json *item, struct arena *arena,
                              struct approver *ret)
{
    struct approval_item read = {};

    if (json_read(item, approval_fields, COUNT(approval_fields), arena, &read, NULL) ||
        !is_id(read.id) || read.profile.len > APPROVAL_PROFILE || read.at > LAST_MS)
        return ERR_INVALID;
    *ret = (struct approver){
        .id = read.id, .profile = read.profile, .at_ms = read.at, .is_human = read.human
    };
    return OK;
}

static enum err read_approvals(const struct json *list, struct arena *arena,
                               struct proposal_past *past)
{
    struct approver *items;
    enum err err = OK;

    if (!list)
        return OK;
    if (list->type != JSON_ARRAY || list->count > APPROVALS_MAX)
        return ERR_INVALID;
    items = arena_alloc(arena, (list->count + 1) * sizeof(*items));
    if (!items)
        return ERR_INVALID;
    past->approvals = items;
    for (const struct json *item = list->first; item && !err; item = item->next)
        err = read_approval(item, arena, &items[past->approval_count++]);
    return err;
}

/* How a closed one ended. */
static enum err read_ending(const struct proposal_item *item, struct proposal_past *past)
{
    if (item->by.len > ENVELOPE_MAX_ID || item->reason.len > APPROVAL_REASON ||
        item->rule.len > ENVELOPE_MAX_ID || item->decided > LAST_MS ||
        item->subject.len > KIND_MAX_BYTES)
        return ERR_INVALID;
    past->subject = item->subject;
    past->id = item->id;
    past->proposer = item->proposer;
    past->kind = item->kind;
    past->by = item->by;
    past->reason = item->reason;
    past->rule = item->rule;
    past->decided_ms = item->decided;
    if (read_state(item, &past->state))
        return ERR_INVALID;
    return item->rule.len == 0 || past->state == PROPOSAL_FULFILLED ? OK : ERR_INVALID;
}

enum err kept_read_proposal(const struct kept_text *text, struct arena *arena,
                            struct kept_proposal *ret)
{
    struct proposal_item item = {};
    struct proposal_past *past = &ret->past;

    *ret = (struct kept_proposal){};
    if (read_key(text->key, &past->order) ||
        read_value(text, proposal_fields, COUNT(proposal_fields), arena, &item) ||
        !topic_name_is_valid(text->topic) || item.created > LAST_MS ||
        item.expires > LAST_MS || read_approvals(item.approvals, arena, past))
        return ERR_INVALID;
    past->created_ms = item.created;
    past->expires_ms = item.expires;
    past->state = PROPOSAL_OPEN;
    if (item.envelope.ptr)
        return read_envelope(item.envelope, arena, &ret->env);
    return read_ending(&item, past);
}

/* --- standings --- */

struct standing_item {
    uint64_t barred_until;
    bool paused, held;
};

#define F(member, need) JSON_FIELD(struct standing_item, member, need)
static const struct json_field standing_fields[] = {
    F(barred_until, JSON_OPTIONAL),
    F(paused, JSON_OPTIONAL),
    F(held, JSON_OPTIONAL),
};
#undef F

void kept_write_standing(const struct kept_standing *standing, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    put_some(&w, S("barred_until"), standing->barred_until_ms);
    if (standing->is_paused)
        json_put_bool(&w, S("paused"), true);
    if (standing->is_held)
        json_put_bool(&w, S("held"), true);
    json_object_close(&w);
}

enum err kept_read_standing(const struct kept_text *text, struct arena *arena,
                            struct kept_standing *ret)
{
    struct standing_item item = {};

    if (!is_place(text->topic) || !is_id(text->key) ||
        read_value(text, standing_fields, COUNT(standing_fields), arena, &item) ||
        item.barred_until > LAST_MS || (item.held && !item.paused))
        return ERR_INVALID;
    *ret = (struct kept_standing){ .barred_until_ms = item.barred_until,
                                   .is_paused = item.paused,
                                   .is_held = item.held };
    return OK;
}
