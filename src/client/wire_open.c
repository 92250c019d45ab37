/* SPDX-License-Identifier: Apache-2.0 */
/* From where the gateway is to a WebSocket: names, addresses, TLS, the upgrade. */
#include <stdlib.h>

#include "base/xalloc.h"
#include "client/wire_priv.h"
#include "crypto/crypto.h"

enum { READ_BYTES = 4096, WHY_BYTES = 256 };

static void attempt_free(struct wire_attempt *a)
{
    resolve_free(a->resolve);
    free(a->addresses);
    free(a->after);
    buf_done(&a->answer);
    free(a);
}

void wire_attempt_begin(struct wire *w)
{
    struct wire_attempt *a = xcalloc(1, sizeof(*a));
    struct str after = w->ops.on_after(w->user);

    a->after = str_dup(after.len <= OPENING_AFTER ? after : S(""));
    buf_init(&a->answer, OPENING_ANSWER);
    a->resolve =
        url_resolve(&w->url, w->resolves_in_thread ? RESOLVE_IN_THREAD : RESOLVE_HERE);
    w->attempt = a;
    w->due_ms = w->connect_timeout_ms ? w->now_ms + w->connect_timeout_ms : UINT64_MAX;
    w->state = WIRE_RESOLVING;
    buf_clear(&w->why);
}

void wire_attempt_end(struct wire *w)
{
    if (w->attempt)
        attempt_free(w->attempt);
    w->attempt = NULL;
}

uint64_t wire_attempt_due_ms(const struct wire *w)
{
    if (w->state == WIRE_CONNECTING && w->attempt->address_due_ms < w->due_ms)
        return w->attempt->address_due_ms;
    return w->due_ms;
}

/* "cannot connect to localhost:8420: Connection refused" */
static bool give_up(struct wire *w, enum ending_type type, const char *doing,
                    const char *why)
{
    buf_clear(&w->why);
    wire_say(w, "cannot %s ", doing);
    url_put_place(&w->why, &w->url);
    wire_say(w, ": %s", why);
    wire_break(w, (struct ending){ .type = type });
    return false;
}

/* --- the upgrade --- */

static void make_key(struct wire_attempt *a)
{
    uint8_t random[16];
    struct buf key;

    buf_init(&key, sizeof(a->key));
    crypto_random(random, sizeof(random));
    opening_key_write(&key, random);
    memcpy(a->key, key.ptr, OPENING_KEY);
    buf_done(&key);
}

static bool ask_for_upgrade(struct wire *w)
{
    struct wire_attempt *a = w->attempt;

    make_key(a);
    opening_write(&w->out, &(struct opening){ .url = &w->url,
                                              .topic = str_of(w->topic),
                                              .token = str_of(w->token),
                                              .after = str_of(a->after),
                                              .key = str_of(a->key),
                                              .is_directed = w->is_directed,
                                              .echoes = w->echoes });
    w->state = WIRE_UPGRADING;
    return true;
}

static bool open_up(struct wire *w, size_t used)
{
    struct wire_attempt *a = w->attempt;

    w->attempt = NULL; /* an end that comes at once must not take the bytes away */
    wire_drop_output(w);
    retry_succeeded(&w->retry);
    wire_talk_begin(w, a->after[0] != '\0');
    wire_hear(w, str_slice(buf_str(&a->answer), used, a->answer.len));
    attempt_free(a);
    return true;
}

static bool judge_answer(struct wire *w, enum opening_more more)
{
    struct wire_attempt *a = w->attempt;
    struct opening_answer answer;
    enum err err;

    buf_clear(&w->why);
    if (a->answer.len == a->answer.max)
        more = OPENING_ENDS;
    err = opening_read(buf_str(&a->answer), more, str_of(a->key), &answer, &w->why);
    if (err == ERR_AGAIN)
        return true;
    if (err) {
        wire_break(w, (struct ending){ .type = ENDING_LOST });
        return false;
    }
    if (answer.status == 101)
        return open_up(w, answer.used);
    wire_break(w, (struct ending){ .type = ENDING_REFUSED,
                                   .number = answer.status,
                                   .wait_ms = answer.wait_ms });
    return false;
}

static bool upgrade(struct wire *w)
{
    struct buf *answer = &w->attempt->answer;
    size_t room = answer->max - answer->len;
    size_t len = 0;
    enum err err = wire_flush(w);

    /* A server may refuse without reading all: its answer is what counts. */
    if (!err || err == ERR_AGAIN || err == ERR_IO) {
        (void)buf_reserve(answer, room < READ_BYTES ? room : READ_BYTES);
        err = channel_read(&w->channel, answer->ptr + answer->len,
                           room < READ_BYTES ? room : READ_BYTES, &len);
    }
    if (err == ERR_AGAIN)
        return false;
    if (err == ERR_IO && !answer->len) {
        wire_lose(w, err);
        return false;
    }
    answer->len += len;
    return judge_answer(w, err ? OPENING_ENDS : OPENING_GOES_ON);
}

/* --- TLS --- */

static bool secure(struct wire *w)
{
    enum err err = channel_handshake(&w->channel);
    char text[WHY_BYTES];

    if (!err)
        return ask_for_upgrade(w);
    if (err == ERR_AGAIN)
        return false;
    return give_up(w, channel_is_untrusted(&w->channel) ? ENDING_UNTRUSTED : ENDING_LOST,
                   "connect securely to", channel_why(&w->channel, text, sizeof(text)));
}

static bool begin_tls(struct wire *w)
{
    if (channel_secure(&w->channel, w->tls, w->url.host))
        return give_up(w, ENDING_LOST, "connect securely to", "TLS cannot be set up");
    w->state = WIRE_SECURING;
    return true;
}

/* --- addresses --- */

static bool connected(struct wire *w)
{
    return w->tls ? begin_tls(w) : ask_for_upgrade(w);
}

/* Each address gets its share of the time that is left, so that one that never answers
 * does not take it from the others. */
static uint64_t share_of_time(const struct wire *w)
{
    size_t left = w->attempt->addresses->count - w->attempt->at;

    if (w->due_ms == UINT64_MAX)
        return w->now_ms + 60'000;
    if (w->due_ms <= w->now_ms)
        return w->now_ms;
    return w->now_ms + (w->due_ms - w->now_ms) / left;
}

/* Begins with the address at a->at; `err` is what became of the one before. */
static bool try_addresses(struct wire *w, enum err err)
{
    struct wire_attempt *a = w->attempt;
    char text[WHY_BYTES];

    for (; a->at < a->addresses->count; a->at++) {
        channel_close(&w->channel);
        err = channel_connect(&w->channel, &a->addresses->list[a->at]);
        if (!err)
            return connected(w);
        if (err == ERR_AGAIN) {
            a->address_due_ms = share_of_time(w);
            w->state = WIRE_CONNECTING;
            return false;
        }
    }
    return give_up(w, ENDING_LOST, "connect to",
                   err == ERR_TIMEOUT ? "it does not answer"
                                      : channel_why(&w->channel, text, sizeof(text)));
}

static bool connect_more(struct wire *w)
{
    struct wire_attempt *a = w->attempt;
    enum err err = channel_connect_more(&w->channel, &a->addresses->list[a->at]);

    if (!err)
        return connected(w);
    if (err == ERR_AGAIN && w->now_ms < a->address_due_ms)
        return false;
    a->at++;
    return try_addresses(w, err == ERR_AGAIN ? ERR_TIMEOUT : err);
}

static bool resolve(struct wire *w)
{
    struct wire_attempt *a = w->attempt;
    enum err err = resolve_take(a->resolve, &a->addresses);

    if (err == ERR_AGAIN)
        return false;
    if (err)
        return give_up(w, ENDING_LOST, "find", resolve_why(a->resolve));
    return try_addresses(w, OK);
}

/* --- the attempt --- */

static bool step(struct wire *w)
{
    switch (w->state) {
    case WIRE_RESOLVING: return resolve(w);
    case WIRE_CONNECTING: return connect_more(w);
    case WIRE_SECURING: return secure(w);
    case WIRE_UPGRADING: return upgrade(w);
    case WIRE_RESTING:
    case WIRE_OPEN:
    case WIRE_CLOSING:
    case WIRE_OVER: break;
    }
    return false;
}

bool wire_attempt_step(struct wire *w)
{
    bool goes_on = step(w);

    if (!goes_on && w->attempt && w->now_ms >= w->due_ms)
        return give_up(w, ENDING_LOST, "connect to", "it does not answer in time");
    return goes_on;
}
