/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that can be seen in what people decided, and how they are put before them. */
#include <stdlib.h>

#include "base/plain.h"
#include "base/xalloc.h"
#include "orchestrate/orchestrate_priv.h"

enum {
    FOUND_BYTES = 256 << 20,
    RULE_TEXT = 1 << 20,
    COVERS_BYTES = 2048,
    TAKEN_MS = 500, /* then the book has it */
};

/* --- words --- */

/* What several lines say, in one: "… where a is 1; b is 2. Approved 16 times …". */
static void put_joined(struct buf *out, struct str text)
{
    bool was_item = false;

    while (text.len) {
        struct str line = str_cut(&text, '\n');
        bool is_item = str_starts(line, S("  "));

        if (out->len && was_item)
            buf_put(out, is_item ? S(";") : S("."));
        if (out->len)
            buf_putc(out, ' ');
        buf_put(out, str_trim(line));
        was_item = is_item;
    }
}

static void put_covers(struct buf *out, const struct rule *rule)
{
    struct buf lines, joined;

    buf_init(&lines, RULE_TEXT);
    buf_init(&joined, RULE_TEXT);
    rule_explain(&lines, rule);
    put_joined(&joined, buf_str(&lines));
    if (joined.len <= COVERS_BYTES)
        buf_put(out, buf_str(&joined));
    else
        buf_put(out, S("It is too long to be said here."));
    buf_done(&joined);
    buf_done(&lines);
}

static void put_command(struct buf *out, const char *verb, const struct rule *rule)
{
    buf_putf(out, "moot rules %s ", verb);
    plain_put(out, rule->topic, PLAIN_LINE);
    buf_putc(out, ' ');
    buf_put(out, rule->id);
}

static void put_words(struct buf *out, const struct rule *rule, struct str asker,
                      const struct known_rule *narrow)
{
    if (asker.len) {
        plain_put(out, asker, PLAIN_LINE);
        buf_putf(out, " asks for the rule " STR_FMT ", which rests on nothing: ",
                 STR_ARG(rule->id));
    } else {
        buf_putf(out, "I suggest the rule " STR_FMT ": ", STR_ARG(rule->id));
    }
    put_covers(out, rule);
    if (narrow)
        buf_putf(out, " It covers more than the rule " STR_FMT ", which is there.",
                 STR_ARG(narrow->rule.id));
    buf_put(out, S(" To accept it: "));
    put_command(out, "accept", rule);
    buf_put(out, S(" (with --shadow it only says what it would do). To decline it: "));
    put_command(out, "decline", rule);
    buf_put(out, S(". To see more: "));
    put_command(out, "show", rule);
}

/* --- suggesting --- */

/* They are said when the gateway has taken it. */
static void keep_words(struct orchestrator *o, const struct rule *rule, struct str words)
{
    struct tally *tally = orchestrate_tally(o, rule->id);

    if (!tally)
        return;
    free(tally->words);
    tally->words = str_dup(words);
    tally->suggested_ms = o->now_ms;
}

void suggest_one(struct orchestrator *o, const struct rule *rule, struct str asker)
{
    struct json_writer w;
    struct buf payload, words;

    buf_init(&payload, RULE_TEXT);
    buf_init(&words, ORCHESTRATE_WORDS);
    json_write_init(&w, &payload);
    json_object_open(&w);
    json_key(&w, S("rule"));
    rule_write(&w, rule);
    json_object_close(&w);
    put_words(&words, rule, asker, known_narrower(&o->known, rule, o->now_ms));
    keep_words(o, rule, buf_str(&words));
    o->suggested++;
    o->book_ms = o->now_ms + TAKEN_MS;
    orchestrate_write(
        o, &(struct journal_entry){ .type = JOURNAL_SUGGESTED, .rule = rule->id });
    if (!payload.is_full)
        o->ops.act(o->ops.user, &(struct act){ .type = ACT_SUGGEST,
                                               .rule = rule->id,
                                               .text = buf_str(&payload),
                                               .words = buf_str(&words) });
    buf_done(&words);
    buf_done(&payload);
}

/* More than what is there already: that takes as much again as a rule does. */
static bool is_worth_it(const struct orchestrator *o, const struct rule *rule)
{
    const struct known_rule *narrow = known_narrower(&o->known, rule, o->now_ms);

    return !narrow || learner_beyond(o->learner, rule, &narrow->rule) >=
                          o->options.learner.min_approvals;
}

/* What names nobody cannot be fulfilled without somebody who chooses. */
static bool is_wanted(struct orchestrator *o, const struct rule *rule)
{
    const struct tally *tally = map_find(&o->tallies, rule->id);
    bool was_just_said = tally && tally->suggested_ms &&
                         tally->suggested_ms + ORCHESTRATE_HOUR_MS > o->now_ms;

    return rule->to.len && !was_just_said &&
           !known_objection(&o->known, rule, o->now_ms) && is_worth_it(o, rule);
}

void suggest_rules(struct orchestrator *o)
{
    struct rule_list found = {};
    struct arena arena;

    arena_init(&arena, FOUND_BYTES);
    learner_forget(o->learner, o->now_ms);
    if (learner_candidates(o->learner, o->now_ms, &arena, &found))
        o->ops.act(o->ops.user,
                   &(struct act){ .type = ACT_TELL,
                                  .words = S("there is too much to learn from") });
    for (size_t i = 0; i < found.count; i++) {
        if (!is_wanted(o, &found.items[i]))
            continue;
        if (!allowance_take(&o->found, o->now_ms)) {
            o->suggest_ms = o->now_ms + ORCHESTRATE_HOUR_MS / ORCHESTRATE_SUGGESTIONS;
            break;
        }
        suggest_one(o, &found.items[i], S(""));
    }
    arena_done(&arena);
}
