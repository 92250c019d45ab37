/* SPDX-License-Identifier: Apache-2.0 */
/* Where a gateway is, from bytes: what is accepted can be written again, and is the same;
 * what is refused is refused with a sentence. */
#include <stdint.h>
#include <stdlib.h>

#include "client/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

/* Nothing that could begin another header, path or query. */
static void check_clean(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        must(text.ptr[i] > ' ' && text.ptr[i] < 0x7f && text.ptr[i] != '?' &&
             text.ptr[i] != '#');
}

static void check_same(const struct url *a, const struct url *b)
{
    must(a->is_local == b->is_local && a->is_secure == b->is_secure);
    must(a->is_ipv6 == b->is_ipv6 && a->port == b->port);
    must(str_eq(str_of(a->host), str_of(b->host)));
    must(str_eq(str_of(a->path), str_of(b->path)));
}

static void check_accepted(const struct url *url)
{
    struct str path = str_of(url->path);
    struct url again;
    struct buf text, why;

    must(url->host[0] != '\0' && (url->port != 0) == !url->is_local);
    must(path.len == 0 || (path.ptr[0] == '/' && path.ptr[path.len - 1] != '/'));
    buf_init(&text, 1024);
    buf_init(&why, 256);
    if (url->is_local)
        buf_put(&text, S("unix:"));
    else
        buf_put(&text, url->is_secure ? S("wss://") : S("ws://"));
    url_put_place(&text, url);
    if (!url->is_local)
        buf_putf(&text, "%s/ws", url->path);
    must(!text.is_full);
    must(url_parse(buf_str(&text), &again, &why) == OK && why.len == 0);
    check_same(url, &again);
    buf_clear(&text);
    url_put_host(&text, url);
    check_clean(buf_str(&text));
    must(str_find(buf_str(&text), '@', 0) == text.len);
    check_clean(path);
    buf_done(&text);
    buf_done(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct url url;
    struct buf why;

    buf_init(&why, 256);
    if (url_parse((struct str){ (const char *)bytes, size }, &url, &why) == OK)
        check_accepted(&url);
    else
        must(why.len > 0 && !why.is_full);
    buf_done(&why);
    return 0;
}
