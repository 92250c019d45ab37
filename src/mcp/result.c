/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/result.h"

#include "base/cleanup.h"

static void put_text(struct json_writer *w, struct str text)
{
    json_object_open(w);
    json_put_str(w, S("type"), S("text"));
    json_put_str(w, S("text"), text);
    json_object_close(w);
}

static void put_contents(struct json_writer *w, const struct result_of *of,
                         struct str text)
{
    json_key(w, S("contents"));
    json_array_open(w);
    json_object_open(w);
    json_put_str(w, S("uri"), of->uri);
    if (of->mime_type.len)
        json_put_str(w, S("mimeType"), of->mime_type);
    json_put_str(w, S("text"), text);
    json_object_close(w);
    json_array_close(w);
}

static void put_messages(struct json_writer *w, const struct result_of *of,
                         struct str text)
{
    (void)of;
    json_key(w, S("messages"));
    json_array_open(w);
    json_object_open(w);
    json_put_str(w, S("role"), S("user"));
    json_key(w, S("content"));
    put_text(w, text);
    json_object_close(w);
    json_array_close(w);
}

static void put_content(struct json_writer *w, const struct result_of *of,
                        struct str text)
{
    (void)of;
    json_key(w, S("content"));
    json_array_open(w);
    put_text(w, text);
    json_array_close(w);
}

void result_write_text(struct buf *out, const struct result_of *of, struct str text)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (str_eq(of->method, S("resources/read")))
        put_contents(&w, of, text);
    else if (str_eq(of->method, S("prompts/get")))
        put_messages(&w, of, text);
    else
        put_content(&w, of, text);
    json_object_close(&w);
}

void result_write_failure(struct rpc_reply *reply, const struct result_of *of,
                          struct str text)
{
    struct json_writer w;

    if (!str_eq(of->method, S("tools/call"))) {
        rpc_fail(reply, RPC_INTERNAL, text, S(""));
        return;
    }
    json_write_init(&w, &reply->json);
    json_object_open(&w);
    put_content(&w, of, text);
    json_put_bool(&w, S("isError"), true);
    json_object_close(&w);
}

/* MCP 2026-07-28: every result has a type; lists and what is read say for how long and
 * for whom they may be kept. Nothing is known of that here, so: not at all. */
enum { ALWAYS = 1, WHERE_CACHED = 2 };

static const struct {
    struct str name, value;
    int when;
} demanded[] = {
    { S("resultType"), S("\"complete\""), ALWAYS },
    { S("ttlMs"), S("0"), WHERE_CACHED },
    { S("cacheScope"), S("\"private\""), WHERE_CACHED },
};

static bool is_cached(struct str method)
{
    return str_eq(method, S("server/discover")) || str_eq(method, S("resources/read")) ||
           str_ends(method, S("/list"));
}

/* Which of those that are demanded are there, as bits. */
static enum err find_demanded(struct str json, unsigned *ret_found, bool *ret_is_empty)
{
    struct json_scan scan;
    struct json_member member;
    enum err err;

    *ret_found = 0;
    *ret_is_empty = true;
    json_scan_init(&scan, json, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &member, &err)) {
        *ret_is_empty = false;
        for (size_t i = 0; i < COUNT(demanded); i++)
            if (json_string_is(member.key, demanded[i].name))
                *ret_found |= 1U << i;
    }
    return err ? err : json_scan_end(&scan);
}

/* What stands between the braces. */
static struct str inside_of(struct str object)
{
    size_t end = object.len;

    while (object.ptr[end - 1] != '}')
        end--;
    return str_slice(object, str_find(object, '{', 0) + 1, end - 1);
}

enum err result_write(struct buf *out, const struct result_of *of, struct str json)
{
    int when = is_cached(of->method) ? ALWAYS | WHERE_CACHED : ALWAYS;
    struct json_writer w;
    bool is_empty;
    unsigned found;

    if (find_demanded(json, &found, &is_empty))
        return ERR_INVALID;
    if (!of->is_modern) {
        buf_put(out, json);
        return OK;
    }
    json_write_init(&w, out);
    json_object_open(&w);
    for (size_t i = 0; i < COUNT(demanded); i++) {
        if ((found & 1U << i) || !(demanded[i].when & when))
            continue;
        json_key(&w, demanded[i].name);
        json_raw(&w, demanded[i].value);
    }
    if (!is_empty)
        json_raw(&w, inside_of(json));
    json_object_close(&w);
    return OK;
}
