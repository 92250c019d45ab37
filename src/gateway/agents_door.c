/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of agents: what arrives is read and handed on; what leaves are answers, as
 * they come, and events, which each takes from the feed when its connection can be
 * written. So a slow one holds a place in the feed and little else; one that is overtaken
 * is told so.
 */
#include "gateway/agents_door.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/agents_priv.h"
#include "gateway/gateway.h"
#include "gateway/origin.h"
#include "gateway/recording.h"

enum {
    WAITS_MAX = 8,          /* requests of one connection under way */
    OUT_MARK = 256 << 10,   /* bytes that wait, before a peer that causes more is held */
    OUT_LOW = 64 << 10,     /* before it is offered more events */
    NEWS_BUDGET = 16 << 10, /* events looked at in a turn, in all */
    NEWS_MS = 1,
    RECALL_BYTES = 64 << 20,
    RECALL_MS = 60 * 60 * 1000,
};

static const struct ws_peer_ops agent_ops;

static struct agent_client *client_at(struct ws_peer *peer)
{
    return CONTAINER_OF(peer, struct agent_client, peer);
}

static struct agent_client *client_of(struct conn *conn)
{
    return CONTAINER_OF(conn, struct agent_client, peer.conn);
}

static size_t pending(const struct agent_client *client)
{
    return client->out.len - client->sent;
}

/* --- events and faults --- */

void agent_event_open(struct agent_event *event, struct agents *agents,
                      struct str event_type)
{
    char id[AGENT_UUID + 1];
    uint8_t random[16];

    crypto_random(random, sizeof(random));
    agent_uuid_write(random, id);
    buf_init(&event->out, SIZE_MAX / 2);
    agent_event_begin(
        &event->w, &event->out,
        &(struct agent_event_head){ id, loop_wall_ms(agents->worker->loop), event_type });
}

void agent_event_close(struct agent_event *event)
{
    agent_event_end(&event->w);
}

void agent_event_done(struct agent_event *event)
{
    buf_done(&event->out);
}

void agent_fault_write(struct json_writer *w, struct str message_id,
                       const struct agent_fault *fault)
{
    if (message_id.len)
        json_put_str(w, S("in_reply_to"), message_id);
    json_put_str(w, S("code"), fault->code);
    if (fault->field.len)
        json_put_str(w, S("field"), fault->field);
    json_put_str(w, S("message"), fault->what);
    if (fault->retry_after_ms)
        json_put_uint(w, S("retry_after_ms"), fault->retry_after_ms);
}

void agent_tell_fault(struct agent_client *client, struct str message_id,
                      const struct agent_fault *fault)
{
    struct agent_event event;

    client->peer.worker->metrics.agent_errors++;
    agent_event_open(&event, client->agents, S("ERROR"));
    agent_fault_write(&event.w, message_id, fault);
    agent_event_close(&event);
    agent_send(client, buf_str(&event.out));
    agent_event_done(&event);
}

void agent_refuse(struct agent_client *client, struct str message_id,
                  const struct agent_fault *fault)
{
    agent_tell_fault(client, message_id, fault);
    ws_peer_close(&client->peer, WS_CODE_POLICY, fault->what);
}

/* --- sending --- */

void agent_send(struct agent_client *client, struct str text)
{
    if (client->peer.is_closing)
        return;
    ws_frame_write(&client->out, WS_OP_TEXT, text);
    conn_wake(&client->peer.conn);
    agent_hold_reads(client);
}

void agent_hold_reads(struct agent_client *client)
{
    bool is_held = client->subscribing || client->peer.conn.is_blocked ||
                   client->wait_count >= WAITS_MAX || pending(client) > OUT_MARK;

    if (!client->peer.is_closing && client->peer.conn.is_read_paused != is_held)
        conn_pause_reads(&client->peer.conn, is_held);
}

static void send_frame(struct ws_peer *peer, struct str frame)
{
    struct agent_client *client = client_at(peer);

    buf_put(&client->out, frame);
    conn_wake(&peer->conn);
    agent_hold_reads(client);
}

static void on_ping(struct ws_peer *peer, struct str body)
{
    struct buf frame;

    buf_init(&frame, WS_MAX_CONTROL + WS_MAX_HEAD);
    ws_frame_write(&frame, WS_OP_PONG, body);
    send_frame(peer, buf_str(&frame));
    buf_done(&frame);
}

/* Where the last frame ends that was sent in whole; `past` it: where the one ends that
 * was sent in part. */
enum edge { BEFORE_SENT, PAST_SENT };
static size_t frame_edge(const struct agent_client *client, enum edge edge)
{
    struct str bytes = buf_str(&client->out);
    size_t at = client->unframed;
    size_t before = 0;

    while (at < client->sent) {
        before = at;
        at += ws_frame_size(str_slice(bytes, at, bytes.len));
    }
    return edge == PAST_SENT || at == client->sent ? at : before;
}

/* When it is worth it: all, or more than what is left and has to be moved. */
static void drop_sent(struct agent_client *client)
{
    size_t edge;

    if (client->sent < client->unframed ||
        (pending(client) && (client->sent < OUT_LOW || client->sent < pending(client))))
        return;
    if (pending(client) == 0) {
        buf_done(&client->out); /* what is idle holds nothing */
        client->sent = client->unframed = 0;
        return;
    }
    edge = frame_edge(client, BEFORE_SENT);
    buf_drop(&client->out, edge);
    client->sent -= edge;
    client->unframed -= edge < client->unframed ? edge : client->unframed;
}

static size_t on_pull(struct conn *conn, struct iovec *out, size_t)
{
    struct agent_client *client = client_of(conn);

    if (client->peer.is_closing)
        return ws_peer_pull(&client->peer, out);
    if (pending(client) == 0)
        return 0;
    out[0] = (struct iovec){ client->out.ptr + client->sent, pending(client) };
    return 1;
}

static void on_taken(struct conn *conn, size_t bytes, size_t)
{
    struct agent_client *client = client_of(conn);

    client->peer.worker->metrics.bytes_sent += bytes;
    if (client->peer.is_closing) {
        ws_peer_taken(&client->peer, bytes);
        return;
    }
    client->sent += bytes;
    drop_sent(client);
    if (conn->is_blocked && bytes)
        ws_peer_watch(&client->peer);
    agent_hold_reads(client);
    agent_catch_up(client);
}

static void on_blocked(struct conn *conn, bool is_blocked)
{
    struct agent_client *client = client_of(conn);

    if (client->peer.is_closing)
        return;
    ws_peer_watch(&client->peer);
    agent_hold_reads(client);
    if (is_blocked)
        return;
    agent_catch_up(client);
    if (pending(client))
        conn_wake(conn); /* waking what was blocked has had no effect */
}

static void note_end(const struct agent_client *client, uint16_t code, struct str reason)
{
    if (client->identity)
        recording_agent_disconnected(
            client->peer.worker, &(struct connection_end){ .type = CONNECTION_AGENT,
                                                           .id = client->identity->id,
                                                           .number = client->number,
                                                           .why = ws_peer_ending(code),
                                                           .code = code,
                                                           .reason = reason });
}

/* Everything, or, to a reader that does not read, the rest of the frame it is in. */
static void on_closing(struct ws_peer *peer, uint16_t code, struct str reason)
{
    struct agent_client *client = client_at(peer);
    size_t end = client->out.len;

    if (peer->conn.is_blocked)
        end = client->sent < client->unframed ? client->unframed
                                              : frame_edge(client, PAST_SENT);
    buf_put(peer->tail, str_slice(buf_str(&client->out), client->sent, end));
    buf_done(&client->out);
    client->sent = client->unframed = 0;
    note_end(client, code, reason);
    agent_subscribe_cancel(client);
    agent_forget_waits(client);
    loop_timer_clear(peer->worker->loop, &client->deadline);
}

/* --- news --- */

static bool may_hear(struct agent_client *client, const struct ticker_event *event)
{
    struct identity *identity = client->identity;

    if (!ticker_interests(event, &client->interest))
        return false;
    if (event->audience.count == 0)
        return directory_may(client->peer.worker, identity, DIRECTORY_QUERY);
    return identity->is_admin || ticker_names(event, identity->id);
}

static void tell_gap(struct agent_client *client)
{
    struct agents *agents = client->agents;
    struct agent_event event;

    agent_event_open(&event, agents, S("SUBSCRIPTION_CONFIRMED"));
    json_put_str(&event.w, S("epoch"), str_of(agents->feed.epoch));
    json_put_uint(&event.w, S("sequence"), client->cursor);
    json_put_bool(&event.w, S("gap"), true);
    agent_event_close(&event);
    agent_send(client, buf_str(&event.out));
    agent_event_done(&event);
}

static void offer(struct agent_client *client, const struct ticker_event *event)
{
    bool wants_details =
        event->details.len &&
        directory_may(client->peer.worker, client->identity, DIRECTORY_DETAILS);

    agent_send(client, wants_details ? event->details : event->text);
    client->peer.worker->metrics.agent_events++;
}

/* Looks at up to so many events; returns at how many. */
static size_t catch_up(struct agent_client *client, size_t budget)
{
    struct ticker *feed = &client->agents->feed;
    size_t looked = 0;

    if (!client->identity || client->peer.is_closing)
        return 0;
    while (looked < budget && client->cursor < feed->last && pending(client) < OUT_LOW) {
        const struct ticker_event *event = ticker_find(feed, client->cursor + 1);

        looked++;
        if (!event) {
            client->cursor = feed->first - 1;
            tell_gap(client);
            continue;
        }
        client->cursor++;
        if (may_hear(client, event))
            offer(client, event);
    }
    return looked;
}

static bool is_behind(const struct agent_client *client)
{
    return client->identity && !client->peer.is_closing &&
           client->cursor < client->agents->feed.last && pending(client) < OUT_LOW;
}

static void plan_news(struct agents *agents)
{
    if (!loop_timer_is_set(&agents->news))
        loop_timer_set(agents->worker->loop, &agents->news, NEWS_MS);
}

void agent_catch_up(struct agent_client *client)
{
    (void)catch_up(client, NEWS_BUDGET / 16);
    if (is_behind(client))
        plan_news(client->agents);
}

/* Everybody in turn, as far as the budget of this one reaches. */
static void on_news(struct loop_timer *timer)
{
    struct agents *agents = CONTAINER_OF(timer, struct agents, news);
    struct agent_client *client;
    size_t budget = NEWS_BUDGET;
    bool is_left = false;
    struct link done;

    list_init(&done);
    while (budget && !list_is_empty(&agents->clients)) {
        client = LIST_FIRST(&agents->clients, struct agent_client, link);
        budget -= catch_up(client, budget);
        is_left |= is_behind(client);
        list_remove(&client->link);
        list_append(&done, &client->link);
    }
    is_left |= !list_is_empty(&agents->clients);
    list_splice(&agents->clients, &done); /* whose turn was now comes last next time */
    if (is_left)
        plan_news(agents);
}

static struct str write_news(struct agents *agents, const struct directory_news *news,
                             struct str data, struct agent_event *event)
{
    agent_event_open(event, agents, news->event_type);
    json_put_str(&event->w, S("epoch"), str_of(agents->feed.epoch));
    json_put_uint(&event->w, S("sequence"), ticker_next(&agents->feed));
    json_put_members(&event->w, data, (struct str_list){});
    agent_event_close(event);
    return buf_str(&event->out);
}

void agents_tell(struct agents *agents, const struct directory_news *news)
{
    struct ticker_event kept = { .event_type = news->event_type,
                                 .team = news->team,
                                 .topic = news->topic,
                                 .audience = news->audience };
    struct agent_event text = {}, details = {};

    if (!agents)
        return;
    kept.text = write_news(agents, news, news->data, &text);
    if (news->details.len)
        kept.details = write_news(agents, news, news->details, &details);
    ticker_add(&agents->feed, &kept);
    agent_event_done(&text);
    agent_event_done(&details);
    plan_news(agents);
}

/* --- receiving --- */

static bool is_too_fast(struct agent_client *client, struct str message_id, size_t bytes)
{
    struct worker *worker = client->peer.worker;
    struct rate_refusal refusal = {};

    if (!client->party || admit_rate(&client->party->conduct, &worker->settings->admit,
                                     bytes, loop_now_ms(worker->loop), &refusal))
        return false;
    worker->metrics.rate_limited++;
    agent_tell_fault(client, message_id,
                     &(struct agent_fault){ S("RATE_LIMITED"), S(""),
                                            S("You send faster than you may."),
                                            refusal.retry_after_ms });
    if (refusal.is_abuse)
        ws_peer_close(&client->peer, WS_CODE_RATE,
                      S("rate_limited: too fast for too long"));
    return true;
}

/* What the envelope alone does not tell: may he say this, now, under this name? */
static bool is_out_of_place(struct agent_client *client,
                            const struct agent_message *message)
{
    struct agent_fault fault = { .code = S("") };

    if (message->performative == AGENT_CONTEXT_EVENT)
        fault = (struct agent_fault){ S("FORBIDDEN"), S("performative"),
                                      S("CONTEXT_EVENT is the gateway's alone."), 0 };
    else if (!client->identity && message->performative != AGENT_CONTEXT_SUBSCRIBE)
        fault = (struct agent_fault){ S("NOT_SUBSCRIBED"), S("performative"),
                                      S("The first message is CONTEXT_SUBSCRIBE."), 0 };
    else if (client->identity && !str_eq(client->identity->id, message->source_agent_id))
        fault = (struct agent_fault){
            S("SOURCE_MISMATCH"), S("source_agent_id"),
            S("The source_agent_id is not the one that has subscribed."), 0
        };
    if (fault.code.len == 0)
        return false;
    if (client->identity)
        agent_tell_fault(client, message->message_id, &fault);
    else
        agent_refuse(client, message->message_id, &fault);
    return true;
}

static void refuse_malformed(struct agent_client *client,
                             const struct agent_message *message,
                             const struct agent_problem *problem)
{
    struct agent_fault fault = { problem->code, problem->field, problem->what, 0 };

    if (client->identity)
        agent_tell_fault(client, message->message_id, &fault);
    else
        agent_refuse(client, message->message_id, &fault);
}

static void receive(struct agent_client *client, struct str text, struct arena *arena)
{
    size_t depth = client->peer.worker->settings->admit.depth;
    struct agent_problem problem = {};
    struct agent_message message;
    enum err err = agent_message_read(text, depth, arena, &message, &problem);

    if (err == ERR_UTF8) {
        client->peer.peer_has_closed = true; /* it has failed (RFC 6455 7.1.7) */
        ws_peer_close(&client->peer, WS_CODE_UTF8, S("not UTF-8"));
        return;
    }
    if (is_too_fast(client, message.message_id, text.len))
        return;
    if (err)
        refuse_malformed(client, &message, &problem);
    else if (is_out_of_place(client, &message))
        return;
    else if (message.performative == AGENT_CONTEXT_SUBSCRIBE)
        agent_subscribe(client, text);
    else
        agent_request(client, &message, arena);
}

static void on_message(struct ws_peer *peer, const struct ws_event *message)
{
    struct agent_client *client = client_at(peer);
    size_t len = message->body.len;
    char *place = xmalloc(len + 1);
    struct arena arena;

    peer->worker->metrics.agent_messages++;
    ws_peer_unmask(place, message);
    arena_init(&arena, len + AGENT_ARENA);
    receive(client, (struct str){ place, len }, &arena);
    arena_done(&arena);
    crypto_wipe(place, len); /* there may be a token in it */
    free(place);
}

/* --- opening and ending --- */

static void on_end(struct conn *conn, enum err)
{
    struct agent_client *client = client_of(conn);

    if (!client->peer.is_closing)
        note_end(client, 0, S(""));
    agent_subscribe_cancel(client);
    agent_forget_waits(client);
    agent_leave(client);
    list_remove(&client->link);
    loop_timer_clear(client->peer.worker->loop, &client->deadline);
    client->peer.worker->metrics.agents--;
    ws_peer_done(&client->peer);
    arena_done(&client->arena);
    buf_done(&client->out);
    free(client);
}

static struct str id_of(const struct ws_peer *peer)
{
    const struct agent_client *client =
        CONTAINER_OF((uintptr_t)peer, struct agent_client, peer); /* drops const */

    return client->identity ? client->identity->id : S("");
}

static const struct ws_peer_ops agent_ops = {
    .conn = { .on_bytes = ws_peer_bytes,
              .on_pull = on_pull,
              .on_taken = on_taken,
              .on_blocked = on_blocked,
              .on_end = on_end },
    .on_message = on_message,
    .on_ping = on_ping,
    .send_frame = send_frame,
    .on_closing = on_closing,
    .id = id_of,
};

static void on_deadline(struct loop_timer *timer)
{
    struct agent_client *client = CONTAINER_OF(timer, struct agent_client, deadline);

    agent_refuse(client, S(""),
                 &(struct agent_fault){ S("NOT_SUBSCRIBED"), S(""),
                                        S("No subscription has come in time."), 0 });
}

static struct agent_client *client_new(struct exchange *x, const struct upgrade *upgrade)
{
    struct agent_client *client = xcalloc(1, sizeof(*client));

    client->agents = x->worker->agents;
    client->deadline.on_fire = on_deadline;
    client->is_trusted = exchange_peer(x)->is_trusted;
    memcpy(client->address, exchange_peer(x)->address, sizeof(client->address));
    arena_init(&client->arena, (size_t)4 * AGENT_PAYLOAD);
    list_init(&client->waits);
    buf_init(&client->out, SIZE_MAX / 2);
    upgrade_write(&client->out, upgrade);
    client->unframed = client->out.len;
    ws_peer_init(&client->peer, x->worker, upgrade);
    return client;
}

void agents_open(struct exchange *x)
{
    struct worker *worker = x->worker;
    struct agent_client *client;
    struct conn_cargo cargo;
    struct upgrade upgrade;

    if (!worker->settings->config->directory.open) {
        exchange_fail(x, ERR_NOT_FOUND, "There is no door for agents here.");
        return;
    }
    if (!ws_peer_handshake(x, 0, &upgrade))
        return;
    /* Else any page could have the address of its visitor refused. */
    if (origin_is_hidden(x)) {
        exchange_fail(x, ERR_FORBIDDEN, "Pages of other sites do not sign in here.");
        return;
    }
    client = client_new(x, &upgrade);
    exchange_detach(x, &cargo);
    list_append(&worker->agents->clients, &client->link);
    worker->metrics.agents++;
    if (conn_init_from(&client->peer.conn, worker->flusher, &cargo, &agent_ops.conn)) {
        conn_cargo_done(&cargo);
        on_end(&client->peer.conn, ERR_IO);
    } else {
        loop_timer_set(worker->loop, &client->deadline,
                       worker->settings->config->directory.subscribe_timeout_ms);
        conn_wake(&client->peer.conn);
        ws_peer_watch(&client->peer);
    }
    exchange_end(x);
}

/* --- many at once --- */

struct agents *agents_new(struct worker *worker)
{
    const struct config_directory *directory = &worker->settings->config->directory;
    struct agents *agents = xcalloc(1, sizeof(*agents));
    char epoch[AGENT_UUID + 1];
    uint8_t random[16];

    crypto_random(random, sizeof(random));
    agent_uuid_write(random, epoch);
    agents->worker = worker;
    agents->news.on_fire = on_news;
    list_init(&agents->clients);
    map_init(&agents->parties);
    ticker_init(&agents->feed, directory->events, directory->event_bytes, epoch);
    recall_init(
        &agents->recall,
        &(struct recall_limits){ .each = { [RECALL_QUESTION] = 128, [RECALL_ACT] = 1024 },
                                 .bytes = RECALL_BYTES,
                                 .age_ms = RECALL_MS });
    return agents;
}

void agents_free(struct agents *agents)
{
    if (!agents)
        return;
    loop_timer_clear(agents->worker->loop, &agents->news);
    agents_free_parties(agents);
    recall_done(&agents->recall);
    ticker_done(&agents->feed);
    free(agents);
}

bool agents_have(const struct agents *agents, struct str id)
{
    const struct agent_party *party = agents ? map_find(&agents->parties, id) : NULL;

    return party && party->clients;
}

bool agents_are_gone(const struct agents *agents)
{
    return !agents || list_is_empty(&agents->clients);
}

static void close_all(struct agents *agents, struct str reason)
{
    struct agent_client *client;

    LIST_FOREACH(client, &agents->clients, link)
        ws_peer_close(&client->peer, WS_CODE_GOING_AWAY, reason);
}

void agents_drain(struct agents *agents)
{
    if (agents)
        close_all(agents, S("the server is stopping"));
}

void agents_abort(struct agents *agents)
{
    struct agent_client *client;

    if (!agents)
        return;
    LIST_FOREACH(client, &agents->clients, link)
        conn_close(&client->peer.conn, ERR_CLOSED);
}

static void end(struct agent_client *client, struct str what)
{
    if (!client->peer.is_closing)
        agent_refuse(client, S(""),
                     &(struct agent_fault){ S("AUTHENTICATION_FAILED"), S(""), what, 0 });
}

size_t agents_close_token(struct agents *agents, const uint8_t hash[static SHA256_BYTES])
{
    struct agent_client *client;
    size_t count = 0;

    if (!agents)
        return 0;
    LIST_FOREACH(client, &agents->clients, link)
        if (client->identity &&
            crypto_equal(client->identity->token_hash, hash, SHA256_BYTES)) {
            end(client, S("The token was revoked."));
            count++;
        }
    return count;
}

void agents_change_tokens(struct agents *agents)
{
    struct agent_client *client;

    if (!agents)
        return;
    if (!agents->worker->settings->config->directory.open)
        close_all(agents, S("there is no door for agents any more"));
    LIST_FOREACH(client, &agents->clients, link) {
        struct identity *now = client->identity
                                   ? token_table_find_hash(&agents->worker->tokens,
                                                           client->identity->token_hash)
                                   : NULL;

        if (!now || now == client->identity)
            continue;
        if (!str_eq(now->id, client->identity->id)) {
            end(client, S("The token was revoked."));
            continue;
        }
        identity_unref(client->identity);
        client->identity = identity_ref(now);
    }
}

void agents_sweep(struct agents *agents)
{
    struct agent_client *client;
    uint64_t wall_ms, now_ms;

    if (!agents)
        return;
    wall_ms = loop_wall_ms(agents->worker->loop);
    now_ms = loop_now_ms(agents->worker->loop);
    LIST_FOREACH(client, &agents->clients, link)
        if (client->identity && client->identity->expires_ms &&
            client->identity->expires_ms <= wall_ms)
            end(client, S("The token has expired."));
    recall_sweep(&agents->recall, now_ms);
    agents_sweep_parties(agents, now_ms);
}
