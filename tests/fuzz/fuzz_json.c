/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read, write, read again: both trees are equal, and writing the second one gives the
 * same bytes. What the tree refuses is refused by the scanner as well, but for names
 * given twice.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"

enum { DEPTH = 130 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

/* Opens a value; true if there is something inside to go on with. */
static bool write_value(struct json_writer *w, const struct json *value)
{
    switch (value->type) {
    case JSON_NULL: json_null(w); return false;
    case JSON_TRUE: json_bool(w, true); return false;
    case JSON_FALSE: json_bool(w, false); return false;
    case JSON_NUMBER: json_raw(w, value->text); return false;
    case JSON_STRING: json_str(w, value->text); return false;
    case JSON_ARRAY: json_array_open(w); break;
    case JSON_OBJECT: json_object_open(w); break;
    }
    return true;
}

static void write_tree(struct json_writer *w, const struct json *root)
{
    struct {
        const struct json *parent, *next;
    } open[DEPTH];
    size_t depth = 0;

    if (!write_value(w, root))
        return;
    open[depth++] = (typeof(open[0])){ root, root->first };
    while (depth) {
        const struct json *at = open[depth - 1].next;
        const struct json *parent = open[depth - 1].parent;

        if (!at) {
            depth--;
            if (parent->type == JSON_OBJECT)
                json_object_close(w);
            else
                json_array_close(w);
            continue;
        }
        open[depth - 1].next = at->next;
        if (parent->type == JSON_OBJECT)
            json_key(w, at->key);
        if (write_value(w, at))
            open[depth++] = (typeof(open[0])){ at, at->first };
    }
}

static enum err scan_whole(struct str text)
{
    struct json_scan scan;
    struct json_span span;
    enum err err;

    json_scan_init(&scan, text, 128);
    err = json_value(&scan, &span);
    return err ? err : json_scan_end(&scan);
}

/* What was scanned is found by a walk in the same places. */
static void walk_again(struct str text)
{
    struct json_scan scan, walk;
    struct json_member a, b;
    struct json_span span = { .type = JSON_OBJECT, .text = text };
    enum err err, walk_err = OK;

    json_scan_init(&scan, text, JSON_MAX_DEPTH);
    json_walk_init(&walk, span);
    err = json_object_begin(&scan);
    if (err)
        return;
    expect(json_object_begin(&walk) == OK);
    while (json_object_next(&scan, &a, &err)) {
        expect(json_object_next(&walk, &b, &walk_err));
        expect(a.value.type == b.value.type && a.value.text.ptr == b.value.text.ptr &&
               a.value.text.len == b.value.text.len);
    }
    expect(!err && !json_object_next(&walk, &b, &walk_err) && !walk_err);
}

static void write_and_read(struct str text, struct arena *arena)
{
    const struct json *first, *second;
    struct json_problem problem = {};
    struct buf once, twice;
    struct json_writer w;
    enum err err = json_parse(text, arena, &first, &problem);

    if (err) {
        expect(scan_whole(text) == err || (problem.what && problem.field.ptr));
        return;
    }
    expect(scan_whole(text) == OK);
    walk_again(text);
    buf_init(&once, SIZE_MAX / 4);
    buf_init(&twice, SIZE_MAX / 4);
    json_write_init(&w, &once);
    write_tree(&w, first);
    expect(json_parse(buf_str(&once), arena, &second, NULL) == OK);
    json_write_init(&w, &twice);
    write_tree(&w, second);
    expect(str_eq(buf_str(&once), buf_str(&twice)));
    buf_done(&once);
    buf_done(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct arena arena;

    arena_init(&arena, (size_t)1 << 31);
    write_and_read((struct str){ (const char *)bytes, size }, &arena);
    arena_done(&arena);
    return 0;
}
