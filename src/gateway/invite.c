/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/invite.h"

#include <stdlib.h>

#include "admit/command.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "envelope/system.h"
#include "gateway/gateway.h"
#include "gateway/tokens.h"

enum {
    TICKET_TEXT = 128,
    NAME_ARENA = 4096,
    GUESTS_PER_TOPIC = 100, /* invitations that wait, and who came by one */
    GUESTS_PART = 2,        /* of the tickets that there may be, the most in all */
};

/* --- judging --- */

static struct worker *worker_of(const struct admission *a)
{
    return CONTAINER_OF(a->room, struct live_room, room)->worker;
}

/* The guest that a command describes, without a credential yet. False: no such profile.
 */
static bool describe(const struct admission *a, struct identity *ret)
{
    const struct command *command = a->command;
    uint64_t lasts_ms = identity_lasts_ms(a->identity);
    uint64_t expires_ms = a->wall_ms + command->expires_in * 1000;
    struct profile profile = {};

    if (command->profile.ptr &&
        !settings_profile(worker_of(a)->settings, command->profile, &profile))
        return false;
    *ret = (struct identity){
        .id = command->target,
        .topics = { &a->room->topic.name, 1 },
        .capabilities =
            command->profile.ptr ? profile.capabilities : command->capabilities,
        .profile = command->profile,
        .type = profile.type,
        .source = FROM_INVITATION,
        .created_ms = a->wall_ms,
        .expires_ms = lasts_ms && lasts_ms < expires_ms ? lasts_ms : expires_ms,
        .lasts_ms = lasts_ms,
    };
    /* `type` was checked when it was read. */
    if (command->type.ptr)
        (void)participant_type_parse(command->type, &ret->type);
    return true;
}

static enum err check_guest(const struct identity *guest, const char **ret_why)
{
    if (guest_id_is_valid(guest->id))
        return identity_check(guest, ret_why);
    *ret_why = "a guest's id has 1 to 64 letters, digits, `.`, `_` and `-`, begins with "
               "a letter or digit, and not with `system`";
    return ERR_INVALID;
}

/* Nobody is invited under a name that somebody has, or had rights by. */
static bool is_taken(const struct admission *a, struct str id)
{
    struct worker *worker = worker_of(a);
    const struct participant *present = participant_find(&a->room->topic, id);

    token_table_drop_expired(&worker->tokens, SOURCES_GUESTS, a->wall_ms);
    return token_table_find_like(&worker->tokens, id, SOURCES_ALL) ||
           (present && present->member_count) ||
           rights_knows(worker->rights, (struct rights_key){ a->room->topic.name, id }) ||
           str_ieq(gateway_local_identity(worker->gateway)->id, id);
}

enum err invite_judge(struct admission *a, struct refusal *r)
{
    struct rights_bearer bearer = { .who = { a->room->topic.name, a->sender->id },
                                    .own = a->identity->capabilities,
                                    .now_ms = a->wall_ms,
                                    .lasts_ms = identity_lasts_ms(a->identity) };
    struct identity guest;
    struct str fault;
    const char *why;

    if (!describe(a, &guest))
        return refusal_set(r, ERR_MALFORMED_ENVELOPE, S("payload.profile"),
                           "there is no such profile");
    if (check_guest(&guest, &why))
        return refusal_set(r, ERR_MALFORMED_ENVELOPE, S("payload.participant"), why);
    if (guest.expires_ms <= a->wall_ms)
        return refusal_set(r, ERR_FORBIDDEN, S(""), "your credential has expired");
    if (is_taken(a, guest.id))
        return refusal_set(r, ERR_CONFLICT, S("payload.participant"),
                           "this id is in use");
    if (guest.type != TYPE_AGENT && a->identity->type != TYPE_HUMAN &&
        !a->identity->is_admin)
        return refusal_set(r, ERR_FORBIDDEN, S("payload.type"),
                           "an agent or a service brings in agents only");
    fault = rights_not_held(a->room->rights, &bearer, guest.capabilities, guest.lasts_ms);
    if (!fault.len)
        return OK;
    (void)refusal_set(r, ERR_CAPABILITY_VIOLATION, S("payload.capabilities"),
                      "you do not hold this, so you cannot give it");
    r->capability = fault;
    return ERR_CAPABILITY_VIOLATION;
}

/* --- making it --- */

struct invitation {
    struct loop_mail mail;
    struct gather gather;
    struct worker *origin; /* where the topic lives */
    struct exchange *x;    /* NULL: it came by a WebSocket */
    struct identity *guest;
    char *inviter;
    char *envelope_id;
    uint64_t member_number; /* of the WebSocket */
    uint64_t lifetime_ms;
    struct buf ticket;
    enum err err;
};

static void invitation_free(struct invitation *invitation)
{
    if (invitation->gather.parts)
        gather_done(&invitation->gather);
    crypto_wipe(invitation->ticket.ptr, invitation->ticket.len);
    buf_done(&invitation->ticket);
    identity_unref(invitation->guest);
    free(invitation->inviter);
    free(invitation->envelope_id);
    free(invitation);
}

static struct str topic_of(const struct invitation *invitation)
{
    return invitation->guest->topics.items[0];
}

/* --- at the first worker, which puts invitations in one order --- */

static bool are_too_many(struct worker *keeper, struct str topic)
{
    const struct identity *identity;
    size_t here = 0;
    size_t all = 0;

    MAP_FOREACH(identity, &keeper->tokens.by_hash) {
        if (!identity_is_from(identity, SOURCES_GUESTS))
            continue;
        all++;
        here += str_eq(identity->topics.items[0], topic);
    }
    return here >= GUESTS_PER_TOPIC || all >= keeper->links.max / GUESTS_PART;
}

static enum err issue(struct worker *keeper, struct invitation *invitation)
{
    struct identity *guest = invitation->guest;

    token_table_drop_expired(&keeper->tokens, SOURCES_GUESTS, loop_wall_ms(keeper->loop));
    if (token_table_find_like(&keeper->tokens, guest->id, SOURCES_ALL))
        return ERR_CONFLICT;
    if (are_too_many(keeper, topic_of(invitation)))
        return ERR_OVERLOAD;
    return ticket_issue(&keeper->links, guest, invitation->lifetime_ms,
                        loop_now_ms(keeper->loop), &invitation->ticket);
}

static void on_answer(struct loop_mail *mail);

static void answer(struct invitation *invitation)
{
    invitation->mail.deliver = on_answer;
    loop_post(invitation->origin->loop, &invitation->mail);
}

static void visit_invited(struct gather *gather, struct gather_part *part)
{
    const struct invitation *invitation = CONTAINER_OF(gather, struct invitation, gather);
    struct token_table *tokens = &part->worker->tokens;

    token_table_drop_expired(tokens, SOURCES_GUESTS, loop_wall_ms(part->worker->loop));
    worker_add_guest(part->worker, invitation->guest);
}

static void on_all_know(struct gather *gather)
{
    answer(CONTAINER_OF(gather, struct invitation, gather));
}

static void on_question(struct loop_mail *mail)
{
    struct invitation *invitation = CONTAINER_OF(mail, struct invitation, mail);
    struct worker *keeper = gateway_worker(invitation->origin->gateway, 0);

    invitation->err = issue(keeper, invitation);
    if (invitation->err) {
        answer(invitation);
        return;
    }
    token_table_add(&keeper->tokens, invitation->guest); /* the id is taken from now on */
    invitation->gather.visit = visit_invited;
    invitation->gather.done = on_all_know;
    gather_start(&invitation->gather, keeper);
}

/* --- back in the topic --- */

static struct member *find_inviter(const struct invitation *invitation,
                                   const struct live_room *room)
{
    const struct participant *inviter =
        participant_find(&room->room.topic, str_of(invitation->inviter));
    struct member *member;

    if (inviter)
        LIST_FOREACH(member, &inviter->members, peer_link)
            if (member->number == invitation->member_number)
                return member;
    return NULL;
}

static void write_ticket(const struct invitation *invitation, struct json_writer *w)
{
    struct buf link;

    buf_init(&link, TICKET_TEXT + 16);
    buf_put(&link, S("/#ticket="));
    buf_put(&link, buf_str(&invitation->ticket));
    json_put_str(w, S("participant"), invitation->guest->id);
    json_put_str(w, S("ticket"), buf_str(&invitation->ticket));
    json_put_str(w, S("link"), buf_str(&link));
    json_put_time(w, S("expires_at"), invitation->guest->expires_ms);
    crypto_wipe(link.ptr, link.len);
    buf_done(&link);
}

/* An envelope for the inviter's connection alone. */
static void begin_private(const struct invitation *invitation, struct member *member,
                          struct str kind, struct json_writer *w, struct buf *out)
{
    struct live_room *room = live_room_of(member_topic(member));
    char id[SYSTEM_ID];

    buf_init(out, 1 << 16);
    system_begin(
        w, out,
        &(struct system_head){ .dialect = member->lane->dialect,
                               .kind = kind,
                               .id = topic_system_id(&room->room.topic, id),
                               .wall_ms = loop_wall_ms(room->worker->loop),
                               .to = str_of(invitation->inviter),
                               .correlation_id = str_of(invitation->envelope_id) });
}

static void end_private(struct member *member, struct json_writer *w, struct buf *out)
{
    system_end(w);
    topic_tell(member, &(struct private_note){ .bytes = buf_str(out) });
    crypto_wipe(out->ptr, out->len);
    buf_done(out);
}

static const char *why_not(const struct invitation *invitation)
{
    return invitation->err == ERR_CONFLICT ? "this id is in use"
                                           : "too many guests are here or invited";
}

/* True if the inviter has got it. */
static bool tell_member(const struct invitation *invitation, struct live_room *room)
{
    struct member *member = room ? find_inviter(invitation, room) : NULL;
    struct json_writer w;
    struct buf out;

    if (!member)
        return false;
    if (invitation->err) {
        begin_private(invitation, member, S("system/error"), &w, &out);
        json_put_str(&w, S("error"), str_of(err_name(invitation->err)));
        json_put_str(&w, S("message"), str_of(why_not(invitation)));
        json_put_str(&w, S("field"), S("payload.participant"));
    } else {
        begin_private(invitation, member, S("topic/invite"), &w, &out);
        write_ticket(invitation, &w);
    }
    end_private(member, &w, &out);
    return true;
}

static bool tell_poster(const struct invitation *invitation)
{
    struct exchange *x = invitation->x;
    struct json_writer w;
    struct buf out;

    if (!exchange_resume(x))
        return false;
    if (invitation->err) {
        exchange_fail(x, invitation->err, "`payload.participant`: %s",
                      why_not(invitation));
        return true;
    }
    buf_init(&out, 1 << 16);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("id"), str_of(invitation->envelope_id));
    write_ticket(invitation, &w);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    crypto_wipe(out.ptr, out.len);
    buf_done(&out);
    return true;
}

static void announce(const struct invitation *invitation, struct live_room *room)
{
    struct announcement say;

    announcement_begin(
        &say, room,
        &(struct system_head){ .kind = S("topic/invite"),
                               .correlation_id = str_of(invitation->envelope_id) });
    json_put_str(&say.w, S("inviter"), str_of(invitation->inviter));
    json_put_str(&say.w, S("participant"), invitation->guest->id);
    json_put_time(&say.w, S("expires_at"), invitation->guest->expires_ms);
    room_flush_presence(room); /* nobody is spoken of before he came */
    announcement_end(&say);
}

/* The inviter has gone meanwhile: nobody has the ticket, so the id is free again. */
static void visit_withdraw(struct gather *gather, struct gather_part *part)
{
    const struct invitation *invitation = CONTAINER_OF(gather, struct invitation, gather);

    (void)worker_end_token(part->worker, invitation->guest);
}

static void on_withdrawn(struct gather *gather)
{
    invitation_free(CONTAINER_OF(gather, struct invitation, gather));
}

static void withdraw(struct invitation *invitation)
{
    gather_done(&invitation->gather);
    invitation->gather = (struct gather){ .visit = visit_withdraw, .done = on_withdrawn };
    gather_start(&invitation->gather, invitation->origin);
}

static void on_answer(struct loop_mail *mail)
{
    struct invitation *invitation = CONTAINER_OF(mail, struct invitation, mail);
    struct live_room *room = room_find(invitation->origin, topic_of(invitation));
    bool is_told =
        invitation->x ? tell_poster(invitation) : tell_member(invitation, room);

    if (invitation->err) {
        invitation_free(invitation);
    } else if (!is_told) {
        withdraw(invitation);
    } else {
        log_info("invitation.make", "topic=%s id=%s by=%s",
                 LOG_TEXT(topic_of(invitation)), LOG_TEXT(invitation->guest->id),
                 LOG_TEXT(str_of(invitation->inviter)));
        if (room)
            announce(invitation, room);
        invitation_free(invitation);
    }
}

void invite_start(struct live_room *room, const struct admission *a, struct exchange *x)
{
    struct worker *worker = room->worker;
    struct invitation *invitation;
    struct identity guest;
    struct arena arena;
    const char *why;

    /* Was asked before; but nobody gets a credential that was not looked at as it is. */
    if (!describe(a, &guest) || check_guest(&guest, &why)) {
        if (x)
            exchange_fail(x, ERR_UNAVAILABLE, "The invitation cannot be made.");
        return;
    }
    invitation = xcalloc(1, sizeof(*invitation));
    arena_init(&arena, NAME_ARENA);
    guest.token_name = token_make_name(S("invitation"), &arena);
    /* Nobody knows a token with this hash; the ticket is the way in. */
    crypto_random(guest.token_hash, sizeof(guest.token_hash));
    *invitation = (struct invitation){
        .mail = { .deliver = on_question },
        .origin = worker,
        .x = x,
        .guest = identity_new(&guest),
        .inviter = str_dup(a->sender->id),
        .envelope_id = str_dup(a->command->id),
        .member_number = a->member ? a->member->number : 0,
        .lifetime_ms = guest.expires_ms - a->wall_ms,
    };
    arena_done(&arena);
    buf_init(&invitation->ticket, TICKET_TEXT);
    if (x)
        exchange_suspend(x);
    loop_post(gateway_worker(worker->gateway, 0)->loop, &invitation->mail);
}
