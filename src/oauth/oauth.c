/* SPDX-License-Identifier: Apache-2.0 */
#include "oauth/oauth.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "crypto/crypto.h"
#include "oauth/oauth_priv.h"

enum { HEADER_BYTES = 32 << 10, KEPT_BYTES = 128 << 10 };

struct waiter {
    struct link link;
    void (*on_done)(void *user, enum err err, const char *why);
    void *user;
};

static struct oauth *of(struct credential *credential)
{
    return CONTAINER_OF(credential, struct oauth, credential);
}

/* --- what is current --- */

static void set_refresh(struct oauth *oauth)
{
    uint64_t now = loop_wall_ms(oauth->loop);
    uint64_t ends = oauth->grant.ends_ms;
    uint64_t left = ends > now ? ends - now : 0;
    uint64_t delay = left / 2;

    loop_timer_clear(oauth->loop, &oauth->refresh);
    if (ends == 0 || oauth_grant_get(&oauth->grant, GRANT_REFRESH_TOKEN).len == 0 ||
        oauth_grant_get(&oauth->grant, GRANT_ACCESS_TOKEN).len == 0)
        return;
    if (delay > OAUTH_AHEAD_MS)
        delay = left - OAUTH_AHEAD_MS;
    loop_timer_set(oauth->loop, &oauth->refresh,
                   delay > OAUTH_LEAST_MS ? delay : OAUTH_LEAST_MS);
}

static void set_header(struct oauth *oauth)
{
    struct str token = oauth_grant_get(&oauth->grant, GRANT_ACCESS_TOKEN);

    if (oauth->header.len)
        crypto_wipe(oauth->header.ptr, oauth->header.len);
    buf_clear(&oauth->header);
    if (token.len == 0)
        return;
    buf_put(&oauth->header, S("Bearer "));
    buf_put(&oauth->header, token);
}

static void keep(struct oauth *oauth)
{
    struct buf json;

    if (!oauth->ops.on_keep)
        return;
    buf_init(&json, KEPT_BYTES);
    oauth_grant_write(&json, &oauth->grant);
    if (!json.is_full)
        oauth->ops.on_keep(oauth->user, buf_str(&json));
    crypto_wipe(json.ptr, json.len);
    buf_done(&json);
}

void oauth_use_grant(struct oauth *oauth)
{
    set_header(oauth);
    set_refresh(oauth);
    keep(oauth);
}

static void on_refresh(struct loop_timer *timer)
{
    struct oauth *oauth = CONTAINER_OF(timer, struct oauth, refresh);

    if (oauth->step == OAUTH_IDLE)
        flow_refresh_ahead(oauth);
}

static struct str current(struct credential *credential)
{
    return buf_str(&of(credential)->header);
}

/* --- who waits --- */

static void on_patience(struct loop_timer *timer)
{
    oauth_finish(CONTAINER_OF(timer, struct oauth, patience), ERR_TIMEOUT,
                 "nobody came to sign in");
}

void oauth_finish(struct oauth *oauth, enum err err, const char *why)
{
    oauth->step = OAUTH_IDLE;
    oauth->outcome = err;
    oauth->why = why;
    loop_timer_clear(oauth->loop, &oauth->patience);
    loop_defer(oauth->loop, &oauth->tell);
}

/* False: there is none left. */
static bool take_waiter(struct link *list, struct waiter *ret)
{
    struct waiter *waiter = LIST_FIRST(list, struct waiter, link);

    if (!waiter)
        return false;
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): those that were freed left the list
    *ret = *waiter;
    list_remove(&waiter->link);
    free(waiter);
    return true;
}

static void clear_way(struct oauth *oauth)
{
    arena_done(&oauth->arena);
    arena_init(&oauth->arena, OAUTH_MAX_FLOW);
    buf_done(&oauth->answer);
}

static void set_redirect(struct oauth *oauth, struct str uri)
{
    free(oauth->redirect_uri);
    oauth->redirect_uri = str_dup(uri);
}

static void end_visit(struct oauth *oauth)
{
    if (oauth->is_visited)
        set_redirect(oauth, S(""));
    oauth->is_visited = false;
}

static void tell_owner(struct oauth *oauth)
{
    bool had_sign_in = oauth->had_sign_in;
    bool is_news = oauth->is_missed && !oauth->was_told;

    oauth->had_sign_in = false;
    oauth->was_told = oauth->is_missed;
    if (had_sign_in && oauth->ops.on_signed_in)
        oauth->ops.on_signed_in(oauth->user, oauth->outcome, oauth->why);
    if (is_news && oauth->ops.on_missed)
        oauth->ops.on_missed(oauth->user);
}

static void tell(struct loop_task *task)
{
    struct oauth *oauth = CONTAINER_OF(task, struct oauth, tell);
    enum err err = oauth->outcome;
    const char *why = oauth->why;
    struct waiter waiter;

    clear_way(oauth);
    list_splice(&oauth->telling, &oauth->waiters);
    end_visit(oauth);
    tell_owner(oauth);
    while (take_waiter(&oauth->telling, &waiter))
        waiter.on_done(waiter.user, err, why);
}

/* One that is too long is forgotten: the server describes itself elsewhere as well. */
static void remember(struct oauth *oauth, const struct challenge *challenge)
{
    buf_clear(&oauth->asked);
    (void)buf_append(&oauth->asked, challenge->www_authenticate);
}

static void renew(struct credential *credential, const struct challenge *challenge,
                  void (*on_done)(void *user, enum err err, const char *why), void *user)
{
    struct oauth *oauth = of(credential);
    struct waiter *waiter = xcalloc(1, sizeof(*waiter));
    struct str header = buf_str(&oauth->header);

    *waiter = (struct waiter){ .on_done = on_done, .user = user };
    list_append(&oauth->waiters, &waiter->link);
    if (oauth->step != OAUTH_IDLE || link_is_set(&oauth->tell.link))
        return;
    remember(oauth, challenge);
    if (challenge->used.ptr && header.len && !str_eq_secret(challenge->used, header))
        oauth_finish(oauth, OK, "");
    else
        flow_begin(oauth, challenge);
}

static void forget_in(struct link *list, const void *user)
{
    struct waiter *waiter;

    LIST_FOREACH(waiter, list, link) {
        if (waiter->user != user)
            continue;
        list_remove(&waiter->link);
        free(waiter);
    }
}

static void forget(struct credential *credential, void *user)
{
    forget_in(&of(credential)->waiters, user);
    forget_in(&of(credential)->telling, user);
}

/* --- an authorization --- */

struct oauth *oauth_new(struct loop *loop, struct fetch *fetch,
                        const struct oauth_settings *settings,
                        const struct oauth_ops *ops, void *user)
{
    static const struct credential_ops credential_ops = { current, renew, forget };
    struct oauth *oauth = xcalloc(1, sizeof(*oauth));

    *oauth = (struct oauth){ .credential.ops = &credential_ops,
                             .loop = loop,
                             .fetch = fetch,
                             .ops = *ops,
                             .user = user,
                             .server_url = str_dup(settings->server_url),
                             .client_name = str_dup(settings->client_name),
                             .redirect_uri = str_dup(settings->redirect_uri),
                             .metadata_url = str_dup(settings->metadata_url),
                             .scopes = str_dup(settings->scopes),
                             .client_id = str_dup(settings->client_id),
                             .client_secret = str_dup(settings->client_secret),
                             .sign_in_ms = settings->sign_in_ms,
                             .is_public = settings->is_public,
                             .refresh.on_fire = on_refresh,
                             .patience.on_fire = on_patience,
                             .tell.run = tell };
    oauth->has_server = !uri_parse(str_of(oauth->server_url), &oauth->server);
    buf_init(&oauth->header, HEADER_BYTES);
    buf_init(&oauth->answer, OAUTH_MAX_ANSWER);
    buf_init(&oauth->asked, OAUTH_MAX_ASKED);
    arena_init(&oauth->arena, OAUTH_MAX_FLOW);
    list_init(&oauth->waiters);
    list_init(&oauth->telling);
    return oauth;
}

static void free_texts(struct oauth *oauth)
{
    char *texts[] = { oauth->server_url,   oauth->client_name, oauth->redirect_uri,
                      oauth->metadata_url, oauth->scopes,      oauth->client_id };

    for (size_t i = 0; i < COUNT(texts); i++)
        free(texts[i]);
    crypto_wipe(oauth->client_secret, strlen(oauth->client_secret));
    free(oauth->client_secret);
}

void oauth_free(struct oauth *oauth)
{
    struct waiter waiter;

    if (!oauth)
        return;
    if (oauth->call)
        fetch_cancel(oauth->call);
    loop_timer_clear(oauth->loop, &oauth->refresh);
    loop_timer_clear(oauth->loop, &oauth->patience);
    list_remove(&oauth->tell.link);
    list_splice(&oauth->waiters, &oauth->telling);
    while (take_waiter(&oauth->waiters, &waiter))
        ;
    oauth_grant_done(&oauth->grant);
    set_header(oauth); /* wipes it */
    buf_done(&oauth->header);
    buf_done(&oauth->answer);
    buf_done(&oauth->asked);
    arena_done(&oauth->arena);
    free_texts(oauth);
    free(oauth);
}

/* It is of this server, and of the client that the operator names. */
static bool is_ours(const struct oauth *oauth, const struct oauth_grant *grant)
{
    struct str client_id = str_of(oauth->client_id);
    struct uri resource;

    if (!oauth->has_server ||
        uri_parse(oauth_grant_get(grant, GRANT_RESOURCE), &resource))
        return false;
    return uri_is_above(&resource, &oauth->server) &&
           (client_id.len == 0 ||
            str_eq(client_id, oauth_grant_get(grant, GRANT_CLIENT_ID)));
}

enum err oauth_restore(struct oauth *oauth, struct str json)
{
    struct oauth_grant grant = {};
    enum err err = oauth_grant_read(json, &grant);

    if (err)
        return err;
    if (!is_ours(oauth, &grant)) {
        oauth_grant_done(&grant);
        return ERR_INVALID;
    }
    oauth_grant_done(&oauth->grant);
    oauth->grant = grant;
    set_header(oauth);
    set_refresh(oauth);
    return OK;
}

struct credential *oauth_credential(struct oauth *oauth)
{
    return &oauth->credential;
}

/* Whoever waits goes on waiting. */
static void abandon(struct oauth *oauth)
{
    if (oauth->call)
        fetch_cancel(TAKE(oauth->call));
    loop_timer_clear(oauth->loop, &oauth->patience);
    list_remove(&oauth->tell.link);
    oauth->step = OAUTH_IDLE;
    clear_way(oauth);
}

void oauth_sign_in(struct oauth *oauth, struct str redirect_uri)
{
    struct challenge challenge = { .status = 401,
                                   .www_authenticate = buf_str(&oauth->asked) };

    abandon(oauth);
    set_redirect(oauth, redirect_uri);
    oauth->is_visited = true;
    oauth->had_sign_in = true;
    oauth->attempts = 0;
    oauth->refusals = 0;
    flow_begin(oauth, &challenge);
    oauth->has_refreshed = true; /* what there is is not what is wanted */
}

enum err oauth_returned(struct oauth *oauth, struct str query, const char **ret_why)
{
    return flow_returned(oauth, query, ret_why);
}

void oauth_sign_out(struct oauth *oauth)
{
    oauth_grant_set(&oauth->grant, GRANT_ACCESS_TOKEN, S(""));
    oauth_grant_set(&oauth->grant, GRANT_REFRESH_TOKEN, S(""));
    oauth_grant_set(&oauth->grant, GRANT_SCOPE, S(""));
    oauth->grant.ends_ms = 0;
    oauth->attempts = 0;
    oauth->refusals = 0;
    oauth_use_grant(oauth);
}
