/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "envelope/kind.h"
#include "json/json.h"

enum { TEXT_BYTES = 128 << 20, ARENA_BYTES = 512 << 20 };

struct replay_id {
    char *now;
    size_t len;
    char was[];
};

void replay_init(struct replay *replay)
{
    *replay = (struct replay){};
    map_init(&replay->ids);
    buf_init(&replay->kind, TEXT_BYTES);
    buf_init(&replay->payload, TEXT_BYTES);
    buf_init(&replay->members, TEXT_BYTES);
}

void replay_done(struct replay *replay)
{
    struct replay_id *id;

    MAP_FOREACH(id, &replay->ids) {
        free(id->now);
        free(id);
    }
    map_done(&replay->ids);
    buf_done(&replay->kind);
    buf_done(&replay->payload);
    buf_done(&replay->members);
}

static bool is_chat(struct str kind)
{
    return str_eq(kind, S("chat"));
}

static void put_kind(struct buf *out, struct str kind)
{
    struct str rest = kind;

    if (!is_chat(kind) && !str_starts(kind, S("replay/")))
        buf_put(out, S("replay/"));
    buf_put(out, str_cut(&rest, ':'));
}

static void put_origin(struct buf *out, const struct audit_record *record,
                       const struct json *envelope)
{
    const struct json *to = json_find(envelope, S("to"));
    struct str ts = json_text(json_find(envelope, S("ts")));
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("replay_of"));
    json_object_open(&w);
    json_put_str(&w, S("from"), record->participant);
    json_put_str(&w, S("id"), record->id);
    if (ts.len)
        json_put_str(&w, S("ts"), ts);
    else
        json_put_time(&w, S("ts"), record->at_ms);
    if (!is_chat(record->kind))
        json_put_str(&w, S("kind"), record->kind);
    if (to && to->type == JSON_ARRAY) {
        json_key(&w, S("to"));
        json_raw(&w, to->raw);
    }
    json_object_close(&w);
    json_object_close(&w);
}

static enum err prepare(struct replay *replay, const struct audit_record *record,
                        struct arena *arena)
{
    const struct json *envelope, *payload;
    struct replay_id *id;
    struct kind kind;

    if (json_parse(record->body, arena, &envelope, NULL))
        return ERR_INVALID;
    payload = json_find(envelope, S("payload"));
    if (!payload || payload->type != JSON_OBJECT)
        return ERR_INVALID;
    buf_clear(&replay->kind);
    buf_clear(&replay->payload);
    buf_clear(&replay->members);
    put_kind(&replay->kind, record->kind);
    if (kind_parse(buf_str(&replay->kind), &kind) ||
        (kind.type != KIND_CHAT && kind.type != KIND_OTHER))
        return ERR_INVALID; /* nothing that anybody would execute leaves here */
    buf_put(&replay->payload, payload->raw);
    put_origin(&replay->members, record, envelope);
    id = record->correlation.len ? map_find(&replay->ids, record->correlation) : NULL;
    replay->correlation_id = id ? id->now : NULL;
    return OK;
}

enum err replay_prepare(struct replay *replay, const struct audit_record *record)
{
    struct arena arena;
    enum err err;

    if (record->event != AUDIT_ENVELOPE || !record->body.len)
        return ERR_NOT_FOUND;
    arena_init(&arena, ARENA_BYTES);
    err = prepare(replay, record, &arena);
    arena_done(&arena);
    return err;
}

void replay_note(struct replay *replay, const struct audit_record *record, const char *id)
{
    struct str was = record->id;
    struct replay_id *entry = was.len ? map_find(&replay->ids, was) : NULL;

    if (!was.len || (!entry && replay->ids.count >= REPLAY_IDS))
        return;
    if (!entry) {
        entry = xcalloc(1, sizeof(*entry) + was.len);
        memcpy(entry->was, was.ptr, was.len);
        entry->len = was.len;
        map_set(&replay->ids, (struct str){ entry->was, was.len }, entry);
    }
    free(entry->now);
    entry->now = xstrdup(id);
}
