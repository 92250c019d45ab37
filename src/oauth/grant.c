/* SPDX-License-Identifier: Apache-2.0 */
#include "oauth/grant.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/crypto.h"
#include "json/json.h"

enum { GRANT_BYTES = 64 << 10 };

/* clang-format off */
static const char *const names[GRANT_TEXTS] = {
    [GRANT_ISSUER]         = "issuer",
    [GRANT_RESOURCE]       = "resource",
    [GRANT_TOKEN_ENDPOINT] = "token_endpoint",
    [GRANT_CLIENT_ID]      = "client_id",
    [GRANT_CLIENT_SECRET]  = "client_secret",
    [GRANT_METHOD]         = "method",
    [GRANT_REDIRECT_URI]   = "redirect_uri",
    [GRANT_ACCESS_TOKEN]   = "access_token",
    [GRANT_REFRESH_TOKEN]  = "refresh_token",
    [GRANT_SCOPE]          = "scope",
};
/* clang-format on */

static void forget(char **text)
{
    if (*text)
        crypto_wipe(*text, strlen(*text));
    free(*text);
    *text = NULL;
}

void oauth_grant_done(struct oauth_grant *grant)
{
    for (size_t i = 0; i < GRANT_TEXTS; i++)
        forget(&grant->texts[i]);
    grant->ends_ms = 0;
}

struct str oauth_grant_get(const struct oauth_grant *grant, enum grant_text which)
{
    return str_of(grant->texts[which]);
}

void oauth_grant_set(struct oauth_grant *grant, enum grant_text which, struct str text)
{
    char *copy = text.len ? str_dup(text) : NULL;

    forget(&grant->texts[which]);
    grant->texts[which] = copy;
}

void oauth_grant_write(struct buf *out, const struct oauth_grant *grant)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    for (enum grant_text i = 0; i < GRANT_TEXTS; i++)
        if (grant->texts[i])
            json_put_str(&w, str_of(names[i]), oauth_grant_get(grant, i));
    json_put_uint(&w, S("ends_ms"), grant->ends_ms);
    json_object_close(&w);
}

static enum err read_tree(const struct json *json, struct oauth_grant *ret)
{
    const struct json *ends = json_find(json, S("ends_ms"));

    if (json->type != JSON_OBJECT || !ends || ends->type != JSON_NUMBER ||
        str_to_u64(ends->text, UINT64_MAX, &ret->ends_ms))
        return ERR_INVALID;
    for (enum grant_text i = 0; i < GRANT_TEXTS; i++) {
        const struct json *text = json_find(json, str_of(names[i]));

        if (text &&
            (text->type != JSON_STRING || memchr(text->text.ptr, 0, text->text.len)))
            return ERR_INVALID;
        oauth_grant_set(ret, i, json_text(text));
    }
    return OK;
}

enum err oauth_grant_read(struct str json, struct oauth_grant *ret)
{
    struct oauth_grant grant = {};
    struct arena arena;
    const struct json *tree;
    enum err err;

    arena_init(&arena, GRANT_BYTES);
    err = json_parse(json, &arena, &tree, NULL);
    if (!err)
        err = read_tree(tree, &grant);
    arena_done(&arena);
    if (err) {
        oauth_grant_done(&grant);
        return ERR_INVALID;
    }
    oauth_grant_done(ret);
    *ret = grant;
    return OK;
}
