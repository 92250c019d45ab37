/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/rename.h"

#include "base/cleanup.h"
#include "json/json.h"
#include "mcp/message.h"

enum { URI_ROOM = 8 * OFFER_MAX_URI, PATH = 2 };

/* --- replacing what stands in a text --- */

struct splice {
    struct buf *out;
    struct str text;
    size_t done; /* so much of it is copied, or replaced */
};

/* A string of the text; they come in their order. */
static void splice(struct splice *s, struct json_span string, struct str with)
{
    size_t at = (size_t)(string.text.ptr - s->text.ptr) - 1;
    struct json_writer w;

    buf_put(s->out, str_slice(s->text, s->done, at));
    json_write_init(&w, s->out);
    json_str(&w, with);
    s->done = at + string.text.len + 2;
}

static enum err splice_end(struct splice *s)
{
    buf_put(s->out, str_slice(s->text, s->done, s->text.len));
    return s->out->is_full ? ERR_TOO_BIG : OK;
}

/* --- params --- */

/* Where the name stands, or text.ptr NULL. */
static struct json_span find_string(struct json_span params, const struct str *path,
                                    size_t depth)
{
    struct json_span found = {};

    if (params.text.ptr && params.type == JSON_OBJECT)
        found = mcp_message_find(params, path, depth);
    return found.type == JSON_STRING && found.text.ptr ? found : (struct json_span){};
}

static struct json_span find_ref(struct json_span params, enum offer_type *ret_type)
{
    struct json_span type =
        find_string(params, (const struct str[]){ S("ref"), S("type") }, PATH);

    if (type.text.ptr && json_string_is(type, S("ref/prompt"))) {
        *ret_type = OFFER_PROMPT;
        return find_string(params, (const struct str[]){ S("ref"), S("name") }, PATH);
    }
    *ret_type = OFFER_RESOURCE;
    return find_string(params, (const struct str[]){ S("ref"), S("uri") }, PATH);
}

static struct json_span find_name(struct str method, struct json_span params,
                                  enum offer_type *ret_type)
{
    /* clang-format off */
    static const struct { struct str method, member; enum offer_type type; } rows[] = {
        { S("tools/call"),            S("name"), OFFER_TOOL },
        { S("prompts/get"),           S("name"), OFFER_PROMPT },
        { S("resources/read"),        S("uri"),  OFFER_RESOURCE },
        { S("resources/subscribe"),   S("uri"),  OFFER_RESOURCE },
        { S("resources/unsubscribe"), S("uri"),  OFFER_RESOURCE },
    };
    /* clang-format on */

    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_eq(rows[i].method, method)) {
            *ret_type = rows[i].type;
            return find_string(params, &rows[i].member, 1);
        }
    if (str_eq(method, S("completion/complete")))
        return find_ref(params, ret_type);
    return (struct json_span){};
}

bool rename_read(struct str method, struct json_span params, struct arena *scratch,
                 struct named *ret)
{
    enum offer_type type;
    struct json_span name = find_name(method, params, &type);
    struct str text;

    if (!name.text.ptr || json_unescape(name, scratch, &text))
        return false;
    *ret = (struct named){ .type = type, .name = text };
    return true;
}

enum err rename_params(struct buf *out, struct str method, struct json_span params,
                       struct str key)
{
    struct splice s = { .out = out, .text = params.text };
    enum offer_type type;
    struct json_span name = find_name(method, params, &type);

    if (name.text.ptr && !json_string_is(name, key))
        splice(&s, name, key);
    return splice_end(&s);
}

/* --- results --- */

struct renaming {
    struct splice splice;
    const struct showcase *showcase;
    struct str owner;
};

/* {"uri":…} */
static void rename_resource(struct renaming *r, struct json_span resource)
{
    struct json_span uri = find_string(resource, &S("uri"), 1);
    CLEANUP(arena_done) struct arena scratch;
    CLEANUP(buf_done) struct buf name;
    struct str own, here;

    arena_init(&scratch, URI_ROOM);
    buf_init(&name, URI_ROOM);
    if (!uri.text.ptr || json_unescape(uri, &scratch, &own))
        return;
    here = showcase_uri(r->showcase, r->owner, own, &name);
    if (!name.is_full && !str_eq(here, own))
        splice(&r->splice, uri, here);
}

/* {"type":"resource_link","uri":…}, {"type":"resource","resource":{"uri":…}} */
static void rename_block(struct renaming *r, struct json_span block)
{
    struct json_span type = find_string(block, &S("type"), 1);

    if (!type.text.ptr)
        return;
    if (json_string_is(type, S("resource_link")))
        rename_resource(r, block);
    else if (json_string_is(type, S("resource")))
        rename_resource(r, mcp_message_member(block, S("resource")));
}

static void rename_each(struct renaming *r, struct json_span array,
                        void (*rename)(struct renaming *r, struct json_span item))
{
    struct json_scan scan;
    struct json_span item;
    enum err err;

    if (!array.text.ptr || array.type != JSON_ARRAY)
        return;
    json_scan_init(&scan, array.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err))
        rename(r, item);
}

/* {"role":…,"content":…} with one block or several */
static void rename_message(struct renaming *r, struct json_span message)
{
    struct json_span content;

    if (message.type != JSON_OBJECT)
        return;
    content = mcp_message_member(message, S("content"));
    if (content.type == JSON_ARRAY)
        rename_each(r, content, rename_block);
    else
        rename_block(r, content);
}

/* `member` "": the whole is one. */
/* clang-format off */
static const struct {
    struct str method, member;
    void (*rename)(struct renaming *r, struct json_span item);
} results[] = {
    { S("tools/call"),                      S("content"),  rename_block },
    { S("tasks/result"),                    S("content"),  rename_block },
    { S("resources/read"),                  S("contents"), rename_resource },
    { S("prompts/get"),                     S("messages"), rename_message },
    { S("notifications/resources/updated"), S(""),         rename_resource },
};
/* clang-format on */

enum err rename_result(struct buf *out, const struct showcase *showcase, struct str owner,
                       struct str method, struct json_span result)
{
    struct renaming r = {
        .splice = { .out = out, .text = result.text },
        .showcase = showcase,
        .owner = owner,
    };

    if (result.type != JSON_OBJECT || !showcase_renames(showcase, owner))
        return splice_end(&r.splice);
    for (size_t i = 0; i < COUNT(results); i++) {
        if (!str_eq(results[i].method, method))
            continue;
        if (!results[i].member.len)
            results[i].rename(&r, result);
        else
            rename_each(&r, mcp_message_member(result, results[i].member),
                        results[i].rename);
    }
    return splice_end(&r.splice);
}
