/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scan of an envelope. One pass over the members finds the known fields and judges
 * every name; the fields are then read by a table. Problems with names and fields wait
 * until the JSON is known to be sound, because a sender must learn of the deepest
 * problem first: bytes, grammar, protocol, fields.
 */
#include "envelope/envelope.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "envelope/lookalike.h"

enum form {
    FORM_RAW,  /* a string; what it says was judged before, and it is kept as it stands */
    FORM_TEXT, /* a string of min to max bytes */
    FORM_TOKEN, /* the same without control characters */
    FORM_TIME,  /* a string with an RFC 3339 date-time */
    FORM_LIST,  /* a list of non-empty strings */
    FORM_OBJECT,
    FORM_ANY,
};

enum field {
    FIELD_PROTOCOL,
    FIELD_ID,
    FIELD_TS,
    FIELD_FROM,
    FIELD_TO,
    FIELD_KIND,
    FIELD_CORRELATION,
    FIELD_PAYLOAD,
    FIELD_EXPIRES,
    FIELD_EDITED,
    FIELD_RULE,
    FIELD_COUNT,
};

/* clang-format off */
static const struct str names[FIELD_COUNT] = {
    [FIELD_PROTOCOL]    = S("protocol"),
    [FIELD_ID]          = S("id"),
    [FIELD_TS]          = S("ts"),
    [FIELD_FROM]        = S("from"),
    [FIELD_TO]          = S("to"),
    [FIELD_KIND]        = S("kind"),
    [FIELD_CORRELATION] = S("correlation_id"),
    [FIELD_PAYLOAD]     = S("payload"),
    [FIELD_EXPIRES]     = S("expires_at"),
    [FIELD_EDITED]      = S("edited"),
    [FIELD_RULE]        = S("rule"),
};

#define AT(member) offsetof(struct envelope, member)
static const struct {
    enum form form;
    bool is_required;
    size_t min, max; /* bytes */
    size_t offset;   /* of a struct str or a struct json_span in the envelope */
} rules[FIELD_COUNT] = {
    [FIELD_PROTOCOL]    = { FORM_RAW,    true,  0, SIZE_MAX,        AT(raw_protocol) },
    [FIELD_ID]          = { FORM_TOKEN,  true,  1, ENVELOPE_MAX_ID, AT(id) },
    [FIELD_TS]          = { FORM_TIME,   false, 0, SIZE_MAX,        AT(ts) },
    [FIELD_FROM]        = { FORM_TOKEN,  true,  1, ENVELOPE_MAX_ID, AT(from) },
    [FIELD_TO]          = { FORM_LIST,   false, 0, ENVELOPE_MAX_TO, 0 },
    [FIELD_KIND]        = { FORM_TEXT,   true,  0, KIND_MAX_BYTES,  AT(kind_text) },
    [FIELD_CORRELATION] = { FORM_TEXT,   false, 1, ENVELOPE_MAX_ID, AT(correlation_id) },
    [FIELD_PAYLOAD]     = { FORM_OBJECT, true,  0, 0,               AT(payload) },
    [FIELD_EXPIRES]     = { FORM_ANY,    false, 0, 0,               AT(expires_at) },
    [FIELD_EDITED]      = { FORM_ANY,    false, 0, 0,               AT(edited) },
    [FIELD_RULE]        = { FORM_TOKEN,  false, 1, ENVELOPE_MAX_ID, AT(rule) },
};
#undef AT
/* clang-format on */

struct reader {
    struct str text;
    enum dialect dialect;
    struct arena *scratch;
    struct json_span fields[FIELD_COUNT]; /* text.ptr NULL: absent */
    bool is_repeated[FIELD_COUNT];
    size_t name_count;
    size_t other_count;
    struct str
        others[ENVELOPE_MAX_NAMES]; /* names that are not known, escapes resolved */
    enum err err;                   /* the first problem, but for the grammar */
    struct envelope_problem problem;
};

/* Remembers the first problem; `where` points into the text. */
static enum err complain_as(struct reader *r, enum err err, const char *where,
                            struct str field, const char *what)
{
    if (r->err)
        return r->err;
    r->err = err;
    r->problem = (struct envelope_problem){
        .at = where ? (size_t)(where - r->text.ptr) : r->text.len,
        .field = field,
        .what = what,
    };
    return r->err;
}

static enum err complain(struct reader *r, const char *where, struct str field,
                         const char *what)
{
    return complain_as(r, ERR_MALFORMED_ENVELOPE, where, field, what);
}

static enum err unescape(struct reader *r, const struct json_span *string,
                         struct str *ret)
{
    if (!string->has_escape) {
        *ret = string->text;
        return OK;
    }
    if (!json_unescape(*string, r->scratch, ret))
        return OK;
    return complain_as(r, ERR_TOO_LARGE, string->text.ptr, S(""),
                       "too many escapes to resolve");
}

/* names */

/* From the first to the last, always: compilers make constants of the names then. */
static enum field known_field(struct str name)
{
    size_t i = 0;

    while (i < FIELD_COUNT && !str_eq(name, names[i]))
        i++;
    return (enum field)i;
}

static void note_known(struct reader *r, enum field field, const struct json_member *m)
{
    if (r->fields[field].text.ptr) {
        r->is_repeated[field] = true;
        (void)complain(r, m->key.text.ptr, names[field], "given twice");
        return;
    }
    r->fields[field] = m->value;
}

static void note_other(struct reader *r, const struct json_member *m)
{
    struct str name;

    if (unescape(r, &m->key, &name))
        return;
    if (lookalike_is_any(name, names, FIELD_COUNT)) {
        (void)complain(r, m->key.text.ptr, name,
                       "a known name is written plainly, in lower case");
        return;
    }
    for (size_t i = 0; i < r->other_count; i++)
        if (str_eq(name, r->others[i])) {
            (void)complain(r, m->key.text.ptr, name, "given twice");
            return;
        }
    r->others[r->other_count++] = name;
}

static void note_member(struct reader *r, const struct json_member *m)
{
    /* A name with an escape holds a backslash here and equals no known one. */
    enum field field = known_field(m->key.text);

    if (++r->name_count > ENVELOPE_MAX_NAMES)
        (void)complain(r, m->key.text.ptr, S(""), "more than 64 names");
    if (field < FIELD_COUNT)
        note_known(r, field, m);
    else if (!r->err)
        note_other(r, m);
}

/* values */

/* C1, the control characters beyond ASCII. */
static bool has_wide_control(struct str s)
{
    for (size_t i = 0; i + 1 < s.len; i++)
        if ((unsigned char)s.ptr[i] == 0xc2 && (unsigned char)s.ptr[i + 1] < 0xa0)
            return true;
    return false;
}

#define EVERY_BYTE(c) ((uint64_t)(c)*0x0101010101010101)

/* Its highest bits tell: some byte is a control character of ASCII. */
static uint64_t word_control(uint64_t word)
{
    uint64_t as_delete = word ^ EVERY_BYTE(0x7f);

    return ((word - EVERY_BYTE(0x20)) & ~word) |
           ((as_delete - EVERY_BYTE(0x01)) & ~as_delete);
}

/* Eight bytes at a time; blanks fill up the last ones. */
bool envelope_has_control(struct str s)
{
    uint64_t control = 0;
    uint64_t wide = 0;

    for (size_t at = 0; at < s.len; at += sizeof(uint64_t)) {
        size_t left = s.len - at;
        uint64_t word = EVERY_BYTE(' ');

        if (left >= sizeof(word))
            memcpy(&word, s.ptr + at, sizeof(word));
        else
            memcpy(&word, s.ptr + at, left);
        control |= word_control(word);
        wide |= word;
    }
    return (control & EVERY_BYTE(0x80)) ||
           ((wide & EVERY_BYTE(0x80)) && has_wide_control(s));
}

static enum err read_text(struct reader *r, enum field field, struct str *ret)
{
    const struct json_span *span = &r->fields[field];
    enum form form = rules[field].form;
    struct str text = {};
    uint64_t wall_ms;

    if (span->type != JSON_STRING)
        return complain(r, span->text.ptr, names[field], "must be a string");
    if (unescape(r, span, &text))
        return r->err;
    if (text.len < rules[field].min)
        return complain(r, span->text.ptr, names[field], "must not be empty");
    if (text.len > rules[field].max)
        return complain(r, span->text.ptr, names[field], "too long");
    if (form == FORM_TOKEN && envelope_has_control(text))
        return complain(r, span->text.ptr, names[field], "holds a control character");
    if (form == FORM_TIME && clock_parse(text, &wall_ms))
        return complain(r, span->text.ptr, names[field], "must be an RFC 3339 date-time");
    *ret = text;
    return OK;
}

static enum err read_addressee(struct reader *r, const struct json_span *item,
                               struct str *ret)
{
    if (item->type != JSON_STRING)
        return complain(r, item->text.ptr, names[FIELD_TO], "must hold strings");
    if (item->text.len == 0)
        return complain(r, item->text.ptr, names[FIELD_TO], "holds an empty string");
    return unescape(r, item, ret);
}

static enum err read_to(struct reader *r, struct envelope *ret)
{
    struct str list = r->fields[FIELD_TO].text;
    /* The shortest item with its comma is four bytes, so this holds all there can be. */
    size_t room = list.len / 4 < ENVELOPE_MAX_TO ? list.len / 4 : ENVELOPE_MAX_TO;
    struct str *to = arena_alloc(r->scratch, room * sizeof(*to));
    struct json_scan scan;
    struct json_span item;
    size_t count = 0;
    enum err err;

    if (!to)
        return complain_as(r, ERR_TOO_LARGE, list.ptr, names[FIELD_TO],
                           "too many addressees");
    if (r->fields[FIELD_TO].type != JSON_ARRAY)
        return complain(r, list.ptr, names[FIELD_TO], "must be a list of strings");
    json_scan_init(&scan, list, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err)) {
        struct str id = {};

        err = read_addressee(r, &item, &id);
        if (!err && count == room)
            err =
                complain(r, item.text.ptr, names[FIELD_TO], "more than 1024 addressees");
        if (!err)
            to[count++] = id;
    }
    if (count) {
        ret->to = to;
        ret->to_count = count;
    }
    return err;
}

static enum err read_field(struct reader *r, enum field field, struct envelope *ret)
{
    const struct json_span *span = &r->fields[field];
    void *to = (char *)ret + rules[field].offset;

    if (!span->text.ptr)
        return complain(r, NULL, names[field], "is missing");
    switch (rules[field].form) {
    case FORM_RAW:
        if (span->type != JSON_STRING)
            return complain(r, span->text.ptr, names[field], "must be a string");
        *(struct str *)to = span->text;
        return OK;
    case FORM_TEXT:
    case FORM_TOKEN:
    case FORM_TIME: return read_text(r, field, to);
    case FORM_LIST: return read_to(r, ret);
    case FORM_OBJECT:
        if (span->type != JSON_OBJECT)
            return complain(r, span->text.ptr, names[field], "must be an object");
        break;
    case FORM_ANY: break;
    }
    *(struct json_span *)to = *span;
    return OK;
}

/* the whole */

static enum err scan_members(struct reader *r, size_t max_depth)
{
    struct json_scan scan;
    struct json_member member;
    size_t valid;
    enum err err;

    json_scan_init(&scan, r->text, max_depth);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &member, &err))
        note_member(r, &member);
    if (!err)
        err = json_scan_end(&scan);
    if (!err)
        return OK;
    r->problem = (struct envelope_problem){ scan.at, S(""), scan.what };
    r->err = ERR_MALFORMED_ENVELOPE;
    valid = utf8_valid(r->text);
    if (valid < r->text.len) {
        r->problem = (struct envelope_problem){ valid, S(""), "not UTF-8" };
        r->err = ERR_UTF8;
    }
    return r->err;
}

static bool is_foreign(const struct reader *r)
{
    struct json_span protocol = r->fields[FIELD_PROTOCOL];

    return protocol.text.ptr && protocol.type == JSON_STRING &&
           !r->is_repeated[FIELD_PROTOCOL] &&
           !json_string_is(protocol, dialect_protocol(r->dialect));
}

/* How to get what was asked for. */
static const char *why_foreign(const struct reader *r)
{
    static const char *const whys[DIALECT_COUNT] = {
        [DIALECT_SLASH] = "mcpx/v0.1 is spoken here; mcpx/draft is with dialect=dotted",
        [DIALECT_DOTTED] = "mcpx/draft is spoken here; mcpx/v0.1 is with dialect=slash",
    };

    if (json_string_is(r->fields[FIELD_PROTOCOL], S("mcp-x/v0")))
        return "mcp-x/v0 was an early draft and is not spoken; use mcpx/v0.1, or "
               "mcpx/draft with dialect=dotted";
    return whys[r->dialect];
}

static enum err read_envelope(struct reader *r, size_t max_depth, struct envelope *ret)
{
    if (scan_members(r, max_depth))
        return r->err;
    if (is_foreign(r)) {
        r->err = OK;
        return complain_as(r, ERR_UNSUPPORTED_PROTOCOL,
                           r->fields[FIELD_PROTOCOL].text.ptr, names[FIELD_PROTOCOL],
                           why_foreign(r));
    }
    for (size_t i = 0; !r->err && i < FIELD_COUNT; i++)
        if (r->fields[i].text.ptr || rules[i].is_required)
            (void)read_field(r, (enum field)i, ret);
    ret->raw_kind = r->fields[FIELD_KIND].text;
    return r->err;
}

/* The id for the answer to a refused envelope, if there is one that can be relied on. */
static struct str id_despite(struct reader *r)
{
    struct str id = {};

    if (!r->fields[FIELD_ID].text.ptr || r->is_repeated[FIELD_ID])
        return id;
    r->err = OK;
    (void)read_text(r, FIELD_ID, &id);
    return id;
}

enum err envelope_scan(struct str text, size_t max_depth, enum dialect dialect,
                       struct arena *scratch, struct envelope *ret,
                       struct envelope_problem *problem)
{
    struct reader r;
    enum err err;

    r.text = text;
    r.dialect = dialect;
    r.scratch = scratch;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        r.fields[i].text.ptr = NULL;
        r.is_repeated[i] = false;
    }
    r.name_count = 0;
    r.other_count = 0;
    r.err = OK;
    *ret = (struct envelope){ .text = text };
    err = read_envelope(&r, max_depth, ret);
    if (!err)
        return OK;
    if (problem)
        *problem = r.problem;
    *ret = (struct envelope){ .text = text, .id = id_despite(&r) };
    return err;
}

enum err envelope_read_dotted_kind(struct envelope *env, struct arena *scratch)
{
    char *space = arena_alloc(scratch, KIND_MAX_BYTES);
    struct str text;

    if (!space || kind_to_slash(env->kind_text, space, &text))
        return ERR_MALFORMED_KIND;
    env->kind.text = text;
    return kind_parse(text, &env->kind);
}

bool envelope_names(const struct envelope *env, struct str id)
{
    for (size_t i = 0; i < env->to_count; i++)
        if (str_eq(env->to[i], id))
            return true;
    return false;
}
