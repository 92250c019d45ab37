/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing in at the identity provider (OpenID Connect, the authorization code flow with
 * PKCE):
 *
 *     /session/provider ─► the provider ─► /session/callback ─► its token endpoint
 *                                              └─► /#ticket=…, or /#refused=WHY
 *
 * Between the first two nothing is kept here: what the flow needs is sealed into a cookie
 * that goes back to the callback alone, so whoever did not begin a sign-in in this
 * browser cannot end one there. The console makes a session of the ticket, as of a
 * printed link.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/origin.h"
#include "gateway/provider.h"
#include "gateway/resolve.h"
#include "gateway/tokens.h"
#include "oauth/request.h"

enum {
    FLOW_MS = 10 * 60'000, /* for a person to sign in */
    TICKET_MS = 60'000,    /* for the browser to come with it */
    ARRIVALS_MAX = 64,     /* for which a token is asked for */
    COOKIE_BYTES = 4096,
    URL_BYTES = 8 << 10,
    FORM_BYTES = 64 << 10,
    ARENA_BYTES = 2 << 20,
};

#define COOKIE   "moot_sign_in"
#define CALLBACK "/session/callback"

/* Why nobody is signed in, for the console, which has the sentences. */
static const char begin_again[] = "again"; /* it was begun elsewhere, or long ago */
static const char denied[] = "denied";     /* the provider says no */
static const char unreachable[] = "unreachable";
static const char unfit[] = "unfit";       /* what it answered proves nothing */
static const char stranger[] = "stranger"; /* who it is has no rights here */
static const char busy[] = "busy";
static const char misplaced[] = "origin"; /* browsers cannot come back here */

static const struct config_provider *provider_said(const struct exchange *x)
{
    const struct config_provider *said = x->worker->settings->provider.said;

    return said && said->client_id.len ? said : NULL;
}

/* --- GET /session/ways --- */

void session_ways(struct exchange *x)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, FORM_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    if (provider_said(x)) {
        json_key(&w, S("provider"));
        json_object_open(&w);
        json_put_str(&w, S("name"), x->worker->settings->provider.title);
        json_object_close(&w);
    }
    json_object_close(&w);
    exchange_json(x, 200, &out);
}

/* --- where browsers go --- */

static void go(struct exchange *x, struct str location, struct str cookie)
{
    CLEANUP(buf_done) struct buf headers;

    buf_init(&headers, 2 * URL_BYTES + COOKIE_BYTES);
    buf_put(&headers, S("Location: "));
    buf_put(&headers, location);
    buf_put(&headers, S("\r\nReferrer-Policy: no-referrer\r\n"));
    buf_put(&headers, cookie);
    exchange_reply_with(x, &(struct reply){ .status = 303,
                                            .type = S(""),
                                            .body = S(""),
                                            .headers = buf_str(&headers) });
    if (headers.len)
        crypto_wipe(headers.ptr, headers.len);
}

#define FORGET \
    "Set-Cookie: " COOKIE "=; Path=" CALLBACK "; Max-Age=0; HttpOnly; SameSite=Lax\r\n"

static void go_refused(struct exchange *x, const char *code)
{
    CLEANUP(buf_done) struct buf location;

    buf_init(&location, URL_BYTES);
    buf_putf(&location, "/#refused=%s", code);
    go(x, buf_str(&location), S(FORGET));
}

static bool is_throttled(const struct exchange *x)
{
    return !throttle_allows(&x->worker->throttle, str_of(exchange_peer(x)->address),
                            loop_now_ms(x->worker->loop));
}

/* --- GET /session/provider --- */

/* What comes back with the browser. */
struct flow {
    struct str state, verifier, nonce;
    struct str redirect_uri;
};

/* Somebody who waits for where to go to. */
struct departure {
    struct provider_wait wait;
    struct exchange *x;
    struct provider *provider;
    struct buf redirect_uri;
};

static struct str draw(struct arena *arena)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, OAUTH_NONCE + 1);
    oauth_put_nonce(&text);
    return arena_str(arena, buf_str(&text));
}

static void put_cookie(const struct departure *d, const struct flow *flow,
                       struct buf *out)
{
    CLEANUP(buf_done) struct buf plain, box;
    uint64_t ends_ms = loop_now_ms(d->x->worker->loop) + FLOW_MS;

    buf_init(&plain, COOKIE_BYTES);
    buf_init(&box, COOKIE_BYTES);
    buf_putf(&plain, STR_FMT " " STR_FMT " " STR_FMT " %llu " STR_FMT,
             STR_ARG(flow->state), STR_ARG(flow->verifier), STR_ARG(flow->nonce),
             (unsigned long long)ends_ms, STR_ARG(flow->redirect_uri));
    crypto_seal(provider_seal_key(d->provider), S(COOKIE), buf_str(&plain), &box);
    buf_put(out, S("Set-Cookie: " COOKIE "="));
    base64url_write(out, buf_str(&box));
    buf_putf(out, "; Path=" CALLBACK "; Max-Age=%d; HttpOnly; SameSite=Lax%s\r\n",
             FLOW_MS / 1000,
             str_starts(flow->redirect_uri, S("https:")) ? "; Secure" : "");
    crypto_wipe(plain.ptr, plain.len);
}

static void depart(const struct departure *d, const struct server_document *document)
{
    struct exchange *x = d->x;
    const struct config_provider *said = x->worker->settings->provider.said;
    struct flow flow = { draw(&x->arena), draw(&x->arena), draw(&x->arena),
                         buf_str(&d->redirect_uri) };
    CLEANUP(buf_done) struct buf url, cookie;

    buf_init(&url, URL_BYTES);
    buf_init(&cookie, COOKIE_BYTES);
    sign_in_put_url(&url, &(struct sign_in){ .endpoint = document->authorization_endpoint,
                                             .client_id = said->client_id,
                                             .redirect_uri = flow.redirect_uri,
                                             .scope = said->scopes,
                                             .state = flow.state,
                                             .verifier = flow.verifier,
                                             .nonce = flow.nonce });
    put_cookie(d, &flow, &cookie);
    if (url.is_full || cookie.is_full || !flow.nonce.ptr)
        go_refused(x, unreachable);
    else
        go(x, buf_str(&url), buf_str(&cookie));
}

static void on_departure(struct provider_wait *wait,
                         const struct server_document *document,
                         const char *why [[maybe_unused]])
{
    struct departure *d = CONTAINER_OF(wait, struct departure, wait);

    if (exchange_resume(d->x)) {
        if (document)
            depart(d, document);
        else
            go_refused(d->x, unreachable);
    }
    buf_done(&d->redirect_uri);
    free(d);
}

void session_provider(struct exchange *x)
{
    const struct config_provider *said = provider_said(x);
    CLEANUP(buf_done) struct buf redirect;
    struct provider *provider;
    struct departure *d;
    const char *why;

    buf_init(&redirect, URL_BYTES);
    if (!said) {
        exchange_fail(x, ERR_NOT_FOUND, "There is no identity provider to sign in at.");
        return;
    }
    if (origin_is_hidden(x)) { /* no other site begins it; a person may */
        go(x, S("/"), S(""));
        return;
    }
    if (is_throttled(x)) {
        go_refused(x, busy);
        return;
    }
    if (origin_for_browser(x, said->origin, &redirect, &why)) {
        log_warn("provider.origin", "reason=%s", LOG_TEXT(str_of(why)));
        go_refused(x, misplaced);
        return;
    }
    buf_put(&redirect, S(CALLBACK));
    provider = provider_of(x->worker);
    if (!provider) {
        go_refused(x, unreachable);
        return;
    }
    d = xcalloc(1, sizeof(*d));
    *d = (struct departure){ .wait = { .on_ready = on_departure },
                             .x = x,
                             .provider = provider };
    buf_init(&d->redirect_uri, URL_BYTES);
    buf_put(&d->redirect_uri, buf_str(&redirect));
    exchange_suspend(x);
    provider_want(provider, &d->wait);
}

/* --- GET /session/callback --- */

/* Somebody who came back with a code. */
struct arrival {
    struct link link; /* of the provider, while it is asked */
    struct provider_wait wait;
    struct provider_check check;
    struct provider *provider;
    struct worker *worker;
    struct exchange *x;
    struct fetch_call *call;
    struct arena arena;
    struct flow flow;
    struct sign_in_answer answer;
};

static void arrival_free(struct arrival *a)
{
    list_remove(&a->link);
    arena_done(&a->arena);
    free(a);
}

static void give_up(struct arrival *a, const char *code, const char *why)
{
    struct worker *worker = a->worker;

    log_warn("provider.refused", "code=%s reason=%s", code, LOG_TEXT(str_of(why)));
    if (exchange_resume(a->x)) {
        if (code == unfit || code == stranger) {
            worker->metrics.logins_failed++;
            throttle_failed(&worker->throttle, str_of(exchange_peer(a->x)->address),
                            loop_now_ms(worker->loop));
        }
        go_refused(a->x, code);
    }
    arrival_free(a);
}

void provider_end_sign_ins(struct provider *provider)
{
    struct arrival *a;

    LIST_FOREACH(a, provider_sign_ins(provider), link) {
        if (!a->call)
            continue; /* waits for what the provider says of itself, and is told */
        fetch_cancel(a->call);
        give_up(a, begin_again, "the settings have changed");
    }
}

static void go_in(struct exchange *x, struct identity *identity)
{
    CLEANUP(buf_done) struct buf location;
    struct worker *worker = x->worker;

    buf_init(&location, URL_BYTES);
    buf_put(&location, S("/#ticket="));
    if (ticket_issue(&worker->links, identity, TICKET_MS, loop_now_ms(worker->loop),
                     &location)) {
        go_refused(x, busy);
        return;
    }
    throttle_passed(&worker->throttle, str_of(exchange_peer(x)->address));
    log_info("provider.signed_in", "id=%s", LOG_TEXT(identity->id));
    go(x, buf_str(&location), S(FORGET));
    crypto_wipe(location.ptr, location.len);
}

static void on_entered(void *user, struct identity *identity, enum err err,
                       const char *why)
{
    struct arrival *a = user;

    if (!identity) {
        give_up(a, err == ERR_UNAVAILABLE ? busy : begin_again, why);
        return;
    }
    if (exchange_resume(a->x))
        go_in(a->x, identity);
    identity_unref(identity);
    arrival_free(a);
}

/* What the sign-in stands for: nobody can show it, a session is made of it. One for each
 * person, so that they do not pile up. */
static struct identity *identity_of(const struct arrival *a, struct identity *template,
                                    struct arena *arena)
{
    const struct config_provider *said = a->worker->settings->provider.said;
    CLEANUP(buf_done) struct buf name;

    buf_init(&name, URL_BYTES);
    buf_putf(&name, "provider " STR_FMT, STR_ARG(template->id));
    identity_hash_unopened(buf_str(&name), template->token_hash);
    template->token_name = token_make_name(S("provider"), arena);
    template->source = FROM_PROVIDER;
    template->created_ms = loop_wall_ms(a->worker->loop);
    template->expires_ms = template->created_ms + said->session_ms;
    return identity_new(template);
}

static void on_checked(struct provider_check *check, const struct jwt_claims *claims,
                       enum err err, const char *why)
{
    struct arrival *a = CONTAINER_OF(check, struct arrival, check);
    struct identity template;

    if (err) {
        give_up(a, err == ERR_UNAVAILABLE ? unreachable : unfit, why);
        return;
    }
    if (provider_read_claims(&a->worker->settings->provider, claims->all, &a->arena,
                             &template, &why)) {
        give_up(a, stranger, why);
        return;
    }
    list_remove(&a->link); /* the provider has done its part, and may go */
    list_init(&a->link);
    resolve_signed_in(a->worker, identity_of(a, &template, &a->arena),
                      &(struct resolve_asker){ on_entered, a });
}

/* The code is what the browser brought; any other refusal is between the provider and us,
 * and nobody's address is to blame for it (RFC 6749 5.2). */
static bool is_code_refused(const struct fetch_answer *answer, struct arena *arena)
{
    const struct json *root;

    return answer->status == 400 && !json_parse(answer->body, arena, &root, NULL) &&
           str_eq(json_text(json_find(root, S("error"))), S("invalid_grant"));
}

static void on_token(void *user, const struct fetch_answer *answer)
{
    struct arrival *a = user;
    struct token_document token = {};
    const char *why = "its token endpoint gave no token";
    struct str body;

    a->call = NULL;
    if (answer->err || answer->status != 200) {
        give_up(a, is_code_refused(answer, &a->arena) ? unfit : unreachable,
                answer->err && answer->why ? answer->why : why);
        return;
    }
    body = arena_str(&a->arena, answer->body);
    if (!body.ptr || token_document_read(body, &a->arena, &token, &why)) {
        give_up(a, unfit, why);
        return;
    }
    if (token.id_token.len == 0) {
        give_up(a, unfit, "its token endpoint gave no ID token");
        return;
    }
    a->check = (struct provider_check){ .token = token.id_token,
                                        .nonce = a->flow.nonce,
                                        .on_done = on_checked };
    provider_check(a->provider, &a->check);
}

static void ask_for_token(struct arrival *a, const struct server_document *document)
{
    static const struct fetch_ops ops = { .on_done = on_token };
    const struct config_provider *said = a->worker->settings->provider.said;
    struct token_request request = {
        .client_id = said->client_id,
        .client_secret = said->client_secret,
        .method = token_method_choose(document, S(""), said->client_secret.len > 0),
        .code = a->answer.code,
        .verifier = a->flow.verifier,
        .redirect_uri = a->flow.redirect_uri,
    };
    CLEANUP(buf_done) struct buf form, field;

    buf_init(&form, FORM_BYTES);
    buf_init(&field, FORM_BYTES);
    if (request.method == TOKEN_METHODS) {
        give_up(a, unreachable,
                "there is no way to show who we are that both sides know");
        return;
    }
    token_request_put_form(&form, &request);
    token_request_put_field(&field, &request);
    if (form.is_full || field.is_full) {
        give_up(a, unfit, "the request for a token is too long");
        return;
    }
    a->call =
        provider_ask(a->provider,
                     &(struct oauth_message){
                         .url = document->token_endpoint,
                         .type = S("Content-Type: application/x-www-form-urlencoded"),
                         .body = buf_str(&form),
                         .field = field.len ? buf_cstr(&field) : NULL },
                     &ops, a);
    crypto_wipe(form.ptr, form.len);
    if (field.len)
        crypto_wipe(field.ptr, field.len);
}

static void on_arrival(struct provider_wait *wait, const struct server_document *document,
                       const char *why)
{
    struct arrival *a = CONTAINER_OF(wait, struct arrival, wait);
    const char *fault;

    if (!document) {
        give_up(a, unreachable, why);
        return;
    }
    fault = sign_in_answer_fault(&a->answer, document->issuer, document->sends_issuer);
    if (fault)
        give_up(a, unfit, fault);
    else if (a->answer.error.len)
        give_up(a, denied, "it refused the sign-in");
    else if (a->answer.code.len == 0)
        give_up(a, unfit, "the answer holds no code");
    else
        ask_for_token(a, document);
}

/* The cookie of that name; ptr NULL: there is none, or more than one, of which somebody
 * else may have set one. */
static struct str cookie_of(const struct exchange *x, struct str name)
{
    size_t count = 0;
    struct str rest = http_header_find(&x->request, S("Cookie"), &count);
    struct str found = {};

    if (count != 1)
        return found;
    while (rest.ptr) {
        struct str value = str_trim(str_cut(&rest, ';'));
        struct str key = str_cut(&value, '=');

        if (!str_eq(key, name))
            continue;
        if (found.ptr)
            return (struct str){};
        found = value;
    }
    return found;
}

/* What the browser kept for us; false: nothing, or no longer. */
static bool open_flow(const struct exchange *x, const struct provider *provider,
                      struct arena *arena, struct flow *ret)
{
    struct str cookie = cookie_of(x, S(COOKIE));
    CLEANUP(buf_done) struct buf box, plain;
    uint64_t ends_ms;
    struct str text;

    buf_init(&box, COOKIE_BYTES);
    buf_init(&plain, COOKIE_BYTES);
    if (cookie.len == 0 || base64url_parse(cookie, &box) ||
        crypto_open(provider_seal_key(provider), S(COOKIE), buf_str(&box), &plain))
        return false;
    text = arena_str(arena, buf_str(&plain));
    crypto_wipe(plain.ptr, plain.len);
    ret->state = str_cut(&text, ' ');
    ret->verifier = str_cut(&text, ' ');
    ret->nonce = str_cut(&text, ' ');
    if (str_to_u64(str_cut(&text, ' '), UINT64_MAX, &ends_ms))
        return false;
    ret->redirect_uri = text;
    return text.len && loop_now_ms(x->worker->loop) < ends_ms;
}

static size_t count_arrivals(struct provider *provider)
{
    const struct arrival *a;
    size_t count = 0;

    LIST_FOREACH(a, provider_sign_ins(provider), link)
        count++;
    return count;
}

/* What the address says must be the answer to what the browser began. */
static bool read_arrival(struct arrival *a)
{
    struct str query = arena_str(&a->arena, a->x->request.query);

    return a->x->request.query.ptr && query.ptr &&
           open_flow(a->x, a->provider, &a->arena, &a->flow) &&
           !sign_in_answer_read(query, &a->arena, &a->answer) && a->flow.state.len &&
           str_eq_secret(a->answer.state, a->flow.state);
}

void session_callback(struct exchange *x)
{
    struct provider *provider = provider_said(x) ? x->worker->provider : NULL;
    struct arrival *a;

    if (!provider || is_throttled(x)) {
        go_refused(x, provider ? busy : begin_again);
        return;
    }
    a = xcalloc(1, sizeof(*a));
    a->wait.on_ready = on_arrival;
    a->provider = provider;
    a->worker = x->worker;
    a->x = x;
    list_init(&a->link);
    arena_init(&a->arena, ARENA_BYTES);
    exchange_suspend(x);
    if (!read_arrival(a)) {
        give_up(a, begin_again, "it belongs to no sign-in of this browser");
        return;
    }
    if (count_arrivals(provider) >= ARRIVALS_MAX) {
        give_up(a, busy, "too many sign in at once");
        return;
    }
    list_append(provider_sign_ins(provider), &a->link);
    provider_want(provider, &a->wait);
}
