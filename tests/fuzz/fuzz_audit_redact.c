/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths, a line each, and behind an empty line a body. What comes out is JSON in one
 * line; without paths it is a fixed point; and what is hidden is what a model hides that
 * asks of every value of the tree whether a path leads to it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "audit/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { PATHS = 8, DEPTH = JSON_TREE_DEPTH + 1 };

static void expect(bool condition)
{
    if (!condition)
        abort();
}

/* The keys that lead to a value; ptr NULL: an element. */
struct way {
    struct str keys[DEPTH];
    size_t depth;
};

/* `path` ptr NULL: it has ended. */
static bool leads(struct str path, const struct way *way, size_t at)
{
    struct str step = path.ptr ? str_cut(&path, '.') : (struct str){};

    if (!step.ptr)
        return at == way->depth;
    if (str_eq(step, S("**")))
        for (size_t to = at; to <= way->depth; to++)
            if (leads(path, way, to))
                return true;
    if (at == way->depth)
        return false;
    if (!str_eq(step, S("*")) && (!way->keys[at].ptr || !str_eq(step, way->keys[at])))
        return false;
    return !str_eq(step, S("**")) && leads(path, way, at + 1);
}

static bool is_hidden(struct str_list paths, const struct way *way)
{
    for (size_t i = 0; i < paths.count; i++)
        if (leads(paths.items[i], way, 0))
            return true;
    return false;
}

static bool is_hash(const struct json *value)
{
    return value->type == JSON_STRING && value->text.len == 12 + 64 &&
           str_starts(value->text, S("hmac-sha256:"));
}

/* Both trees are the same, but for what is hidden. */
static void compare(struct str_list paths, struct way *way, const struct json *in,
                    const struct json *out)
{
    const struct json *b = out->first;

    if (is_hidden(paths, way)) {
        expect(is_hash(out));
        return;
    }
    expect(in->type == out->type && in->count == out->count);
    expect(in->first || str_eq(in->text, out->text));
    JSON_FOREACH(a, in) {
        way->keys[way->depth++] = in->type == JSON_OBJECT ? a->key : (struct str){};
        expect(str_eq(a->key, b->key));
        compare(paths, way, a, b);
        way->depth--;
        b = b->next;
    }
}

static void check_model(struct str_list paths, struct str body, struct str redacted)
{
    const struct json *in, *out;
    struct way way = {};
    struct arena arena;

    arena_init(&arena, (size_t)1 << 31);
    if (!json_parse(body, &arena, &in, NULL)) {
        expect(!json_parse(redacted, &arena, &out, NULL));
        compare(paths, &way, in, out);
    }
    arena_done(&arena);
}

static void check_line(struct str text)
{
    struct json_scan scan;
    struct json_span span;

    json_scan_init(&scan, text, JSON_MAX_DEPTH);
    expect(!json_value(&scan, &span) && !json_scan_end(&scan));
    for (size_t i = 0; i < text.len; i++)
        expect((unsigned char)text.ptr[i] >= ' ');
}

static void redact(struct str_list paths, struct str body, struct buf *out)
{
    struct audit_redactor *redactor = NULL;
    const char *why = NULL;
    struct str bad = {};

    if (audit_redactor_new(paths, S("key"), &redactor, &bad, &why)) {
        expect(why && bad.ptr);
        return;
    }
    audit_redact(redactor, body, out);
    audit_redactor_free(redactor);
    check_line(buf_str(out));
}

static bool has_quote(struct str_list paths)
{
    for (size_t i = 0; i < paths.count; i++)
        if (str_find(paths.items[i], '"', 0) < paths.items[i].len)
            return true;
    return false;
}

static size_t count_stars(struct str text)
{
    size_t stars = 0;

    for (size_t i = 0; i < text.len; i++)
        stars += text.ptr[i] == '*';
    return stars;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    struct str items[PATHS];
    struct str_list paths = { items, 0 };
    struct buf out, again;

    while (rest.ptr && paths.count < PATHS) {
        struct str line = str_cut(&rest, '\n');

        if (line.len == 0)
            break;
        items[paths.count++] = line;
    }
    if (!rest.ptr)
        return 0;
    buf_init(&out, SIZE_MAX / 4);
    buf_init(&again, SIZE_MAX / 4);
    redact(paths, rest, &out);
    /* The model's time grows with the power of the stars. */
    if (out.len && !has_quote(paths) &&
        count_stars((struct str){ (const char *)bytes, size }) < 16)
        check_model(paths, rest, buf_str(&out));
    if (paths.count == 0) {
        redact(paths, buf_str(&out), &again);
        expect(str_eq(buf_str(&out), buf_str(&again)));
    }
    buf_done(&out);
    buf_done(&again);
    return 0;
}
