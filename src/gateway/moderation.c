/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/moderation.h"

#include <stdlib.h>
#include <string.h>

#include "admit/command.h"
#include "base/log.h"
#include "gateway/gateway.h"
#include "gateway/grants.h"
#include "gateway/invite.h"
#include "gateway/proposals.h"
#include "gateway/recording.h"
#include "gateway/rulebooks.h"

enum { ARENA_BYTES = 1 << 20 };

/* --- judging --- */

static enum err refuse_unheld(struct refusal *r, struct str capability)
{
    (void)refusal_set(r, ERR_CAPABILITY_VIOLATION, S("payload.capabilities"),
                      "you do not hold this, so you can neither give nor take it");
    r->capability = capability;
    return ERR_CAPABILITY_VIOLATION;
}

static struct live_room *room_of(const struct admission *a)
{
    return CONTAINER_OF(a->room, struct live_room, room);
}

static struct rights_key key_here(const struct admission *a, struct str id)
{
    return (struct rights_key){ a->room->topic.name, id };
}

static struct rights_bearer bearer_of(const struct admission *a)
{
    return (struct rights_bearer){ .who = key_here(a, a->sender->id),
                                   .own = a->identity->capabilities,
                                   .now_ms = a->wall_ms,
                                   .lasts_ms = identity_lasts_ms(a->identity) };
}

/* Nothing that a credential gives outlasts it. */
static bool outlasts(const struct rights_bearer *bearer, uint64_t expires_ms)
{
    return bearer->lasts_ms && (expires_ms == 0 || expires_ms > bearer->lasts_ms);
}

/* Is there somebody of that name: here, or with a token? */
static bool is_known(const struct admission *a, struct str id)
{
    return participant_find(&a->room->topic, id) ||
           token_table_find_id(&room_of(a)->worker->tokens, id);
}

static struct grant_terms terms_of(const struct admission *a)
{
    const struct command *command = a->command;

    return (struct grant_terms){ .id = command->id,
                                 .granter = a->sender->id,
                                 .reason = command->reason,
                                 .capabilities = command->capabilities,
                                 .created_ms = a->wall_ms,
                                 .expires_ms = command->expires_ms,
                                 .max_uses = command->max_uses,
                                 .is_told = true };
}

static struct strike_terms strike_of(const struct admission *a)
{
    return (struct strike_terms){ .by = a->sender->id,
                                  .reason = a->command->reason,
                                  .capabilities = a->command->capabilities,
                                  .reach = STRIKE_COVERED,
                                  .created_ms = a->wall_ms };
}

static enum err judge_grant(const struct admission *a, struct refusal *r)
{
    const struct command *command = a->command;
    struct rights_bearer bearer = bearer_of(a);
    struct grant_terms terms = terms_of(a);
    struct str fault;

    if (str_eq(command->target, a->sender->id))
        return refusal_set(r, ERR_FORBIDDEN, S("payload.recipient"),
                           "nobody grants anything to himself");
    if (!is_known(a, command->target))
        return refusal_set(r, ERR_NOT_FOUND, S("payload.recipient"),
                           "nobody of that name is here or has a token");
    if (outlasts(&bearer, command->expires_ms))
        return refusal_set(r, ERR_FORBIDDEN, S("payload.expires_at"),
                           "your credential expires: what you give ends no later");
    fault = rights_not_held(a->room->rights, &bearer, command->capabilities,
                            command->expires_ms);
    if (fault.len)
        return refuse_unheld(r, fault);
    switch (rights_may_grant(a->room->rights, key_here(a, command->target), &terms)) {
    case OK: return OK;
    case ERR_CONFLICT:
        return refusal_set(r, ERR_DUPLICATE_ID, S("id"), "a grant has this id");
    default:
        return refusal_set(r, ERR_UNAVAILABLE, S(""),
                           "too many grants of this participant");
    }
}

/* A grant is taken back by who made it, or by who holds all of it. */
static enum err judge_revoke_grant(const struct admission *a, struct refusal *r)
{
    const struct command *command = a->command;
    struct rights_bearer bearer = bearer_of(a);
    const struct grant *grant =
        rights_find(a->room->rights, key_here(a, command->target), command->grant_id);
    struct str fault;

    if (!grant)
        return refusal_set(r, ERR_NOT_FOUND, S("payload.grant_id"),
                           "the recipient has no such grant in this topic");
    if (str_eq(grant->granter, a->sender->id))
        return OK;
    fault = rights_not_held(a->room->rights, &bearer, grant->capabilities, RIGHTS_NOW);
    return fault.len ? refuse_unheld(r, fault) : OK;
}

static enum err judge_revoke(const struct admission *a, struct refusal *r)
{
    const struct command *command = a->command;
    struct rights_bearer bearer = bearer_of(a);
    struct strike_terms terms = strike_of(a);
    struct str fault;

    if (!is_known(a, command->target))
        return refusal_set(r, ERR_NOT_FOUND, S("payload.recipient"),
                           "nobody of that name is here or has a token");
    if (command->grant_id.ptr)
        return judge_revoke_grant(a, r);
    fault = rights_not_held(a->room->rights, &bearer, command->capabilities, RIGHTS_NOW);
    if (fault.len)
        return refuse_unheld(r, fault);
    if (rights_may_strike(a->room->rights, key_here(a, command->target), &terms))
        return refusal_set(r, ERR_UNAVAILABLE, S(""),
                           "too many revocations from this participant");
    return OK;
}

static bool is_administrator(struct worker *worker, struct str id)
{
    const struct identity *identity;

    if (str_eq(gateway_local_identity(worker->gateway)->id, id))
        return true;
    MAP_FOREACH(identity, &worker->tokens.by_hash)
        if (identity->is_admin && str_eq(identity->id, id))
            return true;
    return false;
}

static enum err judge_act(const struct admission *a, struct refusal *r)
{
    static const struct str field = { "payload.participant", 19 };
    struct str target = a->command->target;
    const struct participant *participant = participant_find(&a->room->topic, target);
    const struct standing *standing = standing_find(&room_of(a)->standings, target);

    if (str_eq(target, a->sender->id))
        return refusal_set(r, ERR_FORBIDDEN, field, "not on yourself");
    if (!participant && !standing)
        return refusal_set(r, ERR_NOT_FOUND, field, "nobody of that name is here");
    if (a->identity->is_admin)
        return OK;
    if (is_administrator(room_of(a)->worker, target))
        return refusal_set(r, ERR_FORBIDDEN, field, "an administrator: only others may");
    if (a->command->verb == COMMAND_RESUME &&
        ((participant && participant->is_held) || (standing && standing->is_held)))
        return refusal_set(r, ERR_FORBIDDEN, field,
                           "an administrator has paused this participant");
    return OK;
}

static enum switch_wish wish_of(const struct admission *a, enum topic_switch which)
{
    return which == SWITCH_BRAKE ? a->command->brake : a->command->automation;
}

static struct switch_change change_of(const struct admission *a, enum topic_switch which)
{
    return (struct switch_change){ .topic = a->room->topic.name,
                                   .by = a->sender->id,
                                   .cause = a->command->id,
                                   .which = which,
                                   .is_on = wish_of(a, which) == SWITCH_ON };
}

static enum err judge_set(const struct admission *a, struct refusal *r)
{
    for (enum topic_switch which = 0; which < SWITCH_COUNT; which++) {
        struct switch_change change = change_of(a, which);
        const char *problem = switch_problem(room_of(a)->worker, &change);

        if (wish_of(a, which) != SWITCH_STAYS && problem)
            return refusal_set(r, ERR_UNAVAILABLE, S(""), problem);
    }
    return OK;
}

enum err moderation_judge(struct admission *a, struct refusal *r)
{
    switch (a->command->verb) {
    case COMMAND_GRANT: return judge_grant(a, r);
    case COMMAND_REVOKE: return judge_revoke(a, r);
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
    case COMMAND_KICK: return judge_act(a, r);
    case COMMAND_INVITE:
        a->is_executed = true; /* it names rights of somebody who is not here */
        return invite_judge(a, r);
    case COMMAND_SET_TOPIC: return judge_set(a, r);
    case COMMAND_RULE: return rulebooks_judge(a, r);
    }
    return OK;
}

/* --- carrying out --- */

static void carry_out_grant(struct live_room *room, const struct admission *a)
{
    struct rights *rights = room->worker->rights;
    struct rights_key holder = key_here(a, a->command->target);
    struct grant_terms terms = terms_of(a);
    struct announcement ack;

    if (rights_grant(rights, holder, &terms))
        return; /* was asked before */
    grants_plan(room->worker);
    log_info("capability.grant", "topic=%s id=%s by=%s", LOG_TEXT(holder.topic),
             LOG_TEXT(holder.id), LOG_TEXT(a->sender->id));
    grant_ack_begin(&ack, room, S("granted"), terms.id);
    grant_ack_put(&ack, rights_find(rights, holder, terms.id));
    recording_grant(room->worker, S("grant"), a->sender->id,
                    rights_find(rights, holder, terms.id));
    grants_renew(room, a->command->target);
    grant_ack_send(&ack);
}

static void revoke_grant(struct live_room *room, const struct admission *a,
                         struct announcement *ack)
{
    struct rights *rights = room->worker->rights;
    struct grant *grant =
        rights_find(rights, key_here(a, a->command->target), a->command->grant_id);
    struct str revoked[COMMAND_MAX_CAPABILITIES]; /* an administrator's may have more */
    size_t count = 0;
    struct arena arena;

    if (!grant)
        return; /* was asked before */
    grant_ack_put(ack, grant);
    recording_grant(room->worker, S("revoke"), a->sender->id, grant);
    arena_init(&arena, ARENA_BYTES);
    for (; count < grant->capabilities.count && count < COUNT(revoked); count++)
        revoked[count] = arena_str(&arena, grant->capabilities.items[count]);
    rights_end(rights, grant);
    grant_ack_still(ack, room, a->command->target, (struct str_list){ revoked, count });
    arena_done(&arena);
}

static void revoke_capabilities(struct live_room *room, const struct admission *a,
                                struct announcement *ack)
{
    struct strike_terms terms = strike_of(a);

    recording_strike(room, a);
    /* Was asked before. */
    (void)rights_strike(room->worker->rights, key_here(a, a->command->target), &terms);
    json_put_str(&ack->w, S("recipient"), a->command->target);
    json_key(&ack->w, S("capabilities"));
    capability_list_write(a->command->capabilities, &ack->w);
    grant_ack_still(ack, room, a->command->target, a->command->capabilities);
}

static void carry_out_revoke(struct live_room *room, const struct admission *a)
{
    struct announcement ack;

    log_info("capability.revoke", "topic=%s id=%s by=%s", LOG_TEXT(room->room.topic.name),
             LOG_TEXT(a->command->target), LOG_TEXT(a->sender->id));
    grant_ack_begin(&ack, room, S("revoked"), a->command->id);
    if (a->command->grant_id.ptr)
        revoke_grant(room, a, &ack);
    else
        revoke_capabilities(room, a, &ack);
    grants_plan(room->worker);
    grants_renew(room, a->command->target);
    grant_ack_send(&ack);
}

static void carry_out_act(struct live_room *room, const struct admission *a)
{
    struct str target = a->command->target;

    log_info("participant.moderate", "kind=%s topic=%s id=%s by=%s",
             LOG_TEXT(a->env.kind.text), LOG_TEXT(room->room.topic.name),
             LOG_TEXT(a->command->target), LOG_TEXT(a->sender->id));
    if (a->command->verb == COMMAND_KICK)
        room_kick(room, target);
    else if (a->command->verb == COMMAND_PAUSE)
        room_pause(room, target, a->identity->is_admin);
    else
        room_resume(room, target);
}

static void carry_out_set(struct live_room *room, const struct admission *a)
{
    for (enum topic_switch which = 0; which < SWITCH_COUNT; which++) {
        struct switch_change change = change_of(a, which);

        if (wish_of(a, which) != SWITCH_STAYS)
            (void)switch_set(room->worker, &change); /* was asked before */
    }
}

/* --- the sequel of an envelope --- */

bool moderation_is_acknowledged(const struct admission *a)
{
    return a->command &&
           (a->command->verb == COMMAND_GRANT || a->command->verb == COMMAND_REVOKE);
}

static void carry_out_command(struct live_room *room, const struct admission *a,
                              struct exchange *x)
{
    switch (a->command->verb) {
    case COMMAND_GRANT: carry_out_grant(room, a); break;
    case COMMAND_REVOKE: carry_out_revoke(room, a); break;
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
    case COMMAND_KICK: carry_out_act(room, a); break;
    case COMMAND_INVITE: invite_start(room, a, x); break;
    case COMMAND_SET_TOPIC: carry_out_set(room, a); break;
    case COMMAND_RULE: rulebooks_carry_out(room, a); break;
    }
}

/* A grant by its name, for when it may have gone meanwhile. */
struct grant_name {
    struct rights_key holder; /* `id` below */
    struct str grant_id;
    char texts[2][ENVELOPE_MAX_ID];
};

static struct str keep_text(struct str text, char space[static ENVELOPE_MAX_ID])
{
    size_t len = text.len < ENVELOPE_MAX_ID ? text.len : ENVELOPE_MAX_ID;

    return (struct str){ memcpy(space, text.ptr, len), len };
}

static void name_grant(const struct live_room *room, const struct grant *grant,
                       struct grant_name *ret)
{
    ret->holder.topic = grant->holder.topic.len ? room->room.topic.name : S("");
    ret->holder.id = keep_text(grant->holder.id, ret->texts[0]);
    ret->grant_id = keep_text(grant->id, ret->texts[1]);
}

/* The command first: whatever is said in the room may be written over its envelope. And
 * it may revoke the very grant that allowed it. */
void moderation_carry_out(struct live_room *room, const struct admission *a,
                          struct exchange *x)
{
    bool is_used_up = a->grant && grant_is_used_up(a->grant);
    struct grant_name name;
    struct grant *grant;

    if (ledger_must_decide(&a->effect)) /* then its text stands in the log */
        proposals_announce(room);
    if (a->rules)
        rulebooks_follow(room, a);
    if (is_used_up)
        name_grant(room, a->grant, &name);
    if (a->command)
        carry_out_command(room, a, x);
    if (!is_used_up)
        return;
    grant = rights_find(room->worker->rights, name.holder, name.grant_id);
    if (grant)
        grants_end(room, grant, S("used_up"));
}
