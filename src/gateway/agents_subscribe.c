/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONTEXT_SUBSCRIBE: who is it, and what does he want to hear? Until that is known
 * nothing else of his is read. Another one, later, changes what he hears and shows a
 * newer token of the same identity.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/agents_priv.h"
#include "gateway/auth.h"
#include "gateway/recording.h"
#include "gateway/resolve.h"

enum { PARTY_MS = 60 * 1000 };

struct subscribing {
    struct agent_client *client; /* NULL: it has gone */
    struct worker *worker;
    struct arena arena;
    struct str text;
    struct agent_message message;
    struct agent_subscription wish;
};

static void wipe(struct str text)
{
    crypto_wipe((char *)(uintptr_t)text.ptr, text.len); /* drops const: it is our copy */
}

static void subscribing_free(struct subscribing *s)
{
    wipe(s->text);
    wipe(s->wish.token);
    arena_done(&s->arena);
    free(s);
}

void agent_subscribe_cancel(struct agent_client *client)
{
    if (client->subscribing)
        client->subscribing->client = NULL;
    client->subscribing = NULL;
}

/* --- parties --- */

static struct agent_party *party_of(struct agents *agents, struct str id)
{
    struct agent_party *party = map_find(&agents->parties, id);

    if (party)
        return party;
    party = xcalloc(1, sizeof(*party) + id.len);
    memcpy(party->text, id.ptr, id.len);
    party->id = (struct str){ party->text, id.len };
    map_set(&agents->parties, party->id, party);
    return party;
}

void agent_leave(struct agent_client *client)
{
    if (client->party && --client->party->clients == 0)
        client->party->left_ms = loop_now_ms(client->peer.worker->loop);
    client->party = NULL;
    identity_unref(client->identity);
    client->identity = NULL;
}

static struct agent_party *find_gone(const struct agents *agents, uint64_t before_ms)
{
    struct agent_party *party;

    MAP_FOREACH(party, &agents->parties)
        if (party->clients == 0 && party->asking == 0 && party->left_ms <= before_ms)
            return party;
    return NULL;
}

static void free_parties(struct agents *agents, uint64_t before_ms)
{
    struct agent_party *party;

    while ((party = find_gone(agents, before_ms))) {
        (void)map_remove(&agents->parties, party->id);
        free(party);
    }
}

void agents_sweep_parties(struct agents *agents, uint64_t now_ms)
{
    if (now_ms > PARTY_MS)
        free_parties(agents, now_ms - PARTY_MS);
}

void agents_free_parties(struct agents *agents)
{
    free_parties(agents, UINT64_MAX);
    map_done(&agents->parties);
}

/* --- what he wants to hear --- */

static void set_interest(struct agent_client *client,
                         const struct agent_interest *interest)
{
    arena_done(&client->arena); /* most have none, and then it holds nothing */
    arena_init(&client->arena, (size_t)4 * AGENT_PAYLOAD);
    client->interest = (struct agent_interest){
        .topics = str_list_copy(interest->topics, &client->arena),
        .teams = str_list_copy(interest->teams, &client->arena),
        .event_types = str_list_copy(interest->event_types, &client->arena),
    };
}

static void write_rights(struct agent_client *client, struct json_writer *w)
{
    struct str_list rights = directory_rights();

    json_key(w, S("rights"));
    json_array_open(w);
    for (size_t i = 0; i < rights.count; i++)
        if (directory_may(client->peer.worker, client->identity, rights.items[i]))
            json_str(w, rights.items[i]);
    json_array_close(w);
}

static void confirm(struct agent_client *client, const struct subscribing *s)
{
    struct ticker *feed = &client->agents->feed;
    struct agent_event event;
    bool is_whole = true;

    if (s->wish.has_since)
        is_whole = ticker_resume(feed, s->wish.since_epoch, s->wish.since_sequence,
                                 &client->cursor);
    agent_event_open(&event, client->agents, S("SUBSCRIPTION_CONFIRMED"));
    json_put_str(&event.w, S("in_reply_to"), s->message.message_id);
    json_put_str(&event.w, S("status"), S("subscribed"));
    json_put_str(&event.w, S("agent_id"), client->identity->id);
    json_put_str(&event.w, S("epoch"), str_of(feed->epoch));
    json_put_uint(&event.w, S("sequence"), client->cursor);
    if (s->wish.has_since)
        json_put_bool(&event.w, S("gap"), !is_whole);
    write_rights(client, &event.w);
    if (client->identity->expires_ms)
        json_put_time(&event.w, S("expires_at"), client->identity->expires_ms);
    agent_event_close(&event);
    agent_send(client, buf_str(&event.out));
    agent_event_done(&event);
    agent_catch_up(client);
}

/* --- who it is --- */

/* It comes, or shows another token. */
static void note_start(struct agent_client *client, const struct identity *identity)
{
    struct worker *worker = client->peer.worker;

    if (client->identity &&
        crypto_equal(client->identity->token_hash, identity->token_hash, SHA256_BYTES))
        return;
    if (!client->number)
        client->number = ++worker->connection_count;
    recording_agent_connected(worker,
                              &(struct connection_start){ .type = CONNECTION_AGENT,
                                                          .identity = identity,
                                                          .address = client->address,
                                                          .number = client->number });
}

static void admit_client(struct agent_client *client, struct identity *identity)
{
    bool is_first = !client->identity;
    struct agent_party *party = party_of(client->agents, identity->id);

    note_start(client, identity);
    party->clients++;
    agent_leave(client);
    client->party = party;
    client->identity = identity;
    loop_timer_clear(client->peer.worker->loop, &client->deadline);
    if (is_first)
        client->cursor = client->agents->feed.last;
}

/* Known, but not to be let in; `code` is "" if he is. */
static struct agent_fault why_not(const struct subscribing *s,
                                  const struct identity *identity)
{
    const struct agent_client *client = s->client;
    const struct agent_party *party = map_find(&client->agents->parties, identity->id);
    size_t max = s->worker->settings->config->limits.connections_per_participant;

    if (!str_eq(identity->id, s->message.source_agent_id))
        return (struct agent_fault){
            S("SOURCE_MISMATCH"), S("source_agent_id"),
            S("The source_agent_id is not the one that the token stands for."), 0
        };
    if (!client->identity && party && party->clients >= max)
        return (struct agent_fault){ S("OVERLOAD"), S(""),
                                     S("This agent has too many connections."), 0 };
    return (struct agent_fault){};
}

static void fail_login(const struct subscribing *s, const char *why)
{
    struct agent_client *client = s->client;
    struct worker *worker = s->worker;

    worker->metrics.logins_failed++;
    if (!client->is_trusted)
        throttle_failed(&worker->throttle, str_of(client->address),
                        loop_now_ms(worker->loop));
    log_info("agent.refuse", "peer=%s", client->address);
    agent_refuse(client, s->message.message_id,
                 &(struct agent_fault){ S("AUTHENTICATION_FAILED"),
                                        S("payload.authentication_token"), str_of(why),
                                        0 });
}

static void let_in(const struct subscribing *s, struct identity *identity)
{
    struct agent_client *client = s->client;
    struct agent_fault fault = why_not(s, identity);

    if (fault.code.len) {
        identity_unref(identity);
        agent_refuse(client, s->message.message_id, &fault);
        return;
    }
    if (!client->is_trusted)
        throttle_passed(&s->worker->throttle, str_of(client->address));
    admit_client(client, identity);
    set_interest(client, &s->wish.interest);
    confirm(client, s);
    agent_hold_reads(client);
}

static void on_resolved(void *user, struct identity *identity, enum err err,
                        const char *why)
{
    struct subscribing *s = user;

    if (s->client)
        s->client->subscribing = NULL;
    if (!s->client)
        identity_unref(identity);
    else if (identity)
        let_in(s, identity);
    else if (err == ERR_UNAVAILABLE) /* says nothing about the token */
        agent_refuse(s->client, s->message.message_id,
                     &(struct agent_fault){ S("UNAVAILABLE"),
                                            S("payload.authentication_token"),
                                            str_of(why), 0 });
    else
        fail_login(s, why);
    subscribing_free(s);
}

static bool is_throttled(const struct agent_client *client)
{
    const struct worker *worker = client->peer.worker;

    return !client->is_trusted &&
           !throttle_allows(&worker->throttle, str_of(client->address),
                            loop_now_ms(worker->loop));
}

/* The text was read before, so that it can be; here it is kept until the answer. */
static struct subscribing *subscribing_new(struct agent_client *client, struct str text,
                                           struct agent_problem *problem,
                                           bool *ret_is_good)
{
    size_t depth = client->peer.worker->settings->admit.depth;
    struct subscribing *s = xcalloc(1, sizeof(*s));

    s->client = client;
    s->worker = client->peer.worker;
    arena_init(&s->arena, 2 * text.len + AGENT_ARENA);
    s->text = arena_str(&s->arena, text);
    *ret_is_good =
        agent_message_read(s->text, depth, &s->arena, &s->message, problem) == OK &&
        agent_subscription_read(&s->message, &s->arena, &s->wish, problem) == OK;
    return s;
}

/* Browsers send no token over a WebSocket, but a ticket (D2). Tickets and agents are both
 * the first worker's. False: it is none. */
static bool spend_ticket(struct subscribing *s)
{
    struct worker *worker = s->worker;
    struct identity *identity =
        ticket_redeem(&worker->tickets, s->wish.token, loop_now_ms(worker->loop));

    if (!identity)
        return false;
    if (auth_is_in_force(worker, identity)) {
        on_resolved(s, identity, OK, "");
    } else { /* its token has gone since the ticket was made */
        identity_unref(identity);
        on_resolved(s, NULL, ERR_UNAUTHORIZED, "The token of this ticket has ended.");
    }
    return true;
}

void agent_subscribe(struct agent_client *client, struct str text)
{
    struct agent_problem problem = {};
    bool is_good;
    struct subscribing *s = subscribing_new(client, text, &problem, &is_good);
    struct agent_fault fault = { problem.code, problem.field, problem.what, 0 };

    if (is_good && is_throttled(client)) {
        is_good = false;
        fault = (struct agent_fault){ S("RATE_LIMITED"), S(""),
                                      S("Too many failed attempts from this address."),
                                      throttle_wait_ms(&s->worker->throttle,
                                                       str_of(client->address),
                                                       loop_now_ms(s->worker->loop)) };
    }
    if (!is_good) {
        if (client->identity)
            agent_tell_fault(client, s->message.message_id, &fault);
        else
            agent_refuse(client, s->message.message_id, &fault);
        subscribing_free(s);
        return;
    }
    client->subscribing = s;
    if (spend_ticket(s))
        return;
    resolve_start(s->worker, s->wish.token, &(struct resolve_asker){ on_resolved, s });
    if (client->subscribing)
        agent_hold_reads(client);
}
