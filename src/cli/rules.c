/* SPDX-License-Identifier: Apache-2.0 */
/* moot rules check | learn */
#include "cli/rules.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/decimal.h"
#include "rules/learner.h"

enum { OUT_BYTES = 64 << 20, RULES_BYTES = 256 << 20, MILLION = 1'000'000 };

static void print(struct buf *out)
{
    (void)fwrite(out->ptr, 1, out->len, stdout);
    buf_done(out);
}

/* --- check --- */

static int check(void *fields [[maybe_unused]], char **arguments,
                 size_t count [[maybe_unused]])
{
    struct rule_list rules = {};
    struct arena arena;
    struct buf out;
    int code;

    arena_init(&arena, RULES_BYTES);
    code = rules_load(arguments[0], &arena, &rules);
    buf_init(&out, OUT_BYTES);
    for (size_t i = 0; i < rules.count && !code; i++) {
        const struct rule *rule = &rules.items[i];

        buf_putf(&out, STR_FMT " (" STR_FMT ")\n", STR_ARG(rule->id),
                 STR_ARG(rule_state_name(rule->state)));
        rule_explain(&out, rule);
        buf_putc(&out, '\n');
    }
    if (!code)
        buf_putf(&out, "%s is fine: %zu rule%s.\n", arguments[0], rules.count,
                 rules.count == 1 ? "" : "s");
    print(&out);
    arena_done(&arena);
    return code;
}

const struct cli_command cli_rules_check = {
    .name = "rules check",
    .usage = "FILE",
    .summary = "say whether a file of rules is right, and each of them in words",
    .more = "What is wrong is named with its line and column; - is standard input.\n"
            "docs/LEARNING.md says what may stand in it.\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .run = check,
};

/* --- learn --- */

struct learn_options {
    struct rules_record record;
    const char *approvals, *days, *bound;
    bool json;
};

#define OPT(member) CLI_AT(struct learn_options, member)

/* clang-format off */
static const struct cli_option learn_table[] = {
    CLI_RULES_RECORD(struct learn_options),
    { "--approvals", "N",    "a rule needs so many: 15 unless given",                    OPT(approvals) },
    { "--days",      "N",    "on so many different days: 2 unless given",                OPT(days) },
    { "--bound",     "RATE", "the least rate of approval that they prove: 0.80 unless given", OPT(bound) },
    { "--json",      NULL,   "as JSON",                                                  OPT(json) },
    CLI_AUDIT_PLACE_OF(struct learn_options, record.place),
};
/* clang-format on */

struct learning {
    struct learner *learner;
    uint64_t decided; /* by anybody */
    uint64_t unknown; /* by whom nobody knows to be a person */
    uint64_t no_room; /* the learner's memory is full */
};

static void on_decided(void *user, const struct decision *decision)
{
    struct learning *l = user;

    if (decision->verdict == DECISION_NOTHING)
        return;
    l->decided++;
    l->unknown += decision->origin == DECIDED_BY_OTHER;
    l->no_room += learner_note(l->learner, decision) == ERR_OVERLOAD;
}

static int read_count(const char *option, const char *text, uint64_t *ret)
{
    if (!text || (str_to_u64(str_of(text), MILLION, ret) == OK && *ret > 0))
        return CLI_OK;
    return cli_fail("%s takes a number above 0, not \"%s\"", option, text), CLI_USAGE;
}

static int read_bound(const char *text, uint64_t *ret)
{
    double rate;

    if (!text)
        return CLI_OK;
    if (decimal_parse(str_of(text), &rate) || rate <= 0 || rate >= 1)
        return cli_fail("--bound takes a rate such as 0.80, not \"%s\"", text), CLI_USAGE;
    *ret = (uint64_t)(rate * MILLION);
    return CLI_OK;
}

static int read_options(const struct learn_options *o, struct learner_options *ret)
{
    int code = read_count("--approvals", o->approvals, &ret->min_approvals);

    if (!code)
        code = read_count("--days", o->days, &ret->min_days);
    if (!code)
        code = read_bound(o->bound, &ret->min_bound);
    return code;
}

void rules_put_json(struct buf *out, const struct rule_list *rules)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("rules"));
    json_array_open(&w);
    for (size_t i = 0; i < rules->count; i++)
        rule_write(&w, &rules->items[i]);
    json_array_close(&w);
    json_object_close(&w);
    buf_putc(out, '\n');
}

void rules_put_yaml(struct buf *out, const struct rule_list *rules)
{
    buf_put(out, rules->count ? S("rules:\n") : S("rules: []\n"));
    for (size_t i = 0; i < rules->count; i++) {
        if (i)
            buf_putc(out, '\n');
        rule_write_yaml(out, &rules->items[i]);
    }
}

/* On standard error: the other one is a file of rules. */
static void say(const struct learning *l, const struct rules_seen *seen, size_t rules)
{
    struct learner_counts counts = learner_count(l->learner);

    fprintf(stderr,
            "moot: %llu decisions, of which %zu approvals and %zu rejections by people "
            "teach; %zu rule%s\n",
            (unsigned long long)l->decided, counts.approved, counts.rejected, rules,
            rules == 1 ? "" : "s");
    if (l->unknown)
        fprintf(stderr,
                "moot: %llu decisions are by others than people, as far as the record "
                "tells; --person names more of them\n",
                (unsigned long long)l->unknown);
    if (seen->removed)
        fprintf(stderr, "moot: the bodies of %llu records have been removed\n",
                (unsigned long long)seen->removed);
    if (l->no_room)
        fprintf(stderr,
                "moot: %llu decisions found no room; ask for a --topic, or for "
                "less time\n",
                (unsigned long long)l->no_room);
}

static int suggest(const struct learning *l, const struct learn_options *o,
                   uint64_t now_ms, const struct rules_seen *seen)
{
    struct rule_list rules = {};
    struct arena arena;
    struct buf out;
    int code = CLI_OK;

    arena_init(&arena, RULES_BYTES);
    buf_init(&out, OUT_BYTES);
    if (learner_candidates(l->learner, now_ms, &arena, &rules))
        code = cli_fail("there is too much of it; ask for a --topic, or for less time");
    else if (o->json)
        rules_put_json(&out, &rules);
    else
        rules_put_yaml(&out, &rules);
    print(&out);
    if (!code)
        say(l, seen, rules.count);
    arena_done(&arena);
    return code;
}

static int learn(void *fields, char **arguments [[maybe_unused]],
                 size_t count [[maybe_unused]])
{
    const struct learn_options *o = fields;
    struct learner_options options = learner_options_default();
    struct learning l = {};
    struct rules_seen seen;
    uint64_t now_ms = clock_wall_ms();
    int code = read_options(o, &options);

    if (code)
        return code;
    l.learner = learner_new(&options);
    code = rules_replay(&o->record, now_ms, &(struct history_listener){ on_decided, &l },
                        &seen);
    if (!code)
        code = suggest(&l, o, now_ms, &seen);
    learner_free(l.learner);
    return code;
}

const struct cli_command cli_rules_learn = {
    .name = "rules learn",
    .usage = "[OPTIONS]",
    .summary = "suggest rules from what people decided, as the record has it",
    .more = "Prints a file of rules with the evidence for each, and does nothing else.\n"
            "What people approved often and never rejected becomes a rule, as narrow as\n"
            "what they approved. docs/LEARNING.md says how, and what it refuses to.\n\n"
            "  moot rules learn --topic room --since 30d > rules.yaml\n",
    .options = learn_table,
    .option_count = COUNT(learn_table),
    .run = learn,
    .options_size = sizeof(struct learn_options),
};
