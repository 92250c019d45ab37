/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/draft.h"

#include <string.h>

#include "base/cleanup.h"
#include "participant/calls_priv.h"
#include "participant/check.h"
#include "participant/occupant_priv.h"
#include "participant/proposals_priv.h"

enum {
    MAX_ENVELOPE = 64 << 20, /* no gateway takes more */
    MAX_KEPT = 1 << 20,      /* of memory, until the next one */
    MAX_RESTING = 4096,      /* … where that may be long */
};

void pad_init(struct pad *pad)
{
    *pad = (struct pad){};
    buf_init(&pad->out, MAX_ENVELOPE);
    buf_init(&pad->kind, MAX_ENVELOPE);
    buf_init(&pad->params, MAX_ENVELOPE);
    arena_init(&pad->arena, OCCUPANT_SCRATCH);
}

void pad_done(struct pad *pad)
{
    buf_done(&pad->out);
    buf_done(&pad->kind);
    buf_done(&pad->params);
    arena_done(&pad->arena);
}

static void rest(struct buf *buf)
{
    if (buf->size > MAX_RESTING)
        buf_done(buf);
}

void pad_rest(struct pad *pad)
{
    rest(&pad->out);
    rest(&pad->kind);
    rest(&pad->params);
    arena_done(&pad->arena);
}

static void clear(struct buf *buf)
{
    if (buf->size > MAX_KEPT)
        buf_done(buf);
    buf_clear(buf);
}

struct id {
    char *text; /* ASK_ID bytes */
    size_t len;
};

/* As much as fits. */
static void put(struct id *id, struct str part)
{
    size_t len = part.len < ASK_ID - id->len ? part.len : ASK_ID - id->len;

    memcpy(id->text + id->len, part.ptr, len);
    id->len += len;
}

/* In `least` digits or more, from the last to the first. */
static void put_number(struct id *id, uint64_t number, unsigned base, size_t least)
{
    size_t room = ASK_ID - id->len;
    size_t count = 1;

    for (uint64_t rest = number / base; rest; rest /= base)
        count++;
    if (count < least)
        count = least;
    if (count > room)
        count = room;
    for (size_t i = count; i > 0; i--) {
        id->text[id->len + i - 1] = "0123456789abcdef"[number % base];
        number /= base;
    }
    id->len += count;
}

struct str draft_id(struct occupant *o)
{
    enum { DECIMAL = 10, HEX = 16, HASH_DIGITS = 8 };
    const struct hash_key *key = o->settings.id_key;
    struct id id = { .text = o->calls->pad.id };

    put(&id, o->settings.id_prefix);
    put(&id, S("-"));
    put_number(&id, ++o->ids, DECIMAL, 1);
    if (key) {
        uint32_t hash = (uint32_t)hash_of(key, (struct str){ id.text, id.len });

        put(&id, S("-"));
        put_number(&id, hash, HEX, HASH_DIGITS);
    }
    return (struct str){ id.text, id.len };
}

struct str draft_kind(struct occupant *o, struct str type, struct str method,
                      struct str name)
{
    struct buf *kind = &o->calls->pad.kind;

    clear(kind);
    buf_put(kind, type);
    buf_put(kind, method);
    if (name.len) {
        buf_putc(kind, ':');
        buf_put(kind, name);
    }
    return buf_str(kind);
}

void draft_begin(struct occupant *o, struct draft *draft, const struct say_head *head)
{
    struct buf *out = &o->calls->pad.out;

    clear(out);
    draft->head = *head;
    draft->head.from = o->id;
    draft->head.wall_ms = o->now.wall_ms;
    say_begin(&draft->w, out, &draft->head);
    draft->payload_at = out->len;
}

static const char *complaint(enum err err)
{
    switch ((int)err) {
    case ERR_MALFORMED_KIND: return "this is no kind";
    case ERR_RESERVED_NAMESPACE: return "kinds of this name are the gateway's alone";
    case ERR_MISSING_CORRELATION: return "it must say what it is about: correlation_id";
    case ERR_KIND_PAYLOAD_MISMATCH: return "the payload does not say what the kind says";
    default: return "a field of the envelope is not what it must be";
    }
}

/* Whether a text is nested too deeply is for the gateway to say, in its own words: the
 * depth with which it was found in order. */
static enum err check_draft(struct occupant *o, struct heard *ret, size_t *ret_depth)
{
    struct pad *pad = &o->calls->pad;
    const size_t depths[] = { o->settings.limits.depth, JSON_MAX_DEPTH };
    struct str field;
    enum err err = OK;

    for (size_t i = 0; i < COUNT(depths); i++) {
        arena_reset(&pad->arena);
        err = check_text(buf_str(&pad->out), depths[i], &pad->arena, ret, &field);
        *ret_depth = depths[i];
        if (!err)
            break;
    }
    return err;
}

static enum err hand_over(struct occupant *o, const struct heard *said, size_t depth)
{
    if (o->seat->send_scanned)
        return o->seat->send_scanned(o->seat, &said->env, depth);
    return o->seat->send(o->seat, said->env.text);
}

enum err draft_send(struct occupant *o, struct draft *draft)
{
    struct pad *pad = &o->calls->pad;
    struct heard said;
    size_t depth;
    enum err err;

    say_end(&draft->w);
    if (!occupant_is_welcome(o))
        return ERR_AGAIN;
    if (pad->out.is_full || (o->envelope_bytes && pad->out.len > o->envelope_bytes))
        return ERR_TOO_BIG;
    err = check_draft(o, &said, &depth);
    if (err) {
        draft->why = complaint(err);
        return ERR_INVALID;
    }
    if (!draft->is_told && !occupant_may(o, draft->head.kind, said.env.payload))
        return ERR_FORBIDDEN;
    err = hand_over(o, &said, depth);
    if (err)
        return err;
    said.is_mine = true;
    proposals_note(o, &said, &pad->arena);
    return OK;
}

static bool scan_value(const struct occupant *o, struct str json, struct json_span *ret)
{
    struct json_scan scan;

    json_scan_init(&scan, json, o->settings.limits.depth);
    return json_value(&scan, ret) == OK && json_scan_end(&scan) == OK;
}

bool draft_is_json(const struct occupant *o, struct str json)
{
    struct json_span span;

    return scan_value(o, json, &span);
}

bool draft_is_object(const struct occupant *o, struct str json)
{
    struct json_span span;

    return scan_value(o, json, &span) && span.type == JSON_OBJECT;
}
