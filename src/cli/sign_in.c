/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sign_in.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/cli.h"
#include "crypto/crypto.h"
#include "oauth/landing.h"
#include "oauth/oauth.h"
#include "oauth/vault.h"

enum { SIGN_IN_MS = 10 * 60'000, SECRET_BYTES = 4096 };

struct sign_in_desk {
    char *data, *name;
    struct vault vault;
    struct landing *landing;
    struct oauth *oauth;
};

/* The address is made of checked parts: printable ASCII, https or this machine. */
static void on_sign_in(void *user, struct str url)
{
    const struct sign_in_desk *desk = user;

    (void)fprintf(stderr,
                  "moot: %s wants you to sign in. Open this address in a browser on this "
                  "machine:\n" STR_FMT "\n",
                  desk->name, STR_ARG(url));
}

static void on_signed_in(void *user, enum err err, const char *why)
{
    const struct sign_in_desk *desk = user;

    if (err)
        (void)fprintf(stderr, "moot: nobody is signed in at %s: %s\n", desk->name, why);
    else
        (void)fprintf(stderr, "moot: signed in at %s\n", desk->name);
}

static void on_keep(void *user, struct str json)
{
    const struct sign_in_desk *desk = user;

    if (vault_keep(&desk->vault, desk->data, str_of(desk->name), json))
        (void)cli_fail("the tokens of %s cannot be kept in %s/secrets", desk->name,
                       desk->data);
}

static void on_query(void *user, struct str query)
{
    struct sign_in_desk *desk = user;
    const char *why;

    if (oauth_returned(desk->oauth, query, &why))
        (void)fprintf(stderr, "moot: somebody came back from a sign-in: %s\n", why);
}

static bool has_authorization(const struct server_spec *spec)
{
    for (size_t i = 0; i < spec->header_count; i++)
        if (str_ieq(spec->headers[i].name, S("Authorization")))
            return true;
    return false;
}

/* What the file says, without the end of its line; "" without a file. */
static enum err read_secret(struct str path, struct buf *out)
{
    CLEANUP(xfreep) char *name = str_dup(path);
    CLEANUP(fd_closep) int fd = -1;
    ssize_t got;

    if (path.len == 0)
        return OK;
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || buf_reserve(out, SECRET_BYTES))
        return ERR_IO;
    got = read(fd, out->ptr, SECRET_BYTES);
    if (got < 0)
        return ERR_IO;
    out->len = (size_t)got;
    while (out->len && (out->ptr[out->len - 1] == '\n' || out->ptr[out->len - 1] == '\r'))
        out->len--;
    return OK;
}

static void recall(struct sign_in_desk *desk)
{
    struct buf kept;

    buf_init(&kept, VAULT_BYTES);
    if (!vault_recall(&desk->vault, desk->data, str_of(desk->name), &kept) &&
        oauth_restore(desk->oauth, buf_str(&kept)))
        (void)fprintf(stderr, "moot: what was kept for %s is of another server\n",
                      desk->name);
    if (kept.len)
        crypto_wipe(kept.ptr, kept.len);
    buf_done(&kept);
}

static void open_oauth(struct sign_in_desk *desk, struct loop *loop, struct fetch *fetch,
                       const struct server_spec *spec, struct str secret)
{
    static const struct oauth_ops ops = { .on_sign_in = on_sign_in,
                                          .on_signed_in = on_signed_in,
                                          .on_keep = on_keep };
    struct oauth_settings settings = {
        .server_url = spec->url,
        .client_name = S("Moot"),
        .redirect_uri = landing_uri(desk->landing),
        .client_id = spec->oauth.client_id,
        .client_secret = secret,
        .metadata_url = spec->oauth.metadata_url,
        .scopes = spec->oauth.scopes,
        .sign_in_ms = SIGN_IN_MS,
    };

    desk->oauth = oauth_new(loop, fetch, &settings, &ops, desk);
    recall(desk);
}

static struct sign_in_desk *give_up(struct sign_in_desk *desk, const char *why)
{
    (void)cli_fail("nobody can sign in at %s: %s", desk->name, why);
    sign_in_desk_free(desk);
    return NULL;
}

struct sign_in_desk *sign_in_desk_new(struct loop *loop, struct fetch *fetch,
                                      const struct server_spec *spec, const char *data)
{
    struct sign_in_desk *desk;
    CLEANUP(buf_done) struct buf secret;

    buf_init(&secret, SECRET_BYTES);
    if (!fetch || spec->url.len == 0 || has_authorization(spec))
        return NULL;
    desk = xcalloc(1, sizeof(*desk));
    desk->data = xstrdup(data);
    desk->name = str_dup(spec->name);
    (void)mkdir(data, 0700); /* where it is missing, and else what it is */
    if (vault_open(&desk->vault, data))
        return give_up(desk, "secret.key cannot be read or made, or others may read it");
    if (landing_open(loop, 0, on_query, desk, &desk->landing))
        return give_up(desk, "there is no port to come back to");
    if (read_secret(spec->oauth.client_secret_file, &secret))
        return give_up(desk, "the file of the client secret cannot be read");
    open_oauth(desk, loop, fetch, spec, buf_str(&secret));
    if (secret.len)
        crypto_wipe(secret.ptr, secret.len);
    return desk;
}

void sign_in_desk_free(struct sign_in_desk *desk)
{
    if (!desk)
        return;
    oauth_free(desk->oauth);
    landing_close(desk->landing);
    vault_close(&desk->vault);
    free(desk->data);
    free(desk->name);
    free(desk);
}

struct credential *sign_in_desk_credential(struct sign_in_desk *desk)
{
    return desk ? oauth_credential(desk->oauth) : NULL;
}
