/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scanner checks the whole text first; then one pass copies it and looks for what the
 * paths name, without a question. How far each path has come stands in a list of places
 * per level that is open: a path of ** may be at several of its steps at once. Where no
 * path goes on, a value is passed over as a whole.
 */
#include "audit/redact.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/xalloc.h"

enum step_type { STEP_NAME, STEP_ANY, STEP_DEEP };

struct step {
    enum step_type type;
    struct str name;
};

struct path {
    struct step *steps;
    size_t count;
};

struct audit_redactor {
    struct arena arena;
    char *key;
    size_t key_len;
    struct path *paths;
    size_t count;
};

CLEANUP_FOR(struct audit_redactor, audit_redactor_free)

/* --- paths --- */

/* A name in quotes at the beginning; leaves what follows. */
static const char *read_quoted(struct arena *arena, struct str *rest, struct str *ret)
{
    struct json_scan scan;
    struct json_span span;

    json_scan_init(&scan, *rest, 1);
    if (json_value(&scan, &span) || json_unescape(span, arena, ret))
        return "what begins with a quote must be a string of JSON";
    *rest = str_slice(*rest, scan.at, rest->len);
    if (rest->len == 0)
        rest->ptr = NULL;
    else if (*rest->ptr == '.')
        *rest = str_slice(*rest, 1, rest->len);
    else
        return "a dot is missing behind the quotes";
    return NULL;
}

static const char *read_plain(struct arena *arena, struct str *rest, struct str *ret)
{
    struct str name = str_cut(rest, '.');

    if (name.len == 0)
        return "a name is empty";
    if (memchr(name.ptr, '"', name.len) || memchr(name.ptr, '*', name.len))
        return "a name with * or \" in it must stand in quotes";
    *ret = arena_str(arena, name);
    return NULL;
}

/* A step at the beginning; leaves what follows, with ptr NULL at the end. */
static const char *read_step(struct arena *arena, struct str *rest, struct step *ret)
{
    struct str ahead = *rest;
    struct str word = str_cut(&ahead, '.');

    *ret = (struct step){ .type = STEP_NAME };
    if (str_eq(word, S("*")) || str_eq(word, S("**"))) {
        ret->type = word.len == 1 ? STEP_ANY : STEP_DEEP;
        *rest = ahead;
        return NULL;
    }
    if (str_starts(word, S("\"")))
        return read_quoted(arena, rest, &ret->name);
    return read_plain(arena, rest, &ret->name);
}

static const char *read_path(struct arena *arena, struct str text, struct path *ret)
{
    struct step steps[AUDIT_PATH_STEPS];
    const char *why = NULL;

    if (text.len == 0)
        return "it is empty";
    if (text.len > AUDIT_PATH_BYTES)
        return "it is too long";
    if (!utf8_is_valid(text))
        return "it is not UTF-8";
    while (!why && text.ptr) {
        if (ret->count == AUDIT_PATH_STEPS)
            return "it has too many steps";
        why = read_step(arena, &text, &steps[ret->count++]);
    }
    if (why)
        return why;
    ret->steps = arena_alloc(arena, ret->count * sizeof(*steps));
    memcpy(ret->steps, steps, ret->count * sizeof(*steps));
    return NULL;
}

enum err audit_redactor_new(struct str_list paths, struct str key,
                            struct audit_redactor **ret, struct str *ret_bad,
                            const char **ret_why)
{
    CLEANUP(audit_redactor_freep) struct audit_redactor *r = xcalloc(1, sizeof(*r));

    arena_init(&r->arena,
               SIZE_MAX); /* the number of paths and their length are bounded */
    r->key = str_dup(key);
    r->key_len = key.len;
    r->paths = arena_alloc(&r->arena, (paths.count + 1) * sizeof(*r->paths));
    for (size_t i = 0; i < paths.count; i++) {
        const char *why = "there are too many";

        if (i < AUDIT_MAX_PATHS)
            why = read_path(&r->arena, paths.items[i], &r->paths[i]);
        if (why) {
            *ret_bad = paths.items[i];
            *ret_why = why;
            return ERR_INVALID;
        }
    }
    r->count = paths.count;
    *ret = TAKE(r);
    return OK;
}

void audit_redactor_free(struct audit_redactor *redactor)
{
    if (!redactor)
        return;
    crypto_wipe(redactor->key, redactor->key_len);
    free(redactor->key);
    arena_done(&redactor->arena);
    free(redactor);
}

bool audit_redactor_is_empty(const struct audit_redactor *redactor)
{
    return redactor->count == 0;
}

/* --- where the paths have come to --- */

struct place {
    uint16_t path, step;
};

struct level {
    size_t first; /* of the places of its members or elements */
    bool is_object;
};

struct walk {
    const struct audit_redactor *redactor;
    const char *at, *end;
    const char *copied; /* up to here it is in `out` */
    struct buf *out;
    struct place *places; /* of all levels that are open, and of the value at hand */
    size_t place_count, place_size;
    size_t depth;
    struct level levels[JSON_MAX_DEPTH];
};

static bool has_place(const struct walk *w, size_t from, struct place place)
{
    for (size_t i = from; i < w->place_count; i++)
        if (w->places[i].path == place.path && w->places[i].step == place.step)
            return true;
    return false;
}

/* True: the path ends here. ** may stand for nothing, so what follows it is reached as
 * well. */
static bool reach(struct walk *w, size_t from, struct place place)
{
    const struct path *path = &w->redactor->paths[place.path];

    for (; place.step < path->count; place.step++) {
        if (has_place(w, from, place))
            return false;
        if (w->place_count == w->place_size) {
            w->place_size = w->place_size ? 2 * w->place_size : 64;
            w->places = xrealloc(w->places, w->place_size * sizeof(*w->places));
        }
        w->places[w->place_count++] = place;
        if (path->steps[place.step].type != STEP_DEEP)
            return false;
    }
    return true;
}

/* From the places of the innermost level, those of one of its values; without a name it
 * is an element. True: it is to be redacted. */
static bool step_into(struct walk *w, const struct json_span *name)
{
    size_t from = w->place_count;
    bool ends = false;

    for (size_t i = w->levels[w->depth - 1].first; i < from; i++) {
        struct place next = w->places[i];
        const struct step *step = &w->redactor->paths[next.path].steps[next.step];

        if (step->type == STEP_NAME && (!name || !json_string_is(*name, step->name)))
            continue;
        if (step->type != STEP_DEEP)
            next.step++;
        ends |= reach(w, from, next);
    }
    return ends;
}

/* --- the text, which is known to be JSON --- */

static bool is_between(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':';
}

static void skip_space(struct walk *w)
{
    while (w->at < w->end && is_between(*w->at))
        w->at++;
}

/* The string at hand; moves behind it. */
static struct json_span take_string(struct walk *w)
{
    struct json_span span = { .type = JSON_STRING };
    const char *start = ++w->at;

    for (; *w->at != '"'; w->at++) {
        if (*w->at == '\\') {
            span.has_escape = true;
            w->at++;
        }
    }
    span.text = (struct str){ start, (size_t)(w->at - start) };
    w->at++;
    return span;
}

static void skip_value(struct walk *w)
{
    size_t depth = 0;

    do {
        char c = *w->at;

        if (c == '"') {
            (void)take_string(w);
            continue;
        }
        w->at++;
        if (c == '{' || c == '[')
            depth++;
        else if (c == '}' || c == ']')
            depth--;
        else if (depth == 0)
            while (w->at < w->end && !is_between(*w->at) && *w->at != ']' &&
                   *w->at != '}')
                w->at++;
    } while (depth);
}

static void hash_value(const struct walk *w, const char *start,
                       uint8_t ret[static SHA256_BYTES])
{
    struct str text = { start, (size_t)(w->at - start) };
    struct arena arena;

    arena_init(&arena, SIZE_MAX); /* not more than the text */
    if (*start == '"') {
        struct json_span span = { .type = JSON_STRING,
                                  .has_escape = memchr(start, '\\', text.len),
                                  .text = str_slice(text, 1, text.len - 1) };

        if (json_unescape(span, &arena, &text))
            abort(); /* only above SIZE_MAX */
    }
    crypto_hmac_sha256((struct str){ w->redactor->key, w->redactor->key_len }, text, ret);
    arena_done(&arena);
}

static void copy_up_to(struct walk *w, const char *to)
{
    buf_put(w->out, (struct str){ w->copied, (size_t)(to - w->copied) });
    w->copied = to;
}

static void redact_value(struct walk *w)
{
    const char *start = w->at;
    uint8_t hash[SHA256_BYTES];

    skip_value(w);
    hash_value(w, start, hash);
    copy_up_to(w, start);
    buf_put(w->out, S("\"hmac-sha256:"));
    hex_write(w->out, (struct str){ (const char *)hash, sizeof(hash) });
    buf_putc(w->out, '"');
    w->copied = w->at;
}

/* The value at hand, whose places begin at `from`. */
static void take_value(struct walk *w, size_t from, bool is_redacted)
{
    bool is_open = *w->at == '{' || *w->at == '[';

    if (!is_redacted && is_open && w->place_count > from) {
        w->levels[w->depth++] = (struct level){ from, *w->at == '{' };
        w->at++;
        return;
    }
    if (is_redacted)
        redact_value(w);
    else
        skip_value(w);
    w->place_count = from;
}

static void take_next(struct walk *w)
{
    const struct level *level = &w->levels[w->depth - 1];
    size_t from = w->place_count;
    bool is_redacted;

    if (*w->at == '}' || *w->at == ']') {
        w->place_count = level->first;
        w->depth--;
        w->at++;
        return;
    }
    if (level->is_object) {
        struct json_span name = take_string(w);

        skip_space(w);
        is_redacted = step_into(w, &name);
    } else {
        is_redacted = step_into(w, NULL);
    }
    take_value(w, from, is_redacted);
}

static void walk(const struct audit_redactor *redactor, struct str text, struct buf *out)
{
    struct walk *w = xcalloc(1, sizeof(*w));
    bool is_redacted = false;

    w->redactor = redactor;
    w->at = w->copied = text.ptr;
    w->end = text.ptr + text.len;
    w->out = out;
    for (size_t i = 0; i < redactor->count; i++)
        is_redacted |= reach(w, 0, (struct place){ .path = (uint16_t)i });
    take_value(w, 0, is_redacted);
    while (w->depth) {
        skip_space(w);
        take_next(w);
    }
    copy_up_to(w, w->end);
    free(w->places);
    free(w);
}

/* --- the body --- */

/* The value without what surrounds it. A line of an export wraps it in one more level. */
static enum err scan_body(struct str body, struct str *ret)
{
    struct json_scan scan;
    struct json_span span;
    enum err err;

    json_scan_init(&scan, body, JSON_MAX_DEPTH - 1);
    err = json_value(&scan, &span);
    if (!err)
        err = json_scan_end(&scan);
    if (err)
        return err;
    *ret = span.text;
    if (span.type == JSON_STRING)
        *ret = (struct str){ span.text.ptr - 1, span.text.len + 2 };
    return OK;
}

static void write_broken(const struct audit_redactor *redactor, struct str body,
                         struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    if (audit_redactor_is_empty(redactor))
        json_str(&w, body);
    else
        buf_putf(out,
                 "\"%zu bytes that are no JSON: not recorded, because fields must be "
                 "redacted\"",
                 body.len);
}

/* All of one kind in what was put behind `start`. */
static void blank(struct buf *out, size_t start, char c)
{
    char *at = out->ptr + start, *end = out->ptr + out->len;

    while ((at = memchr(at, c, (size_t)(end - at))))
        *at++ = ' ';
}

void audit_redact(const struct audit_redactor *redactor, struct str body, struct buf *out)
{
    size_t start = out->len;
    struct str text;

    if (!body.ptr)
        return;
    if (scan_body(body, &text)) {
        write_broken(redactor, body, out);
        return;
    }
    if (audit_redactor_is_empty(redactor))
        buf_put(out, text);
    else
        walk(redactor, text, out);
    /* What is left of these stands outside of strings. */
    blank(out, start, '\n');
    blank(out, start, '\r');
    blank(out, start, '\t');
}
