/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How text fills cells. Of any bytes, as they are and made plain: lines fit, nothing but
 * spaces and line breaks is left out between them, the walk ends; each cluster is as wide
 * as what is drawn for it, and nothing that is drawn acts on the terminal. In the C
 * locale and in UTF-8.
 */
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/plain.h"
#include "tui/wrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void check_drawn(struct cluster c)
{
    wchar_t out[CLUSTER_WIDE];
    size_t len;

    cluster_draw(c.text, out);
    len = wcslen(out);
    expect(len >= 1 && len < CLUSTER_WIDE);
    expect(wcwidth(out[0]) == (int)c.columns);
    for (size_t i = 0; i < len; i++) {
        expect(out[i] >= 0x20 && (out[i] < 0x7f || out[i] > 0x9f));
        expect(i == 0 || wcwidth(out[i]) == 0);
        expect(out[i] < 0x2028 || out[i] > 0x202e); /* breaks, overrides */
        expect(out[i] < 0x2060 || out[i] > 0x206f); /* isolates */
    }
}

static void check_clusters(struct str text)
{
    struct str whole = text;

    while (text.len > 0) {
        struct cluster c = cluster_first(text);
        struct str before = str_slice(whole, 0, whole.len - text.len + c.text.len);

        expect(c.text.len > 0 && c.columns >= 1 && c.columns <= 2);
        expect(str_eq(cluster_last(before).text, c.text));
        check_drawn(c);
        text = str_slice(text, c.text.len, text.len);
    }
}

static bool is_blank(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != ' ' && text.ptr[i] != '\n')
            return false;
    return true;
}

static void check_lines(struct str text, size_t columns)
{
    struct wrap wrap = { .rest = text, .columns = columns };
    const char *at = text.ptr;
    size_t count = 0;
    struct str line;

    while (wrap_next(&wrap, &line)) {
        expect(is_blank((struct str){ at, (size_t)(line.ptr - at) }));
        expect(wrap_columns(line) <= columns);
        at = line.ptr + line.len;
        count++;
        expect(count <= text.len);
    }
    expect(is_blank((struct str){ at, (size_t)(text.ptr + text.len - at) }));
    expect(count == wrap_count(text, columns));
}

static void check_cut(struct str text, size_t columns)
{
    struct buf out;

    buf_init(&out, 1 << 20);
    wrap_put_cut(&out, text, columns);
    expect(wrap_columns(buf_str(&out)) <= columns);
    buf_done(&out);
}

static void check(struct str text, size_t columns)
{
    check_clusters(text);
    check_lines(text, columns);
    check_cut(text, columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const locales[] = { "C", "C.UTF-8" };
    struct str text = { (const char *)bytes, size };
    size_t columns = 2 + (size ? bytes[size - 1] % 40 : 0);
    struct buf plain;

    if (size == 0)
        return 0;
    buf_init(&plain, 1 << 20);
    plain_put(&plain, text, PLAIN_TEXT);
    for (size_t i = 0; i < 2; i++) {
        expect(setlocale(LC_CTYPE, locales[i]) != NULL);
        check(text, columns);
        check(buf_str(&plain), columns);
    }
    buf_done(&plain);
    return 0;
}
