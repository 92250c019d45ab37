/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of the environment that everybody knows. libcurl would read them by
 * itself; it is told instead, so that the guard knows whose address it judges.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "fetch/fetch_priv.h"

static const char *variable(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return value;
    }
    return NULL;
}

/* `example.org` and `.example.org` mean the name and all below it; an address means
 * itself. */
static bool entry_covers(struct str entry, struct str host)
{
    struct str tail;

    if (str_starts(entry, S(".")))
        entry = str_slice(entry, 1, entry.len);
    if (entry.len == 0 || entry.len > host.len)
        return false;
    tail = str_slice(host, host.len - entry.len, host.len);
    return str_ieq(tail, entry) &&
           (tail.len == host.len || host.ptr[host.len - tail.len - 1] == '.');
}

static bool is_exempt(struct str host)
{
    static const char *const names[] = { "no_proxy", "NO_PROXY" };
    struct str rest = str_of(variable(names, COUNT(names)));

    if (str_eq(rest, S("*")))
        return true;
    while (rest.ptr)
        if (entry_covers(str_trim(str_cut(&rest, ',')), host))
            return true;
    return false;
}

static bool is_here(struct str host)
{
    return str_ieq(host, S("localhost")) || str_starts(host, S("127.")) ||
           str_eq(host, S("::1"));
}

const char *fetch_proxy_for(struct str scheme, struct str host)
{
    /* HTTP_PROXY in capitals is left out: in a CGI it is a header of the request. */
    static const char *const plain[] = { "http_proxy", "all_proxy", "ALL_PROXY" };
    static const char *const secure[] = { "https_proxy", "HTTPS_PROXY", "all_proxy",
                                          "ALL_PROXY" };

    if (is_here(host) || is_exempt(host))
        return NULL;
    return str_eq(scheme, S("https")) ? variable(secure, COUNT(secure))
                                      : variable(plain, COUNT(plain));
}
