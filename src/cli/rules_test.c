/* SPDX-License-Identifier: Apache-2.0 */
/* moot rules test: what rules would have done to the proposals in the record. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/rules_room.h"
#include "rules/tally.h"

enum { OUT_BYTES = 64 << 20, RULES_BYTES = 256 << 20 };

struct test_options {
    struct rules_record record;
    bool json;
};

/* clang-format off */
static const struct cli_option options[] = {
    CLI_RULES_RECORD(struct test_options),
    { "--json", NULL, "as JSON", CLI_AT(struct test_options, json) },
    CLI_AUDIT_PLACE_OF(struct test_options, record.place),
};
/* clang-format on */

struct testing {
    const struct rule_list *rules;
    struct rule_tally *tallies; /* one for each rule */
    uint64_t proposals, covered, wrong;
};

static void on_decided(void *user, const struct decision *d)
{
    struct testing *t = user;
    bool is_covered = false;

    t->proposals++;
    for (size_t i = 0; i < t->rules->count; i++)
        is_covered |= rule_tally_note(&t->tallies[i], &t->rules->items[i], d);
    t->covered += is_covered;
    t->wrong += is_covered && decision_is_against(d);
}

/* --- what is shown --- */

static void put_wrong(struct buf *out, const struct rule_wrong *wrong)
{
    char time[CLOCK_TEXT];

    buf_put(out, S("    "));
    plain_put(out, str_of(wrong->id), PLAIN_LINE);
    buf_put(out, wrong->is_corrected ? S(": made with other arguments by ")
                                     : S(": rejected by "));
    plain_put(out, str_of(wrong->by), PLAIN_LINE);
    buf_put(out, S(", "));
    buf_put(out, clock_write(wrong->at_ms, time));
    buf_putc(out, '\n');
}

static void put_tally(struct buf *out, const struct rule *rule,
                      const struct rule_tally *t)
{
    uint64_t wrong = t->rejected + t->corrected;
    uint64_t covered = t->approved + wrong + t->others + t->undecided;

    plain_put(out, rule->id, PLAIN_LINE);
    buf_put(out, S("  "));
    plain_put(out, rule->proposer, PLAIN_LINE);
    buf_put(out, S(", "));
    plain_put(out, rule->tool.len ? rule->tool : rule->method, PLAIN_LINE);
    buf_putf(out,
             "\n  would have approved %llu: people approved %llu of them and rejected "
             "%llu; %llu were decided by others, %llu by nobody\n",
             (unsigned long long)covered, (unsigned long long)t->approved,
             (unsigned long long)wrong, (unsigned long long)t->others,
             (unsigned long long)t->undecided);
    if (wrong)
        buf_putf(out, "  false approvals: %llu\n", (unsigned long long)wrong);
    for (size_t i = 0; i < t->wrong_count; i++)
        put_wrong(out, &t->wrongs[i]);
    if (wrong > t->wrong_count)
        buf_putf(out, "    … and %llu more\n",
                 (unsigned long long)(wrong - t->wrong_count));
}

static void put_text(struct buf *out, const struct testing *t)
{
    for (size_t i = 0; i < t->rules->count; i++)
        put_tally(out, &t->rules->items[i], &t->tallies[i]);
    buf_putf(out, "%llu of %llu proposals are covered, %llu of them falsely.\n",
             (unsigned long long)t->covered, (unsigned long long)t->proposals,
             (unsigned long long)t->wrong);
}

static void put_json_tally(struct json_writer *w, const struct rule *rule,
                           const struct rule_tally *t)
{
    json_object_open(w);
    json_put_str(w, S("id"), rule->id);
    rule_tally_put(t, w);
    json_key(w, S("false"));
    json_array_open(w);
    for (size_t i = 0; i < t->wrong_count; i++)
        json_str(w, str_of(t->wrongs[i].id));
    json_array_close(w);
    json_object_close(w);
}

static void put_json(struct buf *out, const struct testing *t)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_uint(&w, S("proposals"), t->proposals);
    json_put_uint(&w, S("covered"), t->covered);
    json_put_uint(&w, S("false_approvals"), t->wrong);
    json_key(&w, S("rules"));
    json_array_open(&w);
    for (size_t i = 0; i < t->rules->count; i++)
        put_json_tally(&w, &t->rules->items[i], &t->tallies[i]);
    json_array_close(&w);
    json_object_close(&w);
    buf_putc(out, '\n');
}

/* --- the command --- */

static void free_tallies(struct testing *t)
{
    for (size_t i = 0; i < t->rules->count; i++)
        rule_tally_done(&t->tallies[i]);
    free(t->tallies);
}

static int run_rules(const struct test_options *o, const struct rule_list *rules)
{
    struct testing t = { .rules = rules };
    struct rules_seen seen;
    struct buf out;
    int code;

    t.tallies = xcalloc(rules->count + 1, sizeof(*t.tallies));
    code = rules_replay(&o->record, clock_wall_ms(),
                        &(struct history_listener){ on_decided, &t }, &seen);
    buf_init(&out, OUT_BYTES);
    if (!code && o->json)
        put_json(&out, &t);
    else if (!code)
        put_text(&out, &t);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
    free_tallies(&t);
    if (!code && seen.removed)
        fprintf(stderr, "moot: the bodies of %llu records have been removed\n",
                (unsigned long long)seen.removed);
    return !code && t.wrong ? CLI_FAILED : code;
}

static int test_file(const struct test_options *o, const char *path)
{
    struct rule_list rules = {};
    struct arena arena;
    int code;

    arena_init(&arena, RULES_BYTES);
    code = rules_load(path, &arena, &rules);
    if (!code)
        code = run_rules(o, &rules);
    arena_done(&arena);
    return code;
}

/* One that the topic has, whatever its state. */
static int test_rule(const struct test_options *o, const char *id)
{
    const struct audit_place *place = &o->record.place;
    const struct session_options session = { .topic = o->record.topic,
                                             .server = place->server,
                                             .token_file = place->token_file,
                                             .data = place->data,
                                             .ca = place->ca };
    const struct listed_rule *found = NULL;
    struct room_rules rules;
    struct rule one;
    int code = room_rules_fetch(&session, &rules);

    if (!code)
        found = room_rules_find(&rules, id);
    if (found) {
        one = found->rule;
        code = run_rules(o, &(struct rule_list){ &one, 1 });
    }
    room_rules_done(&rules);
    return !code && !found ? CLI_FAILED : code;
}

/* A file is what there is of that name; a rule needs the topic that has it. */
static int test(void *fields, char **arguments, size_t count_ [[maybe_unused]])
{
    const struct test_options *o = fields;
    const char *what = arguments[0];

    if (!str_starts(str_of(what), S("r-")) || access(what, F_OK) == 0)
        return test_file(o, what);
    if (o->record.topic)
        return test_rule(o, what);
    return cli_fail("--topic says which topic has the rule %s", what), CLI_USAGE;
}

const struct cli_command cli_rules_test = {
    .name = "rules test",
    .usage = "FILE [OPTIONS]",
    .summary = "say what rules would have approved of what is in the record",
    .more =
        "Instead of FILE: the id of a rule that --topic has, or its beginning.\n\n"
        "A dry run: nothing is sent. What a rule covers and a person rejected, or made\n"
        "with other arguments, is a false approval; the exit status is 1 if there is\n"
        "one. States, budgets and expiry of the rules are not looked at.\n\n"
        "  moot rules test rules.yaml --topic room --since 30d\n"
        "  moot rules test r-18b26c5f --topic room --since 30d\n",
    .options = options,
    .option_count = COUNT(options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = test,
    .options_size = sizeof(struct test_options),
};
