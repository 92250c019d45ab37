/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     want ─► /.well-known/openid-configuration ─► jwks_uri ─► ready
 *
 * What is older than FRESH_MS is fetched again while the old still serves; what is older
 * than KEEP_MS serves nobody.
 */
#include "gateway/provider.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/gateway.h"

enum {
    FRESH_MS = 10 * 60'000,
    KEEP_MS = 60 * 60'000,
    BRAKE_MS = 30'000, /* in which it is asked BRAKE_TRIES times, whoever wants it */
    BRAKE_TRIES = 3,
    CALL_MS = 10'000, /* for each call */
    WAITERS_MAX = 1000,
    URL_BYTES = 4096,
    ARENA = 8 << 20,
};

static const char going[] = "The settings of the identity provider have changed.";
static const char unreached[] =
    "The identity provider cannot be reached now, or answers nothing that can be used; "
    "try again later.";

enum step { STEP_IDLE, STEP_DOCUMENT, STEP_KEYS };

struct provider {
    struct worker *worker;
    struct fetch *fetch;
    char *issuer;
    struct uri home; /* of it */
    uint8_t seal_key[SEAL_KEY];
    struct link waits, sign_ins;
    size_t wait_count;

    enum step step;
    struct fetch_call *call;
    uint64_t tried_ms[BRAKE_TRIES]; /* when the last ones began */
    size_t tries;
    bool is_going;

    struct arena arena; /* of the document */
    struct server_document document;
    struct arena next_arena; /* of the one that is on its way */
    struct server_document next;
    struct jwks *keys;
    uint64_t fetched_ms; /* both */
};

/* --- life --- */

static struct provider *provider_new(struct worker *worker, struct fetch *fetch)
{
    struct provider *p = xcalloc(1, sizeof(*p));

    p->worker = worker;
    p->fetch = fetch;
    p->issuer = str_dup(worker->settings->provider.said->issuer);
    (void)uri_parse(str_of(p->issuer), &p->home); /* was checked */
    crypto_random(p->seal_key, sizeof(p->seal_key));
    list_init(&p->waits);
    list_init(&p->sign_ins);
    arena_init(&p->arena, ARENA);
    arena_init(&p->next_arena, ARENA);
    return p;
}

struct provider *provider_of(struct worker *worker)
{
    CLEANUP(xfreep) char *why = NULL;
    struct fetch *fetch;

    if (worker->provider)
        return worker->provider;
    if (fetch_new(worker->loop, &fetch, &why)) {
        log_error("provider.fetch", "reason=%s", LOG_TEXT(str_of(why ? why : "unknown")));
        return NULL;
    }
    worker->provider = provider_new(worker, fetch);
    return worker->provider;
}

static void tell(struct provider *p, const char *why);

void provider_free(struct provider *p)
{
    if (!p)
        return;
    if (p->call)
        fetch_cancel(p->call);
    p->call = NULL;
    p->step = STEP_IDLE;
    p->is_going = true; /* nobody begins anew */
    jwks_free(p->keys);
    p->keys = NULL;
    provider_end_sign_ins(p);
    tell(p, going);
    fetch_free(p->fetch);
    arena_done(&p->arena);
    arena_done(&p->next_arena);
    crypto_wipe(p->seal_key, sizeof(p->seal_key));
    free(p->issuer);
    free(p);
}

const uint8_t *provider_seal_key(const struct provider *p)
{
    return p->seal_key;
}

struct link *provider_sign_ins(struct provider *p)
{
    return &p->sign_ins;
}

struct fetch_call *provider_ask(struct provider *p, const struct oauth_message *message,
                                const struct fetch_ops *ops, void *user)
{
    return oauth_ask(&(struct oauth_asking){ .fetch = p->fetch,
                                             .home = &p->home,
                                             .timeout_ms = CALL_MS,
                                             .max_answer = JWKS_MAX_BYTES },
                     message, ops, user);
}

/* --- fetching --- */

static bool is_at_hand(const struct provider *p)
{
    return p->keys && loop_now_ms(p->worker->loop) - p->fetched_ms < KEEP_MS;
}

/* Each leaves before it is called, since it may come back, or be freed. */
static void tell(struct provider *p, const char *why)
{
    struct link waits;
    struct provider_wait *wait;

    list_init(&waits);
    while ((wait = LIST_FIRST(&p->waits, struct provider_wait, link))) {
        list_remove(&wait->link);
        list_append(&waits, &wait->link);
    }
    p->wait_count = 0;
    while ((wait = LIST_FIRST(&waits, struct provider_wait, link))) {
        list_remove(&wait->link);
        wait->on_ready(wait, why ? NULL : &p->document, why);
    }
}

static void fail(struct provider *p, const char *why)
{
    log_warn("provider.unusable", "issuer=%s reason=%s", LOG_TEXT(str_of(p->issuer)),
             LOG_TEXT(str_of(why)));
    p->step = STEP_IDLE;
    tell(p, unreached);
}

static void ask(struct provider *p, enum step step, struct str url);

static void hear_document(struct provider *p, struct str body)
{
    struct str text = arena_str(&p->next_arena, body);
    const char *why = "what it says of itself is too long";

    if (!text.ptr ||
        server_document_read(text, str_of(p->issuer), &p->next_arena, &p->next, &why)) {
        fail(p, why);
        return;
    }
    if (p->next.jwks_uri.len == 0 || !oauth_is_safe(&p->home, p->next.jwks_uri) ||
        !oauth_is_safe(&p->home, p->next.authorization_endpoint) ||
        !oauth_is_safe(&p->home, p->next.token_endpoint)) {
        fail(p, "an address of it is missing or not https");
        return;
    }
    ask(p, STEP_KEYS, p->next.jwks_uri);
}

static void hear_keys(struct provider *p, struct str body)
{
    struct arena old = p->arena;
    const char *why = "";
    struct jwks *keys;

    if (jwks_parse(body, &keys, &why)) {
        fail(p, why);
        return;
    }
    jwks_free(p->keys);
    p->keys = keys;
    p->arena = p->next_arena;
    p->document = p->next;
    arena_done(&old);
    arena_init(&p->next_arena, ARENA);
    p->fetched_ms = loop_now_ms(p->worker->loop);
    p->step = STEP_IDLE;
    tell(p, NULL);
}

static void on_answer(void *user, const struct fetch_answer *answer)
{
    struct provider *p = user;

    p->call = NULL;
    if (answer->err)
        fail(p, answer->why ? answer->why : "it does not answer");
    else if (answer->status != 200)
        fail(p, "it answers with another status than 200");
    else if (p->step == STEP_DOCUMENT)
        hear_document(p, answer->body);
    else
        hear_keys(p, answer->body);
}

static void ask(struct provider *p, enum step step, struct str url)
{
    static const struct fetch_ops ops = { .on_done = on_answer };

    p->step = step;
    p->call = provider_ask(p, &(struct oauth_message){ .url = url }, &ops, p);
}

static bool may_fetch(const struct provider *p)
{
    uint64_t oldest_ms = p->tried_ms[p->tries % BRAKE_TRIES];
    bool is_braked =
        p->tries >= BRAKE_TRIES && loop_now_ms(p->worker->loop) - oldest_ms < BRAKE_MS;

    return p->step == STEP_IDLE && !is_braked && !p->is_going;
}

static void begin(struct provider *p)
{
    CLEANUP(buf_done) struct buf url;

    buf_init(&url, URL_BYTES);
    uri_put_well_known(&url, &p->home, S("openid-configuration"), URI_AFTER_PATH);
    arena_done(&p->next_arena);
    arena_init(&p->next_arena, ARENA);
    p->tried_ms[p->tries++ % BRAKE_TRIES] = loop_now_ms(p->worker->loop);
    ask(p, STEP_DOCUMENT, buf_str(&url));
}

/* For what is under way, or begins now; false: for nothing. */
static bool wait_for_news(struct provider *p, struct provider_wait *wait)
{
    if (may_fetch(p))
        begin(p);
    if (p->step == STEP_IDLE || p->wait_count >= WAITERS_MAX)
        return false;
    p->wait_count++;
    list_append(&p->waits, &wait->link);
    return true;
}

void provider_want(struct provider *p, struct provider_wait *wait)
{
    if (is_at_hand(p)) {
        if (loop_now_ms(p->worker->loop) - p->fetched_ms >= FRESH_MS && may_fetch(p))
            begin(p);
        wait->on_ready(wait, &p->document, NULL);
    } else if (!wait_for_news(p, wait)) {
        wait->on_ready(wait, NULL, unreached);
    }
}

/* --- tokens --- */

static void judge(struct provider_check *check)
{
    CLEANUP(arena_done) struct arena arena;
    struct provider *p = check->provider;
    const struct config_provider *said = p->worker->settings->provider.said;
    struct jwt_terms terms = { .audience =
                                   check->nonce.len ? said->client_id : said->audience,
                               .issuer = str_of(p->issuer),
                               .keys = p->keys,
                               .nonce = check->nonce };
    struct jwt_claims claims;
    const char *why = "";
    enum err err;

    arena_init(&arena, JWT_ARENA);
    err = jwt_verify(check->token, &terms, loop_wall_ms(p->worker->loop), &arena, &claims,
                     &why);
    if (err == ERR_NOT_FOUND && !check->has_waited) {
        check->has_waited = true;
        if (wait_for_news(p, &check->wait))
            return;
    }
    check->on_done(check, err ? NULL : &claims, err ? ERR_UNAUTHORIZED : OK, why);
}

static void on_ready(struct provider_wait *wait, const struct server_document *document,
                     const char *why)
{
    struct provider_check *check = CONTAINER_OF(wait, struct provider_check, wait);

    /* Keys that are at hand serve, even where newer ones cannot be had. */
    if (document || is_at_hand(check->provider))
        judge(check);
    else
        check->on_done(check, NULL, ERR_UNAVAILABLE, why);
}

void provider_check(struct provider *provider, struct provider_check *check)
{
    check->provider = provider;
    check->has_waited = false;
    check->wait.on_ready = on_ready;
    provider_want(provider, &check->wait);
}
