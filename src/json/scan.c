/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scanner. Functions named skip_* take the position of what they pass over and return
 * the position behind it, or NULL after fail() has said what is wrong. Nested values are
 * passed over in one loop: what is open stands in a stack of bits, so that depth costs
 * neither recursion nor memory.
 */
#include "json/scan.h"

#include <stdint.h>

#include "base/utf8.h"
#include "json/json_priv.h"

struct nest {
    size_t depth;
    uint64_t objects[JSON_MAX_DEPTH / 64]; /* bit set: an object, else an array */
};

static const char *end_of(const struct json_scan *s)
{
    return s->text.ptr + s->text.len;
}

static struct str rest_at(const struct json_scan *s, const char *p)
{
    return (struct str){ p, (size_t)(end_of(s) - p) };
}

__attribute__((cold)) static const char *fail(struct json_scan *s, const char *p,
                                              const char *what)
{
    uint32_t code_point;

    s->at = (size_t)(p - s->text.ptr);
    s->err = ERR_INVALID;
    s->what = what;
    if (p == end_of(s)) {
        s->what = "the text ends too early";
    } else if (utf8_read(rest_at(s, p), &code_point) == 0) {
        s->err = ERR_UTF8;
        s->what = "not UTF-8";
    }
    return NULL;
}

__attribute__((cold)) static const char *fail_deep(struct json_scan *s, const char *p)
{
    (void)fail(s, p, "nested too deeply");
    s->err = ERR_TOO_DEEP;
    return NULL;
}

/* The byte at that position, -1 at the end. */
static inline int peek(const struct json_scan *s, const char *p)
{
    return p < end_of(s) ? (unsigned char)*p : -1;
}

static inline bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline const char *skip_space(const struct json_scan *s, const char *p)
{
    while (is_space(peek(s, p)))
        p++;
    return p;
}

/* strings */

/* json_skip(), mostly of short strings. Near the end of the text, which for a part of an
 * envelope is near, the last bytes are looked at together with those before them. */
#ifdef SIMD_X86
static inline const char *skip_run(const struct json_scan *s, const char *p,
                                   enum json_run run)
{
    const char *last = end_of(s) - JSON_STEP;
    unsigned hits;

    if (p <= last) {
        hits = json_hits(p, run);
        if (hits)
            return p + __builtin_ctz(hits);
        p += JSON_STEP;
    }
    if (p > last && s->text.len >= JSON_STEP) {
        hits = json_hits(last, run) >> (p - last);
        return hits ? p + __builtin_ctz(hits) : end_of(s);
    }
    return json_skip(p, end_of(s), run);
}
#else
static inline const char *skip_run(const struct json_scan *s, const char *p,
                                   enum json_run run)
{
    return json_skip(p, end_of(s), run);
}
#endif

/* The four digits behind \u. */
static const char *skip_hex4(struct json_scan *s, const char *p, unsigned *ret)
{
    unsigned value = 0;

    for (size_t i = 0; i < 4; i++, p++) {
        int digit = str_hex_digit(peek(s, p));

        if (digit < 0)
            return fail(s, p, "expected four hexadecimal digits after \\u");
        value = value << 4 | (unsigned)digit;
    }
    *ret = value;
    return p;
}

/* RFC 8259 7: what lies outside the BMP is written as a pair. A lone half means no
 * character, and readers disagree about what it becomes. */
static const char *skip_unicode_escape(struct json_scan *s, const char *p)
{
    const char *start = p;
    unsigned unit = 0;

    p = skip_hex4(s, p + 2, &unit);
    if (!p || unit < 0xd800 || unit > 0xdfff)
        return p;
    if (unit >= 0xdc00 || peek(s, p) != '\\' || peek(s, p + 1) != 'u')
        return fail(s, start, "lone surrogate in a string");
    p = skip_hex4(s, p + 2, &unit);
    if (p && (unit < 0xdc00 || unit > 0xdfff))
        return fail(s, start, "lone surrogate in a string");
    return p;
}

static const char *skip_escape(struct json_scan *s, const char *p)
{
    switch (peek(s, p + 1)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return p + 2;
    case 'u': return skip_unicode_escape(s, p);
    default: return fail(s, p + 1, "unknown escape in a string");
    }
}

/* From a byte that is not ASCII to the next one that is special in a string. */
static const char *skip_wide(struct json_scan *s, const char *p)
{
    struct str text = { p, (size_t)(skip_run(s, p, JSON_TEXT) - p) };
    size_t valid = utf8_valid(text);

    if (valid < text.len)
        return fail(s, p + valid, "not UTF-8");
    return p + text.len;
}

/* The rest of a string from the first byte that is not plain; to the closing quote. */
static const char *skip_special(struct json_scan *s, const char *p, bool *has_escape)
{
    int c = peek(s, p);

    while (c != '"') {
        if (c == '\\') {
            *has_escape = true;
            p = skip_escape(s, p);
        } else if (c >= 0x80) {
            p = skip_wide(s, p);
        } else {
            return fail(s, p, "control character in a string");
        }
        if (!p)
            return NULL;
        p = skip_run(s, p, JSON_PLAIN);
        c = peek(s, p);
    }
    return p;
}

/* From the opening quote; gives what stands between the quotes. */
static inline const char *skip_string(struct json_scan *s, const char *p,
                                      struct json_span *ret)
{
    const char *start = ++p;
    bool has_escape = false;

    p = skip_run(s, p, JSON_PLAIN);
    if (peek(s, p) != '"')
        p = skip_special(s, p, &has_escape);
    if (!p)
        return NULL;
    ret->type = JSON_STRING;
    ret->has_escape = has_escape;
    ret->text = (struct str){ start, (size_t)(p - start) };
    return p + 1;
}

/* numbers and words */

static const char *skip_digits(struct json_scan *s, const char *p)
{
    if (!json_is_digit(peek(s, p)))
        return fail(s, p, "expected a digit in a number");
    while (json_is_digit(peek(s, p)))
        p++;
    return p;
}

static const char *skip_number(struct json_scan *s, const char *p)
{
    if (*p == '-')
        p++;
    if (peek(s, p) == '0' && json_is_digit(peek(s, p + 1)))
        return fail(s, p + 1, "a number begins with 0");
    p = skip_digits(s, p);
    if (p && peek(s, p) == '.')
        p = skip_digits(s, p + 1);
    if (!p || (peek(s, p) | 0x20) != 'e')
        return p;
    p++;
    if (peek(s, p) == '+' || peek(s, p) == '-')
        p++;
    return skip_digits(s, p);
}

static const char *skip_word(struct json_scan *s, const char *p, struct str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (peek(s, p + i) != word.ptr[i])
            return fail(s, p + i, "expected a value");
    return p + word.len;
}

static const char *skip_scalar(struct json_scan *s, const char *p)
{
    struct json_span string;
    int c = peek(s, p);

    if (c == '"')
        return skip_string(s, p, &string);
    if (c == '-' || json_is_digit(c))
        return skip_number(s, p);
    switch (c) {
    case 't': return skip_word(s, p, S("true"));
    case 'f': return skip_word(s, p, S("false"));
    case 'n': return skip_word(s, p, S("null"));
    default: return fail(s, p, "expected a value");
    }
}

/* objects and arrays */

/* Up to the value that the name is given to. */
static inline const char *skip_name(struct json_scan *s, const char *p,
                                    struct json_span *ret)
{
    if (peek(s, p) != '"')
        return fail(s, p, "expected a name in quotes");
    p = skip_string(s, p, ret);
    if (!p)
        return NULL;
    p = skip_space(s, p);
    if (peek(s, p) != ':')
        return fail(s, p, "expected ':' after a name");
    return skip_space(s, p + 1);
}

static inline bool is_in_object(const struct nest *nest)
{
    size_t top = nest->depth - 1;

    return nest->objects[top / 64] >> (top % 64) & 1;
}

static inline void push(struct nest *nest, bool is_object)
{
    size_t top = nest->depth++;
    uint64_t bit = (uint64_t)1 << (top % 64);

    if (is_object)
        nest->objects[top / 64] |= bit;
    else
        nest->objects[top / 64] &= ~bit;
}

static inline char closer(bool is_object)
{
    return is_object ? '}' : ']';
}

static inline const char *skip_to_value(struct json_scan *s, const char *p,
                                        bool is_object)
{
    struct json_span name;

    return is_object ? skip_name(s, p, &name) : p;
}

/* Behind a value: closes what ends here, then goes on to the next value. */
static inline const char *skip_after_value(struct json_scan *s, const char *p,
                                           struct nest *nest)
{
    for (;;) {
        bool is_object = is_in_object(nest);
        int c;

        p = skip_space(s, p);
        c = peek(s, p);
        if (c == ',')
            return skip_to_value(s, skip_space(s, p + 1), is_object);
        if (c != closer(is_object))
            return fail(s, p,
                        is_object ? "expected ',' or '}' after a member"
                                  : "expected ',' or ']' after an item");
        p++;
        if (--nest->depth == 0)
            return p;
    }
}

/* From an opening bracket to the first value inside; where there is none, to whatever
 * value is next. */
static inline const char *skip_opening(struct json_scan *s, const char *p,
                                       struct nest *nest)
{
    bool is_object = *p == '{';

    if (s->depth + nest->depth >= s->max_depth)
        return fail_deep(s, p);
    push(nest, is_object);
    p = skip_space(s, p + 1);
    if (peek(s, p) == closer(is_object))
        return skip_after_value(s, p, nest);
    return skip_to_value(s, p, is_object);
}

static const char *skip_nested(struct json_scan *s, const char *p)
{
    struct nest nest = {};

    do {
        int c = peek(s, p);

        if (c == '{' || c == '[') {
            p = skip_opening(s, p, &nest);
            continue;
        }
        p = skip_scalar(s, p);
        if (p)
            p = skip_after_value(s, p, &nest);
    } while (p && nest.depth);
    return p;
}

#ifdef SIMD_X86
/* Where a bracket is counted: outside strings. */
struct sure {
    size_t depth;
    bool is_in_string;
    bool is_escaped; /* the byte before was a backslash that counts */
};

/* One byte; true behind the bracket that closes the value. */
static inline bool pass_byte(struct sure *sure, char c)
{
    if (sure->is_escaped) {
        sure->is_escaped = false;
    } else if (sure->is_in_string) {
        sure->is_escaped = c == '\\';
        sure->is_in_string = c != '"';
    } else if (c == '"') {
        sure->is_in_string = true;
    } else if (c == '{' || c == '[') {
        sure->depth++;
    } else if (c == '}' || c == ']') {
        return --sure->depth == 0;
    }
    return false;
}

static const char *pass_bytes(struct sure *sure, const char *p, const char *end)
{
    while (p < end)
        if (pass_byte(sure, *p++))
            return p;
    return NULL;
}

/* Sixteen bytes without a backslash, from the one at `p` on, which is their `first`. A
 * byte stands in a string where the number of quotes up to it is odd. NULL: the value
 * goes on behind them. */
static inline const char *pass_step(struct sure *sure, const char *p, __m128i bytes,
                                    unsigned first)
{
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(' ')); /* [ to {, ] to } */
    unsigned inside =
        (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'))) >> first;
    unsigned opens =
        (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{'))) >> first;
    unsigned closes =
        (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))) >> first;

    inside ^= inside << 1;
    inside ^= inside << 2;
    inside ^= inside << 4;
    inside ^= inside << 8;
    inside ^= sure->is_in_string ? 0xffffU : 0;
    sure->is_in_string = inside >> (JSON_STEP - 1) & 1;
    for (unsigned left = (opens | closes) & ~inside; left; left &= left - 1) {
        unsigned at = (unsigned)__builtin_ctz(left);

        if (opens >> at & 1)
            sure->depth++;
        else if (--sure->depth == 0)
            return p + at + 1;
    }
    return NULL;
}

static inline bool has_backslash(__m128i bytes)
{
    return _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))) != 0;
}

/* Passes over an object or array that was checked before: only its brackets count. The
 * last bytes are looked at together with those before them. NULL: it does not end. */
static const char *skip_sure(const struct json_scan *s, const char *p)
{
    const char *last = end_of(s) - JSON_STEP;
    struct sure sure = {};
    __m128i bytes;

    if (s->text.len < JSON_STEP)
        return pass_bytes(&sure, p, end_of(s));
    for (; p <= last; p += JSON_STEP) {
        const char *behind;

        bytes = _mm_loadu_si128((const __m128i_u *)p);
        behind = sure.is_escaped || has_backslash(bytes)
                     ? pass_bytes(&sure, p, p + JSON_STEP)
                     : pass_step(&sure, p, bytes, 0);
        if (behind)
            return behind;
    }
    bytes = _mm_loadu_si128((const __m128i_u *)last);
    if (sure.is_escaped || has_backslash(bytes))
        return pass_bytes(&sure, p, end_of(s));
    return p < end_of(s) ? pass_step(&sure, p, bytes, (unsigned)(p - last)) : NULL;
}
#else
static const char *skip_sure(const struct json_scan *, const char *)
{
    return NULL; /* it is checked again */
}
#endif

/* NULL after fail(), also where somebody said that it was checked and it was not. */
static const char *skip_object_or_array(struct json_scan *s, const char *p)
{
    const char *behind = s->is_sure ? skip_sure(s, p) : NULL;

    return behind ? behind : skip_nested(s, p);
}

static enum json_type type_of(char first)
{
    switch (first) {
    case '{': return JSON_OBJECT;
    case '[': return JSON_ARRAY;
    case 't': return JSON_TRUE;
    case 'f': return JSON_FALSE;
    case 'n': return JSON_NULL;
    default: return JSON_NUMBER;
    }
}

static const char *skip_value(struct json_scan *s, const char *p, struct json_span *ret)
{
    const char *start = p;
    int c = peek(s, p);

    if (c == '"')
        return skip_string(s, p, ret);
    p = c == '{' || c == '[' ? skip_object_or_array(s, p) : skip_scalar(s, p);
    if (!p)
        return NULL;
    ret->type = type_of(*start);
    ret->has_escape = false;
    ret->text = (struct str){ start, (size_t)(p - start) };
    return p;
}

/* the public side */

/* Stores the position, unless fail() has done so. */
static void advance(struct json_scan *s, const char *p)
{
    if (p)
        s->at = (size_t)(p - s->text.ptr);
}

static const char *here(const struct json_scan *s)
{
    return skip_space(s, s->text.ptr + s->at);
}

void json_scan_init(struct json_scan *scan, struct str text, size_t max_depth)
{
    *scan = (struct json_scan){
        .text = text.ptr ? text : S(""),
        .max_depth = max_depth < JSON_MAX_DEPTH ? max_depth : JSON_MAX_DEPTH,
    };
}

void json_walk_init(struct json_scan *scan, struct json_span value)
{
    json_scan_init(scan, value.text, JSON_MAX_DEPTH);
    scan->is_sure = true;
}

static enum err begin(struct json_scan *s, char opener, const char *what)
{
    const char *p = here(s);

    if (s->err)
        return s->err;
    if (peek(s, p) != opener)
        p = fail(s, p, what);
    else if (s->depth >= s->max_depth)
        p = fail_deep(s, p);
    else
        p++;
    advance(s, p);
    s->depth++;
    s->is_first = true;
    return s->err;
}

/* Up to the next name or item; NULL at the end, which it passes, and on error. */
static inline const char *next(struct json_scan *s, bool is_object)
{
    const char *p = here(s);
    int c = peek(s, p);

    if (s->err)
        return NULL;
    if (c == closer(is_object)) {
        advance(s, p + 1);
        s->depth--;
        s->is_first = false;
        return NULL;
    }
    if (s->is_first) {
        s->is_first = false;
        return p;
    }
    if (c == ',')
        return skip_space(s, p + 1);
    return fail(s, p,
                is_object ? "expected ',' or '}' after a member"
                          : "expected ',' or ']' after an item");
}

enum err json_object_begin(struct json_scan *scan)
{
    return begin(scan, '{', "expected an object");
}

bool json_object_next(struct json_scan *scan, struct json_member *ret, enum err *ret_err)
{
    const char *p = next(scan, true);

    if (p)
        p = skip_name(scan, p, &ret->key);
    if (p)
        p = skip_value(scan, p, &ret->value);
    advance(scan, p);
    *ret_err = scan->err;
    return p != NULL;
}

enum err json_array_begin(struct json_scan *scan)
{
    return begin(scan, '[', "expected an array");
}

bool json_array_next(struct json_scan *scan, struct json_span *ret, enum err *ret_err)
{
    const char *p = next(scan, false);

    if (p)
        p = skip_value(scan, p, ret);
    advance(scan, p);
    *ret_err = scan->err;
    return p != NULL;
}

enum err json_value(struct json_scan *scan, struct json_span *ret)
{
    if (!scan->err)
        advance(scan, skip_value(scan, here(scan), ret));
    return scan->err;
}

enum err json_scan_end(struct json_scan *scan)
{
    const char *p = here(scan);

    if (!scan->err && p < end_of(scan))
        p = fail(scan, p, "something follows the value");
    if (!scan->err)
        advance(scan, p);
    return scan->err;
}
