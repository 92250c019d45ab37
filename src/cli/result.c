/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/result.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "json/json.h"

enum { ARENA_BYTES = 256 << 20 };

static void end_line(struct buf *out)
{
    if (out->len == 0 || out->ptr[out->len - 1] != '\n')
        buf_putc(out, '\n');
}

static void put_text(struct buf *out, struct str text, enum result_form form)
{
    if (form == RESULT_RAW)
        buf_put(out, text);
    else
        plain_put(out, text, PLAIN_TEXT);
    end_line(out);
}

void result_put_json(struct buf *out, struct str json, enum result_form form)
{
    size_t start = out->len;

    if (form == RESULT_PLAIN) {
        plain_put(out, json, PLAIN_JSON);
    } else {
        buf_put(out, json);
        for (size_t i = start; i < out->len; i++)
            if (out->ptr[i] == '\n' || out->ptr[i] == '\r') /* never inside a string */
                out->ptr[i] = ' ';
    }
    buf_putc(out, '\n');
}

/* "[image image/png, 120 bytes of base64]" */
static void put_bytes(struct buf *out, struct str what, const struct json *item,
                      struct str key)
{
    struct str type = json_text(json_find(item, S("mimeType")));

    buf_putc(out, '[');
    plain_put(out, what, PLAIN_LINE);
    if (type.len)
        buf_putc(out, ' ');
    plain_put(out, type, PLAIN_LINE);
    buf_putf(out, ", %zu bytes of base64]\n", json_text(json_find(item, key)).len);
}

static void put_resource(struct buf *out, const struct json *item, enum result_form form)
{
    const struct json *resource = json_find(item, S("resource"));

    if (json_find(resource, S("text")))
        put_text(out, json_text(json_find(resource, S("text"))), form);
    else
        put_bytes(out, json_text(json_find(resource, S("uri"))), resource, S("blob"));
}

static void put_item(struct buf *out, const struct json *item, enum result_form form)
{
    struct str type = json_text(json_find(item, S("type")));

    if (str_eq(type, S("text")))
        put_text(out, json_text(json_find(item, S("text"))), form);
    else if (str_eq(type, S("image")) || str_eq(type, S("audio")))
        put_bytes(out, type, item, S("data"));
    else if (str_eq(type, S("resource_link")))
        put_text(out, json_text(json_find(item, S("uri"))), form);
    else if (str_eq(type, S("resource")))
        put_resource(out, item, form);
    else
        result_put_json(out, item->raw, form);
}

static void put_result(struct buf *out, const struct json *root, enum result_form form)
{
    const struct json *content = json_find(root, S("content"));
    const struct json *structured = json_find(root, S("structuredContent"));
    bool is_list = content && content->type == JSON_ARRAY;

    if (is_list && content->first) {
        JSON_FOREACH(item, content)
            put_item(out, item, form);
        return;
    }
    if (structured)
        result_put_json(out, structured->raw, form);
    else if (!is_list)
        result_put_json(out, root->raw, form);
}

void result_put(struct buf *out, struct str result, enum result_form form)
{
    const struct json *root;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(result, &arena, &root, NULL))
        put_text(out, result, form);
    else
        put_result(out, root, form);
    arena_done(&arena);
}
