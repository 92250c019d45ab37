/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/origin.h"

#include "base/cleanup.h"
#include "gateway/gateway.h"
#include "oauth/uri.h"

enum { ORIGIN_BYTES = 1024 };

/* "example.org:8420" without its port; "[::1]:80" keeps its brackets. */
static struct str without_port(struct str host)
{
    size_t end = host.len;

    while (end > 0 && host.ptr[end - 1] >= '0' && host.ptr[end - 1] <= '9')
        end--;
    if (end > 0 && end < host.len && host.ptr[end - 1] == ':')
        return str_slice(host, 0, end - 1);
    return host;
}

static bool is_listed(const struct config_strs *list, struct str text)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_ieq(list->items[i], text) || str_eq(list->items[i], S("*")))
            return true;
    return false;
}

static bool is_loopback_name(struct str name)
{
    static const struct str names[] = { S("localhost"), S("127.0.0.1"), S("[::1]") };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_ieq(name, names[i]))
            return true;
    return false;
}

static bool is_own_name(const struct config *config, struct str name)
{
    if (is_loopback_name(name))
        return true;
    for (size_t i = 0; i < config->listen.count; i++)
        if (str_ieq(name, without_port(config->listen.items[i])))
            return true;
    return false;
}

static bool host_is_allowed(const struct config *config, struct str host)
{
    struct str name = without_port(host);

    return is_own_name(config, name) || is_listed(&config->hosts, name) ||
           is_listed(&config->hosts, host);
}

/* "http://HOST" or "https://HOST" where HOST is what the request was sent to. */
static bool is_same_origin(struct str origin, struct str host)
{
    static const struct str schemes[] = { S("http://"), S("https://") };

    for (size_t i = 0; i < COUNT(schemes); i++)
        if (str_starts(origin, schemes[i]))
            return str_ieq(str_slice(origin, schemes[i].len, origin.len), host);
    return false;
}

enum err origin_check(struct exchange *x, const char **ret_why)
{
    const struct config *config = x->worker->settings->config;
    const struct http_request *req = &x->request;
    size_t count = 0;
    struct str origin = http_header_find(req, S("Origin"), &count);

    if (exchange_peer(x)->is_trusted)
        return OK;
    if (!host_is_allowed(config, req->host)) {
        *ret_why =
            "This server does not answer to that Host; `hosts:` in its configuration "
            "lists the names it answers to.";
        return ERR_MISDIRECTED;
    }
    *ret_why = "Pages of that Origin may not use this server; `origins:` in its "
               "configuration lists those that may.";
    if (count == 0)
        return OK;
    if (count > 1)
        return ERR_FORBIDDEN;
    if (is_same_origin(origin, req->host))
        return OK;
    if (!is_listed(&config->origins, origin))
        return ERR_FORBIDDEN;
    x->allowed_origin = origin;
    return OK;
}

static void put_guess(const struct exchange *x, struct buf *out)
{
    struct str page = http_header_find(&x->request, S("Origin"), NULL);
    struct str host = x->request.host;

    if (is_same_origin(page, host)) { /* it knows whether a proxy speaks TLS for us */
        buf_put(out, page);
        return;
    }
    if (exchange_peer(x)->is_trusted)
        host = str_of(gateway_address(x->worker->gateway));
    buf_put(out, x->worker->settings->tls ? S("https://") : S("http://"));
    buf_put(out, host);
}

static bool may_come_back(const struct config *config, const struct uri *uri)
{
    CLEANUP(buf_done) struct buf origin;
    struct str host;

    buf_init(&origin, ORIGIN_BYTES);
    if (uri_has_path(uri) || uri->query.ptr || uri->has_fragment)
        return false;
    uri_put_origin(&origin, uri);
    host = str_slice(buf_str(&origin), uri->is_secure ? 8 : 7, origin.len);
    return (uri->is_secure || uri_is_loopback(uri)) && host_is_allowed(config, host);
}

enum err origin_for_browser(const struct exchange *x, struct str said, struct buf *out,
                            const char **ret_why)
{
    CLEANUP(buf_done) struct buf text;
    struct uri uri;

    buf_init(&text, ORIGIN_BYTES);
    if (said.len)
        buf_put(&text, said);
    else
        put_guess(x, &text);
    *ret_why =
        "A browser comes back over https to a name of `hosts:`, or over http on this "
        "machine; `origin` says where that is, https://HOST.";
    if (text.is_full || uri_parse(buf_str(&text), &uri) ||
        !may_come_back(x->worker->settings->config, &uri))
        return ERR_BAD_REQUEST;
    uri_put_origin(out, &uri);
    return OK;
}

bool origin_is_hidden(const struct exchange *x)
{
    struct str site = http_header_find(&x->request, S("Sec-Fetch-Site"), NULL);
    size_t count = 0;

    (void)http_header_find(&x->request, S("Origin"), &count);
    return count == 0 && (str_eq(site, S("cross-site")) || str_eq(site, S("same-site")));
}

/* Headers that proxies add. */
static bool is_of_proxy(struct str name)
{
    static const struct str names[] = { S("forwarded"), S("via"), S("x-real-ip") };
    static const struct str prefix = { "x-forwarded-", 12 };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_ieq(name, names[i]))
            return true;
    return name.len >= prefix.len && str_ieq(str_slice(name, 0, prefix.len), prefix);
}

/* HTTP/1.0 is what nginx speaks to who is behind it where nothing is said; no program of
 * today does by itself. */
bool origin_is_this_machine(const struct exchange *x)
{
    const struct net_peer *peer = exchange_peer(x);
    const struct http_request *req = &x->request;

    if (req->minor_version == 0)
        return false;
    for (size_t i = 0; i < req->header_count; i++)
        if (is_of_proxy(req->headers[i].name))
            return false;
    return !peer->is_local && net_is_loopback(str_of(peer->address)) &&
           is_loopback_name(without_port(req->host)) && x->allowed_origin.len == 0 &&
           !origin_is_hidden(x);
}
