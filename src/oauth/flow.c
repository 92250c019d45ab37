/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a challenge to a token, one call after the other:
 *
 *     begin ─► resource ─► server ─┬─► refresh ─┐ refused
 *                                  └─► client ◄─┘ ─► sign-in ─► token ─► finish
 *
 * Each step has a list of addresses to try, or one; what comes is handed to the function
 * of the step. On every 401 the documents are asked for anew: the server may have moved
 * to another authorization server, to which nothing of the old one is shown.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "crypto/crypto.h"
#include "oauth/ask.h"
#include "oauth/oauth_priv.h"
#include "oauth/request.h"

enum { URL_BYTES = 8 << 10, FORM_BYTES = 64 << 10 };

static void fail(struct oauth *o, const char *why)
{
    oauth_finish(o, ERR_FORBIDDEN, why);
}

/* A copy that lasts as long as this way does; ptr NULL: there is no room. */
static struct str copy_of(struct oauth *o, const struct buf *text)
{
    return text->is_full ? (struct str){} : arena_str(&o->arena, buf_str(text));
}

/* --- calls --- */

static void on_answer(void *user, const struct fetch_answer *answer);

static void on_head(void *user, struct fetch_call *call [[maybe_unused]],
                    const struct fetch_head *head)
{
    struct oauth *o = user;

    o->status = head->status;
}

static void on_bytes(void *user, struct str bytes)
{
    struct oauth *o = user;

    buf_put(&o->answer, bytes);
}

static void ask(struct oauth *o, enum oauth_step step,
                const struct oauth_message *message)
{
    static const struct fetch_ops ops = { on_head, on_bytes, on_answer };

    o->step = step;
    o->status = 0;
    buf_clear(&o->answer);
    o->call = oauth_ask(&(struct oauth_asking){ .fetch = o->fetch,
                                                .home = &o->server,
                                                .is_public = o->is_public,
                                                .timeout_ms = OAUTH_CALL_MS,
                                                .max_answer = OAUTH_MAX_ANSWER },
                        message, &ops, o);
}

static void add_candidate(struct oauth *o, const struct buf *url)
{
    struct str text = copy_of(o, url);

    for (size_t i = 0; i < o->candidate_count; i++)
        if (str_eq(o->candidates[i], text))
            return;
    if (text.len)
        o->candidates[o->candidate_count++] = text;
}

static void add_well_known(struct oauth *o, const struct uri *uri, struct str name,
                           enum uri_place place)
{
    CLEANUP(buf_done) struct buf url;

    buf_init(&url, URL_BYTES);
    uri_put_well_known(&url, uri, name, place);
    add_candidate(o, &url);
}

/* False: none is left. */
static bool ask_next(struct oauth *o, enum oauth_step step)
{
    if (o->candidate == o->candidate_count)
        return false;
    ask(o, step, &(struct oauth_message){ .url = o->candidates[o->candidate++] });
    return true;
}

static void forget_candidates(struct oauth *o)
{
    o->candidate = 0;
    o->candidate_count = 0;
}

/* --- the token endpoint --- */

static void find_client(struct oauth *o);

static void request_token(struct oauth *o, enum oauth_step step,
                          const struct token_request *request)
{
    struct str endpoint = oauth_grant_get(&o->grant, GRANT_TOKEN_ENDPOINT);
    CLEANUP(buf_done) struct buf form, field;

    buf_init(&form, FORM_BYTES);
    buf_init(&field, FORM_BYTES);
    token_request_put_form(&form, request);
    token_request_put_field(&field, request);
    if (form.is_full || field.is_full)
        return fail(o, "the request for a token is too long");
    ask(o, step,
        &(struct oauth_message){ .url = endpoint,
                                 .type =
                                     S("Content-Type: application/x-www-form-urlencoded"),
                                 .body = buf_str(&form),
                                 .field = field.len ? buf_cstr(&field) : NULL });
    crypto_wipe(form.ptr, form.len);
    if (field.len)
        crypto_wipe(field.ptr, field.len);
}

/* The client that the grant names, and how it shows itself. */
static struct token_request request_of(const struct oauth *o)
{
    struct str method = oauth_grant_get(&o->grant, GRANT_METHOD);
    struct token_request request = {
        .client_id = oauth_grant_get(&o->grant, GRANT_CLIENT_ID),
        .client_secret = oauth_grant_get(&o->grant, GRANT_CLIENT_SECRET),
        .resource = oauth_grant_get(&o->grant, GRANT_RESOURCE),
        .method = TOKEN_NONE,
    };

    for (enum token_method i = 0; i < TOKEN_METHODS; i++)
        if (str_eq(method, token_method_names[i]))
            request.method = i;
    return request;
}

static void refresh(struct oauth *o)
{
    struct token_request request = request_of(o);

    request.refresh_token = oauth_grant_get(&o->grant, GRANT_REFRESH_TOKEN);
    request_token(o, OAUTH_REFRESH, &request);
}

void flow_refresh_ahead(struct oauth *o)
{
    o->document = (struct server_document){};
    refresh(o);
}

static void take_token(struct oauth *o, const struct token_document *token)
{
    oauth_grant_set(&o->grant, GRANT_ACCESS_TOKEN, token->access_token);
    if (token->refresh_token.len)
        oauth_grant_set(&o->grant, GRANT_REFRESH_TOKEN, token->refresh_token);
    o->grant.ends_ms =
        token->lasts_s == UINT64_MAX ? 0 : loop_wall_ms(o->loop) + token->lasts_s * 1000;
    o->tried_ms = loop_now_ms(o->loop);
    o->had_sign_in |= o->is_missed;
    o->is_missed = false;
    oauth_use_grant(o);
    oauth_finish(o, OK, "");
}

static void hear_token(struct oauth *o, struct str body)
{
    struct token_document token;
    const char *why = "the authorization server gave no token";

    if (o->status != 200)
        return fail(o, why);
    if (token_document_read(body, &o->arena, &token, &why))
        return fail(o, why);
    oauth_grant_set(&o->grant, GRANT_REFRESH_TOKEN, S(""));
    oauth_grant_set(&o->grant, GRANT_SCOPE, o->scope);
    take_token(o, &token);
}

static void hear_refresh(struct oauth *o, struct str body)
{
    struct token_document token;
    const char *why;
    bool was_refused = o->status >= 400 && o->status < 500;

    if (o->status == 200 && !token_document_read(body, &o->arena, &token, &why))
        return take_token(o, &token);
    if (!was_refused)
        return fail(o, "the authorization server does not refresh the token");
    oauth_grant_set(&o->grant, GRANT_REFRESH_TOKEN, S(""));
    if (o->document.issuer.len)
        return find_client(o);
    oauth_finish(o, OK,
                 ""); /* ahead: whoever is refused by then comes with a challenge */
}

/* --- signing in --- */

/* What is asked for: what the challenge or the resource says, what was asked for before
 * (or a step up would lose it), what the operator wants, and the right to come back. */
static struct str scope_of(struct oauth *o)
{
    CLEANUP(buf_done) struct buf scope;

    buf_init(&scope, URL_BYTES);
    scopes_put(&scope, oauth_grant_get(&o->grant, GRANT_SCOPE));
    scopes_put(&scope, o->challenge.scope.len ? o->challenge.scope : o->resource_scopes);
    scopes_put(&scope, str_of(o->scopes));
    if (scope.len && scopes_have(o->document.scopes, S("offline_access")))
        scopes_put(&scope, S("offline_access"));
    return copy_of(o, &scope);
}

static struct str nonce(struct oauth *o)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, OAUTH_NONCE + 1);
    oauth_put_nonce(&text);
    return copy_of(o, &text);
}

static void sign_in(struct oauth *o)
{
    CLEANUP(buf_done) struct buf url;
    struct sign_in sign_in;

    buf_init(&url, URL_BYTES);
    o->scope = scope_of(o);
    o->state = nonce(o);
    o->verifier = nonce(o);
    sign_in =
        (struct sign_in){ .endpoint = o->document.authorization_endpoint,
                          .client_id = oauth_grant_get(&o->grant, GRANT_CLIENT_ID),
                          .redirect_uri = oauth_grant_get(&o->grant, GRANT_REDIRECT_URI),
                          .resource = oauth_grant_get(&o->grant, GRANT_RESOURCE),
                          .scope = o->scope,
                          .state = o->state,
                          .verifier = o->verifier };
    sign_in_put_url(&url, &sign_in);
    if (url.is_full || !o->scope.ptr || !o->state.ptr || !o->verifier.ptr)
        return fail(o, "the address to sign in at is too long");
    o->attempts++;
    o->has_refreshed = false;
    o->step = OAUTH_SIGN_IN;
    o->had_sign_in = true;
    loop_timer_set(o->loop, &o->patience, o->sign_in_ms);
    o->ops.on_sign_in(o->user, buf_str(&url));
}

static enum err give_up(struct oauth *o, const char *why, const char **ret_why)
{
    *ret_why = why;
    fail(o, why);
    return ERR_INVALID;
}

enum err flow_returned(struct oauth *o, struct str query, const char **ret_why)
{
    struct token_request request = request_of(o);
    CLEANUP(arena_done) struct arena scratch; /* anybody may come with anything */
    struct sign_in_answer answer;
    const char *fault;

    arena_init(&scratch, FORM_BYTES);
    *ret_why = "it belongs to no sign-in that is under way";
    if (o->step != OAUTH_SIGN_IN || sign_in_answer_read(query, &scratch, &answer) ||
        !str_eq_secret(answer.state, o->state))
        return ERR_INVALID;
    fault = sign_in_answer_fault(&answer, o->document.issuer, o->document.sends_issuer);
    if (fault)
        return give_up(o, fault, ret_why);
    if (answer.error.len)
        return give_up(o, "the sign-in was refused", ret_why);
    if (answer.code.len == 0)
        return give_up(o, "the answer holds no code", ret_why);
    loop_timer_clear(o->loop, &o->patience);
    request.code = answer.code;
    request.verifier = o->verifier;
    request.redirect_uri = oauth_grant_get(&o->grant, GRANT_REDIRECT_URI);
    request_token(o, OAUTH_TOKEN, &request);
    return OK;
}

/* --- which client we are there --- */

/* The grant becomes one of this client at this server; what belongs to others is gone. */
static void adopt_client(struct oauth *o, const struct client_document *client)
{
    bool has_secret = client->client_secret.len > 0;
    enum token_method method =
        token_method_choose(&o->document, client->method, has_secret);

    if (method == TOKEN_METHODS)
        return fail(o, "there is no way to show who we are that both sides know");
    if (!str_eq(oauth_grant_get(&o->grant, GRANT_ISSUER), o->document.issuer) ||
        !str_eq(oauth_grant_get(&o->grant, GRANT_RESOURCE), o->resource) ||
        !str_eq(oauth_grant_get(&o->grant, GRANT_CLIENT_ID), client->client_id))
        oauth_grant_done(&o->grant);
    oauth_grant_set(&o->grant, GRANT_ISSUER, o->document.issuer);
    oauth_grant_set(&o->grant, GRANT_RESOURCE, o->resource);
    oauth_grant_set(&o->grant, GRANT_TOKEN_ENDPOINT, o->document.token_endpoint);
    oauth_grant_set(&o->grant, GRANT_CLIENT_ID, client->client_id);
    oauth_grant_set(&o->grant, GRANT_CLIENT_SECRET, client->client_secret);
    oauth_grant_set(&o->grant, GRANT_METHOD, token_method_names[method]);
    oauth_grant_set(&o->grant, GRANT_REDIRECT_URI, str_of(o->redirect_uri));
    oauth_use_grant(o);
    sign_in(o);
}

static void hear_client(struct oauth *o, struct str body)
{
    struct client_document client;
    const char *why = "the authorization server did not register us";

    if ((o->status != 200 && o->status != 201) ||
        client_document_read(body, &o->arena, &client, &why))
        return fail(o, why);
    adopt_client(o, &client);
}

static void register_client(struct oauth *o)
{
    bool is_public = o->document.has_method[TOKEN_NONE];
    struct registration registration = {
        .client_name = str_of(o->client_name),
        .redirect_uri = str_of(o->redirect_uri),
        .method = is_public ? TOKEN_NONE : token_method_choose(&o->document, S(""), true),
    };
    CLEANUP(buf_done) struct buf json;

    buf_init(&json, FORM_BYTES);
    if (o->document.registration_endpoint.len == 0)
        return fail(o, "the authorization server wants a client id that is registered "
                       "beforehand");
    if (registration.method == TOKEN_METHODS)
        return fail(o, "there is no way to show who we are that both sides know");
    registration_put_json(&json, &registration);
    ask(o, OAUTH_CLIENT,
        &(struct oauth_message){ .url = o->document.registration_endpoint,
                                 .type = S("Content-Type: application/json"),
                                 .body = buf_str(&json) });
}

/* The one that the grant names is registered there, for where people come back to. */
static bool is_registered(const struct oauth *o)
{
    return str_eq(oauth_grant_get(&o->grant, GRANT_ISSUER), o->document.issuer) &&
           oauth_grant_get(&o->grant, GRANT_CLIENT_ID).len > 0 &&
           str_eq(oauth_grant_get(&o->grant, GRANT_REDIRECT_URI),
                  str_of(o->redirect_uri));
}

static void use_given_client(struct oauth *o)
{
    struct str issuer = oauth_grant_get(&o->grant, GRANT_ISSUER);
    struct str client_id = str_of(o->client_id);

    /* Whoever was the first to be shown the client is the one it was registered with. */
    if (issuer.len && str_eq(oauth_grant_get(&o->grant, GRANT_CLIENT_ID), client_id) &&
        !str_eq(issuer, o->document.issuer))
        return fail(o, "the server now names another authorization server than the one "
                       "that knows our client id");
    adopt_client(o,
                 &(struct client_document){ .client_id = client_id,
                                            .client_secret = str_of(o->client_secret) });
}

static bool is_attended(const struct oauth *o)
{
    return o->ops.on_sign_in && *o->redirect_uri;
}

static void miss(struct oauth *o)
{
    o->is_missed = true;
    fail(o, "the server wants a sign-in, and nobody is there");
}

/* AUTH-C03: given beforehand, a document of ours, what was registered, registering. */
static void find_client(struct oauth *o)
{
    struct client_document client = { .client_id = str_of(o->metadata_url) };

    if (!is_attended(o))
        return miss(o);
    if (*o->client_id)
        return use_given_client(o);
    if (o->document.takes_metadata_urls && client.client_id.len)
        return adopt_client(o, &client);
    if (!is_registered(o))
        return register_client(o);
    client = (struct client_document){
        .client_id = arena_str(&o->arena, oauth_grant_get(&o->grant, GRANT_CLIENT_ID)),
        .client_secret =
            arena_str(&o->arena, oauth_grant_get(&o->grant, GRANT_CLIENT_SECRET)),
        .method = arena_str(&o->arena, oauth_grant_get(&o->grant, GRANT_METHOD)),
    };
    adopt_client(o, &client);
}

/* --- the authorization server --- */

static bool can_refresh(const struct oauth *o)
{
    return !o->is_step_up && !o->has_refreshed &&
           oauth_grant_get(&o->grant, GRANT_REFRESH_TOKEN).len > 0 &&
           str_eq(oauth_grant_get(&o->grant, GRANT_ISSUER), o->document.issuer) &&
           str_eq(oauth_grant_get(&o->grant, GRANT_RESOURCE), o->resource);
}

static void use_server(struct oauth *o)
{
    if (!o->document.has_s256)
        return fail(o, "the authorization server does not offer PKCE with S256");
    if (!oauth_is_safe(&o->server, o->document.authorization_endpoint) ||
        !oauth_is_safe(&o->server, o->document.token_endpoint) ||
        !oauth_is_safe(&o->server, o->document.registration_endpoint))
        return fail(o, "an endpoint of the authorization server is not https");
    if (!can_refresh(o))
        return find_client(o);
    o->has_refreshed = true;
    oauth_grant_set(&o->grant, GRANT_TOKEN_ENDPOINT, o->document.token_endpoint);
    refresh(o);
}

static void hear_server(struct oauth *o, struct str body)
{
    const char *why;

    if (o->status != 200) {
        if (!ask_next(o, OAUTH_SERVER))
            fail(o, "the server does not say how to sign in");
        return;
    }
    if (server_document_read(body, o->issuer, &o->arena, &o->document, &why))
        return fail(o, why);
    use_server(o);
}

static void find_server(struct oauth *o)
{
    static const struct str names[] = { { "oauth-authorization-server", 26 },
                                        { "openid-configuration", 20 } };
    struct uri issuer;

    if (uri_parse(o->issuer, &issuer))
        return fail(o, "the authorization server is no address");
    forget_candidates(o);
    for (size_t i = 0; i < COUNT(names); i++)
        add_well_known(o, &issuer, names[i],
                       uri_has_path(&issuer) ? URI_BEFORE_PATH : URI_AT_ROOT);
    if (uri_has_path(&issuer))
        add_well_known(o, &issuer, names[1], URI_AFTER_PATH);
    (void)ask_next(o, OAUTH_SERVER);
}

/* --- the resource --- */

/* The one that we know already, if it is still named; else the first. */
static struct str choose_issuer(const struct oauth *o, struct str_list servers)
{
    struct str known = oauth_grant_get(&o->grant, GRANT_ISSUER);

    for (size_t i = 0; i < servers.count; i++)
        if (str_eq(servers.items[i], known))
            return servers.items[i];
    return servers.items[0];
}

/* Servers of before 2025-06-18 do not describe themselves: they are their own
 * authorization server. */
static void without_resource(struct oauth *o)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, URL_BYTES);
    uri_put_origin(&text, &o->server);
    o->issuer = copy_of(o, &text);
    buf_clear(&text);
    uri_put_canonical(&text, &o->server);
    o->resource = copy_of(o, &text);
    o->resource_scopes = (struct str){};
    find_server(o);
}

static void hear_resource(struct oauth *o, struct str body)
{
    struct resource_document document;
    const char *why;

    if (o->status != 200) {
        if (!ask_next(o, OAUTH_RESOURCE))
            without_resource(o);
        return;
    }
    if (resource_document_read(body, &o->arena, &document, &why))
        return fail(o, why);
    why = resource_document_fault(&document, str_of(o->server_url));
    if (why)
        return fail(o, why);
    o->issuer = choose_issuer(o, document.authorization_servers);
    o->resource = document.resource;
    o->resource_scopes = document.scopes;
    find_server(o);
}

static void find_resource(struct oauth *o)
{
    static const struct str name = { "oauth-protected-resource", 24 };
    CLEANUP(buf_done) struct buf url;

    buf_init(&url, URL_BYTES);
    buf_put(&url, o->challenge.resource_metadata);
    forget_candidates(o);
    add_candidate(o, &url);
    if (uri_has_path(&o->server))
        add_well_known(o, &o->server, name, URI_BEFORE_PATH);
    add_well_known(o, &o->server, name, URI_AT_ROOT);
    (void)ask_next(o, OAUTH_RESOURCE);
}

static void on_answer(void *user, const struct fetch_answer *answer)
{
    static void (*const hear[OAUTH_STEPS])(struct oauth *, struct str) = {
        [OAUTH_RESOURCE] = hear_resource, [OAUTH_SERVER] = hear_server,
        [OAUTH_CLIENT] = hear_client,     [OAUTH_TOKEN] = hear_token,
        [OAUTH_REFRESH] = hear_refresh,
    };
    struct oauth *o = user;
    struct str body = copy_of(o, &o->answer);

    o->call = NULL;
    if (answer->err || !body.ptr)
        o->status = 0;
    hear[o->step](o, body);
}

/* --- the beginning --- */

/* A step up that was asked for before and did not help is not asked for for ever. */
static bool is_in_vain(struct oauth *o)
{
    if (loop_now_ms(o->loop) - o->tried_ms > OAUTH_ROW_MS) {
        o->attempts = 0;
        o->has_refreshed = false;
    }
    if (o->is_step_up &&
        scopes_have_all(oauth_grant_get(&o->grant, GRANT_SCOPE), o->challenge.scope))
        o->refusals++;
    return o->attempts >= OAUTH_MAX_ATTEMPTS || o->refusals >= OAUTH_MAX_ATTEMPTS;
}

void flow_begin(struct oauth *o, const struct challenge *challenge)
{
    struct str fields = arena_str(&o->arena, challenge->www_authenticate);

    o->document = (struct server_document){};
    o->challenge = (struct bearer_challenge){};
    if (bearer_challenge_read(fields, &o->arena, &o->challenge) ||
        !scopes_are_valid(o->challenge.scope))
        o->challenge = (struct bearer_challenge){};
    o->is_step_up = challenge->status == 403;
    if (!o->has_server)
        return fail(o, "the address of the server is none");
    if (o->is_step_up && o->challenge.scope.len == 0)
        return fail(o, "the server refuses, and asks for no other scope");
    if (o->is_missed && !is_attended(o) &&
        oauth_grant_get(&o->grant, GRANT_REFRESH_TOKEN).len == 0)
        return miss(o); /* as before: nobody else is asked again */
    if (is_in_vain(o))
        return fail(o, "the server refused every token that it was shown");
    find_resource(o);
}
