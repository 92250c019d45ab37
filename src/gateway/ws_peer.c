/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/ws_peer.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/gateway.h"

enum {
    CLOSE_WAIT_MS = 3000,  /* for the peer's half of the close handshake */
    SLOW_WAIT_MS = 10'000, /* and for one that has not even read what came before */
};

static const struct config_limits *limits_of(const struct ws_peer *peer)
{
    return &peer->worker->settings->config->limits;
}

static const struct ws_peer_ops *ops_of(const struct ws_peer *peer)
{
    return CONTAINER_OF((uintptr_t)peer->conn.ops, const struct ws_peer_ops, conn);
}

/* --- closing --- */

void ws_peer_close(struct ws_peer *peer, uint16_t code, struct str reason)
{
    uint64_t wait_ms = peer->conn.is_blocked ? SLOW_WAIT_MS : CLOSE_WAIT_MS;

    if (peer->is_closing)
        return;
    peer->is_closing = true;
    peer->tail = xmalloc(sizeof(*peer->tail));
    buf_init(peer->tail, SIZE_MAX / 2);
    ops_of(peer)->on_closing(peer, code, reason);
    ws_close_write(peer->tail, code, reason);
    conn_pause_reads(&peer->conn, false); /* to hear the peer's close */
    loop_timer_set(peer->worker->loop, &peer->timer, wait_ms);
    conn_wake(&peer->conn);
}

size_t ws_peer_pull(const struct ws_peer *peer, struct iovec *out)
{
    if (!peer->tail || peer->tail->len == 0)
        return 0;
    out[0] = (struct iovec){ peer->tail->ptr, peer->tail->len };
    return 1;
}

void ws_peer_taken(struct ws_peer *peer, size_t bytes)
{
    buf_drop(peer->tail, bytes);
    if (peer->tail->len == 0 && peer->peer_has_closed)
        conn_finish(&peer->conn);
}

struct str ws_peer_ending(uint16_t code)
{
    switch (code) {
    case 0: return S("lost");
    case WS_CODE_NORMAL: return S("left");
    case WS_CODE_GOING_AWAY: return S("going_away");
    case WS_CODE_POLICY: return S("revoked");
    case WS_CODE_REPLACED: return S("replaced");
    case WS_CODE_KICKED: return S("kicked");
    case WS_CODE_SLOW: return S("slow_consumer");
    case WS_CODE_RATE: return S("rate_limited");
    default: return S("failed");
    }
}

/* The peer closes: answer with the same code, then end. */
static void on_peer_close(struct ws_peer *peer, uint16_t code)
{
    peer->peer_has_closed = true;
    if (peer->is_closing)
        conn_finish(&peer->conn);
    else
        ws_peer_close(peer, code == WS_CODE_NONE ? WS_CODE_NORMAL : code, S(""));
}

/* --- receiving --- */

void ws_peer_unmask(char *place, const struct ws_event *message)
{
    if (message->is_masked)
        ws_unmask(place, message->body.ptr, message->body.len, message->mask);
    else
        memcpy(place, message->body.ptr, message->body.len);
}

static void on_event(struct ws_peer *peer, const struct ws_event *ev)
{
    switch (ev->type) {
    case WS_NEED_MORE:
    case WS_PONG: break;
    case WS_MESSAGE:
        if (!peer->is_closing)
            ops_of(peer)->on_message(peer, ev);
        break;
    case WS_PING:
        if (!peer->is_closing)
            ops_of(peer)->on_ping(peer, ev->body);
        break;
    case WS_CLOSE: on_peer_close(peer, ev->code); break;
    case WS_VIOLATION:
        log_info("ws.violation", "id=%s code=%u why=\"%s\"",
                 LOG_TEXT(ops_of(peer)->id(peer)), ev->code, ev->why);
        peer->peer_has_closed = true; /* nothing sensible will come */
        ws_peer_close(peer, ev->code, str_of(ev->why));
        break;
    }
}

size_t ws_peer_bytes(struct conn *conn, struct str bytes)
{
    struct ws_peer *peer = ws_peer_of(conn);
    size_t offered = bytes.len;

    peer->heard_ms = (uint32_t)loop_now_ms(peer->worker->loop);
    peer->awaits_pong = false;
    for (;;) {
        struct ws_event ev = ws_decode(&peer->decoder, &bytes);

        if (ev.type == WS_NEED_MORE)
            break;
        on_event(peer, &ev);
        if (peer->decoder.has_closed)
            break;
        if (conn->is_read_paused)
            return offered - bytes.len;
    }
    return offered;
}

/* --- deadlines --- */

void ws_peer_watch(struct ws_peer *peer)
{
    const struct config_limits *limits = limits_of(peer);
    uint64_t interval_ms =
        peer->conn.is_blocked ? limits->stall_timeout_ms : limits->ping_interval_ms;

    if (interval_ms)
        loop_timer_set(peer->worker->loop, &peer->timer, interval_ms);
    else
        loop_timer_clear(peer->worker->loop, &peer->timer);
}

static void send_ping(struct ws_peer *peer)
{
    struct buf frame;

    buf_init(&frame, WS_MAX_HEAD);
    ws_frame_write(&frame, WS_OP_PING, S(""));
    ops_of(peer)->send_frame(peer, buf_str(&frame));
    buf_done(&frame);
    peer->awaits_pong = true;
    loop_timer_set(peer->worker->loop, &peer->timer, limits_of(peer)->pong_timeout_ms);
}

static void on_timer(struct loop_timer *timer)
{
    struct ws_peer *peer = CONTAINER_OF(timer, struct ws_peer, timer);
    uint64_t interval_ms = limits_of(peer)->ping_interval_ms;
    uint32_t silent_ms = (uint32_t)loop_now_ms(peer->worker->loop) - peer->heard_ms;

    if (peer->is_closing) {
        conn_close(&peer->conn, ERR_TIMEOUT);
    } else if (peer->conn.is_blocked) {
        peer->worker->metrics.slow_consumers++;
        ws_peer_close(peer, WS_CODE_SLOW,
                      S("slow_consumer: nothing was read for too long"));
    } else if (peer->awaits_pong) {
        ws_peer_close(peer, WS_CODE_GOING_AWAY, S("no answer to a ping"));
    } else if (silent_ms < interval_ms) {
        loop_timer_set(peer->worker->loop, timer, interval_ms - silent_ms);
    } else if (interval_ms) {
        send_ping(peer);
    }
}

/* --- opening and ending --- */

bool ws_peer_handshake(struct exchange *x, int min_bits, struct upgrade *ret)
{
    const char *why = "";
    enum err err = upgrade_check(&x->request, min_bits, ret, &why);

    if (err)
        exchange_fail_with(x,
                           &(struct failure){ .err = err,
                                              .detail = str_of(why),
                                              .headers = upgrade_refusal_headers(err) });
    return err == OK;
}

void ws_peer_init(struct ws_peer *peer, struct worker *worker,
                  const struct upgrade *upgrade)
{
    peer->worker = worker;
    peer->timer.on_fire = on_timer;
    peer->heard_ms = (uint32_t)loop_now_ms(worker->loop);
    ws_decoder_init(&peer->decoder, WS_SERVER, &worker->ws_shared,
                    upgrade->extension.is_on);
    worker->metrics.websockets_opened++;
}

void ws_peer_done(struct ws_peer *peer)
{
    peer->is_closing = true;
    loop_timer_clear(peer->worker->loop, &peer->timer);
    peer->worker->metrics.websockets_closed++;
    gateway_connection_ended(peer->worker->gateway);
    ws_decoder_done(&peer->decoder);
    if (peer->tail)
        buf_done(peer->tail);
    free(peer->tail);
}
