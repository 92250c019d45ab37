/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client asks: lines of text, skill, availability, kind, location, rate, currency
 * and cursor. Whatever is understood has words and marks that an engine may be given, and
 * finds a resource by its marks exactly when it has a score.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "directory/match.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

/* Nothing in it could end a quoted text, in SQL, FTS5 or a tsquery. */
static void check_mark(struct str mark)
{
    expect(mark.len > 1 && mark.len <= DIRECTORY_MARK && utf8_is_valid(mark));
    for (size_t i = 0; i < mark.len; i++) {
        unsigned char c = (unsigned char)mark.ptr[i];

        expect((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '#' ||
               c >= 0x80);
    }
}

static bool has_mark(struct str marks, char letter, struct str word, bool is_beginning)
{
    while (marks.len) {
        struct str mark = str_cut(&marks, ' ');
        struct str rest = str_slice(mark, 1, mark.len);

        if (mark.len && mark.ptr[0] == letter &&
            (is_beginning ? str_starts(rest, word) : str_eq(rest, word)))
            return true;
    }
    return false;
}

static unsigned weigh(struct str marks, const struct directory_term *term)
{
    struct str word = { term->word, term->word_len };
    struct str stem = { term->stem, term->stem_len };
    unsigned best = 0;

    for (int i = 0; i < DIRECTORY_CLASS_COUNT; i++) {
        char letter = directory_letter((enum directory_class)i);
        unsigned weight = directory_weight((enum directory_class)i);

        if (term->may_begin && has_mark(marks, letter, word, true) && weight / 2 > best)
            best = weight / 2;
        if (has_mark(marks, letter, stem, false) && weight > best)
            best = weight;
    }
    return best;
}

/* The resource that says what was asked for, in several places. */
static void check_resource(const struct directory_ask *ask)
{
    const struct directory_query *query = ask->query;
    struct str skills[] = { utf8_cut(query->text, RESOURCE_WORD) };
    struct resource resource = {
        .id = S("x"),
        .role = utf8_cut(query->text, 40),
        .skills = { skills, skills[0].len > 0 },
        .profile = query->text,
        .location = query->location,
        .availability = query->availability,
    };
    struct directory_match match;
    unsigned score = 0;
    struct buf marks;

    buf_init(&marks, SIZE_MAX / 2);
    directory_marks(&resource, &marks);
    for (struct str rest = buf_str(&marks); rest.len;)
        check_mark(str_cut(&rest, ' '));
    directory_match(ask, &resource, &match);
    for (size_t i = 0; i < ask->term_count; i++)
        score += weigh(buf_str(&marks), &ask->terms[i]);
    expect(score == match.score);
    buf_done(&marks);
}

static void check_filters(const struct directory_ask *ask)
{
    struct str rest;
    struct buf marks;

    buf_init(&marks, SIZE_MAX / 2);
    directory_filter_marks(ask, &marks);
    rest = str_trim(buf_str(&marks));
    while (rest.len) {
        struct str mark = str_cut(&rest, ' ');

        check_mark(str_slice(mark, 0, mark.len - str_ends(mark, S("*"))));
    }
    buf_done(&marks);
}

static void check_cursor(const struct directory_ask *ask)
{
    struct buf text;

    if (!ask->has_cursor)
        return;
    buf_init(&text, DIRECTORY_CURSOR);
    directory_cursor_write(&text, &ask->after);
    expect(str_eq(buf_str(&text), ask->query->cursor)); /* it has one spelling */
    buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { size ? (const char *)bytes : "", size };
    struct resource_problem problem = {};
    struct directory_query query = { .text = str_cut(&rest, '\n') };
    struct str skill = str_cut(&rest, '\n');
    struct directory_ask ask;

    query.skills = (struct str_list){ &skill, skill.len > 0 };
    query.availability = str_cut(&rest, '\n');
    query.kind = str_cut(&rest, '\n');
    query.location = str_cut(&rest, '\n');
    query.max_rate = str_cut(&rest, '\n');
    query.currency = str_cut(&rest, '\n');
    query.cursor = rest;
    if (directory_ask_read(&query, &ask, &problem)) {
        expect(problem.field.len && problem.what);
        return 0;
    }
    expect(ask.term_count <= DIRECTORY_TERMS && ask.limit > 0);
    check_cursor(&ask);
    check_filters(&ask);
    check_resource(&ask);
    return 0;
}
