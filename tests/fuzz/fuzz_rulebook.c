/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A book as it was kept: each line is a rule of the topic room. What comes back is
 * written, and read again: it must be the same. Whatever its state, its hour never has
 * more uses later than now, the bounds hold, and no verb that is judged to be possible
 * fails. A rule that is narrowed to itself is within itself.
 */
#include <stdint.h>
#include <stdlib.h>

#include "rules/rulebook.h"

#define NOW     1'800'000'000'000ULL
#define HOUR_MS 3'600'000ULL

enum { TEXT = 16 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void write_all(const struct rulebook *book, struct buf *out)
{
    for (const struct held_rule *at = NULL; (at = rulebook_next(book, at));) {
        struct json_writer w;

        json_write_init(&w, out);
        held_rule_write(at, &w);
        buf_putc(out, '\n');
    }
    expect(!out->is_full);
}

static void read_all(struct rulebook *book, struct str text, bool is_ours)
{
    while (text.len) {
        enum err err = rulebook_restore(book, str_cut(&text, '\n'));

        expect(!is_ours || err == OK);
    }
    expect(rulebook_count(book) <= RULEBOOK_RULES);
}

static void expect_same(const struct rulebook *book)
{
    struct rulebook *again = rulebook_new(S("room"));
    struct buf text, other;

    buf_init(&text, TEXT);
    buf_init(&other, TEXT);
    write_all(book, &text);
    read_all(again, buf_str(&text), true);
    write_all(again, &other);
    expect(str_eq(buf_str(&text), buf_str(&other)));
    buf_done(&text);
    buf_done(&other);
    rulebook_free(again);
}

static void use(struct rulebook *book, struct str id)
{
    const struct held_rule *held = rulebook_find(book, id);
    uint64_t before = held_rule_used(held, NOW), free_ms = held_rule_free_ms(held, NOW);
    uint64_t uses = held->uses;

    expect((free_ms == 0) == (before < held->rule.budget));
    expect(free_ms == 0 || held_rule_free_ms(held, free_ms) == 0);
    expect(free_ms == 0 || held_rule_free_ms(held, free_ms - 1) != 0);
    expect(held_rule_used(held, NOW + HOUR_MS) <= before);
    rulebook_use(book, &(struct rule_use){ .id = id, .by = S("x"), .at_ms = NOW });
    held = rulebook_find(book, id);
    expect(held->uses == uses + 1);
    expect(held_rule_used(held, NOW) >= before);
}

/* As a person who does everything in turn. */
static void change(struct rulebook *book, struct str id)
{
    static const enum rule_verb verbs[] = { RULE_SUSPEND, RULE_ENABLE, RULE_DISABLE,
                                            RULE_DECLINE, RULE_ACCEPT, RULE_REMOVE };

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        const struct held_rule *held = rulebook_find(book, id), *declined, *now;
        struct rule_change c = { .verb = verbs[i],
                                 .id = id,
                                 .by = S("ann"),
                                 .reason = S("so"),
                                 .is_by_human = true,
                                 .at_ms = NOW };
        struct rulebook_problem problem = {};
        enum err err;

        if (held && verbs[i] == RULE_ACCEPT) {
            c.narrow = held->rule.arguments;
            c.expires_ms = NOW + HOUR_MS;
            expect(shape_is_within(c.narrow, held->rule.arguments));
        }
        err = rulebook_judge(book, &c, &problem);
        expect(!err || (problem.what && *problem.what));
        now = rulebook_apply(book, &c, &declined);
        expect((now != NULL) == (err == OK && verbs[i] != RULE_REMOVE));
        if (now)
            expect_same(book);
        if (verbs[i] == RULE_REMOVE)
            expect(!rulebook_find(book, id));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rulebook *book = rulebook_new(S("room"));
    const struct held_rule *first;

    read_all(book, (struct str){ (const char *)bytes, size }, false);
    expect_same(book);
    first = rulebook_next(book, NULL);
    if (first) {
        char text[RULE_ID];
        struct str id = { text, first->rule.id.len };

        memcpy(text, first->rule.id.ptr, id.len);
        use(book, id);
        expect_same(book);
        change(book, id);
    }
    rulebook_free(book);
    return 0;
}
