/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/server_sign_in.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "bridge/secret.h"
#include "crypto/crypto.h"
#include "gateway/gateway.h"
#include "gateway/origin.h"
#include "gateway/servers_priv.h"
#include "oauth/oauth.h"
#include "oauth/uri.h"
#include "oauth/vault.h"

enum {
    SIGN_IN_MS = 10 * 60'000,
    URI_BYTES = 4096,
    ANSWER_BYTES = 64 << 10,
    BOX_BYTES = VAULT_BYTES + SEAL_MORE,
    KEPT_BYTES = 2 * BOX_BYTES,
    TREE_BYTES = 2 * KEPT_BYTES,
    CLIENT_SECRET_BYTES = 2 * SECRET_MAX,
};

static const char stranger[] = "it belongs to no sign-in that is under way";

struct server_sign_in {
    struct sign_in_setup of;
    struct oauth *oauth;   /* made when it is first needed */
    struct buf kept;       /* what was kept, until then */
    struct link asking;    /* for the address to go to */
    struct link returning; /* with a code for which there is no token yet */
};

/* Somebody whose answer comes later. */
struct waiting {
    struct link link;
    struct exchange *x;
};

static void wait_in(struct link *list, struct exchange *x)
{
    struct waiting *waiting = xcalloc(1, sizeof(*waiting));

    waiting->x = x;
    list_append(list, &waiting->link);
    exchange_suspend(x);
}

/* NULL: nobody waits any more. */
static struct exchange *next_waiting(struct link *list)
{
    struct waiting *waiting;

    while ((waiting = LIST_FIRST(list, struct waiting, link))) {
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): those that were freed left the list
        struct exchange *x = waiting->x;

        list_remove(&waiting->link);
        free(waiting);
        if (exchange_resume(x))
            return x;
    }
    return NULL;
}

/* --- where tokens rest --- */

static void complain(const struct server_sign_in *s, const char *why)
{
    log_error("server.secrets", "name=%s reason=\"%s\"", LOG_TEXT(s->of.spec->name), why);
}

static bool open_vault(const struct server_sign_in *s, struct vault *vault)
{
    if (!vault_open(vault, gateway_data(s->of.worker->gateway)))
        return true;
    complain(s, "secret.key cannot be read or made, or others may read it");
    return false;
}

/* {"sealed":"…"}, in base64. */
static void on_keep(void *user, struct str json)
{
    const struct server_sign_in *s = user;
    CLEANUP(buf_done) struct buf box, text, out;
    struct json_writer w;
    struct vault vault;

    buf_init(&box, BOX_BYTES);
    buf_init(&text, KEPT_BYTES);
    buf_init(&out, KEPT_BYTES);
    if (!open_vault(s, &vault))
        return;
    vault_seal(&vault, s->of.spec->name, json, &box);
    vault_close(&vault);
    base64_write(&text, buf_str(&box));
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("sealed"), buf_str(&text));
    json_object_close(&w);
    if (box.is_full || text.is_full || out.is_full)
        complain(s, "the tokens are too long to be kept");
    else
        server_keep(s->of.worker, s->of.spec->name, KEPT_SECRET, buf_str(&out));
}

static enum err open_box(const struct server_sign_in *s, struct buf *secret)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf box;
    const struct json *root;
    struct vault vault;
    enum err err;

    arena_init(&arena, TREE_BYTES);
    buf_init(&box, BOX_BYTES);
    err = json_parse(buf_str(&s->kept), &arena, &root, NULL);
    if (!err)
        err = base64_parse(json_text(json_find(root, S("sealed"))), &box);
    if (err || !open_vault(s, &vault))
        return ERR_INVALID;
    err = vault_unseal(&vault, s->of.spec->name, buf_str(&box), secret);
    vault_close(&vault);
    return err;
}

/* What cannot be opened is of another key or server: somebody signs in again. */
static void recall(struct server_sign_in *s)
{
    struct buf secret;

    buf_init(&secret, VAULT_BYTES);
    if (s->kept.len &&
        (open_box(s, &secret) || oauth_restore(s->oauth, buf_str(&secret))))
        complain(s, "what was kept is of another key or another server");
    if (secret.len)
        crypto_wipe(secret.ptr, secret.len);
    buf_done(&secret);
    buf_done(&s->kept);
}

/* --- what happens --- */

static void answer_url(struct exchange *x, struct str url)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, ANSWER_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("url"), url);
    json_object_close(&w);
    exchange_json(x, 200, &out);
}

static void answer_page(struct exchange *x, enum err err, const char *why)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, URI_BYTES);
    if (err)
        buf_putf(&text, "You are not signed in: %s.\n", why);
    else
        buf_put(&text, S("Done: you are signed in. You may close this window.\n"));
    exchange_reply(x, err ? 400 : 200, S("text/plain; charset=utf-8"), buf_str(&text));
}

static void on_sign_in(void *user, struct str url)
{
    struct server_sign_in *s = user;
    struct exchange *x;

    while ((x = next_waiting(&s->asking)))
        answer_url(x, url);
}

static void on_missed(void *user)
{
    const struct server_sign_in *s = user;

    log_warn("server.sign_in_needed", "name=%s", LOG_TEXT(s->of.spec->name));
    bridge_set_signed_out(s->of.bridge, true);
}

static void use_token(const struct server_sign_in *s)
{
    struct supervisor *supervisor = bridge_supervisor(s->of.bridge);

    log_info("server.signed_in", "name=%s", LOG_TEXT(s->of.spec->name));
    bridge_set_signed_out(s->of.bridge, false);
    if (supervisor_state(supervisor) != SERVER_STOPPED)
        supervisor_start(supervisor);
}

static void on_signed_in(void *user, enum err err, const char *why)
{
    struct server_sign_in *s = user;
    struct exchange *x;

    while ((x = next_waiting(&s->returning)))
        answer_page(x, err, why);
    while ((x = next_waiting(&s->asking)))
        exchange_fail(x, ERR_UNAVAILABLE, "Nobody can sign in there: %s.", why);
    if (err)
        log_warn("server.not_signed_in", "name=%s reason=\"%s\"",
                 LOG_TEXT(s->of.spec->name), why);
    else
        use_token(s);
}

/* --- life --- */

static enum err read_client_secret(const struct server_sign_in *s, struct arena *arena,
                                   struct str *ret)
{
    struct server_variable variable = { .name = S("client_secret"),
                                        .source = SECRET_FILE,
                                        .from = s->of.spec->oauth.client_secret_file };
    char *why = NULL;
    enum err err;

    *ret = S("");
    if (variable.from.len == 0)
        return OK;
    err = secret_read(&variable, arena, ret, &why);
    if (err)
        complain(s, why);
    free(why);
    return err;
}

static void open_oauth(struct server_sign_in *s, struct fetch *fetch, struct str secret)
{
    static const struct oauth_ops ops = {
        .on_sign_in = on_sign_in,
        .on_missed = on_missed,
        .on_signed_in = on_signed_in,
        .on_keep = on_keep,
    };
    const struct server_spec *spec = s->of.spec;

    s->oauth = oauth_new(s->of.worker->loop, fetch,
                         &(struct oauth_settings){
                             .server_url = spec->url,
                             .client_name = S("Moot"),
                             .client_id = spec->oauth.client_id,
                             .client_secret = secret,
                             .metadata_url = spec->oauth.metadata_url,
                             .scopes = spec->oauth.scopes,
                             .sign_in_ms = SIGN_IN_MS,
                             .is_public = spec->is_public,
                         },
                         &ops, s);
    recall(s);
}

/* False: it cannot be had, which the log tells. */
static bool is_open(struct server_sign_in *s)
{
    CLEANUP(arena_done) struct arena arena;
    struct fetch *fetch;
    struct str secret;

    arena_init(&arena, CLIENT_SECRET_BYTES);
    if (s->oauth)
        return true;
    fetch = s->of.fetch(s->of.user);
    if (fetch && !read_client_secret(s, &arena, &secret)) {
        open_oauth(s, fetch, secret);
        if (secret.len)
            crypto_wipe((char *)(uintptr_t)secret.ptr, secret.len);
    }
    return s->oauth != NULL;
}

static bool has_authorization(const struct server_spec *spec)
{
    for (size_t i = 0; i < spec->header_count; i++)
        if (str_ieq(spec->headers[i].name, S("Authorization")))
            return true;
    return false;
}

struct server_sign_in *server_sign_in_new(const struct sign_in_setup *setup,
                                          struct str kept)
{
    struct server_sign_in *s;

    if (setup->spec->url.len == 0 || has_authorization(setup->spec))
        return NULL;
    s = xcalloc(1, sizeof(*s));
    s->of = *setup;
    (void)server_spec_ref(setup->spec);
    list_init(&s->asking);
    list_init(&s->returning);
    buf_init(&s->kept, KEPT_BYTES);
    buf_put(&s->kept, kept);
    return s;
}

void server_sign_in_free(struct server_sign_in *s)
{
    struct exchange *x;

    if (!s)
        return;
    while ((x = next_waiting(&s->asking)))
        exchange_fail(x, ERR_UNAVAILABLE, "That server is going just now.");
    while ((x = next_waiting(&s->returning)))
        answer_page(x, ERR_UNAVAILABLE, "the server has gone");
    oauth_free(s->oauth);
    buf_done(&s->kept);
    server_spec_unref(s->of.spec);
    free(s);
}

struct credential *server_sign_in_credential(struct server_sign_in *s)
{
    return s && is_open(s) ? oauth_credential(s->oauth) : NULL;
}

/* --- the doors --- */

/* {"origin":"https://…"}, or nothing. */
struct sign_in_wish {
    struct str origin;
};

static const struct json_field wish_fields[] = {
    JSON_FIELD(struct sign_in_wish, origin, JSON_OPTIONAL),
};

/* Where the browser comes back to; false if that already answered. */
static bool put_redirect(struct exchange *x, struct str name, struct buf *out)
{
    struct sign_in_wish wish = {};
    const struct json *root;
    const char *why = "The body is nothing, or {\"origin\":\"https://HOST\"}.";
    enum err err = OK;

    if (x->body.len)
        err = json_parse(x->body, &x->arena, &root, NULL);
    if (!err && x->body.len)
        err = json_read(root, wish_fields, COUNT(wish_fields), &x->arena, &wish, NULL);
    if (!err)
        err = origin_for_browser(x, wish.origin, out, &why);
    if (err) {
        exchange_fail(x, ERR_BAD_REQUEST, "%s", why);
        return false;
    }
    buf_put(out, S("/oauth/callback/"));
    uri_put_escaped(out, name);
    return true;
}

void admin_server_sign_in(struct exchange *x)
{
    struct server *server = server_asked_for(x);
    CLEANUP(buf_done) struct buf redirect;
    struct server_sign_in *s;
    bool is_first;

    buf_init(&redirect, URI_BYTES);
    if (!server)
        return;
    s = server->sign_in;
    if (!s || !is_open(s)) {
        exchange_fail(
            x, ERR_CONFLICT,
            "One does not sign in at that server: it is a command, has an "
            "Authorization among its headers, or the log says what is missing.");
        return;
    }
    if (!put_redirect(x, server->spec->name, &redirect))
        return;
    is_first = list_is_empty(&s->asking);
    wait_in(&s->asking, x);
    if (is_first)
        oauth_sign_in(s->oauth, buf_str(&redirect));
}

/* Anybody may come here: whoever does not know the state of a sign-in does not learn
 * either which servers there are. */
void oauth_callback(struct exchange *x)
{
    const struct server *server = server_find(x->worker->servers, x->params[0]);
    struct server_sign_in *s = server ? server->sign_in : NULL;
    const char *why = stranger;

    if (!s || !s->oauth || oauth_returned(s->oauth, x->request.query, &why))
        answer_page(x, ERR_FORBIDDEN, s && s->oauth ? why : stranger);
    else
        wait_in(&s->returning, x);
}
