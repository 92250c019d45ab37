/* SPDX-License-Identifier: Apache-2.0 */
#include "client/wire.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "client/wire_priv.h"
#include "crypto/crypto.h"
#include "net/tls_client.h"

enum {
    HELD_MS = 5000, /* a connection that lasted so long was no failure */
    WHY_BYTES = 2048,
    FRAGMENTS = 1024,
    RESERVE_BYTES = 4096, /* of the outbox, for control frames */
};

/* --- life --- */

static enum err check(const struct wire_settings *settings, struct wire *w,
                      char **ret_why)
{
    struct opening opening = { .topic = settings->topic, .token = settings->token };
    struct buf why;
    enum err err;

    buf_init(&why, WHY_BYTES);
    err = url_parse(settings->url, &w->url, &why);
    if (!err)
        err = opening_check(&opening, &why);
    if (err) {
        (void)buf_cstr(&why);
        *ret_why = TAKE(why.ptr);
    }
    return err;
}

static enum err prepare_tls(const struct wire_settings *settings, struct wire *w,
                            char **ret_why)
{
    CLEANUP(xfreep) char *file = str_dup(settings->ca_file);
    struct tls_trust trust = { .cacert = settings->ca_file.len ? file : NULL };

    return w->url.is_secure ? tls_client_new(&trust, &w->tls, ret_why) : OK;
}

static void copy_settings(const struct wire_settings *settings, struct wire *w)
{
    w->topic = str_dup(settings->topic);
    w->token = str_dup(settings->token);
    w->retry = (struct retry){ .min_ms = settings->retry_min_ms,
                               .max_ms = settings->retry_max_ms,
                               .tries_once = settings->connects_once };
    w->connect_timeout_ms = settings->connect_timeout_ms;
    w->silence_ms = settings->silence_ms;
    w->outbox_bytes = settings->outbox_bytes;
    w->is_directed = settings->is_directed;
    w->echoes = settings->echoes;
    w->resolves_in_thread = settings->resolves_in_thread;
    w->shared = (struct ws_shared){ .message_bytes = settings->message_bytes,
                                    .fragments = FRAGMENTS,
                                    .refuses_binary = true };
}

CLEANUP_FOR(struct wire, wire_free)

enum err wire_new(const struct wire_settings *settings, const struct wire_ops *ops,
                  void *user, struct wire **ret, char **ret_why)
{
    CLEANUP(wire_freep) struct wire *w = xcalloc(1, sizeof(*w));
    enum err err;

    w->ops = *ops;
    w->user = user;
    channel_init(&w->channel);
    copy_settings(settings, w);
    buf_init(&w->out, settings->outbox_bytes + RESERVE_BYTES + OPENING_REQUEST);
    buf_init(&w->why, WHY_BYTES);
    hash_key_random(&w->random);
    err = check(settings, w, ret_why);
    if (!err)
        err = prepare_tls(settings, w, ret_why);
    if (!err)
        *ret = TAKE(w);
    return err;
}

/* What belongs to one connection. */
static void let_go(struct wire *w)
{
    wire_attempt_end(w);
    channel_close(&w->channel);
    ws_decoder_done(&w->decoder);
    wire_drop_output(w);
}

void wire_free(struct wire *wire)
{
    if (!wire)
        return;
    let_go(wire);
    tls_client_free(wire->tls);
    buf_done(&wire->why);
    if (wire->token)
        crypto_wipe(wire->token, strlen(wire->token));
    free(wire->token);
    free(wire->topic);
    free(wire);
}

uint64_t wire_random(struct wire *w)
{
    w->random_count++;
    return hash_of(&w->random, (struct str){ (const char *)&w->random_count,
                                             sizeof(w->random_count) });
}

/* --- ends --- */

void wire_say(struct wire *w, const char *format, ...)
{
    char text[WHY_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_put(&w->why, str_of(text));
}

static void tell(struct wire *w)
{
    struct buf why = w->why;

    w->is_untold = false;
    buf_init(&w->why, WHY_BYTES);
    w->ops.on_broken(w->user, buf_str(&why), w->state == WIRE_OVER);
    buf_done(&why);
}

static bool has_held(const struct wire *w)
{
    return w->is_welcome && w->now_ms - w->welcome_ms >= HELD_MS;
}

void wire_break(struct wire *w, struct ending ending)
{
    if (w->state == WIRE_CLOSING)
        ending = (struct ending){ .type = ENDING_WANTED };
    if (has_held(w))
        retry_held(&w->retry);
    let_go(w);
    w->is_welcome = false;
    if (retry_is_over(&w->retry, &ending)) {
        w->state = WIRE_OVER;
    } else {
        w->state = WIRE_RESTING;
        w->due_ms = w->now_ms + retry_pause_ms(&w->retry, &ending, wire_random(w));
    }
    tell(w);
}

void wire_close(struct wire *wire)
{
    switch (wire->state) {
    case WIRE_OPEN: wire_close_begin(wire); return;
    case WIRE_CLOSING:
    case WIRE_OVER: return;
    case WIRE_RESTING:
    case WIRE_RESOLVING:
    case WIRE_CONNECTING:
    case WIRE_SECURING:
    case WIRE_UPGRADING:
        let_go(wire);
        wire->state = WIRE_OVER;
        wire->is_untold = true;
        buf_clear(&wire->why);
        wire_say(wire, "left");
        return;
    }
}

/* --- driving --- */

void wire_step(struct wire *wire, uint64_t now_ms)
{
    bool goes_on = true;

    wire->now_ms = now_ms;
    wire->is_pressed = false;
    if (wire->is_untold)
        tell(wire);
    if (wire->state == WIRE_RESTING && now_ms >= wire->due_ms)
        wire_attempt_begin(wire);
    while (goes_on && wire->state > WIRE_RESTING && wire->state < WIRE_OPEN)
        goes_on = wire_attempt_step(wire);
    if (wire->state == WIRE_OPEN || wire->state == WIRE_CLOSING)
        wire_talk_step(wire);
}

int wire_fd(const struct wire *wire)
{
    return wire->state == WIRE_RESOLVING ? resolve_fd(wire->attempt->resolve)
                                         : wire->channel.fd;
}

short wire_events(const struct wire *wire)
{
    switch (wire->state) {
    case WIRE_RESTING:
    case WIRE_OVER: return 0;
    case WIRE_RESOLVING: return POLLIN;
    case WIRE_CONNECTING: return POLLOUT;
    case WIRE_SECURING:
    case WIRE_UPGRADING:
    case WIRE_OPEN:
    case WIRE_CLOSING: return channel_events(&wire->channel, wire_has_output(wire));
    }
    return 0;
}

uint64_t wire_due_ms(const struct wire *wire)
{
    if (wire->is_untold || wire->is_pressed)
        return 0;
    switch (wire->state) {
    case WIRE_RESTING: return wire->due_ms;
    case WIRE_OVER: return UINT64_MAX;
    case WIRE_RESOLVING:
    case WIRE_CONNECTING:
    case WIRE_SECURING:
    case WIRE_UPGRADING: return wire_attempt_due_ms(wire);
    case WIRE_OPEN:
    case WIRE_CLOSING: return wire_talk_due_ms(wire);
    }
    return 0;
}

bool wire_is_open(const struct wire *wire)
{
    return wire->state == WIRE_OPEN;
}

bool wire_is_over(const struct wire *wire)
{
    return wire->state == WIRE_OVER && !wire->is_untold;
}

void wire_welcome(struct wire *wire, size_t message_bytes)
{
    if (!wire->is_welcome)
        wire->welcome_ms = wire->now_ms;
    wire->is_welcome = true;
    if (message_bytes > wire->shared.message_bytes)
        wire->shared.message_bytes = message_bytes;
}
