/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes within shapes: by a table, and by chance. Whatever is said to be within another
 * covers no value that the other does not; and what was made narrower step by step is
 * found to be so.
 *
 * WITHIN_ROUNDS: how many pairs.
 */
#include <stdio.h>

#include "dice.h"
#include "harness.h"
#include "rules/shape.h"

enum { ROOM = 1 << 20, TEXT = 16 << 10, SAMPLES = 12, DEPTH = 2 };

static const struct shape *read_shape(struct str text, struct arena *arena)
{
    const struct shape *shape;
    const struct json *root;

    if (json_parse(text, arena, &root, NULL) ||
        shape_read(root, text, arena, &shape, NULL))
        return NULL;
    return shape;
}

#define A(shape) S("{\"a\":" shape "}")
#define UNDER(directory, characters, bytes, depth, more)          \
    A("{\"under\":\"" directory "\",\"characters\":\"" characters \
      "\",\"max_bytes\":" #bytes ",\"depth\":" #depth more "}")
#define PREFIX(prefix, characters, bytes, depth)                \
    A("{\"prefix\":\"" prefix "\",\"characters\":\"" characters \
      "\",\"max_bytes\":" #bytes ",\"depth\":" #depth "}")
#define C_OR_H ",\"endings\":[\".c\",\".h\"]"
#define ONLY_C ",\"endings\":[\".c\"]"
#define NONE   ",\"endings\":[\"\"]"

/* clang-format off */
static const struct {
    struct str narrow, wide;
    bool is_within;
} pairs[] = {
    /* values */
    { A("{\"exactly\":1}"),            A("{\"exactly\":1.0}"),                    true },
    { A("{\"exactly\":1}"),            A("{\"exactly\":\"1\"}"),                  false },
    { A("{\"exactly\":\"a\"}"),        A("{\"one_of\":[\"a\",\"b\"]}"),           true },
    { A("{\"one_of\":[\"a\",\"b\"]}"), A("{\"exactly\":\"a\"}"),                  false },
    { A("{\"one_of\":[\"a\",\"b\"]}"), A("{\"one_of\":[\"b\",\"c\",\"a\"]}"),     true },
    { A("{\"one_of\":[true,false]}"),  A("{\"boolean\":true}"),                   true },
    { A("{\"one_of\":[true,0]}"),      A("{\"boolean\":true}"),                   false },
    { A("{\"boolean\":true}"),         A("{\"one_of\":[true,1,false]}"),          true },
    { A("{\"boolean\":true}"),         A("{\"exactly\":true}"),                   false },
    { A("{\"boolean\":true}"),         A("{\"boolean\":true}"),                   true },
    { A("{\"exactly\":3}"),            A("{\"between\":[1,3],\"whole\":true}"),   true },
    { A("{\"exactly\":2.5}"),          A("{\"between\":[1,3],\"whole\":true}"),   false },
    { A("{\"exactly\":\"/srv/a/x\"}"), UNDER("/srv/a", "a-z", 9, 1, ""),          true },
    { A("{\"exactly\":\"/srv/x\"}"),   UNDER("/srv/a", "a-z", 9, 1, ""),          false },
    { A("{\"exactly\":\"ab-1\"}"),     PREFIX("ab-", "0-9", 9, 1),                true },
    { A("{\"exactly\":\"ab-x\"}"),     PREFIX("ab-", "0-9", 9, 1),                false },
    { A("{\"exactly\":\"a b\"}"),      A("{\"text\":true,\"max_bytes\":3}"),      true },
    { A("{\"exactly\":\"a bc\"}"),     A("{\"text\":true,\"max_bytes\":3}"),      false },
    { A("{\"exactly\":[1,2]}"),        A("{\"items\":{\"between\":[1,2]},\"max_items\":2}"), true },
    { A("{\"exactly\":[1,3]}"),        A("{\"items\":{\"between\":[1,2]},\"max_items\":2}"), false },
    { A("{\"exactly\":{}}"),           A("{\"members\":{\"b\":{\"exactly\":1,\"optional\":true}}}"), true },
    { A("{\"exactly\":{}}"),           A("{\"members\":{\"b\":{\"exactly\":1}}}"), false },

    /* numbers */
    { A("{\"between\":[1,2]}"),        A("{\"between\":[1,2]}"),                  true },
    { A("{\"between\":[1,2]}"),        A("{\"between\":[1.0000000000000000001,2]}"), false },
    { A("{\"between\":[1,2]}"),        A("{\"between\":[1,1.9999999999999999999]}"), false },
    { A("{\"between\":[-1,2]}"),       A("{\"between\":[-1e400,1e400]}"),         true },
    { A("{\"between\":[1,2]}"),        A("{\"between\":[1,2],\"whole\":true}"),   false },
    { A("{\"between\":[1,2],\"whole\":true}"), A("{\"between\":[1,2]}"),          true },
    { A("{\"between\":[2,2]}"),        A("{\"between\":[1,2],\"whole\":true}"),   true },
    { A("{\"between\":[2,2]}"),        A("{\"exactly\":2}"),                      true },
    { A("{\"between\":[2,3]}"),        A("{\"one_of\":[2,3]}"),                   false },
    { A("{\"between\":[1,2]}"),        A("{\"text\":true,\"max_bytes\":9}"),      false },

    /* directories */
    { UNDER("/srv/a", "a-z", 20, 2, ""),         UNDER("/srv/a", "a-z", 20, 2, ""),         true },
    { UNDER("/srv/a", "a-z", 19, 1, ""),         UNDER("/srv/a", "a-z 0-9", 20, 2, ""),     true },
    { UNDER("/srv/a", "a-z 0-9", 20, 2, ""),     UNDER("/srv/a", "a-z", 20, 2, ""),         false },
    { UNDER("/srv/a", "a-z", 21, 2, ""),         UNDER("/srv/a", "a-z", 20, 2, ""),         false },
    { UNDER("/srv/a", "a-z", 20, 3, ""),         UNDER("/srv/a", "a-z", 20, 2, ""),         false },
    { UNDER("/srv/a", "a-z", 10, 3, ""),         UNDER("/srv/a", "a-z", 20, 2, ""),         true }, /* no room for three */
    { UNDER("/srv/a/b", "a-z", 20, 1, ""),       UNDER("/srv/a", "a-z", 20, 2, ""),         true },
    { UNDER("/srv/a/b", "a-z", 20, 2, ""),       UNDER("/srv/a", "a-z", 20, 2, ""),         false },
    { UNDER("/srv/a/b/c", "a-z", 20, 1, ""),     UNDER("/srv/a", "a-z", 20, 2, ""),         false },
    { UNDER("/srv/a/1", "a-z", 20, 1, ""),       UNDER("/srv/a", "a-z", 20, 2, ""),         false }, /* 1 is none of them */
    { UNDER("/srv/ab", "a-z", 20, 1, ""),        UNDER("/srv/a", "a-z", 20, 2, ""),         false },
    { UNDER("/srv", "a-z", 20, 1, ""),           UNDER("/srv/a", "a-z", 20, 2, ""),         false },
    { UNDER("srv/a", "a-z", 20, 1, ""),          UNDER("/srv/a", "a-z", 20, 2, ""),         false },
    { UNDER("/srv/a", "a-z .", 20, 1, ONLY_C),   UNDER("/srv/a", "a-z .", 20, 1, C_OR_H),   true },
    { UNDER("/srv/a", "a-z .", 20, 1, C_OR_H),   UNDER("/srv/a", "a-z .", 20, 1, ONLY_C),   false },
    { UNDER("/srv/a", "a-z .", 20, 1, C_OR_H),   UNDER("/srv/a", "a-z .", 20, 1, ""),       true },
    { UNDER("/srv/a", "a-z .", 20, 1, ""),       UNDER("/srv/a", "a-z .", 20, 1, C_OR_H),   false },
    { UNDER("/srv/a", "a-z", 20, 1, ""),         UNDER("/srv/a", "a-z .", 20, 1, C_OR_H),   false },
    { UNDER("/srv/a", "a-z", 20, 1, ""),         UNDER("/srv/a", "a-z .", 20, 1, NONE),     true },
    { UNDER("/srv/a", "a-z .", 20, 1, ",\"endings\":[\".c\",\".1\"]"), UNDER("/srv/a", "a-z .", 20, 1, ONLY_C), true },
    { UNDER("/srv/a", "a-z", 20, 1, ""),         A("{\"text\":true,\"max_bytes\":20}"),     true },
    { UNDER("/srv/a", "a-z", 20, 1, ""),         A("{\"text\":true,\"max_bytes\":19}"),     false },
    { UNDER("ab-c", "a-z", 20, 1, ""),           PREFIX("ab-", "a-z", 20, 2),               true },
    { UNDER("ab-c", "a-z", 20, 1, ""),           PREFIX("ab-", "a-z", 20, 1),               false },
    { UNDER("ab-", "a-z", 20, 1, ""),            PREFIX("ab-", "a-z", 20, 2),               false },
    { UNDER("ab-1", "a-z", 20, 1, ""),           PREFIX("ab-", "a-z", 20, 2),               false },

    /* prefixes */
    { PREFIX("ab-", "0-9", 9, 1),                PREFIX("ab-", "0-9 a-z", 10, 2),           true },
    { PREFIX("ab-", "0-9", 9, 1),                PREFIX("ac-", "0-9", 9, 1),                false },
    { PREFIX("ab-c.", "0-9", 9, 1),              PREFIX("ab-", "0-9 a-z .", 9, 1),          true },
    { PREFIX("ab-c.", "0-9", 9, 1),              PREFIX("ab-", "0-9 a-z", 9, 1),            false },
    { PREFIX("ab-c.", "0-9", 9, 2),              PREFIX("ab-", "0-9 a-z .", 9, 1),          false },
    { PREFIX("ab-.c.", "0-9", 9, 1),             PREFIX("ab-", "0-9 a-z .", 9, 1),          false }, /* would begin with a dot */
    { PREFIX("ab-", "0-9", 9, 1),                PREFIX("ab-c.", "0-9", 9, 1),              false },
    { PREFIX("https://h/a/", "0-9", 20, 1),      PREFIX("https://h/", "0-9 a-z", 20, 2),    true },
    { PREFIX("https://h/a/", "0-9", 20, 1),      PREFIX("https://h/", "0-9 a-z", 20, 1),    false },
    { PREFIX("https://h/a-", "0-9", 20, 1),      PREFIX("https://h/", "0-9 a-z -", 20, 1),  true },
    { PREFIX("https://h//", "0-9", 20, 1),       PREFIX("https://h/", "0-9 a-z", 20, 2),    false },
    { PREFIX("https://hh/", "0-9", 20, 1),       PREFIX("https://h/", "0-9 a-z", 20, 2),    false },
    { PREFIX("https://h/", "0-9", 20, 1),        UNDER("https:", "0-9 a-z", 20, 9, ""),     false },
    { PREFIX("ab-", "0-9", 9, 1),                A("{\"text\":true,\"max_bytes\":9}"),      true },
    { PREFIX("ab-", "0-9", 9, 1),                A("{\"exactly\":\"ab-1\"}"),               false },

    /* texts */
    { A("{\"text\":true,\"max_bytes\":9}"), A("{\"text\":true,\"max_bytes\":9,\"lines\":true}"), true },
    { A("{\"text\":true,\"max_bytes\":9,\"lines\":true}"), A("{\"text\":true,\"max_bytes\":9}"), false },
    { A("{\"text\":true,\"max_bytes\":10}"), A("{\"text\":true,\"max_bytes\":9}"),          false },
    { A("{\"text\":true,\"max_bytes\":9}"), PREFIX("ab-", "a-z", 99, 9),                    false },

    /* members */
    { S("{}"),                         S("{}"),                                   true },
    { A("{\"exactly\":1}"),            S("{}"),                                   false },
    { S("{}"),                         A("{\"exactly\":1}"),                      false },
    { S("{}"),                         A("{\"exactly\":1,\"optional\":true}"),    true },
    { A("{\"exactly\":1}"),            A("{\"exactly\":1,\"optional\":true}"),    true },
    { A("{\"exactly\":1,\"optional\":true}"), A("{\"exactly\":1}"),               false },
    { A("{\"exactly\":1,\"optional\":true}"), A("{\"exactly\":1,\"optional\":true}"), true },
    { S("{\"a\":{\"exactly\":1},\"b\":{\"exactly\":1}}"), A("{\"exactly\":1}"),   false },
    { A("{\"exactly\":1}"), S("{\"a\":{\"exactly\":1},\"b\":{\"exactly\":1}}"),   false },
    { S("{\"b\":{\"exactly\":1}}"),    A("{\"exactly\":1}"),                      false },
    { A("{\"members\":{\"b\":{\"exactly\":1}}}"), A("{\"members\":{\"b\":{\"between\":[0,1]}}}"), true },
    { A("{\"members\":{\"b\":{\"exactly\":2}}}"), A("{\"members\":{\"b\":{\"between\":[0,1]}}}"), false },
    { A("{\"members\":{}}"),           A("{\"exactly\":{}}"),                     true },
    { A("{\"members\":{\"b\":{\"exactly\":1}}}"), A("{\"exactly\":{}}"),          false },

    /* arrays */
    { A("{\"items\":{\"exactly\":1},\"max_items\":2}"), A("{\"items\":{\"between\":[0,1]},\"max_items\":3}"), true },
    { A("{\"items\":{\"exactly\":1},\"max_items\":4}"), A("{\"items\":{\"between\":[0,1]},\"max_items\":3}"), false },
    { A("{\"items\":{\"exactly\":2},\"max_items\":2}"), A("{\"items\":{\"between\":[0,1]},\"max_items\":3}"), false },
    { A("{\"items\":{\"exactly\":1},\"max_items\":2}"), A("{\"items\":{\"exactly\":1},\"min_items\":1,\"max_items\":2}"), false },
    { A("{\"items\":{\"exactly\":1},\"min_items\":2,\"max_items\":2}"), A("{\"items\":{\"exactly\":1},\"min_items\":1,\"max_items\":2}"), true },
    { A("{\"items\":{\"exactly\":1},\"min_items\":1,\"max_items\":1}"), A("{\"exactly\":1}"), false },
};
/* clang-format on */

TEST(a_shape_is_within_what_covers_all_of_it)
{
    FOR_EACH_CASE(c, pairs) {
        const struct shape *narrow, *wide;
        struct arena arena;

        arena_init(&arena, ROOM);
        narrow = read_shape(c->narrow, &arena);
        wide = read_shape(c->wide, &arena);
        CHECK(narrow && wide);
        if (narrow && wide) {
            CHECK_INT(shape_is_within(narrow, wide), c->is_within);
            CHECK(shape_is_within(narrow, narrow) && shape_is_within(wide, wide));
        }
        arena_done(&arena);
    }
}

/* --- by chance --- */

#define PICK(dice, list) ((list)[dice_below((dice), sizeof(list) / sizeof((list)[0]))])

static const char *const words[] = { "a-z", "0-9", ".", "-", "_" };
static const char *const directories[] = { "/srv",  "/srv/a", "/srv/a/b", "/srv/a/1",
                                           "srv/a", "ab-c",   "ab-c/d",   "/srv/ab" };
static const char *const prefixes[] = {
    "ab-",        "ab-c.",        "ab-c.d-",        "ab-.c-",
    "https://h/", "https://h/a/", "https://h/a/b-", "https://h//",
};
static const char *const values[] = {
    "\"a\"",
    "\"b\"",
    "\"/srv/a/b\"",
    "\"/srv/a/b.c\"",
    "\"ab-1\"",
    "\"ab-c.d\"",
    "0",
    "1",
    "2.5",
    "3",
    "-1",
    "true",
    "false",
    "null",
    "[1,2]",
    "[]",
    "{}",
    "[\"a\"]",
    "\"\"",
    "\"a\\u0062\"",
    "10e-1",
    "[true]",
};

static void put_characters(struct buf *out, struct dice *dice)
{
    uint64_t set = 1 + dice_below(dice, 31);
    bool has_one = false;

    buf_put(out, S(",\"characters\":\""));
    for (size_t i = 0; i < 5; i++)
        if (set & 1ULL << i) {
            buf_putf(out, "%s%s", has_one ? " " : "", words[i]);
            has_one = true;
        }
    buf_putf(out, "\",\"max_bytes\":%u,\"depth\":%u",
             (unsigned)(9 + dice_below(dice, 14)), (unsigned)(1 + dice_below(dice, 4)));
}

static void put_shape(struct buf *out, struct dice *dice, size_t depth);

static void put_members(struct buf *out, struct dice *dice, size_t depth)
{
    static const char *const keys[] = { "x", "y", "z" };
    bool has_one = false;

    buf_putc(out, '{');
    for (size_t i = 0; i < 3; i++) {
        if (dice_below(dice, 2))
            continue;
        buf_putf(out, "%s\"%s\":", has_one ? "," : "", keys[i]);
        put_shape(out, dice, depth + 1);
        if (dice_below(dice, 3) == 0) {
            out->len--;
            buf_put(out, S(",\"optional\":true}"));
        }
        has_one = true;
    }
    buf_putc(out, '}');
}

// NOLINTNEXTLINE(misc-no-recursion): DEPTH
static void put_shape(struct buf *out, struct dice *dice, size_t depth)
{
    int low = (int)dice_below(dice, 12) - 4;

    buf_putc(out, '{');
    switch ((enum shape_kind)dice_below(dice, depth < DEPTH ? 9 : 7)) {
    case SHAPE_EXACTLY: buf_putf(out, "\"exactly\":%s", PICK(dice, values)); break;
    case SHAPE_ONE_OF:
        buf_putf(out, "\"one_of\":[%s,%s,%s]", PICK(dice, values), PICK(dice, values),
                 PICK(dice, values));
        break;
    case SHAPE_BOOLEAN: buf_put(out, S("\"boolean\":true")); break;
    case SHAPE_BETWEEN:
        buf_putf(out, "\"between\":[%d%s,%d]", low, low < 0 ? "" : ".5",
                 low + 1 + (int)dice_below(dice, 5));
        buf_put(out, dice_below(dice, 2) ? S(",\"whole\":true") : S(""));
        break;
    case SHAPE_UNDER:
        buf_putf(out, "\"under\":\"%s\"", PICK(dice, directories));
        put_characters(out, dice);
        if (dice_below(dice, 2))
            buf_put(out, dice_below(dice, 2) ? S(",\"endings\":[\".c\",\"\"]")
                                             : S(",\"endings\":[\".c\",\".1\"]"));
        break;
    case SHAPE_PREFIXED:
        buf_putf(out, "\"prefix\":\"%s\"", PICK(dice, prefixes));
        put_characters(out, dice);
        break;
    case SHAPE_FREE_TEXT:
        buf_putf(out, "\"text\":true,\"max_bytes\":%u%s",
                 (unsigned)(1 + dice_below(dice, 20)),
                 dice_below(dice, 2) ? ",\"lines\":true" : "");
        break;
    case SHAPE_OBJECT:
        buf_put(out, S("\"members\":"));
        put_members(out, dice, depth);
        break;
    case SHAPE_ARRAY:
        buf_put(out, S("\"items\":"));
        put_shape(out, dice, depth + 1);
        buf_putf(out, ",\"min_items\":%u,\"max_items\":%u", (unsigned)dice_below(dice, 2),
                 (unsigned)(1 + dice_below(dice, 3)));
        break;
    }
    buf_putc(out, '}');
}

/* --- values that a shape covers, mostly --- */

static void put_tail(struct buf *out, struct dice *dice, const struct shape *shape)
{
    static const char letters[] = "abc1d.-_";
    size_t parts = 1 + dice_below(dice, shape->depth);

    for (size_t i = 0; i < parts; i++) {
        if (i)
            buf_putc(out, '/');
        for (size_t k = 0; k < 1 + dice_below(dice, 4); k++) {
            char c = letters[dice_below(dice, 8)];
            bool has_other = false;

            if (shape_characters_of((struct str){ &c, 1 }, &has_other) &
                shape->characters)
                buf_putc(out, c);
        }
    }
    if (shape->kind == SHAPE_UNDER && dice_below(dice, 2))
        buf_put(out, dice_below(dice, 2) ? S(".c") : S(".1"));
}

static void put_text(struct buf *out, struct dice *dice, const struct shape *shape)
{
    static const char *const some[] = {
        "a", " ", "\\n", "/srv/a/", "b", "ab-", "\\u00e4"
    };
    size_t count = dice_below(dice, 6);

    for (size_t i = 0; i < count && shape->max_bytes; i++)
        buf_put(out, str_of(PICK(dice, some)));
}

// NOLINTNEXTLINE(misc-no-recursion): the depth of the shape
static void put_value(struct buf *out, struct dice *dice, const struct shape *shape)
{
    size_t count = shape->min_items;
    bool has_one = false;

    switch (shape->kind) {
    case SHAPE_EXACTLY:
    case SHAPE_ONE_OF:
        buf_put(out, shape->values[dice_below(dice, shape->value_count)]);
        break;
    case SHAPE_BOOLEAN: buf_put(out, dice_below(dice, 2) ? S("true") : S("false")); break;
    case SHAPE_BETWEEN:
        if (dice_below(dice, 3) == 0)
            buf_put(out, dice_below(dice, 2) ? shape->min : shape->max);
        else
            buf_putf(out, "%d%s", (int)dice_below(dice, 18) - 5,
                     dice_below(dice, 2) ? ".50" : "");
        break;
    case SHAPE_UNDER:
    case SHAPE_PREFIXED:
        buf_putf(out, "\"" STR_FMT "%s", STR_ARG(shape->text),
                 shape->kind == SHAPE_UNDER ? "/" : "");
        put_tail(out, dice, shape);
        buf_putc(out, '"');
        break;
    case SHAPE_FREE_TEXT:
        buf_putc(out, '"');
        put_text(out, dice, shape);
        buf_putc(out, '"');
        break;
    case SHAPE_OBJECT:
        buf_putc(out, '{');
        for (const struct shape *at = shape->first; at; at = at->next) {
            if (at->is_optional && dice_below(dice, 2))
                continue;
            buf_putf(out, "%s\"" STR_FMT "\":", has_one ? "," : "", STR_ARG(at->key));
            put_value(out, dice, at);
            has_one = true;
        }
        buf_putc(out, '}');
        break;
    case SHAPE_ARRAY:
        count += dice_below(dice, shape->max_items - shape->min_items + 1);
        buf_putc(out, '[');
        for (size_t i = 0; i < count; i++) {
            buf_put(out, i ? S(",") : S(""));
            put_value(out, dice, shape->first);
        }
        buf_putc(out, ']');
        break;
    }
}

/* --- narrower, step by step --- */

static size_t less(struct dice *dice, size_t number, size_t least)
{
    return number > least && dice_below(dice, 2) ? number - 1 : number;
}

static void put_begin(struct buf *out, struct dice *dice, const struct shape *s)
{
    bool has_other = false;
    bool is_deeper = s->kind == SHAPE_UNDER && s->depth > 1 && dice_below(dice, 2) &&
                     (s->characters & shape_characters_of(S("a"), &has_other));

    buf_putf(out, "\"%s\":\"" STR_FMT "%s\",\"characters\":\"",
             s->kind == SHAPE_UNDER ? "under" : "prefix", STR_ARG(s->text),
             is_deeper ? "/a" : "");
    shape_characters_put(out, s->characters);
    buf_putf(out, "\",\"max_bytes\":%zu,\"depth\":%zu", less(dice, s->max_bytes, 1),
             less(dice, s->depth - is_deeper, 1));
    if (s->value_count) {
        buf_putf(out, ",\"endings\":[\"" STR_FMT "\"", STR_ARG(s->values[0]));
        for (size_t i = 1; i < s->value_count && dice_below(dice, 2); i++)
            buf_putf(out, ",\"" STR_FMT "\"", STR_ARG(s->values[i]));
        buf_putc(out, ']');
    }
}

static void put_narrower(struct buf *out, struct dice *dice, const struct shape *s);

// NOLINTNEXTLINE(misc-no-recursion): the depth of the shape
static void put_narrower_members(struct buf *out, struct dice *dice,
                                 const struct shape *s)
{
    bool has_one = false;

    buf_putc(out, '{');
    for (const struct shape *at = s->first; at; at = at->next) {
        if (at->is_optional && dice_below(dice, 3) == 0)
            continue;
        buf_putf(out, "%s\"" STR_FMT "\":", has_one ? "," : "", STR_ARG(at->key));
        put_narrower(out, dice, at);
        if (at->is_optional && dice_below(dice, 2)) {
            out->len--;
            buf_put(out, S(",\"optional\":true}"));
        }
        has_one = true;
    }
    buf_putc(out, '}');
}

// NOLINTNEXTLINE(misc-no-recursion): the depth of the shape
static void put_narrower(struct buf *out, struct dice *dice, const struct shape *s)
{
    size_t most = s->max_items;

    buf_putc(out, '{');
    switch (s->kind) {
    case SHAPE_EXACTLY:
    case SHAPE_ONE_OF:
        buf_put(out, S("\"exactly\":"));
        buf_put(out, s->values[dice_below(dice, s->value_count)]);
        break;
    case SHAPE_BOOLEAN:
        buf_put(out,
                dice_below(dice, 2) ? S("\"boolean\":true") : S("\"exactly\":false"));
        break;
    case SHAPE_BETWEEN:
        buf_putf(out, "\"between\":[" STR_FMT "," STR_FMT "]%s", STR_ARG(s->min),
                 STR_ARG(s->max),
                 s->is_whole || dice_below(dice, 2) ? ",\"whole\":true" : "");
        break;
    case SHAPE_UNDER:
    case SHAPE_PREFIXED: put_begin(out, dice, s); break;
    case SHAPE_FREE_TEXT:
        if (dice_below(dice, 3) == 0 && s->max_bytes > 4) {
            buf_putf(out, "\"prefix\":\"ab-\",\"characters\":\"a-z .\",\"max_bytes\":%zu",
                     less(dice, s->max_bytes, 1));
            break;
        }
        buf_putf(out, "\"text\":true,\"max_bytes\":%zu%s", less(dice, s->max_bytes, 1),
                 s->has_lines && dice_below(dice, 2) ? ",\"lines\":true" : "");
        break;
    case SHAPE_OBJECT:
        buf_put(out, S("\"members\":"));
        put_narrower_members(out, dice, s);
        break;
    case SHAPE_ARRAY:
        buf_put(out, S("\"items\":"));
        put_narrower(out, dice, s->first);
        most = s->max_items > s->min_items ? less(dice, s->max_items, 1) : s->max_items;
        buf_putf(out, ",\"min_items\":%zu,\"max_items\":%zu",
                 s->min_items + (most > s->min_items && dice_below(dice, 2)), most);
        break;
    }
    buf_putc(out, '}');
}

/* --- pairs --- */

struct result {
    uint64_t pairs, within, values;
};

static void check_values(struct dice *dice, const struct shape *narrow,
                         const struct shape *wide, struct result *result)
{
    struct buf text;

    buf_init(&text, TEXT);
    for (int i = 0; i < SAMPLES; i++) {
        const struct json *value;
        struct arena arena;

        buf_clear(&text);
        put_value(&text, dice, narrow);
        arena_init(&arena, ROOM);
        if (json_parse(buf_str(&text), &arena, &value, NULL) == OK &&
            shape_covers(narrow, value, NULL)) {
            bool is_covered = shape_covers(wide, value, NULL);

            result->values++;
            CHECK(is_covered);
            if (!is_covered)
                printf("# %s\n", buf_cstr(&text));
        }
        arena_done(&arena);
    }
    buf_done(&text);
}

static void tell(const char *what, const struct buf *narrow, const struct buf *wide)
{
    printf("# %s: " STR_FMT " in " STR_FMT "\n", what, STR_ARG(buf_str(narrow)),
           STR_ARG(buf_str(wide)));
}

static void run_pair(uint64_t seed, struct result *result)
{
    struct dice dice = { seed * 0x9E3779B97F4A7C15ULL + 1 };
    bool is_made_narrower = dice_below(&dice, 2);
    const struct shape *wide, *narrow = NULL;
    struct buf a, b;
    struct arena arena;

    arena_init(&arena, ROOM);
    buf_init(&a, TEXT);
    buf_init(&b, TEXT);
    put_members(&a, &dice, 0);
    wide = read_shape(buf_str(&a), &arena);
    if (wide && is_made_narrower)
        put_narrower_members(&b, &dice, wide);
    else
        put_members(&b, &dice, 0);
    if (wide)
        narrow = read_shape(buf_str(&b), &arena);
    if (narrow) {
        bool is_within = shape_is_within(narrow, wide);

        result->pairs++;
        result->within += is_within;
        CHECK(shape_is_within(wide, wide));
        CHECK(is_within || !is_made_narrower);
        if (!is_within && is_made_narrower)
            tell("is not found to be", &b, &a);
        if (is_within)
            check_values(&dice, narrow, wide, result);
    }
    arena_done(&arena);
    buf_done(&a);
    buf_done(&b);
}

TEST(whatever_is_within_another_covers_nothing_else)
{
    uint64_t rounds = dice_rounds("WITHIN_ROUNDS", 1000);
    struct result result = {};

    for (uint64_t i = 0; i < rounds; i++)
        run_pair(i, &result);
    printf("# %llu pairs, %llu within, %llu values\n", (unsigned long long)result.pairs,
           (unsigned long long)result.within, (unsigned long long)result.values);
    CHECK(result.pairs > rounds / 2);
    CHECK(result.within > rounds / 4);
    CHECK(result.values > result.within);
}

/* Single members of the same few kinds: pairs of chance are often within each other. */
TEST(texts_that_begin_alike_are_within_each_other_only_where_they_are)
{
    uint64_t rounds = dice_rounds("WITHIN_ROUNDS", 1000) * 4;
    struct result result = {};

    for (uint64_t i = 0; i < rounds; i++) {
        struct dice dice = { i * 0x9E3779B97F4A7C15ULL + 7 };
        const struct shape *shapes[2];
        struct arena arena;
        struct buf text;

        arena_init(&arena, ROOM);
        buf_init(&text, TEXT);
        for (int k = 0; k < 2; k++) {
            bool is_path = dice_below(&dice, 2);

            buf_clear(&text);
            buf_putf(&text, "{\"a\":{\"%s\":\"%s\"", is_path ? "under" : "prefix",
                     is_path ? PICK(&dice, directories) : PICK(&dice, prefixes));
            put_characters(&text, &dice);
            if (is_path && dice_below(&dice, 2))
                buf_put(&text, S(",\"endings\":[\".c\",\"\"]"));
            buf_put(&text, S("}}"));
            shapes[k] = read_shape(arena_str(&arena, buf_str(&text)), &arena);
        }
        result.pairs++;
        if (shapes[0] && shapes[1] && shape_is_within(shapes[0], shapes[1])) {
            result.within++;
            check_values(&dice, shapes[0], shapes[1], &result);
        }
        buf_done(&text);
        arena_done(&arena);
    }
    printf("# %llu pairs, %llu within, %llu values\n", (unsigned long long)result.pairs,
           (unsigned long long)result.within, (unsigned long long)result.values);
    CHECK(result.within > rounds / 200);
    CHECK(result.values > result.within);
}
