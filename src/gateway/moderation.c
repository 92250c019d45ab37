/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/moderation.h"

#include <stdlib.h>
#include <string.h>

#include "admit/command.h"
#include "base/log.h"
#include "gateway/gateway.h"
#include "gateway/invite.h"
#include "policy/overlap.h"

enum {
    TIMER_MAX_MS = 3600 * 1000, /* the clock may be set meanwhile */
    STILL_MAX = 64,             /* capabilities named as still allowing something */
    STILL_STEPS = 4'000'000,    /* spent on finding them */
    ARENA_BYTES = 1 << 20,
};

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
    const struct participant *participant;
    struct str target = a->command->target;

    if (str_eq(target, a->sender->id))
        return refusal_set(r, ERR_FORBIDDEN, field, "not on yourself");
    participant = participant_find(&a->room->topic, target);
    if (!participant)
        return refusal_set(r, ERR_NOT_FOUND, field, "nobody of that name is here");
    if (a->identity->is_admin)
        return OK;
    if (is_administrator(room_of(a)->worker, target))
        return refusal_set(r, ERR_FORBIDDEN, field, "an administrator: only others may");
    if (a->command->verb == COMMAND_RESUME && participant->is_held)
        return refusal_set(r, ERR_FORBIDDEN, field,
                           "an administrator has paused this participant");
    return OK;
}

static enum err judge_command(struct admission *a, struct refusal *r)
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
    }
    return OK;
}

const struct room_ops moderation_ops = { .judge_command = judge_command };

/* --- telling --- */

void moderation_renew(struct live_room *room, struct str id)
{
    struct participant *participant = participant_find(&room->room.topic, id);

    if (!participant)
        return;
    participant_renew_rights(participant);
    room_welcome_again(room, participant);
}

static void put_list(struct json_writer *w, struct str key, struct str_list list)
{
    json_key(w, key);
    capability_list_write(list, w);
}

static void write_terms(const struct grant *grant, struct json_writer *w)
{
    if (grant->expires_ms)
        json_put_time(w, S("expires_at"), grant->expires_ms);
    if (grant->max_uses)
        json_put_uint(w, S("max_uses"), grant->max_uses);
}

static void begin_grant(const struct grant *grant, struct json_writer *w)
{
    json_object_open(w);
    json_put_str(w, S("id"), grant->id);
    json_put_str(w, S("granter"), grant->granter);
}

static void end_grant_object(const struct grant *grant, struct json_writer *w)
{
    json_put_time(w, S("created"), grant->created_ms);
    write_terms(grant, w);
    if (grant->max_uses)
        json_put_uint(w, S("uses_left"), grant->max_uses - grant->uses);
    if (grant->reason.len)
        json_put_str(w, S("reason"), grant->reason);
    json_object_close(w);
}

void moderation_write_grant(const struct grant *grant, struct json_writer *w)
{
    begin_grant(grant, w);
    put_list(w, S("capabilities"), grant->capabilities);
    end_grant_object(grant, w);
}

/* The same as its holder is shown it. */
static void show_grant(const struct grant *grant, enum dialect dialect,
                       struct json_writer *w)
{
    begin_grant(grant, w);
    json_key(w, S("capabilities"));
    json_array_open(w);
    for (size_t i = 0; i < grant->capabilities.count; i++)
        capability_write(grant->compiled[i], dialect, w);
    json_array_close(w);
    end_grant_object(grant, w);
}

static void show_live(const struct live_room *room, struct rights_key key,
                      enum dialect dialect, struct json_writer *w)
{
    uint64_t now_ms = loop_wall_ms(room->worker->loop);
    const struct grant *grant = NULL;

    while ((grant = rights_next_grant(room->worker->rights, key, grant)))
        if (!grant_is_used_up(grant) &&
            (!grant->expires_ms || now_ms < grant->expires_ms))
            show_grant(grant, dialect, w);
}

void moderation_show_grants(const struct live_room *room, struct str id,
                            enum dialect dialect, struct json_writer *w)
{
    const struct rights *rights = room->worker->rights;
    const struct topic *topic = &room->room.topic;

    if (!rights_knows(rights, (struct rights_key){ topic->name, id }))
        return;
    if (!rights_next_grant(rights, (struct rights_key){ S(""), id }, NULL) &&
        !rights_next_grant(rights, (struct rights_key){ topic->name, id }, NULL))
        return;
    json_key(w, S("grants"));
    json_array_open(w);
    show_live(room, (struct rights_key){ S(""), id }, dialect, w);
    show_live(room, (struct rights_key){ topic->name, id }, dialect, w);
    json_array_close(w);
}

/* The acknowledgement, but for what is said about the rest; sent when all is done. */
static void ack_begin(struct announcement *ack, struct live_room *room, struct str status,
                      struct str correlation_id)
{
    announcement_begin(ack, room,
                       &(struct system_head){ .kind = S("capability/grant-ack"),
                                              .correlation_id = correlation_id });
    json_put_str(&ack->w, S("status"), status);
}

static void ack_grant(struct announcement *ack, const struct grant *grant)
{
    json_put_str(&ack->w, S("grant_id"), grant->id);
    json_put_str(&ack->w, S("granter"), grant->granter);
    json_put_str(&ack->w, S("recipient"), grant->holder.id);
    put_list(&ack->w, S("capabilities"), grant->capabilities);
    write_terms(grant, &ack->w);
}

static void ack_send(struct announcement *ack)
{
    room_flush_presence(ack->room); /* nobody is spoken of before he came */
    announcement_end(ack);
}

/* --- what is left after a revocation --- */

struct remains {
    struct capability **revoked;
    size_t revoked_count;
    size_t steps;
    struct str texts[STILL_MAX];
    size_t count;
};

static bool is_noted(const struct remains *remains, struct str text)
{
    for (size_t i = 0; i < remains->count; i++)
        if (str_eq(remains->texts[i], text))
            return true;
    return false;
}

static void note_if_left(struct remains *remains, struct str text, struct arena *arena)
{
    struct capability *held;

    if (remains->count == STILL_MAX || is_noted(remains, text) ||
        capability_new(text, &held, NULL))
        return;
    for (size_t i = 0; i < remains->revoked_count; i++)
        if (capability_overlaps(held, remains->revoked[i], &remains->steps)) {
            remains->texts[remains->count] = arena_str(arena, text);
            remains->count += remains->texts[remains->count].ptr != NULL;
            break;
        }
    capability_free(held);
}

/* Of every credential of the participant. */
static void look_through(struct live_room *room, struct str id, struct remains *remains,
                         struct arena *arena)
{
    struct worker *worker = room->worker;
    struct rights_key who = { room->room.topic.name, id };
    const struct identity *identity;
    struct str_list held;

    MAP_FOREACH(identity, &worker->tokens.by_hash) {
        if (!str_eq(identity->id, id) ||
            rights_in_force(worker->rights, who, identity->capabilities,
                            loop_wall_ms(worker->loop), arena, &held))
            continue;
        for (size_t i = 0; i < held.count; i++)
            note_if_left(remains, held.items[i], arena);
    }
}

/* "still": what is held and allows a part of what was revoked. */
static void ack_still(struct announcement *ack, struct live_room *room, struct str id,
                      struct str_list revoked)
{
    struct capability *compiled[COMMAND_MAX_CAPABILITIES];
    struct remains remains = { .revoked = compiled, .steps = STILL_STEPS };
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < revoked.count && i < COUNT(compiled); i++)
        if (capability_new(revoked.items[i], &compiled[remains.revoked_count], NULL) ==
            OK)
            remains.revoked_count++;
    look_through(room, id, &remains, &arena);
    if (remains.count)
        put_list(&ack->w, S("still"), (struct str_list){ remains.texts, remains.count });
    for (size_t i = 0; i < remains.revoked_count; i++)
        capability_free(compiled[i]);
    arena_done(&arena);
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
    moderation_plan(room->worker);
    log_info("capability.grant", "topic=%s id=%s by=%s", LOG_TEXT(holder.topic),
             LOG_TEXT(holder.id), LOG_TEXT(a->sender->id));
    ack_begin(&ack, room, S("granted"), terms.id);
    ack_grant(&ack, rights_find(rights, holder, terms.id));
    moderation_renew(room, a->command->target);
    ack_send(&ack);
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
    ack_grant(ack, grant);
    arena_init(&arena, ARENA_BYTES);
    for (; count < grant->capabilities.count && count < COUNT(revoked); count++)
        revoked[count] = arena_str(&arena, grant->capabilities.items[count]);
    rights_end(rights, grant);
    ack_still(ack, room, a->command->target, (struct str_list){ revoked, count });
    arena_done(&arena);
}

static void revoke_capabilities(struct live_room *room, const struct admission *a,
                                struct announcement *ack)
{
    struct strike_terms terms = strike_of(a);

    /* Was asked before. */
    (void)rights_strike(room->worker->rights, key_here(a, a->command->target), &terms);
    json_put_str(&ack->w, S("recipient"), a->command->target);
    put_list(&ack->w, S("capabilities"), a->command->capabilities);
    ack_still(ack, room, a->command->target, a->command->capabilities);
}

static void carry_out_revoke(struct live_room *room, const struct admission *a)
{
    struct announcement ack;

    log_info("capability.revoke", "topic=%s id=%s by=%s", LOG_TEXT(room->room.topic.name),
             LOG_TEXT(a->command->target), LOG_TEXT(a->sender->id));
    ack_begin(&ack, room, S("revoked"), a->command->id);
    if (a->command->grant_id.ptr)
        revoke_grant(room, a, &ack);
    else
        revoke_capabilities(room, a, &ack);
    moderation_plan(room->worker);
    moderation_renew(room, a->command->target);
    ack_send(&ack);
}

static void carry_out_act(struct live_room *room, const struct admission *a)
{
    struct participant *target = participant_find(&room->room.topic, a->command->target);

    log_info("participant.moderate", "kind=%s topic=%s id=%s by=%s",
             LOG_TEXT(a->env.kind.text), LOG_TEXT(room->room.topic.name),
             LOG_TEXT(a->command->target), LOG_TEXT(a->sender->id));
    if (a->command->verb == COMMAND_KICK)
        room_kick(room, target); /* may use the scratch arena, where the command is */
    else if (a->command->verb == COMMAND_PAUSE)
        participant_pause(target, a->identity->is_admin);
    else
        participant_resume(target);
}

/* --- the end of grants --- */

/* Ends it and tells whom it concerns: the members first, then the room that heard of it.
 */
static void end_grant(struct live_room *room, struct grant *grant, struct str status)
{
    struct worker *worker = room->worker;
    bool is_told = grant->is_told;
    char text[ENVELOPE_MAX_ID];
    struct str id = grant->holder.id;
    struct announcement ack;

    id.ptr = memcpy(text, id.ptr, id.len);
    if (is_told) {
        ack_begin(&ack, room, status, grant->id);
        ack_grant(&ack, grant);
    }
    rights_end(worker->rights, grant);
    moderation_renew(room, id);
    if (is_told)
        ack_send(&ack);
}

/* One that held in all topics, or in one that is not here. */
static void end_grant_quietly(struct worker *worker, struct grant *grant)
{
    char text[ENVELOPE_MAX_ID];
    struct str id = grant->holder.id;
    struct live_room *room;

    id.ptr = memcpy(text, id.ptr, id.len);
    rights_end(worker->rights, grant);
    MAP_FOREACH(room, &worker->rooms)
        moderation_renew(room, id);
}

void moderation_expire(struct worker *worker)
{
    struct grant *grant;

    while ((grant = rights_expired(worker->rights, loop_wall_ms(worker->loop)))) {
        struct live_room *room = room_find(worker, grant->holder.topic);

        log_info("grant.expire", "topic=%s id=%s", LOG_TEXT(grant->holder.topic),
                 LOG_TEXT(grant->holder.id));
        if (room)
            end_grant(room, grant, S("expired"));
        else if (grant->holder.topic.len)
            rights_end(worker->rights, grant);
        else
            end_grant_quietly(worker, grant);
    }
    moderation_plan(worker);
}

static void on_expiry(struct loop_timer *timer)
{
    moderation_expire(CONTAINER_OF(timer, struct worker, rights_timer));
}

void moderation_plan(struct worker *worker)
{
    uint64_t now_ms = loop_wall_ms(worker->loop);
    uint64_t due_ms = rights_next_expiry(worker->rights);
    uint64_t delay_ms = due_ms > now_ms ? due_ms - now_ms : 0;

    worker->rights_due_ms = due_ms;
    if (due_ms == UINT64_MAX)
        loop_timer_clear(worker->loop, &worker->rights_timer);
    else
        loop_timer_set(worker->loop, &worker->rights_timer,
                       delay_ms < TIMER_MAX_MS ? delay_ms : TIMER_MAX_MS);
}

void moderation_init(struct worker *worker)
{
    worker->rights_timer.on_fire = on_expiry;
    worker->rights_due_ms = UINT64_MAX;
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

    if (is_used_up)
        name_grant(room, a->grant, &name);
    if (a->command)
        carry_out_command(room, a, x);
    if (!is_used_up)
        return;
    grant = rights_find(room->worker->rights, name.holder, name.grant_id);
    if (grant)
        end_grant(room, grant, S("used_up"));
}
