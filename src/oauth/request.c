/* SPDX-License-Identifier: Apache-2.0 */
#include "oauth/request.h"

#include "base/cleanup.h"
#include "crypto/crypto.h"
#include "http/request.h"
#include "oauth/uri.h"

void pkce_put_challenge(struct buf *out, struct str verifier)
{
    uint8_t hash[SHA256_BYTES];

    crypto_sha256(verifier, hash);
    base64url_write(out, (struct str){ (const char *)hash, sizeof(hash) });
}

void oauth_put_nonce(struct buf *out)
{
    uint8_t bytes[32];

    crypto_random(bytes, sizeof(bytes));
    base64url_write(out, (struct str){ (const char *)bytes, sizeof(bytes) });
    crypto_wipe(bytes, sizeof(bytes));
}

/* Parameters: the first goes without a "&" unless something stands before it. */
struct form {
    struct buf *out;
    bool needs_separator;
};

static void put(struct form *form, struct str name, struct str value)
{
    if (value.len == 0)
        return;
    if (form->needs_separator)
        buf_putc(form->out, '&');
    form->needs_separator = true;
    buf_put(form->out, name);
    buf_putc(form->out, '=');
    uri_put_escaped(form->out, value);
}

/* --- signing in --- */

void sign_in_put_url(struct buf *out, const struct sign_in *sign_in)
{
    bool has_query = str_find(sign_in->endpoint, '?', 0) < sign_in->endpoint.len;
    struct form form = { .out = out, .needs_separator = has_query };
    CLEANUP(buf_done) struct buf challenge;

    buf_init(&challenge, 64);
    pkce_put_challenge(&challenge, sign_in->verifier);
    buf_put(out, sign_in->endpoint);
    if (!has_query)
        buf_putc(out, '?');
    put(&form, S("response_type"), S("code"));
    put(&form, S("client_id"), sign_in->client_id);
    put(&form, S("redirect_uri"), sign_in->redirect_uri);
    put(&form, S("scope"), sign_in->scope);
    put(&form, S("state"), sign_in->state);
    put(&form, S("nonce"), sign_in->nonce);
    put(&form, S("code_challenge"), buf_str(&challenge));
    put(&form, S("code_challenge_method"), S("S256"));
    put(&form, S("resource"), sign_in->resource);
    /* OpenID Connect gives a refresh token only to whom the person consents. */
    if (scopes_have(sign_in->scope, S("offline_access")))
        put(&form, S("prompt"), S("consent"));
}

enum err sign_in_answer_read(struct str query, struct arena *arena,
                             struct sign_in_answer *ret)
{
    struct sign_in_answer answer = {};
    const struct {
        struct str name;
        struct str *place;
    } wanted[] = {
        { S("code"), &answer.code },
        { S("state"), &answer.state },
        { S("error"), &answer.error },
        { S("iss"), &answer.issuer },
    };

    while (query.ptr) {
        struct http_param param;
        enum err err = http_query_next(&query, arena, &param);

        if (err)
            return err == ERR_TOO_BIG ? err : ERR_INVALID;
        for (size_t i = 0; i < COUNT(wanted); i++) {
            if (!str_eq(param.name, wanted[i].name))
                continue;
            if (wanted[i].place->ptr)
                return ERR_INVALID;
            *wanted[i].place = param.value;
        }
    }
    *ret = answer;
    return OK;
}

const char *sign_in_answer_fault(const struct sign_in_answer *answer, struct str issuer,
                                 bool server_sends_issuer)
{
    if (answer->issuer.ptr && !str_eq(answer->issuer, issuer))
        return "another authorization server answered than was asked";
    if (!answer->issuer.ptr && server_sends_issuer)
        return "the answer does not say which authorization server gave it";
    return NULL;
}

/* --- the token endpoint --- */

void token_request_put_form(struct buf *out, const struct token_request *request)
{
    struct form form = { .out = out };

    if (request->code.len) {
        put(&form, S("grant_type"), S("authorization_code"));
        put(&form, S("code"), request->code);
        put(&form, S("code_verifier"), request->verifier);
        put(&form, S("redirect_uri"), request->redirect_uri);
    } else {
        put(&form, S("grant_type"), S("refresh_token"));
        put(&form, S("refresh_token"), request->refresh_token);
        put(&form, S("scope"), request->scope);
    }
    put(&form, S("resource"), request->resource);
    if (request->method != TOKEN_BASIC)
        put(&form, S("client_id"), request->client_id);
    if (request->method == TOKEN_POST)
        put(&form, S("client_secret"), request->client_secret);
}

void token_request_put_field(struct buf *out, const struct token_request *request)
{
    CLEANUP(buf_done) struct buf pair;

    buf_init(&pair, 8 << 10);
    if (request->method != TOKEN_BASIC)
        return;
    /* Both are encoded like a form (RFC 6749 2.3.1). */
    uri_put_escaped(&pair, request->client_id);
    buf_putc(&pair, ':');
    uri_put_escaped(&pair, request->client_secret);
    buf_put(out, S("Authorization: Basic "));
    base64_write(out, buf_str(&pair));
    crypto_wipe(pair.ptr, pair.len);
}

enum token_method token_method_choose(const struct server_document *server,
                                      struct str wanted, bool has_secret)
{
    for (enum token_method i = 0; i < TOKEN_METHODS; i++)
        if (str_eq(wanted, token_method_names[i]) && (has_secret || i == TOKEN_NONE))
            return i;
    for (enum token_method i = 0; i < TOKEN_METHODS; i++)
        if (server->has_method[i] && (has_secret || i == TOKEN_NONE))
            return i;
    return has_secret ? TOKEN_METHODS : TOKEN_NONE;
}

/* --- registration --- */

void registration_put_json(struct buf *out, const struct registration *registration)
{
    static const struct str grants[] = { { "authorization_code", 18 },
                                         { "refresh_token", 13 } };
    static const struct str responses[] = { { "code", 4 } };
    struct json_writer w;
    struct uri redirect;
    bool is_native =
        !uri_parse(registration->redirect_uri, &redirect) && uri_is_loopback(&redirect);

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("client_name"), registration->client_name);
    json_put_strs(&w, S("redirect_uris"),
                  (struct str_list){ &registration->redirect_uri, 1 });
    json_put_strs(&w, S("grant_types"), (struct str_list){ grants, COUNT(grants) });
    json_put_strs(&w, S("response_types"),
                  (struct str_list){ responses, COUNT(responses) });
    json_put_str(&w, S("token_endpoint_auth_method"),
                 token_method_names[registration->method]);
    json_put_str(&w, S("application_type"), is_native ? S("native") : S("web"));
    json_object_close(&w);
}
