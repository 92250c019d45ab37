/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories: whatever comes out of them covers no rejected example, and no value
 * outside of what the approved ones span. The span is judged here by other means than the
 * learner's: from the approved examples alone, string by string.
 *
 * RULES_ROUNDS: how many histories.
 */
#include <stdio.h>
#include <string.h>

#include "dice.h"
#include "harness.h"
#include "rules/learner.h"
#include "rules/value.h"

enum { ROOM = 64 << 20, EXAMPLES = 160, MEMBERS = 4, PROBES = 60, TEXT = 512 };

/* How a member gets its values. */
enum source {
    CONSTANT,
    CHOICE,
    NUMBER,
    FRACTION,
    BOOLEAN,
    PATH,
    NAME,
    URL,
    PROSE,
    LIST,
    NESTED,
    MIXED,
    SOURCES,
};

struct world {
    struct dice dice;
    size_t members;
    enum source sources[MEMBERS];
    uint64_t widths[MEMBERS]; /* how many different values, about */
    bool is_odd;              /* hostile values turn up among the others */
};

static const char *const keys[MEMBERS] = { "alpha", "message", "path", "z" };

static const char *const hostile[] = {
    "\"/srv/app/../../etc/passwd\"",
    "\"\"",
    "null",
    "\"..\"",
    "\"/\"",
    "1e400",
    "\"/srv/app/\\u0000\"",
    "\"build-\\u0661\"",
    "\"prod\\u200b\"",
    "-1",
    "[]",
    "{}",
    "\"; rm -rf /\"",
    "\"/srv/app/.ssh/id\"",
    "\"-rf\"",
    "0.1",
    "99999999999999999999",
    "\"https://api.example.com@evil/\"",
    "[[1]]",
    "\"\\u0430lpha\"",
    "true",
    "\"a\\nb\"",
};

static void put_value(struct buf *out, struct world *w, enum source source,
                      uint64_t width)
{
    uint64_t a = dice_below(&w->dice, width), b = dice_below(&w->dice, 4);
    static const char *const dirs[] = { "/srv/app", "/srv/app/lib", "/srv/other",
                                        "/etc" };

    switch (source) {
    case CONSTANT: buf_put(out, S("\"same\"")); break;
    case CHOICE: buf_putf(out, "\"c%u\"", (unsigned)(a % 6)); break;
    case NUMBER: buf_putf(out, "%d", (int)a - (int)(width / 4)); break;
    case FRACTION: buf_putf(out, "%u.%u", (unsigned)a, (unsigned)b); break;
    case BOOLEAN: buf_put(out, a & 1 ? S("true") : S("false")); break;
    case PATH:
        buf_putf(out, "\"%s/d%u/f%u.%s\"", dirs[b < 3 ? 0 : dice_below(&w->dice, 4)],
                 (unsigned)b, (unsigned)a, b ? "c" : "h");
        break;
    case NAME: buf_putf(out, "\"build-%s%u\"", b == 3 ? "x" : "", (unsigned)a); break;
    case URL:
        buf_putf(out, "\"https://api.example.com/v%u/i%u\"", (unsigned)(b / 3),
                 (unsigned)a);
        break;
    case PROSE:
        buf_putf(out, "\"Words %u, and %u more.\"", (unsigned)a, (unsigned)b);
        break;
    case LIST:
        buf_putf(out, "[\"t%u\"%s]", (unsigned)(a % 5), b & 1 ? ",\"t0\"" : "");
        break;
    case NESTED:
        buf_putf(out, "{\"in\":%u,\"on\":\"x%u\"}", (unsigned)a, (unsigned)(b % 2));
        break;
    case MIXED: buf_putf(out, b & 1 ? "%u" : "\"%u\"", (unsigned)(a % 4)); break;
    case SOURCES: break;
    }
}

static void put_arguments(struct buf *out, struct world *w)
{
    buf_clear(out);
    buf_putc(out, '{');
    for (size_t i = 0; i < w->members; i++) {
        buf_putf(out, "%s\"%s\":", i ? "," : "", keys[i]);
        if (w->is_odd && dice_below(&w->dice, 30) == 0)
            buf_put(
                out,
                str_of(
                    hostile[dice_below(&w->dice, sizeof(hostile) / sizeof(hostile[0]))]));
        else
            put_value(out, w, w->sources[i], w->widths[i]);
    }
    buf_putc(out, '}');
}

/* --- the examples --- */

struct example {
    const struct json *arguments;
    bool is_approved;
};

struct examples {
    struct arena arena;
    struct example items[EXAMPLES];
    size_t count;
};

static struct rule_proposal proposal_of(const struct json *arguments)
{
    return (struct rule_proposal){ .topic = S("room"),
                                   .proposer = S("bot"),
                                   .method = S("tools/call"),
                                   .tool = S("t"),
                                   .to = S("o"),
                                   .arguments = arguments };
}

/* Somebody who decides by one member, by chance, or always in the same way. */
static bool is_approved(struct world *w, const struct json *arguments, uint64_t habit)
{
    struct str text;

    if (habit == 0)
        return true;
    if (habit == 1)
        return dice_below(&w->dice, 20) != 0;
    text = arguments->first->raw;
    if (habit == 2)
        return text.len % 3 != 0;
    return text.ptr[text.len - 1] != '"' || text.ptr[text.len - 2] != '3';
}

static void live(struct world *w, struct learner *learner, struct examples *all)
{
    size_t count = 20 + dice_below(&w->dice, EXAMPLES - 20);
    uint64_t habit = dice_below(&w->dice, 4);
    struct buf text;

    buf_init(&text, TEXT * MEMBERS);
    for (size_t i = 0; i < count; i++) {
        struct example *e = &all->items[all->count++];
        struct decision d = { .origin = DECIDED_BY_PERSON,
                              .by = S("ann"),
                              .at_ms = 1'000'000'000'000 + i * 7'200'000 };
        char id[32];

        put_arguments(&text, w);
        if (json_parse(arena_str(&all->arena, buf_str(&text)), &all->arena, &e->arguments,
                       NULL))
            abort();
        e->is_approved = is_approved(w, e->arguments, habit);
        (void)snprintf(id, sizeof(id), "p%zu", i);
        d.id = str_of(id);
        d.proposal = proposal_of(e->arguments);
        d.verdict = e->is_approved ? DECISION_APPROVED : DECISION_REJECTED;
        (void)learner_note(learner, &d);
    }
    buf_done(&text);
}

/* --- the span, by other means --- */

static bool is_equal(const struct json *a, const struct json *b)
{
    struct arena arena;
    struct str x, y;
    bool is_same;

    arena_init(&arena, 1 << 20);
    is_same = value_text(a, &arena, &x) == OK && value_text(b, &arena, &y) == OK &&
              str_eq(x, y);
    arena_done(&arena);
    return is_same;
}

/* What a leaf was in the approved examples that have the same names. */
struct seen {
    const struct json *values[4 * EXAMPLES];
    size_t count;
};

static bool has(const struct seen *seen, const struct json *value)
{
    for (size_t i = 0; i < seen->count; i++)
        if (is_equal(seen->values[i], value))
            return true;
    return false;
}

static bool number_in_span(const struct seen *seen, const struct json *value)
{
    struct json_number n, other;
    bool has_less = false, has_more = false, has_fraction = false;

    if (value_number(value->text, &n))
        return false;
    for (size_t i = 0; i < seen->count; i++) {
        if (seen->values[i]->type != JSON_NUMBER ||
            value_number(seen->values[i]->text, &other))
            continue;
        has_less |= json_number_compare(&other, &n) <= 0;
        has_more |= json_number_compare(&other, &n) >= 0;
        has_fraction |= !json_number_is_whole(&other);
    }
    return has_less && has_more && (has_fraction || json_number_is_whole(&n));
}

static int kind_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return 'a';
    if (c >= 'A' && c <= 'Z')
        return 'A';
    return c >= '0' && c <= '9' ? '0' : (unsigned char)c;
}

/* A beginning of three bytes or more that ends at a separator and that five different
 * approved ones have as well. */
static bool begins_as_five(const struct seen *seen, struct str text)
{
    for (size_t len = text.len; len >= 3; len--) {
        struct str begin = str_slice(text, 0, len);
        struct str different[5];
        size_t count = 0;

        if (!strchr("._-+,=:@/", text.ptr[len - 1]))
            continue;
        for (size_t i = 0; i < seen->count && count < 5; i++) {
            struct str other = seen->values[i]->text;
            bool is_new =
                seen->values[i]->type == JSON_STRING && str_starts(other, begin);

            for (size_t k = 0; k < count; k++)
                is_new = is_new && !str_eq(other, different[k]);
            if (is_new)
                different[count++] = other;
        }
        if (count == 5)
            return true;
    }
    return false;
}

static bool string_in_span(const struct seen *seen, struct str key, struct str text)
{
    size_t longest = 0, spoken = 0;
    bool kinds[256] = {};

    for (size_t i = 0; i < seen->count; i++) {
        struct str other = seen->values[i]->text;

        if (seen->values[i]->type != JSON_STRING)
            continue;
        longest = other.len > longest ? other.len : longest;
        spoken += str_find(other, ' ', 0) < other.len;
        for (size_t k = 0; k < other.len; k++)
            kinds[kind_of(other.ptr[k])] = true;
    }
    if (text.len > longest)
        return false;
    if (str_eq(key, S("message")) && spoken >= 10)
        return shape_is_readable(text, SHAPE_MANY_LINES);
    for (size_t k = 0; k < text.len; k++)
        if (!kinds[kind_of(text.ptr[k])] || (unsigned char)text.ptr[k] < ' ')
            return false;
    return !memmem(text.ptr, text.len, "..", 2) && !memmem(text.ptr, text.len, "/.", 2) &&
           begins_as_five(seen, text);
}

static bool value_in_span(const struct seen *seen, struct str key,
                          const struct json *value)
{
    if (has(seen, value))
        return true;
    switch (value->type) {
    case JSON_NUMBER: return number_in_span(seen, value);
    case JSON_STRING: return string_in_span(seen, key, value->text);
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
    case JSON_ARRAY:
    case JSON_OBJECT: break;
    }
    return false;
}

static bool array_in_span(const struct seen *seen, struct str key,
                          const struct json *value)
{
    struct seen *items = calloc(1, sizeof(*items));
    size_t least = SIZE_MAX, most = 0;
    bool is_in = items != NULL;

    for (size_t i = 0; i < seen->count && items; i++) {
        if (seen->values[i]->type != JSON_ARRAY)
            continue;
        least = seen->values[i]->count < least ? seen->values[i]->count : least;
        most = seen->values[i]->count > most ? seen->values[i]->count : most;
        JSON_FOREACH(item, seen->values[i])
            if (items->count < 4 * EXAMPLES)
                items->values[items->count++] = item;
    }
    is_in = is_in && value->count >= least && value->count <= most;
    for (const struct json *at = value->first; at && is_in; at = at->next)
        is_in = value_in_span(items, key, at);
    free(items);
    return is_in || has(seen, value);
}

static bool has_names(const struct json *a, const struct json *b)
{
    if (a->type != JSON_OBJECT || b->type != JSON_OBJECT || a->count != b->count)
        return false;
    JSON_FOREACH(member, a)
        if (!json_find(b, member->key))
            return false;
    return true;
}

/* Every leaf of it, in the span of the same leaf of those approved. */
static bool in_span(const struct json *const *approved, size_t count,
                    const struct json *probe)
{
    bool is_in = true;

    JSON_FOREACH(member, probe) {
        const struct json *below[EXAMPLES];
        struct seen *seen = calloc(1, sizeof(*seen));
        size_t objects = 0;

        if (!seen)
            abort();
        for (size_t i = 0; i < count; i++) {
            const struct json *other = json_find(approved[i], member->key);

            if (!has_names(approved[i], probe) || !other)
                continue;
            seen->values[seen->count++] = other;
            if (other->type == JSON_OBJECT)
                below[objects++] = other;
        }
        if (member->type == JSON_OBJECT && member->first)
            is_in = is_in && in_span(below, objects, member);
        else if (member->type == JSON_ARRAY)
            is_in = is_in && array_in_span(seen, member->key, member);
        else
            is_in = is_in && value_in_span(seen, member->key, member);
        free(seen);
    }
    return is_in;
}

/* --- probes --- */

/* An approved example with one value of another: bent, hostile, or from elsewhere. */
static void put_probe(struct buf *out, struct world *w, const struct json *from)
{
    size_t at = dice_below(&w->dice, from->count), i = 0;

    buf_clear(out);
    buf_putc(out, '{');
    JSON_FOREACH(member, from) {
        struct str raw = member->raw;
        uint64_t how = dice_below(&w->dice, 6);

        buf_putf(out, "%s\"" STR_FMT "\":", i ? "," : "", STR_ARG(member->key));
        if (i++ != at) {
            buf_put(out, raw);
        } else if (how == 0) {
            buf_put(
                out,
                str_of(
                    hostile[dice_below(&w->dice, sizeof(hostile) / sizeof(hostile[0]))]));
        } else if (how == 1) {
            put_value(out, w, (enum source)dice_below(&w->dice, SOURCES), 1000);
        } else if (member->type == JSON_STRING && how < 5) {
            static const char *const tails[] = { "9",   "x",  "/x",  "/..", ".c",
                                                 "-1",  " ",  "Z",   "%2e", "\xd0\xb0",
                                                 "//a", "/.", "\\n", "=" };
            size_t cut = raw.len > 3 ? dice_below(&w->dice, 3) : 0;

            buf_put(out, str_slice(raw, 0, raw.len - 1 - cut));
            buf_put(
                out,
                str_of(tails[dice_below(&w->dice, sizeof(tails) / sizeof(tails[0]))]));
            buf_putc(out, '"');
        } else if (member->type == JSON_NUMBER) {
            buf_put(out, raw);
            buf_put(out, how == 2 ? S("0") : how == 3 ? S("e1") : S("e-1"));
        } else {
            put_value(out, w, w->sources[at < w->members ? at : 0], 3000);
        }
    }
    if (dice_below(&w->dice, 20) == 0)
        buf_put(out, S(",\"one\":1"));
    buf_putc(out, '}');
}

struct result {
    uint64_t rules, probes, covered;
};

static void check_probe(const struct rule *rule, const struct examples *all,
                        struct str text, struct result *result)
{
    const struct json *approved[EXAMPLES];
    const struct json *probe;
    struct rule_proposal p;
    struct arena arena;
    size_t count = 0;

    arena_init(&arena, 1 << 20);
    if (json_parse(text, &arena, &probe, NULL) == OK) {
        p = proposal_of(probe);
        result->probes++;
        if (rule_covers(rule, &p, NULL)) {
            bool is_in;

            for (size_t i = 0; i < all->count; i++)
                if (all->items[i].is_approved)
                    approved[count++] = all->items[i].arguments;
            is_in = in_span(approved, count, probe);
            result->covered++;
            if (!is_in) {
                struct buf out;

                buf_init(&out, 1 << 20);
                rule_explain(&out, rule);
                printf("# %s# covers " STR_FMT "\n", buf_cstr(&out), STR_ARG(text));
                buf_done(&out);
            }
            CHECK(is_in);
        }
    }
    arena_done(&arena);
}

static void check_rule(struct world *w, const struct rule *rule,
                       const struct examples *all, struct result *result)
{
    struct buf text;

    result->rules++;
    for (size_t i = 0; i < all->count; i++) {
        struct rule_proposal p = proposal_of(all->items[i].arguments);

        CHECK(all->items[i].is_approved || !rule_covers(rule, &p, NULL));
    }
    buf_init(&text, TEXT * MEMBERS * 2);
    for (int i = 0; i < PROBES; i++) {
        put_probe(&text, w, all->items[dice_below(&w->dice, all->count)].arguments);
        check_probe(rule, all, buf_str(&text), result);
    }
    buf_done(&text);
}

static void run_world(uint64_t seed, struct result *result)
{
    struct world w = { .dice = { seed * 0x9E3779B97F4A7C15ULL + 1 } };
    struct learner_options options = learner_options_default();
    struct examples *all = calloc(1, sizeof(*all));
    struct learner *learner;
    struct rule_list rules = {};
    struct arena arena;

    if (!all)
        abort();
    w.members = 1 + dice_below(&w.dice, MEMBERS);
    w.is_odd = dice_below(&w.dice, 2);
    for (size_t i = 0; i < w.members; i++) {
        w.sources[i] = (enum source)dice_below(&w.dice, SOURCES);
        w.widths[i] = 1 + dice_below(&w.dice, dice_below(&w.dice, 2) ? 6 : 300);
    }
    options.min_approvals = 5 + dice_below(&w.dice, 12);
    options.min_bound = 400'000;
    arena_init(&arena, ROOM);
    arena_init(&all->arena, ROOM);
    learner = learner_new(&options);
    live(&w, learner, all);
    CHECK_INT(learner_candidates(learner, 1'000'100'000'000, &arena, &rules), OK);
    for (size_t i = 0; i < rules.count; i++)
        check_rule(&w, &rules.items[i], all, result);
    learner_free(learner);
    arena_done(&all->arena);
    arena_done(&arena);
    free(all);
}

TEST(no_rule_covers_what_was_rejected_or_lies_outside_of_what_was_approved)
{
    uint64_t rounds = dice_rounds("RULES_ROUNDS", 1500);
    struct result result = {};

    for (uint64_t i = 0; i < rounds; i++)
        run_world(i, &result);
    printf("# %llu histories, %llu rules, %llu probes, %llu of them covered\n",
           (unsigned long long)rounds, (unsigned long long)result.rules,
           (unsigned long long)result.probes, (unsigned long long)result.covered);
    CHECK(result.rules > rounds / 10);    /* it does learn something, */
    CHECK(result.covered > result.rules); /* and the probes hit it */
}
