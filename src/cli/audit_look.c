/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_look.h"

#include <time.h>

#include "base/arena.h"
#include "base/plain.h"
#include "cli/cell.h"
#include "json/json.h"

enum { ARENA_BYTES = 256 << 20, BODY = 200, LEAST_BODY = 16 };
enum { LONG_TIME = 23, SHORT_TIME = 14, WIDE_SCREEN = 120 };
enum { USUAL_WHO = 10, USUAL_SHORT_KIND = 17, USUAL_KIND = 27 }; /* columns seldom move */
enum { WIDE_TOPIC = 20, WIDE_WHO = 20, WIDE_KIND = 34, WIDE_VERDICT = 22 };

/* "11-15 18:03:44" where room is dear. */
static void put_time(struct buf *out, uint64_t at_ms, bool is_short)
{
    time_t seconds = (time_t)(at_ms / 1000);
    struct tm here = {};

    (void)localtime_r(&seconds, &here); // lint: people read it, where they are
    if (!is_short)
        buf_putf(out, "%04d-", here.tm_year + 1900);
    buf_putf(out, "%02d-%02d %02d:%02d:%02d", here.tm_mon + 1, here.tm_mday, here.tm_hour,
             here.tm_min, here.tm_sec);
    if (!is_short)
        buf_putf(out, ".%03u", (unsigned)(at_ms % 1000));
}

void audit_look_put_time(struct buf *out, uint64_t at_ms)
{
    put_time(out, at_ms, false);
}

/* --- what a body says --- */

static struct str raw_of(const struct json *json)
{
    return json ? json->raw : S("");
}

/* The first text of a tool's result, or all of it. */
static struct str result_text(const struct json *result)
{
    const struct json *content = json_find(result, S("content"));

    if (content && content->type == JSON_ARRAY)
        JSON_FOREACH(item, content)
            if (json_text(json_find(item, S("text"))).len)
                return json_text(json_find(item, S("text")));
    return raw_of(result);
}

static struct str params_text(const struct json *params)
{
    const struct json *arguments = json_find(params, S("arguments"));

    return raw_of(arguments ? arguments : params);
}

/* The member that says most. */
static struct str payload_text(const struct json *payload)
{
    const struct json *result = json_find(payload, S("result"));
    const struct json *params = json_find(payload, S("params"));
    struct str text = json_text(json_find(payload, S("text")));

    if (!text.len)
        text = json_text(json_find(json_find(payload, S("error")), S("message")));
    if (!text.len && result)
        text = result_text(result);
    if (!text.len && params)
        text = params_text(params);
    if (!text.len)
        text = json_text(json_find(payload, S("reason")));
    return text.len ? text : raw_of(payload);
}

static bool is_envelope(const struct audit_record *record)
{
    return record->event == AUDIT_ENVELOPE || record->event == AUDIT_REFUSAL;
}

static void put_member(struct buf *out, const struct json *member)
{
    struct str value = member->type == JSON_STRING ? member->text : member->raw;

    if (!value.len)
        return;
    buf_put(out, out->len ? S(", ") : S(""));
    buf_put(out, member->key);
    buf_putc(out, ' ');
    buf_put(out, value);
}

/* "address 10.0.0.7, token bot": what the gateway says of itself, without what is empty.
 * What an administrator asked for comes first, for it says most. */
static struct str members_text(const struct json *object, struct arena *arena)
{
    const struct json *request = json_find(object, S("request"));
    struct buf text;
    struct str kept;

    buf_init(&text, object->raw.len * 2 + 1);
    if (request)
        put_member(&text, request);
    JSON_FOREACH(member, object)
        if (member != request)
            put_member(&text, member);
    kept = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return kept;
}

static struct str body_text(const struct audit_record *record, const struct json *root,
                            struct arena *arena)
{
    const struct json *payload = json_find(root, S("payload"));

    if (is_envelope(record) && payload)
        return payload_text(payload);
    if (!is_envelope(record) && root->type == JSON_OBJECT)
        return members_text(root, arena);
    return root->type == JSON_STRING ? root->text : root->raw;
}

/* "-> worker, bob " */
static size_t put_addressees(struct buf *out, const struct audit_record *record,
                             const struct json *root, size_t max)
{
    const struct json *to = json_find(root, S("to"));
    size_t count = 0;

    if (!is_envelope(record) || !to || to->type != JSON_ARRAY || max < LEAST_BODY)
        return 0;
    JSON_FOREACH(who, to) {
        if (count + LEAST_BODY > max)
            break;
        buf_put(out, count ? S(", ") : S("-> "));
        count += count ? 2 : 3;
        count += cell_put_cut(out, json_text(who), max - count);
    }
    if (count)
        buf_put(out, S("  "));
    return count ? count + 2 : 0;
}

static size_t put_removed(struct buf *out, const struct audit_record *record, size_t max)
{
    char text[64];
    size_t at = 0;
    struct buf b;

    buf_init(&b, sizeof(text));
    buf_putf(&b, "(removed: %zu bytes)", record->body_bytes);
    at = cell_put_cut(out, buf_str(&b), max);
    buf_done(&b);
    return at;
}

size_t audit_look_put_body(struct buf *out, const struct audit_record *record, size_t max)
{
    const struct json *root;
    struct arena arena;
    size_t count = 0;

    if (audit_body_is_removed(record))
        return put_removed(out, record, max);
    if (!record->body.len)
        return 0;
    arena_init(&arena, ARENA_BYTES);
    if (json_parse(record->body, &arena, &root, NULL) == OK) {
        count = put_addressees(out, record, root, max);
        count += cell_put_cut(out, body_text(record, root, &arena),
                              max > count ? max - count : 0);
    } else {
        count = cell_put_cut(out, record->body, max);
    }
    arena_done(&arena);
    return count;
}

/* --- a line of it --- */

static size_t at_least(size_t width, size_t least)
{
    return width < least ? least : width;
}

/* A column that has been so wide before, and never will be wider than `max`. Returns how
 * many characters it takes. */
static size_t put_column(struct buf *out, struct str text, const char *ink,
                         const char *off, size_t *width, size_t max)
{
    size_t count;

    buf_put(out, str_of(ink));
    count = cell_put_cut(out, text.len ? text : S("-"), max);
    buf_put(out, str_of(off));
    *width = at_least(*width, count);
    for (size_t i = count; i < *width + 2; i++)
        buf_putc(out, ' ');
    return *width + 2;
}

static const char *colour_of(const struct palette *ink, struct str who)
{
    size_t sum = 0;

    for (size_t i = 0; i < who.len; i++)
        sum = sum * 31 + (unsigned char)who.ptr[i];
    return who.len ? ink->people[sum % PALETTE_PEOPLE] : ink->dim;
}

static bool is_allowed(const struct audit_record *record)
{
    return record->verdict.len == 0 || str_eq(record->verdict, S("allowed"));
}

/* "chat", "connect websocket": what is no envelope says so. On a terminal, where room is
 * dear, "request delete_file" for mcp/request:tools/call:delete_file. */
static void kind_text(struct buf *out, const struct audit_record *record, bool is_short)
{
    struct str call = S(":tools/call:");
    struct str kind = record->kind;
    const char *at;

    if (!is_envelope(record)) {
        buf_put(out, audit_event_name(record->event));
        buf_put(out, kind.len ? S(" ") : S(""));
    } else if (is_short && str_starts(kind, S("mcp/"))) {
        kind = str_slice(kind, 4, kind.len);
        at = memmem(kind.ptr, kind.len, call.ptr, call.len);
        if (at) {
            buf_put(out, str_slice(kind, 0, (size_t)(at - kind.ptr)));
            buf_putc(out, ' ');
            kind = str_slice(kind, (size_t)(at - kind.ptr) + call.len, kind.len);
        }
    }
    buf_put(out, kind);
}

static size_t put_columns(struct buf *out, struct audit_look *look,
                          const struct audit_record *r)
{
    const struct palette *ink = look->ink;
    bool is_narrow = look->columns && look->columns < WIDE_SCREEN;
    size_t used = 2 + (is_narrow ? SHORT_TIME : LONG_TIME);
    struct buf kind;

    look->topic = at_least(look->topic, 6);
    look->who = at_least(look->who, is_narrow ? 6 : USUAL_WHO);
    look->kind = at_least(look->kind, look->columns ? USUAL_SHORT_KIND : USUAL_KIND);
    look->verdict = at_least(look->verdict, sizeof("allowed") - 1);
    buf_put(out, str_of(ink->dim));
    put_time(out, r->at_ms, is_narrow);
    buf_putf(out, "%s  ", ink->off);
    used += put_column(out, r->topic, "", "", &look->topic, WIDE_TOPIC);
    used += put_column(out, r->participant, colour_of(ink, r->participant), ink->off,
                       &look->who, WIDE_WHO);
    buf_init(&kind, 1 << 20);
    kind_text(&kind, r, look->columns);
    used += put_column(out, buf_str(&kind), is_envelope(r) ? "" : ink->dim,
                       is_envelope(r) ? "" : ink->off, &look->kind, WIDE_KIND);
    buf_done(&kind);
    if (!is_narrow || !is_allowed(r)) /* where room is dear, only what was refused */
        used +=
            put_column(out, r->verdict, is_allowed(r) ? ink->good : ink->bad, ink->off,
                       is_narrow ? &(size_t){ 0 } : &look->verdict, WIDE_VERDICT);
    return used;
}

static void put_ids(struct buf *out, const struct audit_look *look,
                    const struct audit_record *r)
{
    buf_putf(out, "  %s[#%llu", look->ink->dim, (unsigned long long)r->seq);
    if (r->id.len) {
        buf_putc(out, ' ');
        plain_put(out, r->id, PLAIN_LINE);
    }
    if (r->correlation.len) {
        buf_put(out, S(" re "));
        plain_put(out, r->correlation, PLAIN_LINE);
    }
    buf_putf(out, "]%s", look->ink->off);
}

void audit_look_put(struct buf *out, struct audit_look *look,
                    const struct audit_record *record)
{
    size_t used = put_columns(out, look, record);
    size_t room = BODY;

    if (look->columns && !look->has_ids)
        room = look->columns > used ? look->columns - used : LEAST_BODY;
    (void)audit_look_put_body(out, record, room);
    while (out->len && out->ptr[out->len - 1] == ' ')
        out->len--;
    if (look->has_ids)
        put_ids(out, look, record);
    buf_putc(out, '\n');
}
