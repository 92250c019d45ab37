/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/rulings.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "policy/capability.h"
#include "policy/leaf.h"
#include "policy/outline.h"
#include "policy/pattern.h"

enum { LIST_BYTES = 8 << 20, OBJECT_BYTES = 8 * CAPABILITY_MAX_BYTES };

/* Patterns of which one must match; none: anything does. */
struct patterns {
    struct pattern **items;
    size_t count;
};

struct row {
    struct capability *capability;
    struct pattern *method; /* of a kind that names a CONTEXT, without it; or NULL */
    size_t *places;         /* of its conditions */
    struct patterns topics, from;
};

struct rulings {
    struct arena arena; /* the texts of `said` */
    struct outline *outline;
    size_t params_place, name_place, uri_place; /* of what a CONTEXT would say */
    size_t object_count;
    struct ruling_row *said;
    struct row *rows;
    size_t count;
};

static const struct str names[] = {
    [RULING_NONE] = S("none"),
    [RULING_ALLOW] = S("allow"),
    [RULING_DENY] = S("deny"),
    [RULING_ASK] = S("ask"),
};

struct str ruling_name(enum ruling ruling)
{
    return names[ruling];
}

bool ruling_parse(struct str name, enum ruling *ret)
{
    for (size_t i = RULING_ALLOW; i < COUNT(names); i++)
        if (str_eq(names[i], name)) {
            *ret = (enum ruling)i;
            return true;
        }
    return false;
}

/* --- making --- */

static void patterns_done(struct patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        pattern_free(patterns->items[i]);
    free(patterns->items);
}

void rulings_free(struct rulings *rulings)
{
    if (!rulings)
        return;
    for (size_t i = 0; i < rulings->count; i++) {
        capability_free(rulings->rows[i].capability);
        pattern_free(rulings->rows[i].method);
        free(rulings->rows[i].places);
        patterns_done(&rulings->rows[i].topics);
        patterns_done(&rulings->rows[i].from);
    }
    outline_free(rulings->outline);
    free(rulings->rows);
    arena_done(&rulings->arena);
    free(rulings);
}

CLEANUP_FOR(struct rulings, rulings_free)

static enum err fail(struct ruling_problem *problem, const char *field, const char *why)
{
    problem->field = field;
    problem->why = why;
    return ERR_INVALID;
}

static enum err compile_patterns(struct str_list texts, const char *field,
                                 struct patterns *ret, struct ruling_problem *problem)
{
    const char *why = "";

    if (texts.count > RULING_MAX_PATTERNS)
        return fail(problem, field, "at most 64 of them");
    ret->items = xcalloc(texts.count + 1, sizeof(struct pattern *));
    for (size_t i = 0; i < texts.count; i++) {
        if (pattern_new_value(texts.items[i], &ret->items[i], &why))
            return fail(problem, field, why);
        ret->count++;
    }
    return OK;
}

/* Can a pattern match kinds that begin so? What stands before its first `*` decides. */
static bool may_begin_with(struct str pattern, struct str prefix)
{
    struct str literal = str_slice(pattern, 0, str_find(pattern, '*', 0));
    bool has_star = literal.len < pattern.len;

    if (literal.len >= prefix.len)
        return str_starts(literal, prefix);
    return has_star && str_starts(prefix, literal);
}

static enum err check_kind(const struct ruling_row *row, struct ruling_problem *problem)
{
    if (pattern_dialect(row->kind) == DIALECT_DOTTED)
        return fail(problem, "kind", "is written with slashes here");
    if (row->ruling == RULING_ASK && !may_begin_with(row->kind, S("mcp/request:")))
        return fail(problem, "kind", "`ask` is for requests: mcp/request:METHOD");
    return OK;
}

/* The kind, and with conditions the object of D15. */
static enum err compile_kind(const struct ruling_row *row, struct capability **ret,
                             struct ruling_problem *problem)
{
    const char *why = "";
    struct json_writer w;
    struct buf text;
    enum err err = check_kind(row, problem);

    if (err)
        return err;
    if (row->payload.len == 0)
        return capability_new(row->kind, ret, &why) ? fail(problem, "kind", why) : OK;
    buf_init(&text, OBJECT_BYTES);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("kind"), row->kind);
    json_key(&w, S("payload"));
    json_raw(&w, row->payload);
    json_object_close(&w);
    err = capability_new(buf_str(&text), ret, &why);
    buf_done(&text);
    return err ? fail(problem, "payload", why) : OK;
}

/* A kind that names a CONTEXT may also be meant by one that does not:
 * "mcp/request:tools/call" by "mcp/request:tools/call:drop_*". */
static enum err compile_method(struct str kind, struct pattern **ret,
                               struct ruling_problem *problem)
{
    size_t colon = str_find(kind, ':', 0);
    const char *why = "";

    colon = colon < kind.len ? str_find(kind, ':', colon + 1) : colon;
    if (colon >= kind.len)
        return OK;
    return pattern_new(str_slice(kind, 0, colon), ret, &why) ? fail(problem, "kind", why)
                                                             : OK;
}

static enum err keep_text(struct rulings *rulings, struct str *text)
{
    if (text->len == 0)
        return OK;
    *text = arena_str(&rulings->arena, *text);
    return text->ptr ? OK : ERR_INVALID;
}

static enum err keep_list(struct rulings *rulings, struct str_list *list)
{
    struct str *items =
        arena_alloc(&rulings->arena, (list->count + 1) * sizeof(struct str));

    if (!items)
        return ERR_INVALID;
    for (size_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        if (keep_text(rulings, &items[i]))
            return ERR_INVALID;
    }
    list->items = items;
    return OK;
}

static enum err keep_row(struct rulings *rulings, struct ruling_row *row,
                         struct ruling_problem *problem)
{
    if (keep_text(rulings, &row->kind) || keep_text(rulings, &row->payload) ||
        keep_text(rulings, &row->message) || keep_list(rulings, &row->topics) ||
        keep_list(rulings, &row->from))
        return fail(problem, "kind", "too much of it all");
    return OK;
}

static enum err add_row(struct rulings *rulings, const struct ruling_row *said,
                        struct ruling_problem *problem)
{
    struct row *row = &rulings->rows[rulings->count];
    struct ruling_row *kept = &rulings->said[rulings->count++];
    enum err err;

    *kept = *said;
    if (said->message.len > RULING_MAX_MESSAGE)
        return fail(problem, "message", "at most 1024 bytes");
    err = keep_row(rulings, kept, problem);
    if (!err)
        err = compile_kind(kept, &row->capability, problem);
    if (!err)
        err = compile_method(kept->kind, &row->method, problem);
    if (!err)
        err = compile_patterns(kept->topics, "topics", &row->topics, problem);
    if (!err)
        err = compile_patterns(kept->from, "from", &row->from, problem);
    if (err)
        return err;
    rulings->object_count += capability_is_object(row->capability);
    if (rulings->object_count > RULINGS_MAX_OBJECTS)
        return fail(problem, "payload", "at most 64 rows look into payloads");
    row->places = xcalloc(capability_count(row->capability) + 1, sizeof(size_t));
    capability_outline(row->capability, rulings->outline, row->places);
    return OK;
}

static void draw_context(struct rulings *rulings)
{
    size_t params;

    rulings->outline = outline_new();
    params = outline_add(rulings->outline, 0, S("params"));
    rulings->params_place = params;
    rulings->name_place = outline_add(rulings->outline, params, S("name"));
    rulings->uri_place = outline_add(rulings->outline, params, S("uri"));
}

enum err rulings_new(const struct ruling_row *rows, size_t count, struct rulings **ret,
                     struct ruling_problem *problem)
{
    CLEANUP(rulings_freep) struct rulings *rulings = NULL;
    enum err err = OK;

    *problem = (struct ruling_problem){};
    if (count == 0) {
        *ret = NULL;
        return OK;
    }
    if (count > RULINGS_MAX) {
        problem->row = RULINGS_MAX;
        return fail(problem, "policy", "at most 256 rows");
    }
    rulings = xcalloc(1, sizeof(*rulings));
    arena_init(&rulings->arena, LIST_BYTES);
    rulings->rows = xcalloc(count, sizeof(*rulings->rows));
    rulings->said = arena_alloc(&rulings->arena, count * sizeof(*rulings->said));
    draw_context(rulings);
    for (size_t i = 0; !err && i < count; i++) {
        problem->row = i;
        err = add_row(rulings, &rows[i], problem);
    }
    if (err)
        return err;
    outline_sort(rulings->outline);
    *ret = TAKE(rulings);
    return OK;
}

const struct ruling_row *rulings_rows(const struct rulings *rulings, size_t *ret_count)
{
    *ret_count = rulings ? rulings->count : 0;
    return rulings ? rulings->said : NULL;
}

/* --- whom it concerns --- */

/* A `*` at the end also stands for nothing, as in the topics of tokens. */
static bool begins(const struct pattern *pattern, struct str text)
{
    struct str said = pattern_text(pattern);

    return str_ends(said, S("*")) && str_eq(str_slice(said, 0, said.len - 1), text);
}

static bool matches_one(const struct patterns *patterns, struct str text)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (pattern_matches(patterns->items[i], text) || begins(patterns->items[i], text))
            return true;
    return patterns->count == 0;
}

bool ruling_reaches(const struct rulings *rulings, size_t row, struct str topic)
{
    return matches_one(&rulings->rows[row].topics, topic);
}

bool rulings_reach(const struct rulings *rulings, struct str topic)
{
    for (size_t i = 0; rulings && i < rulings->count; i++)
        if (ruling_reaches(rulings, i, topic))
            return true;
    return false;
}

bool ruling_concerns(const struct rulings *rulings, size_t row, struct str topic,
                     struct str from, enum participant_type type)
{
    unsigned types = rulings->said[row].types;

    return (types == 0 || types & 1U << type) && ruling_reaches(rulings, row, topic) &&
           matches_one(&rulings->rows[row].from, from);
}

/* --- judging --- */

/* What was found out about an envelope, and is found out once. */
struct look {
    const struct rulings *rulings;
    const struct ruling_question *question;
    const struct outline_sighting *sightings;
    bool was_walked;
    bool was_named;
    bool is_context_unsure; /* it names something, and nobody knows what */
    struct str kind;        /* with the CONTEXT that the payload names */
    bool may_differ;
};

static void walk(struct look *look)
{
    const struct ruling_question *q = look->question;

    if (!look->was_walked && q->payload.text.ptr)
        look->sightings = outline_walk(look->rulings->outline, q->payload, q->scratch);
    look->was_walked = true;
}

static struct str with_context(const struct ruling_question *q, struct str context)
{
    struct str kind = q->kind->text;
    char *text = arena_alloc(q->scratch, kind.len + 1 + context.len);

    if (!text)
        return (struct str){};
    memcpy(text, kind.ptr, kind.len);
    text[kind.len] = ':';
    if (context.len)
        memcpy(text + kind.len + 1, context.ptr, context.len);
    return (struct str){ text, kind.len + 1 + context.len };
}

/* What the payload names becomes the CONTEXT; false: that cannot be told. */
static bool take_context(struct look *look, const struct outline_sighting *sighting)
{
    const struct ruling_question *q = look->question;
    struct str context;

    if (sighting->state == SEEN_NOTHING)
        return true;
    if (sighting->state != SEEN_ONCE)
        return false;
    if (sighting->value.type != JSON_STRING)
        return true; /* it names nothing */
    if (sighting->value.text.len > LEAF_MAX_BYTES ||
        json_unescape(sighting->value, q->scratch, &context))
        return false;
    look->kind = with_context(q, context);
    return look->kind.ptr != NULL;
}

/* The outline says of a place below one that stands twice what the first of them has. */
static bool is_clear(const struct look *look)
{
    enum sighting params = look->sightings[look->rulings->params_place].state;

    return params == SEEN_ONCE || params == SEEN_NOTHING;
}

static void name_kind(struct look *look)
{
    const struct ruling_question *q = look->question;
    const struct kind *kind = q->kind;
    size_t place = str_starts(kind->method, S("resources/")) ? look->rulings->uri_place
                                                             : look->rulings->name_place;

    if (look->was_named)
        return;
    look->was_named = true;
    look->kind = kind->text;
    if (kind->type != KIND_REQUEST || kind->context.ptr)
        return;
    if (!q->payload.text.ptr) {
        look->may_differ = true;
        return;
    }
    walk(look);
    look->is_context_unsure = !look->sightings || !is_clear(look) ||
                              str_eq(kind->method, S("completion/complete")) ||
                              !take_context(look, &look->sightings[place]);
    if (look->is_context_unsure)
        look->kind = kind->text;
}

static enum fit fit_kind(struct look *look, const struct row *row)
{
    const struct kind *kind = look->question->kind;

    if (capability_matches_kind(row->capability, kind->text))
        return FIT_YES;
    if (kind->type != KIND_REQUEST || kind->context.ptr || !row->method ||
        !pattern_matches(row->method, kind->text))
        return FIT_NO;
    name_kind(look);
    if (look->is_context_unsure)
        return FIT_UNSURE;
    return capability_matches_kind(row->capability, look->kind) ? FIT_YES : FIT_NO;
}

static enum fit fit_payload(struct look *look, const struct row *row)
{
    const struct ruling_question *q = look->question;

    if (!capability_is_object(row->capability))
        return FIT_YES;
    if (!q->payload.text.ptr) {
        look->may_differ = true;
        return FIT_NO;
    }
    walk(look);
    return look->sightings ? capability_weigh(row->capability, look->sightings,
                                              row->places, q->scratch)
                           : FIT_UNSURE;
}

static bool applies(struct look *look, size_t i)
{
    const struct ruling_question *q = look->question;
    const struct row *row = &look->rulings->rows[i];
    enum ruling ruling = look->rulings->said[i].ruling;
    enum fit kind, payload;

    if (!ruling_concerns(look->rulings, i, q->topic, q->from, q->type))
        return false;
    if (ruling == RULING_ASK && (q->kind->type != KIND_REQUEST || ruling_spares(q->kind)))
        return false;
    kind = fit_kind(look, row);
    payload = kind == FIT_NO ? FIT_NO : fit_payload(look, row);
    if (payload == FIT_NO)
        return false;
    return ruling != RULING_ALLOW || (kind == FIT_YES && payload == FIT_YES);
}

struct ruling_answer rulings_judge(const struct rulings *rulings,
                                   const struct ruling_question *question)
{
    struct look look = { .rulings = rulings, .question = question };

    for (size_t i = 0; rulings && i < rulings->count; i++)
        if (applies(&look, i))
            return (struct ruling_answer){ .ruling = rulings->said[i].ruling,
                                           .row = i,
                                           .message = rulings->said[i].message,
                                           .may_differ = look.may_differ };
    return (struct ruling_answer){ .may_differ = look.may_differ };
}

bool ruling_spares(const struct kind *kind)
{
    static const struct str methods[] = { S("ping"), S("initialize"),
                                          S("server/discover") };

    for (size_t i = 0; i < COUNT(methods); i++)
        if (str_eq(kind->method, methods[i]))
            return true;
    return kind_is_notification(kind) || str_ends(kind->method, S("/list")) ||
           str_starts(kind->method, S("authorization/"));
}
