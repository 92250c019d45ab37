/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WebSocket client is a connection and a member in one. What arrives is unmasked
 * straight to where it will stay in the topic's log and admitted there; what leaves is
 * pulled from the member's slices and cursor.
 */
#include "gateway/ws_door.h"

#include <stdlib.h>
#include <string.h>

#include "admit/admit.h"
#include "base/log.h"
#include "base/prefetch.h"
#include "base/xalloc.h"
#include "gateway/entrance.h"
#include "gateway/gateway.h"
#include "gateway/inquiry.h"
#include "gateway/moderation.h"
#include "gateway/recording.h"
#include "gateway/room.h"
#include "gateway/speaking.h"
#include "gateway/ws_options.h"
#include "gateway/ws_peer.h"

enum {
    TAIL_SPANS = 64,
    ANSWERS_MAX = 64, /* slices that may wait before a peer that causes more is held */
    WINDOW_BITS = 15, /* one compressed frame serves all, so all take the full window */
};

struct ws_client {
    struct ws_peer peer;
    struct member member;
    struct link link;
    struct identity *identity;
    uint32_t frame_left; /* of a frame that was sent in part */
};

/* Every idle connection has one: see docs/PERFORMANCE.md. The next size of memory that
 * the allocator knows is 384. */
_Static_assert(sizeof(struct ws_client) <= 320, "an idle connection has grown");

#define EACH_CLIENT(var, worker)                           \
    for (size_t _list = 0; _list <= EXPIRY_LISTS; _list++) \
        LIST_FOREACH(var, &(worker)->ws_clients[_list], link)

static const struct ws_peer_ops ws_ops;
static const struct member_ops member_ops;

static struct ws_client *client_of(struct conn *conn)
{
    return CONTAINER_OF(conn, struct ws_client, peer.conn);
}

static struct ws_client *client_at(struct ws_peer *peer)
{
    return CONTAINER_OF(peer, struct ws_client, peer);
}

/* --- closing --- */

/* What may still be sent before the close frame: everything visible, or, to a reader that
 * does not read, the rest of the frame it is in the middle of. */
static void copy_pending(struct ws_client *client, struct buf *out)
{
    struct member *member = &client->member;
    size_t limit = member->is_blocked ? client->frame_left : SIZE_MAX;
    struct iovec spans[TAIL_SPANS];
    size_t count;

    while (limit && (count = member_pull(member, spans, TAIL_SPANS)) > 0) {
        size_t taken = 0;

        for (size_t i = 0; i < count && limit; i++) {
            size_t len = spans[i].iov_len < limit ? spans[i].iov_len : limit;

            buf_put(out, (struct str){ spans[i].iov_base, len });
            taken += len;
            limit -= len;
        }
        member_taken(member, taken);
    }
}

/* code 0: the connection is gone without a word. */
static void leave_room(struct ws_client *client, uint16_t code, struct str reason)
{
    struct live_room *room;

    if (!member_topic(&client->member))
        return;
    room = live_room_of(member_topic(&client->member));
    recording_disconnected(room,
                           &(struct connection_end){ .id = client->identity->id,
                                                     .number = client->member.number,
                                                     .why = ws_peer_ending(code),
                                                     .code = code,
                                                     .reason = reason });
    member_leave(&client->member, loop_now_ms(client->peer.worker->loop));
    client->peer.worker->metrics.members--;
    room_tell_validation(room);
    room_left(room);
}

static void on_closing(struct ws_peer *peer, uint16_t code, struct str reason)
{
    struct ws_client *client = client_at(peer);

    copy_pending(client, peer->tail);
    leave_room(client, code, reason);
}

static void on_member_end(struct member *member, enum member_end why)
{
    static const struct {
        uint16_t code;
        struct str reason;
    } endings[] = {
        [END_LEFT] = { WS_CODE_NORMAL, S("") },
        [END_REPLACED] = { WS_CODE_REPLACED, S("replaced by a newer connection") },
        [END_KICKED] = { WS_CODE_KICKED, S("removed from the topic") },
        [END_REVOKED] = { WS_CODE_POLICY, S("the token was revoked") },
        [END_SLOW] = { WS_CODE_SLOW, S("slow_consumer: the outbox is full") },
    };
    struct ws_client *client = CONTAINER_OF(member, struct ws_client, member);

    if (why == END_SLOW)
        client->peer.worker->metrics.slow_consumers++;
    ws_peer_close(&client->peer, endings[why].code, endings[why].reason);
}

static void on_member_ready(struct member *member)
{
    conn_wake(&CONTAINER_OF(member, struct ws_client, member)->peer.conn);
}

static void on_member_rights(struct member *member)
{
    speaking_renew_rights(member,
                          CONTAINER_OF(member, struct ws_client, member)->identity);
}

static const struct member_ops member_ops = {
    .on_ready = on_member_ready,
    .on_end = on_member_end,
    .on_rights = on_member_rights,
};

static void on_end(struct conn *conn, enum err why)
{
    struct ws_client *client = client_of(conn);

    leave_room(client, 0, str_of(err_name(why)));
    list_remove(&client->link);
    ws_peer_done(&client->peer);
    identity_unref(client->identity);
    free(client);
}

/* --- receiving --- */

/* Whoever does not read his answers, or asks for more than can be sent, is not read
 * either, until he has them. */
static void hold_reads(struct ws_client *client)
{
    if (client->member.is_blocked || member_waiting(&client->member) > ANSWERS_MAX)
        conn_pause_reads(&client->peer.conn, true);
}

static void refuse(struct ws_client *client, const struct speaker *speaker,
                   const struct admission *a, const struct refusal *refusal)
{
    speaking_refuse(speaker, a, refusal);
    if (refusal->err == ERR_UTF8) {
        client->peer.peer_has_closed =
            true; /* the connection has failed (RFC 6455 7.1.7) */
        ws_peer_close(&client->peer, WS_CODE_UTF8, S("not UTF-8"));
        return;
    }
    hold_reads(client);
    if (refusal->is_abuse)
        ws_peer_close(&client->peer, WS_CODE_RATE,
                      S("rate_limited: too fast for too long"));
}

/* What changes rights makes welcomes for others: nothing more is read before the
 * acknowledgement has left, which everybody gets. */
static void carry_out(struct ws_client *client, struct live_room *room,
                      const struct admission *a)
{
    bool is_acknowledged = moderation_is_acknowledged(a);

    moderation_carry_out(room, a, NULL);
    if (is_acknowledged && !client->peer.is_closing)
        conn_pause_reads(&client->peer.conn, true);
}

static void answer(struct ws_client *client, const struct speaker *speaker,
                   const struct admission *a)
{
    inquiry_answer(speaker, a);
    hold_reads(client);
}

static void judge(struct ws_client *client, struct live_room *room, struct str text)
{
    struct worker *worker = client->peer.worker;
    struct speaker speaker = { room, &client->member, client->identity,
                               &worker->settings->admit };
    struct admission a = speaking_admission(&speaker, text);
    struct refusal refusal;
    enum err err = admit(&a, &refusal);

    metrics_count_verdict(&worker->metrics, err);
    if (err)
        refuse(client, &speaker, &a, &refusal);
    else if (a.is_question)
        answer(client, &speaker, &a);
    else if (a.has_sequel)
        carry_out(client, room, &a);
}

/* The one place where bytes become an envelope: unmasked into the log, judged there. What
 * comes in dots is not what will stand in the log, and is judged apart. */
static void on_message(struct ws_peer *peer, const struct ws_event *ev)
{
    struct ws_client *client = client_at(peer);
    struct topic *topic = member_topic(&client->member);
    struct live_room *room = live_room_of(topic);
    bool is_slash = client->member.lane->dialect == DIALECT_SLASH;
    size_t len = ev->body.len;
    char *place;

    speaking_prepare(room, len);
    if (client->peer.is_closing)
        return;
    place = is_slash ? topic_reserve(topic, len) : xmalloc(len + 1);
    ws_peer_unmask(place, ev);
    judge(client, room, (struct str){ place, len });
    if (!is_slash)
        free(place);
}

static void on_ping(struct ws_peer *peer, struct str body)
{
    struct ws_client *client = client_at(peer);

    speaking_pong(peer->worker, &client->member, body);
    hold_reads(client);
}

/* --- sending --- */

static size_t on_pull(struct conn *conn, struct iovec *out, size_t max)
{
    struct ws_client *client = client_of(conn);

    return client->peer.is_closing ? ws_peer_pull(&client->peer, out)
                                   : member_pull(&client->member, out, max);
}

/* How much of its last frame is missing after the first `taken` bytes of the spans, given
 * that they begin `left` bytes before the end of a frame. A frame may reach over several
 * spans (a welcome does), but its head stands in one. */
static uint32_t frame_rest(const struct iovec *spans, size_t count, size_t taken,
                           uint32_t left)
{
    for (size_t i = 0; i < count && taken; i++) {
        struct str bytes = { spans[i].iov_base, spans[i].iov_len };
        size_t end = taken < bytes.len ? taken : bytes.len;
        size_t at = left;

        while (at < end)
            at += ws_frame_size(str_slice(bytes, at, bytes.len));
        left = (uint32_t)(at - end);
        taken -= end;
    }
    return left;
}

/* The network has taken a part: where does that leave the last frame? */
static void note_frame_left(struct ws_client *client, size_t bytes)
{
    struct iovec spans[TAIL_SPANS];
    size_t count = member_pull(&client->member, spans, TAIL_SPANS);

    client->frame_left = frame_rest(spans, count, bytes, client->frame_left);
}

static void on_taken(struct conn *conn, size_t bytes, size_t offered)
{
    struct ws_client *client = client_of(conn);

    client->peer.worker->metrics.bytes_sent += bytes;
    if (client->peer.is_closing) {
        ws_peer_taken(&client->peer, bytes);
        return;
    }
    /* All that was offered ends with a whole frame, unless there were too many spans. */
    if (bytes == offered && member_waiting(&client->member) < CONN_SPANS)
        client->frame_left = 0;
    else
        note_frame_left(client, bytes);
    member_taken(&client->member, bytes);
    if (!client->member.is_blocked && member_waiting(&client->member) <= ANSWERS_MAX)
        conn_pause_reads(conn, false);
    if (client->member.is_blocked && bytes)
        ws_peer_watch(&client->peer);
    if (client->member.replay_seq)
        conn_wake(conn);
}

static void on_blocked(struct conn *conn, bool is_blocked)
{
    struct ws_client *client = client_of(conn);

    if (client->peer.is_closing)
        return;
    member_set_blocked(&client->member, is_blocked);
    ws_peer_watch(&client->peer);
    if (is_blocked)
        return;
    conn_pause_reads(conn, false);
    if (client->member.replay_seq)
        conn_wake(conn); /* waking what was blocked has had no effect */
}

/* Who speaks, and where. Most members read the native lane, which stands in the room; for
 * others its neighbours are fetched in vain. */
static void on_expect(const struct conn *conn)
{
    const struct member *member =
        &CONTAINER_OF((uintptr_t)conn, struct ws_client, peer.conn)
             ->member; /* drops const */

    prefetch(member->participant, sizeof(struct participant));
    prefetch((const char *)member->lane - offsetof(struct live_room, room.topic.native),
             sizeof(struct live_room));
}

static void send_frame(struct ws_peer *peer, struct str frame)
{
    member_send_frame(&client_at(peer)->member, frame);
}

static struct str id_of(const struct ws_peer *peer)
{
    return CONTAINER_OF((uintptr_t)peer, struct ws_client, peer)->identity->id;
}

static const struct ws_peer_ops ws_ops = {
    .conn = { .on_bytes = ws_peer_bytes,
              .on_expect = on_expect,
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

/* --- opening --- */

static struct ws_client *client_new(struct exchange *x, const struct upgrade *upgrade)
{
    struct ws_client *client = xcalloc(1, sizeof(*client));

    client->identity = identity_ref(x->identity);
    ws_peer_init(&client->peer, x->worker, upgrade);
    return client;
}

/* Where a client with this credential stands. Every second has a list, and shares it with
 * those that are EXPIRY_LISTS seconds apart; one that is over already gets the next. */
static struct link *list_of(struct worker *worker, const struct identity *identity)
{
    uint64_t slot = identity->expires_ms / EXPIRY_MS;

    if (!identity->expires_ms)
        return &worker->ws_clients[EXPIRY_LISTS];
    if (slot < worker->expired_slot)
        slot = worker->expired_slot;
    return &worker->ws_clients[slot % EXPIRY_LISTS];
}

static void join_room(struct ws_client *client, struct live_room *room,
                      const struct upgrade *upgrade, const struct ws_options *options)
{
    struct worker *worker = client->peer.worker;
    struct topic *topic = &room->room.topic;
    struct member *member = &client->member;
    struct buf out;

    topic_join(
        topic, member,
        &(struct join){
            .participant = room_participant(room, client->identity),
            .ops = &member_ops,
            .encoding = upgrade->extension.is_on ? &worker->deflated.encoding : NULL,
            .routing = options->routing,
            .presence = options->presence,
            .dialect = options->dialect,
            .wants_echo = options->wants_echo,
            .now_wall_ms = loop_wall_ms(worker->loop),
            .number = ++worker->connection_count,
        });
    /* What was sent before may still be under way. */
    member_set_blocked(member, client->peer.conn.is_blocked);
    room_stay(room);
    worker->metrics.members++;
    buf_init(&out, SIZE_MAX / 2);
    upgrade_write(&out, upgrade);
    member_send_frame(member, buf_str(&out));
    client->frame_left = (uint32_t)out.len; /* no frame, but just as indivisible */
    buf_done(&out);
    room_welcome(room, member);
    room_tell_validation(room);
    if (options->after.len && !member_replay_after(member, options->after))
        worker->metrics.gaps++;
}

void ws_open(struct exchange *x)
{
    struct worker *worker = x->worker;
    struct upgrade upgrade;
    struct ws_options options;
    struct live_room *room;
    struct conn_cargo cargo;
    struct ws_client *client;
    const char *why = "";
    int min_bits = worker->settings->config->compression ? WINDOW_BITS : 0;
    enum err err;

    if (!ws_peer_handshake(x, min_bits, &upgrade))
        return;
    err = ws_options_read(x, &options, &why);
    if (err) {
        exchange_fail(x, err, "%s", why);
        return;
    }
    upgrade.subprotocol = options.subprotocol;
    room = entrance_room(x, ENTER_TO_STAY, options.dialect);
    if (!room)
        return;
    client = client_new(x, &upgrade);
    exchange_detach(x, &cargo);
    list_append(list_of(worker, client->identity), &client->link);
    if (conn_init_from(&client->peer.conn, worker->flusher, &cargo, &ws_ops.conn)) {
        conn_cargo_done(&cargo);
        on_end(&client->peer.conn, ERR_IO);
    } else {
        recording_connected(
            room, &(struct connection_start){ .identity = client->identity,
                                              .address = exchange_peer(x)->address,
                                              .number = worker->connection_count + 1,
                                              .dialect = options.dialect });
        join_room(client, room, &upgrade, &options);
        ws_peer_watch(&client->peer);
    }
    exchange_end(x);
}

/* --- many at once --- */

void ws_clients_init(struct worker *worker)
{
    for (size_t i = 0; i <= EXPIRY_LISTS; i++)
        list_init(&worker->ws_clients[i]);
    worker->expired_slot = loop_wall_ms(worker->loop) / EXPIRY_MS;
}

bool ws_clients_are_gone(const struct worker *worker)
{
    for (size_t i = 0; i <= EXPIRY_LISTS; i++)
        if (!list_is_empty(&worker->ws_clients[i]))
            return false;
    return true;
}

void ws_close_all(struct worker *worker, uint16_t code, struct str reason)
{
    struct ws_client *client;

    EACH_CLIENT(client, worker)
        ws_peer_close(&client->peer, code, reason);
}

void ws_abort_all(struct worker *worker)
{
    struct ws_client *client;

    EACH_CLIENT(client, worker)
        conn_close(&client->peer.conn, ERR_CLOSED);
}

static void close_revoked(struct ws_client *client)
{
    if (!client->peer.is_closing)
        on_member_end(&client->member, END_REVOKED);
}

size_t ws_close_token(struct worker *worker, const uint8_t hash[static SHA256_BYTES])
{
    struct ws_client *client;
    size_t count = 0;

    EACH_CLIENT(client, worker)
        if (crypto_equal(client->identity->token_hash, hash, SHA256_BYTES)) {
            close_revoked(client);
            count++;
        }
    return count;
}

static void close_expired(struct link *clients, uint64_t wall_ms)
{
    struct ws_client *client;

    LIST_FOREACH(client, clients, link)
        if (client->identity->expires_ms <= wall_ms)
            ws_peer_close(&client->peer, WS_CODE_POLICY, S("the token has expired"));
}

void ws_close_expired(struct worker *worker)
{
    uint64_t wall_ms = loop_wall_ms(worker->loop);
    uint64_t now = wall_ms / EXPIRY_MS;
    uint64_t slot = worker->expired_slot;

    if (now < slot || now - slot >= EXPIRY_LISTS) /* the clock was set: all of them */
        slot = now - (EXPIRY_LISTS - 1);
    worker->expired_slot = now;
    for (; slot <= now; slot++)
        close_expired(&worker->ws_clients[slot % EXPIRY_LISTS], wall_ms);
}

static void change_identity(struct ws_client *client, struct identity *identity)
{
    const struct identity *was = client->identity;
    struct topic *topic = member_topic(&client->member);
    struct live_room *room;

    if (client->peer.is_closing)
        return;
    room = live_room_of(topic);
    if (!str_eq(was->id, identity->id) ||
        room_admit(room->worker, topic->name, identity)) {
        close_revoked(client);
        return;
    }
    if (was == identity)
        return;
    if (was->type != identity->type ||
        !str_list_eq(was->capabilities, identity->capabilities)) {
        speaking_renew_rights(&client->member, identity);
        room_welcome_again(room, client->member.participant);
    }
    identity_unref(client->identity);
    client->identity = identity_ref(identity);
    list_remove(&client->link);
    list_append(list_of(client->peer.worker, identity), &client->link);
}

void ws_change_tokens(struct worker *worker)
{
    struct ws_client *client;

    EACH_CLIENT(client, worker) {
        struct identity *now =
            token_table_find_hash(&worker->tokens, client->identity->token_hash);

        if (now)
            change_identity(client, now);
    }
}
