/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/message.h"

#include "base/cleanup.h"
#include "json/json.h"

/* The members that are read; each may stand once. */
struct members {
    struct json_span jsonrpc, id, method, params, result, error;
};

static struct json_span *member_of(struct members *m, struct json_span key)
{
    const struct {
        struct str name;
        struct json_span *span;
    } known[] = {
        { S("jsonrpc"), &m->jsonrpc }, { S("id"), &m->id },
        { S("method"), &m->method },   { S("params"), &m->params },
        { S("result"), &m->result },   { S("error"), &m->error },
    };

    for (size_t i = 0; i < COUNT(known); i++)
        if (json_string_is(key, known[i].name))
            return known[i].span;
    return NULL;
}

static enum err read_members(struct str text, size_t max_depth, struct members *ret,
                             const char **ret_what)
{
    struct json_scan scan;
    struct json_member member;
    enum err err;

    json_scan_init(&scan, text, max_depth);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &member, &err)) {
        struct json_span *span = member_of(ret, member.key);

        if (!span)
            continue;
        if (span->text.ptr) {
            *ret_what = "a name stands twice";
            return ERR_INVALID;
        }
        *span = member.value;
    }
    if (!err)
        err = json_scan_end(&scan);
    if (err)
        *ret_what = scan.what ? scan.what : "it is no JSON object";
    return err;
}

static bool is_id(struct json_span id)
{
    return id.text.ptr && (id.type == JSON_STRING || id.type == JSON_NUMBER);
}

static bool is_integer(struct json_span span)
{
    struct str digits = span.text;

    if (!digits.ptr || span.type != JSON_NUMBER)
        return false;
    for (size_t i = digits.ptr[0] == '-'; i < digits.len; i++)
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return false;
    return true;
}

static bool is_error(struct json_span error)
{
    struct json_span message;

    if (error.type != JSON_OBJECT)
        return false;
    message = mcp_message_member(error, S("message"));
    return message.text.ptr && message.type == JSON_STRING &&
           is_integer(mcp_message_member(error, S("code")));
}

/* A request or a notification: NULL, or what is wrong. */
static const char *check_asking(const struct members *m)
{
    if (m->result.text.ptr || m->error.text.ptr)
        return "it has a method and an answer";
    if (m->method.type != JSON_STRING)
        return "method is not a string";
    if (m->id.text.ptr && !is_id(m->id))
        return "id is neither a string nor a number";
    if (m->params.text.ptr && m->params.type != JSON_OBJECT)
        return "params is not an object";
    return NULL;
}

static const char *check_answering(const struct members *m)
{
    if (m->result.text.ptr && m->error.text.ptr)
        return "it has a result and an error";
    if (!m->result.text.ptr && !m->error.text.ptr)
        return "it has neither a method nor an answer";
    if (m->result.text.ptr)
        return is_id(m->id) ? NULL : "a result without an id";
    if (m->id.text.ptr && m->id.type != JSON_NULL && !is_id(m->id))
        return "id is neither a string nor a number";
    return is_error(m->error) ? NULL : "error has no code or no message";
}

static enum mcp_message_type type_of(const struct members *m)
{
    if (m->method.text.ptr)
        return m->id.text.ptr ? MESSAGE_REQUEST : MESSAGE_NOTIFICATION;
    return m->result.text.ptr ? MESSAGE_RESULT : MESSAGE_ERROR;
}

enum err mcp_message_read(struct str text, size_t max_depth, struct mcp_message *ret,
                          const char **ret_what)
{
    struct members m = {};
    const char *what = NULL;
    enum err err = read_members(text, max_depth, &m, ret_what);

    if (err)
        return err;
    if (m.jsonrpc.type != JSON_STRING || !json_string_is(m.jsonrpc, S("2.0")))
        what = "jsonrpc is not \"2.0\"";
    else
        what = m.method.text.ptr ? check_asking(&m) : check_answering(&m);
    if (what) {
        *ret_what = what;
        return ERR_INVALID;
    }
    *ret = (struct mcp_message){ .type = type_of(&m),
                                 .method = m.method.text,
                                 .params = m.params,
                                 .result = m.result,
                                 .error = m.error,
                                 .text = text };
    if (is_id(m.id))
        ret->id = m.id;
    return OK;
}

/* --- batches --- */

static bool is_array(struct str text)
{
    static const char blanks[] = { ' ', '\t', '\r', '\n' };
    size_t at = 0;

    while (at < text.len && memchr(blanks, text.ptr[at], sizeof(blanks)))
        at++;
    return at < text.len && text.ptr[at] == '[';
}

enum err mcp_message_walk_begin(struct mcp_message_walk *walk, struct str text,
                                size_t max_depth)
{
    struct json_scan probe;
    struct json_span item;
    enum err err;

    *walk = (struct mcp_message_walk){ .single = text, .is_batch = is_array(text) };
    if (!walk->is_batch)
        return OK;
    json_scan_init(&walk->scan, text, max_depth);
    err = json_array_begin(&walk->scan);
    if (err)
        return err;
    probe = walk->scan;
    if (json_array_next(&probe, &item, &err))
        return OK;
    return err ? err : ERR_INVALID;
}

bool mcp_message_walk_next(struct mcp_message_walk *walk, struct str *ret,
                           enum err *ret_err)
{
    struct json_span item;

    *ret_err = OK;
    if (walk->is_over)
        return false;
    if (!walk->is_batch) {
        walk->is_over = true;
        *ret = walk->single;
        return true;
    }
    if (json_array_next(&walk->scan, &item, ret_err)) {
        *ret = item.text;
        return true;
    }
    walk->is_over = true;
    if (!*ret_err)
        *ret_err = json_scan_end(&walk->scan);
    return false;
}

/* --- looking into them --- */

bool mcp_message_number(struct json_span id, uint64_t *ret)
{
    return id.text.ptr && id.type == JSON_NUMBER && !str_to_u64(id.text, UINT64_MAX, ret);
}

bool mcp_message_is(struct json_span span, enum json_type type)
{
    return span.text.ptr && span.type == type;
}

struct json_span mcp_message_member(struct json_span object, struct str name)
{
    struct json_scan scan;
    struct json_member member;
    enum err err;

    if (!mcp_message_is(object, JSON_OBJECT))
        return (struct json_span){};
    json_walk_init(&scan, object);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &member, &err))
        if (json_string_is(member.key, name))
            return member.value;
    return (struct json_span){};
}

struct json_span mcp_message_find(struct json_span object, const struct str *path,
                                  size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        object = mcp_message_member(object, path[i]);
    return object;
}

/* --- writing --- */

/* A string holds no raw line end, so all of them stand between tokens. */
static void put_line(struct buf *out, struct str json)
{
    while (json.ptr) {
        struct str line = str_cut(&json, '\n');

        while (line.ptr)
            buf_put(out, str_cut(&line, '\r'));
    }
}

static void put_call(struct buf *out, struct str method, struct str params)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_put_str(&w, S("method"), method);
    if (params.len) {
        buf_put(out, S(",\"params\":"));
        put_line(out, params);
    }
    buf_putc(out, '}');
}

void mcp_message_put_request(struct buf *out, uint64_t id, struct str method,
                             struct str params)
{
    buf_put(out, S("{\"jsonrpc\":\"2.0\",\"id\":"));
    buf_putu(out, id);
    buf_putc(out, ',');
    put_call(out, method, params);
}

void mcp_message_put_notification(struct buf *out, struct str method, struct str params)
{
    buf_put(out, S("{\"jsonrpc\":\"2.0\","));
    put_call(out, method, params);
}

void mcp_message_put_answer(struct buf *out, struct json_span id, struct str member,
                            struct str json)
{
    struct str quote = id.type == JSON_STRING ? S("\"") : S("");

    buf_put(out, S("{\"jsonrpc\":\"2.0\",\"id\":"));
    buf_put(out, quote);
    buf_put(out, id.text);
    buf_put(out, quote);
    buf_put(out, S(",\""));
    buf_put(out, member);
    buf_put(out, S("\":"));
    put_line(out, json);
    buf_putc(out, '}');
}
