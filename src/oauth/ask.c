/* SPDX-License-Identifier: Apache-2.0 */
#include "oauth/ask.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

static enum fetch_reach reach_of(const struct oauth_asking *asking, struct str url)
{
    struct uri uri;

    if (asking->is_public)
        return FETCH_PUBLIC;
    if (!uri_parse(url, &uri) && uri_is_same_origin(&uri, asking->home))
        return FETCH_ANYWHERE;
    return uri_is_loopback(asking->home) ? FETCH_LOCAL : FETCH_PUBLIC;
}

struct fetch_call *oauth_ask(const struct oauth_asking *asking,
                             const struct oauth_message *message,
                             const struct fetch_ops *ops, void *user)
{
    const char *fields[3] = { "Accept: application/json" };
    struct fetch_order order = { .method = message->type.len ? "POST" : "GET",
                                 .fields = fields,
                                 .field_count = 1,
                                 .body = message->body,
                                 .reach = reach_of(asking, message->url),
                                 .uses_proxies = true,
                                 .timeout_ms = asking->timeout_ms,
                                 .max_answer = asking->max_answer };
    CLEANUP(xfreep) char *address = str_dup(message->url);

    if (message->type.len)
        fields[order.field_count++] = message->type.ptr;
    if (message->field)
        fields[order.field_count++] = message->field;
    order.url = address;
    return fetch_start(asking->fetch, &order, ops, user);
}

bool oauth_is_safe(const struct uri *home, struct str url)
{
    struct uri uri;

    return url.len == 0 ||
           (!uri_parse(url, &uri) &&
            (uri.is_secure || (uri_is_loopback(&uri) && uri_is_loopback(home))));
}
