/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log in dots. Texts stand in the log in slash spelling; dotted lanes, replays and
 * polls get them translated (D20). What participants said keeps every byte but those of
 * `protocol` and `kind`. What the gateway said to all names kinds and capabilities in its
 * payload as well, and these are respelt too.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "envelope/strict.h"
#include "envelope/system.h"
#include "envelope/translate.h"
#include "policy/capability.h"
#include "topic/reading.h"
#include "topic/topic_priv.h"

enum { SCRATCH_BYTES = 64 << 20 }; /* more than there are escapes in an envelope */

void spell_dotted(const struct envelope *env, struct buf *out)
{
    struct translation t;

    translation_init(&t, env, DIALECT_DOTTED);
    if (buf_reserve(out, t.len))
        return;
    translation_write(&t, out->ptr + out->len);
    out->len += t.len;
}

/* --- what the gateway said --- */

enum said { SAID_OTHER, SAID_KIND, SAID_CAPABILITIES };

static enum said said_under(const struct json_member *m)
{
    static const struct {
        struct str key;
        enum said said;
    } keys[] = {
        /* clang-format off */
        { S("kind"),           SAID_KIND },
        { S("attempted_kind"), SAID_KIND },
        { S("capabilities"),   SAID_CAPABILITIES },
        { S("still"),          SAID_CAPABILITIES },
        /* clang-format on */
    };

    for (size_t i = 0; i < COUNT(keys); i++)
        if (json_string_is(m->key, keys[i].key))
            return keys[i].said;
    return SAID_OTHER;
}

static void put_kind(struct json_span kind, struct arena *arena, struct json_writer *w)
{
    char space[KIND_MAX_BYTES];
    struct str text = kind.text;

    (void)json_unescape(kind, arena, &text);
    json_str(w, kind_in(text, DIALECT_DOTTED, space));
}

static void put_capability(struct json_span written, struct arena *arena,
                           struct json_writer *w)
{
    struct str text = written.text;
    struct capability *cap;

    if (written.type == JSON_STRING)
        (void)json_unescape(written, arena, &text);
    if (capability_new(text, &cap, NULL))
        return; /* what the gateway names is one */
    capability_write(cap, DIALECT_DOTTED, w);
    capability_free(cap);
}

static void put_capabilities(struct json_span list, struct arena *arena,
                             struct json_writer *w)
{
    struct json_scan scan;
    struct json_span item;
    enum err err;

    json_scan_init(&scan, list.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    json_array_open(w);
    while (!err && json_array_next(&scan, &item, &err))
        put_capability(item, arena, w);
    json_array_close(w);
}

static void put_value(const struct json_member *m, struct arena *arena,
                      struct json_writer *w)
{
    enum said said = said_under(m);

    if (said == SAID_KIND && m->value.type == JSON_STRING)
        put_kind(m->value, arena, w);
    else if (said == SAID_CAPABILITIES && m->value.type == JSON_ARRAY)
        put_capabilities(m->value, arena, w);
    else if (m->value.type == JSON_STRING) /* with its quotes */
        json_raw(w, (struct str){ m->value.text.ptr - 1, m->value.text.len + 2 });
    else
        json_raw(w, m->value.text);
}

/* The gateway writes its own without spaces, and the payload last. */
static void spell_announcement(const struct envelope *env, struct arena *arena,
                               struct buf *out)
{
    struct str payload = env->payload.text;
    struct translation t;
    struct json_scan scan;
    struct json_member m;
    struct json_writer w;
    enum err err;

    translation_init(&t, env, DIALECT_DOTTED);
    for (size_t i = 0; i + 1 < TRANSLATION_PARTS; i++)
        buf_put(out, t.parts[i]);
    buf_put(out,
            (struct str){ t.parts[TRANSLATION_PARTS - 1].ptr,
                          (size_t)(payload.ptr - t.parts[TRANSLATION_PARTS - 1].ptr) });
    json_write_init(&w, out);
    json_object_open(&w);
    json_scan_init(&scan, payload, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        json_key(&w, m.key.text); /* its own, which need no escapes */
        put_value(&m, arena, &w);
    }
    json_object_close(&w);
    buf_put(out, S("}"));
}

/* --- entries --- */

void spell_text(struct str text, struct buf *out)
{
    struct arena arena;
    struct envelope env;

    arena_init(&arena, SCRATCH_BYTES);
    /* It stands in the log, so it scans. */
    if (envelope_scan(text, JSON_MAX_DEPTH, DIALECT_SLASH, &arena, &env, NULL) == OK) {
        env.kind.text = env.kind_text;
        if (str_eq(env.from, S(SYSTEM_SENDER)))
            spell_announcement(&env, &arena, out);
        else
            spell_dotted(&env, out);
    }
    arena_done(&arena);
}

struct str topic_entry_text(const struct topic *topic, const struct entry *entry,
                            enum dialect dialect, struct buf *out)
{
    if (!entry->is_presence && dialect == DIALECT_SLASH)
        return entry_text(entry);
    buf_clear(out);
    if (entry->is_presence)
        (void)presence_write(topic, &entry->presence, dialect, out);
    else
        spell_text(entry_text(entry), out);
    return buf_str(out);
}

/* D21: what a dotted reader is told says what its kind says. */
static bool is_strict(struct str text)
{
    struct strict_problem problem;
    struct arena arena;
    struct envelope env;
    enum err err;

    arena_init(&arena, SCRATCH_BYTES);
    err = envelope_scan(text, JSON_MAX_DEPTH, DIALECT_SLASH, &arena, &env, NULL);
    if (!err)
        err = kind_parse(env.kind_text, &env.kind);
    if (!err)
        err = strict_check(&env.kind, env.payload, &arena, &problem);
    arena_done(&arena);
    return !err;
}

bool entry_may_be_dotted(const struct entry *entry)
{
    return entry->was_checked || is_strict(entry_text(entry));
}

struct str topic_text_in(struct str text, enum dialect dialect, struct buf *out)
{
    if (dialect == DIALECT_SLASH)
        return text;
    buf_clear(out);
    if (is_strict(text))
        spell_text(text, out);
    return buf_str(out);
}
