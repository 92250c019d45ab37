/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histories as data: tests/rules/NAME.json says what was decided, which rules must come
 * out of it, exactly, and what they must and must not cover.
 *
 *     { "about": "…", "options": { "min_days": 1 },
 *       "decisions": [ { "times": 20, "every": "6h", "tool": "x", "arguments": { … } } ],
 *       "rules": [ { "proposer": "bot", "tool": "x", "approved": 20, "arguments": { … } }
 * ], "covered": [ { "tool": "x", "arguments": { … } } ], "not_covered": [ … ] }
 *
 * In arguments "=i" becomes the number of the repetition, "=mN" the rest of its division
 * by N, "=dN" the quotient; inside of texts %i, %mN and %dN do. What is left out is "bot"
 * asking "files" in "room", approved by "ann", a person. Time starts on 1 November.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "harness.h"
#include "rules/learner.h"
#include "rules/value.h"

enum { FILE_BYTES = 1 << 20, ROOM = 64 << 20 };

struct options {
    uint64_t min_approvals, min_bound, min_days, window_hours, max_examples, max_groups;
};

struct line {
    struct str topic, from, method, tool, to, verdict, by, origin, every, at, id;
    const struct json *arguments;
    uint64_t times, first;
};

struct wanted {
    struct str topic, proposer, method, tool, to;
    const struct json *arguments;
    uint64_t approved, beside, budget;
};

struct story {
    struct str about, now;
    const struct json *options, *decisions, *rules, *covered, *not_covered;
};

#define F(type, member) JSON_FIELD(struct type, member, JSON_OPTIONAL)
static const struct json_field option_fields[] = {
    F(options, min_approvals), F(options, min_bound),    F(options, min_days),
    F(options, window_hours),  F(options, max_examples), F(options, max_groups),
};
static const struct json_field line_fields[] = {
    F(line, topic),     F(line, from), F(line, method), F(line, tool),  F(line, to),
    F(line, verdict),   F(line, by),   F(line, origin), F(line, every), F(line, at),
    F(line, arguments), F(line, id),   F(line, times),  F(line, first),
};
static const struct json_field wanted_fields[] = {
    F(wanted, topic),    F(wanted, proposer), F(wanted, method),
    F(wanted, tool),     F(wanted, to),       F(wanted, arguments),
    F(wanted, approved), F(wanted, beside),   F(wanted, budget),
};
static const struct json_field story_fields[] = {
    F(story, about), F(story, now),     F(story, options),     F(story, decisions),
    F(story, rules), F(story, covered), F(story, not_covered),
};
#undef F

static void complain(const char *file, const char *what, struct str detail)
{
    printf("# %s: %s: " STR_FMT "\n", file, what, STR_ARG(detail));
    CHECK_STR(detail, S("what the history says"));
}

static bool read_as(const char *file, const struct json *object,
                    const struct json_field *fields, size_t count, struct arena *arena,
                    void *ret)
{
    struct json_problem problem = {};

    if (json_read(object, fields, count, arena, ret, &problem) == OK)
        return true;
    complain(file, problem.what, problem.field);
    return false;
}

/* --- templates --- */

/* %i, %mN, %dN at the beginning of the text, behind its sign; 0: it is none. */
static size_t parse_sign(struct str text, uint64_t i, uint64_t *ret)
{
    size_t len = 2;
    uint64_t n = 0;

    if (text.len < 2 || !strchr("imd", text.ptr[1]))
        return 0;
    *ret = i;
    if (text.ptr[1] == 'i')
        return len;
    for (; len < text.len && text.ptr[len] >= '0' && text.ptr[len] <= '9'; len++)
        n = 10 * n + (uint64_t)(text.ptr[len] - '0');
    if (n == 0)
        return 0;
    *ret = text.ptr[1] == 'm' ? i % n : i / n;
    return len;
}

static void expand(struct buf *out, struct str text, uint64_t i)
{
    for (size_t at = 0; at < text.len;) {
        struct str rest = str_slice(text, at, text.len);
        uint64_t value;
        size_t len;

        if (str_starts(rest, S("\"="))) {
            struct str sign = str_slice(rest, 1, rest.len);

            len = parse_sign(sign, i, &value);
            if (len && str_starts(str_slice(sign, len, sign.len), S("\""))) {
                buf_putu(out, value);
                at += len + 2;
                continue;
            }
        }
        len = rest.ptr[0] == '%' ? parse_sign(rest, i, &value) : 0;
        if (len)
            buf_putu(out, value);
        else
            buf_putc(out, rest.ptr[0]);
        at += len ? len : 1;
    }
}

/* --- telling it --- */

static uint64_t hours(struct str text)
{
    uint64_t n = 0;

    if (text.len < 2 || str_to_u64(str_slice(text, 0, text.len - 1), 100'000, &n))
        return 0;
    switch (text.ptr[text.len - 1]) {
    case 'm': return n * 60'000;
    case 'h': return n * 3'600'000;
    case 'd': return n * 86'400'000;
    default: return 0;
    }
}

static struct line line_of(const char *file, const struct json *json, struct arena *arena)
{
    struct line l = { .topic = S("room"),
                      .from = S("bot"),
                      .method = S("tools/call"),
                      .tool = S("write"),
                      .to = S("files"),
                      .verdict = S("approved"),
                      .by = S("ann"),
                      .origin = S("person"),
                      .every = S("6h"),
                      .at = S("2026-11-01T00:00:00Z"),
                      .times = 1 };

    (void)read_as(file, json, line_fields, sizeof(line_fields) / sizeof(line_fields[0]),
                  arena, &l);
    return l;
}

static struct rule_proposal proposal_of(const struct line *l)
{
    return (struct rule_proposal){ .topic = l->topic,
                                   .proposer = l->from,
                                   .method = l->method,
                                   .tool = str_eq(l->method, S("tools/call")) ? l->tool
                                                                              : S(""),
                                   .to = l->to };
}

static enum decision_verdict verdict_of(struct str name)
{
    if (str_eq(name, S("approved")))
        return DECISION_APPROVED;
    if (str_eq(name, S("rejected")))
        return DECISION_REJECTED;
    return str_eq(name, S("corrected")) ? DECISION_CORRECTED : DECISION_NOTHING;
}

static enum decision_origin origin_of(struct str name)
{
    if (str_eq(name, S("person")))
        return DECIDED_BY_PERSON;
    if (str_eq(name, S("self")))
        return DECIDED_BY_SELF;
    return str_eq(name, S("rule")) ? DECIDED_BY_RULE : DECIDED_BY_OTHER;
}

static void note_one(struct learner *learner, const struct line *l, uint64_t i,
                     uint64_t at_ms)
{
    static uint64_t number;
    struct decision d = { .proposal = proposal_of(l),
                          .verdict = verdict_of(l->verdict),
                          .origin = origin_of(l->origin),
                          .by = l->by,
                          .at_ms = at_ms };
    struct arena arena;
    struct buf text, id;

    arena_init(&arena, ROOM);
    buf_init(&text, FILE_BYTES);
    buf_init(&id, 256);
    if (l->id.len)
        expand(&id, l->id, i);
    else
        buf_putf(&id, "p-%llu", (unsigned long long)++number);
    d.id = buf_str(&id);
    if (l->arguments)
        expand(&text, l->arguments->raw, i);
    /* What cannot be read without doubt reaches no learner: see test_rules_history.c. */
    if (!l->arguments ||
        json_parse(buf_str(&text), &arena, &d.proposal.arguments, NULL) == OK)
        (void)learner_note(learner, &d);
    buf_done(&id);
    buf_done(&text);
    arena_done(&arena);
}

static uint64_t tell(const char *file, struct learner *learner,
                     const struct json *decisions, struct arena *arena)
{
    uint64_t last_ms = 0;

    JSON_FOREACH(json, decisions) {
        struct line l = line_of(file, json, arena);
        uint64_t at_ms = 0;

        if (clock_parse(l.at, &at_ms))
            complain(file, "no time", l.at);
        for (uint64_t i = 0; i < l.times; i++) {
            note_one(learner, &l, l.first + i, at_ms);
            last_ms = at_ms > last_ms ? at_ms : last_ms;
            at_ms += hours(l.every);
        }
    }
    return last_ms;
}

/* --- what came out --- */

static bool has_shape(const struct rule *rule, const struct json *wanted,
                      struct arena *arena, struct buf *out)
{
    const struct json *tree;
    struct json_writer w;
    struct str a, b;

    buf_clear(out);
    json_write_init(&w, out);
    shape_write(&w, rule->arguments);
    return json_parse(arena_str(arena, buf_str(out)), arena, &tree, NULL) == OK &&
           value_text(tree, arena, &a) == OK && value_text(wanted, arena, &b) == OK &&
           str_eq(a, b);
}

static bool is_wanted(const struct rule *rule, const struct wanted *w,
                      struct arena *arena, struct buf *out)
{
    return str_eq(rule->topic, w->topic) && str_eq(rule->proposer, w->proposer) &&
           str_eq(rule->method, w->method) && str_eq(rule->tool, w->tool) &&
           str_eq(rule->to, w->to) && rule->state == RULE_SUGGESTED &&
           (!w->approved || w->approved == rule->evidence.approved) &&
           (!w->beside || w->beside == rule->evidence.beside) &&
           (!w->budget || w->budget == rule->budget) &&
           has_shape(rule, w->arguments, arena, out);
}

static void check_rules(const char *file, const struct rule_list *rules,
                        const struct json *list, struct arena *arena)
{
    size_t count = list ? list->count : 0;
    bool is_good = rules->count == count;
    struct buf out;

    buf_init(&out, FILE_BYTES);
    for (const struct json *json = list ? list->first : NULL; json; json = json->next) {
        struct wanted w = { .topic = S("room"),
                            .proposer = S("bot"),
                            .method = S("tools/call"),
                            .tool = S("write"),
                            .to = S("files") };
        bool is_found = false;

        (void)read_as(file, json, wanted_fields,
                      sizeof(wanted_fields) / sizeof(wanted_fields[0]), arena, &w);
        for (size_t i = 0; i < rules->count; i++)
            is_found |= is_wanted(&rules->items[i], &w, arena, &out);
        is_good &= is_found;
        if (!is_found)
            complain(file, "no such rule came out", json->raw);
    }
    for (size_t i = 0; i < rules->count && !is_good; i++) {
        buf_clear(&out);
        rule_write_yaml(&out, &rules->items[i]);
        printf("# %s: came out:\n%s", file, buf_cstr(&out));
    }
    buf_done(&out);
    CHECK_INT(rules->count, count);
}

static void check_cover(const char *file, const struct rule_list *rules,
                        const struct json *list, bool wanted, struct arena *arena)
{
    for (const struct json *json = list ? list->first : NULL; json; json = json->next) {
        struct line l = line_of(file, json, arena);
        struct rule_proposal p = proposal_of(&l);
        bool is_covered = false;

        p.arguments = l.arguments;
        for (size_t i = 0; i < rules->count; i++) {
            struct shape_miss why = {};

            is_covered |= rule_covers(&rules->items[i], &p, &why);
            if (!is_covered && wanted)
                printf("# %s: %s %s\n", file, why.path, why.what);
        }
        if (is_covered != wanted)
            complain(file, wanted ? "is not covered" : "is covered", json->raw);
    }
}

/* What is written is read back as it was. */
static void check_round_trip(const struct rule_list *rules, struct arena *arena)
{
    struct rule_problem problem = {};
    struct rule_list again = {};
    struct buf first, second;
    struct json_writer w;

    buf_init(&first, FILE_BYTES);
    buf_init(&second, FILE_BYTES);
    for (int round = 0; round < 2; round++) {
        const struct rule_list *list = round ? &again : rules;

        json_write_init(&w, round ? &second : &first);
        json_object_open(&w);
        json_key(&w, S("rules"));
        json_array_open(&w);
        for (size_t i = 0; i < list->count; i++)
            rule_write(&w, &list->items[i]);
        json_array_close(&w);
        json_object_close(&w);
        if (!round && rules_read(buf_str(&first), arena, &again, &problem))
            CHECK_STR(str_of(problem.what), S(""));
    }
    CHECK_STR(buf_str(&second), buf_str(&first));
    buf_done(&first);
    buf_done(&second);
}

static struct learner *learner_for(const char *file, const struct json *options,
                                   struct arena *arena)
{
    struct learner_options o = learner_options_default();
    struct options given = { .min_approvals = o.min_approvals,
                             .min_bound = o.min_bound,
                             .min_days = o.min_days,
                             .window_hours = o.window_ms / 3'600'000,
                             .max_examples = o.max_examples,
                             .max_groups = o.max_groups };

    if (options)
        (void)read_as(file, options, option_fields,
                      sizeof(option_fields) / sizeof(option_fields[0]), arena, &given);
    o.min_approvals = given.min_approvals;
    o.min_bound = given.min_bound;
    o.min_days = given.min_days;
    o.window_ms = given.window_hours * 3'600'000;
    o.max_examples = (size_t)given.max_examples;
    o.max_groups = (size_t)given.max_groups;
    return learner_new(&o);
}

static void run_story(const char *file, const struct json *root, struct arena *arena)
{
    struct story story = {};
    struct rule_list rules = {};
    struct learner *learner;
    uint64_t now_ms;

    if (!read_as(file, root, story_fields, sizeof(story_fields) / sizeof(story_fields[0]),
                 arena, &story))
        return;
    learner = learner_for(file, story.options, arena);
    now_ms = tell(file, learner, story.decisions, arena);
    if (story.now.len && clock_parse(story.now, &now_ms))
        complain(file, "no time", story.now);
    CHECK_INT(learner_candidates(learner, now_ms, arena, &rules), OK);
    check_rules(file, &rules, story.rules, arena);
    check_cover(file, &rules, story.covered, true, arena);
    check_cover(file, &rules, story.not_covered, false, arena);
    check_round_trip(&rules, arena);
    learner_free(learner);
}

static void run_file(const char *name)
{
    struct json_problem problem = {};
    const struct json *root;
    struct arena arena;
    char path[4096];
    struct buf text;
    FILE *in;

    (void)snprintf(path, sizeof(path), "%s/%s", RULES_FOLDER, name);
    in = fopen(path, "re");
    buf_init(&text, FILE_BYTES);
    if (!in || buf_reserve(&text, FILE_BYTES - 1))
        abort();
    text.len = fread(text.ptr, 1, FILE_BYTES - 1, in);
    (void)fclose(in);
    arena_init(&arena, ROOM);
    if (json_parse(buf_str(&text), &arena, &root, &problem))
        complain(name, problem.what,
                 str_slice(buf_str(&text), problem.at, problem.at + 40));
    else
        run_story(name, root, &arena);
    arena_done(&arena);
    buf_done(&text);
}

static int only_json(const struct dirent *entry)
{
    return str_ends(str_of(entry->d_name), S(".json"));
}

TEST(rules_come_out_of_histories_as_told)
{
    struct dirent **names;
    int count = scandir(RULES_FOLDER, &names, only_json, alphasort);

    CHECK(count >= 20);
    for (int i = 0; i < count; i++) {
        run_file(names[i]->d_name);
        free(names[i]);
    }
    if (count > 0)
        free(names);
}
