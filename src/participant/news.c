/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/news.h"

#include "envelope/envelope.h"
#include "participant/pick.h"
#include "policy/capability.h"

enum { MAX_TYPE = 32 }; /* bytes of a participant's type */

static enum err bad(struct str *ret_field, struct str field)
{
    *ret_field = field;
    return ERR_MALFORMED_ENVELOPE;
}

/* A value of another type counts as absent: it is news of a later version. */
static struct json_span only(struct json_span span, enum json_type type)
{
    return pick_is(span, type) ? span : (struct json_span){};
}

static bool read_text(struct json_span span, struct arena *arena, struct str *ret)
{
    return pick_is(span, JSON_STRING) && json_unescape(span, arena, ret) == OK;
}

static bool read_number(struct json_span span, uint64_t *ret)
{
    return pick_is(span, JSON_NUMBER) && str_to_u64(span.text, UINT64_MAX, ret) == OK;
}

/* --- participants --- */

/* {"id":…,"capabilities":[…],"moot":{"type":…,"capabilities":[…]}}; in a batch with
 * "event" besides, which is left where it is not asked for. */
static bool read_participant(struct json_span object, struct arena *arena,
                             struct roster_note *ret, struct json_span *ret_event)
{
    struct json_span id = {};
    struct json_span moot = {};
    struct json_span type = {};
    struct roster_note note = {};

    if (!PICK(object, { S("id"), &id }, { S("capabilities"), &note.patterns },
              { S("moot"), &moot }, { S("event"), ret_event }))
        return false;
    if (!read_text(id, arena, &note.id) || note.id.len == 0 ||
        note.id.len > ENVELOPE_MAX_ID || envelope_has_control(note.id))
        return false;
    if (pick_is(moot, JSON_OBJECT) &&
        !PICK(moot, { S("type"), &type }, { S("capabilities"), &note.objects }))
        return false;
    note.patterns = only(note.patterns, JSON_ARRAY);
    note.objects = only(note.objects, JSON_ARRAY);
    if (!read_text(type, arena, &note.type) || note.type.len > MAX_TYPE ||
        envelope_has_control(note.type))
        note.type = S("");
    *ret = note;
    return true;
}

void news_walk_list(struct news_walk *walk, struct json_span participants)
{
    *walk = (struct news_walk){ .joins = true };
    json_scan_init(&walk->scan, participants.text, JSON_MAX_DEPTH);
    walk->is_over =
        !pick_is(participants, JSON_ARRAY) || json_array_begin(&walk->scan) != OK;
}

static bool is_event(struct json_span event, bool *ret_joins)
{
    if (!pick_is(event, JSON_STRING))
        return false;
    *ret_joins = json_string_is(event, S("join"));
    return *ret_joins || json_string_is(event, S("leave"));
}

enum err news_walk_presence(struct news_walk *walk, struct json_span payload,
                            struct str *ret_field)
{
    struct json_span event = {};
    struct json_span participant = {};
    struct json_span participants = {};
    bool joins = false;

    if (!PICK(payload, { S("event"), &event }, { S("participant"), &participant },
              { S("participants"), &participants }) ||
        !pick_is(event, JSON_STRING))
        return bad(ret_field, S("payload.event"));
    if (json_string_is(event, S("batch"))) {
        if (!pick_is(participants, JSON_ARRAY))
            return bad(ret_field, S("payload.participants"));
        news_walk_list(walk, participants);
        walk->is_batch = true;
        return OK;
    }
    if (!is_event(event, &joins))
        return bad(ret_field, S("payload.event"));
    if (!pick_is(participant, JSON_OBJECT))
        return bad(ret_field, S("payload.participant"));
    *walk = (struct news_walk){ .one = participant, .joins = joins };
    return OK;
}

static bool next_element(struct news_walk *walk, struct json_span *ret)
{
    enum err err = OK;

    if (walk->is_over)
        return false;
    if (walk->one.text.ptr) {
        *ret = walk->one;
        walk->is_over = true;
        return true;
    }
    walk->is_over = !json_array_next(&walk->scan, ret, &err);
    return !walk->is_over;
}

bool news_next(struct news_walk *walk, struct arena *arena, struct roster_note *ret,
               bool *ret_joins)
{
    struct json_span element = {};

    while (next_element(walk, &element)) {
        struct json_span event = {};
        bool joins = walk->joins;

        arena_reset(arena);
        if (read_participant(element, arena, ret, &event) &&
            (!walk->is_batch || is_event(event, &joins))) {
            if (ret_joins)
                *ret_joins = joins;
            return true;
        }
        walk->bad++;
    }
    return false;
}

/* --- the welcome --- */

static enum err read_offer(struct json_span moot, struct welcome *ret,
                           struct str *ret_field)
{
    struct json_span limits = {};
    struct json_span bytes = {};

    if (!pick_is(moot, JSON_OBJECT)) /* a gateway of another make */
        return OK;
    if (!PICK(moot, { S("limits"), &limits }, { S("proposals"), &ret->proposals },
              { S("grants"), &ret->grants }))
        return bad(ret_field, S("payload.moot"));
    ret->proposals = only(ret->proposals, JSON_ARRAY);
    ret->grants = only(ret->grants, JSON_ARRAY);
    if (!pick_is(limits, JSON_OBJECT))
        return OK;
    if (!PICK(limits, { S("envelope_bytes"), &bytes }))
        return bad(ret_field, S("payload.moot.limits"));
    (void)read_number(bytes, &ret->envelope_bytes);
    return OK;
}

enum err news_welcome(struct json_span payload, struct arena *arena, struct welcome *ret,
                      struct str *ret_field)
{
    struct welcome welcome = {};
    struct json_span you = {};
    struct json_span moot = {};
    struct json_span event = {};
    enum err err;

    if (!PICK(payload, { S("you"), &you }, { S("participants"), &welcome.participants },
              { S("moot"), &moot }))
        return bad(ret_field, S("payload"));
    if (!read_participant(you, arena, &welcome.you, &event))
        return bad(ret_field, S("payload.you"));
    welcome.participants = only(welcome.participants, JSON_ARRAY);
    err = read_offer(moot, &welcome, ret_field);
    if (err)
        return err;
    *ret = welcome;
    return OK;
}

/* --- what we may do --- */

/* Room for as many as a set may hold. */
struct gathering {
    struct arena *arena;
    struct str *items;
    size_t count;
    size_t objects;
};

static void gather_one(struct gathering *g, struct json_span item)
{
    struct str text = item.text;
    bool is_object;

    if (item.type != JSON_OBJECT && !read_text(item, g->arena, &text))
        return;
    is_object = capability_text_is_object(text);
    if (is_object != (item.type == JSON_OBJECT) || g->count == CAPSET_MAX_PATTERNS ||
        (is_object && g->objects == CAPSET_MAX_OBJECTS) ||
        capset_check((struct str_list){ &text, 1 }, NULL, NULL))
        return;
    g->objects += is_object;
    g->items[g->count++] = text;
}

static void gather(struct gathering *g, struct json_span list)
{
    struct json_scan scan;
    struct json_span item;
    enum err err;

    if (!pick_is(list, JSON_ARRAY))
        return;
    json_scan_init(&scan, list.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err))
        gather_one(g, item);
}

/* What lasts is among our capabilities already. */
static void gather_limited(struct gathering *g, struct json_span grants)
{
    struct json_scan scan;
    struct json_span grant;
    enum err err;

    if (!pick_is(grants, JSON_ARRAY))
        return;
    json_scan_init(&scan, grants.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &grant, &err)) {
        struct json_span uses = {};
        struct json_span capabilities = {};

        if (PICK(grant, { S("max_uses"), &uses }, { S("capabilities"), &capabilities }) &&
            uses.text.ptr)
            gather(g, capabilities);
    }
}

enum err news_capabilities(const struct welcome *welcome, struct arena *arena,
                           struct str_list *ret)
{
    struct gathering g = { .arena = arena };

    g.items = arena_alloc(arena, CAPSET_MAX_PATTERNS * sizeof(*g.items));
    if (!g.items)
        return ERR_TOO_LARGE;
    gather(&g, welcome->you.patterns);
    gather(&g, welcome->you.objects);
    gather_limited(&g, welcome->grants);
    *ret = (struct str_list){ g.items, g.count };
    return OK;
}

/* --- refusals and gaps --- */

enum err news_refused(struct json_span payload, struct arena *arena, struct refused *ret,
                      struct str *ret_field)
{
    struct json_span error = {};
    struct json_span message = {};
    struct json_span instead = {};
    struct refused refused = { .details = payload };

    if (!PICK(payload, { S("error"), &error }, { S("message"), &message },
              { S("propose_instead"), &instead }))
        return bad(ret_field, S("payload"));
    if (!read_text(error, arena, &refused.error))
        return bad(ret_field, S("payload.error"));
    if (!read_text(message, arena, &refused.message))
        return bad(ret_field, S("payload.message"));
    if (!read_text(instead, arena, &refused.propose_instead))
        refused.propose_instead = S("");
    *ret = refused;
    return OK;
}

enum err news_gap(struct json_span payload, uint64_t *ret_missed, struct str *ret_field)
{
    struct json_span missed = {};

    if (!PICK(payload, { S("missed"), &missed }))
        return bad(ret_field, S("payload"));
    *ret_missed = 0;
    if (missed.text.ptr && !read_number(missed, ret_missed))
        return bad(ret_field, S("payload.missed"));
    return OK;
}
