/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/page.h"

#include "base/arena.h"
#include "base/plain.h"
#include "json/json.h"
#include "tui/wrap.h"

enum {
    TEXT_BYTES = 1 << 20,
    ARENA_BYTES = 32 << 20,
    MARGIN = 5, /* "  | ", and the last column */
    PAGES = 32, /* of an error that are shown */
};

static const struct str secure = S("https://"), open_to_all = S("http://");

static struct str behind_scheme(struct str url)
{
    if (str_ieq(str_slice(url, 0, secure.len), secure))
        return str_slice(url, secure.len, url.len);
    if (str_ieq(str_slice(url, 0, open_to_all.len), open_to_all))
        return str_slice(url, open_to_all.len, url.len);
    return S("");
}

/* What stands between the slashes: a name with "@" before the host is no part of it, and
 * browsers take a backslash for a slash. */
static struct str authority(struct str url)
{
    struct str rest = behind_scheme(url);
    size_t end = 0;

    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?' &&
           rest.ptr[end] != '#' && rest.ptr[end] != '\\')
        end++;
    return str_slice(rest, 0, end);
}

static struct str host_of(struct str url)
{
    struct str whole = authority(url);

    for (size_t i = whole.len; i > 0; i--)
        if (whole.ptr[i - 1] == '@')
            return str_slice(whole, i, whole.len);
    return whole;
}

bool page_is_address(struct str url)
{
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.ptr[i] <= ' ' || url.ptr[i] == 0x7f)
            return false;
    return host_of(url).len > 0;
}

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] > 0x7f)
            return false;
    return true;
}

static bool is_punycode(struct str host)
{
    while (host.ptr) {
        struct str label = str_cut(&host, '.');

        if (str_ieq(str_slice(label, 0, 4), S("xn--")))
            return true;
    }
    return false;
}

static void warn(struct buf *out, bool is_so, const char *what)
{
    if (is_so)
        buf_putf(out, "  careful: %s\n", what);
}

void page_put(struct buf *out, struct str url)
{
    struct str host = host_of(url);

    buf_put(out, S("  address  "));
    plain_put(out, url, PLAIN_LINE);
    buf_put(out, S("\n  host     "));
    plain_put(out, host, PLAIN_LINE);
    buf_putc(out, '\n');
    warn(out, !str_ieq(str_slice(url, 0, secure.len), secure),
         "http: what you write there can be read on the way");
    warn(out, authority(url).len != host.len,
         "what stands before @ is a name and not the host");
    warn(out, !is_ascii(host) || is_punycode(host),
         "the host has letters that may look like others");
}

void page_put_words(struct buf *out, struct str text, size_t columns)
{
    struct wrap wrap = { .columns = columns > MARGIN ? columns - MARGIN : 1 };
    struct buf plain;
    struct str line;

    if (columns == 0)
        wrap.columns = SIZE_MAX;
    buf_init(&plain, TEXT_BYTES);
    plain_put(&plain, str_trim(text), PLAIN_TEXT);
    wrap.rest = buf_str(&plain);
    while (wrap_next(&wrap, &line)) {
        buf_put(out, S("  | "));
        buf_put(out, line);
        buf_putc(out, '\n');
    }
    buf_done(&plain);
}

static void put_pages(struct buf *out, const struct json *list, size_t columns)
{
    size_t count = 0;

    JSON_FOREACH(item, list) {
        struct str url = json_text(json_find(item, S("url")));

        if (!page_is_address(url) || count++ == PAGES)
            continue;
        page_put_words(out, json_text(json_find(item, S("message"))), columns);
        page_put(out, url);
    }
    if (count)
        buf_put(out,
                S("Open this yourself if you trust it, then make the call again.\n"));
}

void page_put_required(struct buf *out, struct str error, size_t columns)
{
    const struct json *root, *list;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(error, &arena, &root, NULL) == OK) {
        list = json_find(json_find(root, S("data")), S("elicitations"));
        if (list && list->type == JSON_ARRAY)
            put_pages(out, list, columns);
    }
    arena_done(&arena);
}
