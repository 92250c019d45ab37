/* SPDX-License-Identifier: Apache-2.0 */
/* moot rules list | show | explain | export: the rules of a topic, which only look. */
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/progress.h"
#include "cli/rules_room.h"

enum { OUT_BYTES = 64 << 20, COLUMNS = 80 };

struct list_options {
    struct session_options session;
    const char *state;
};

#define OPT(member) CLI_AT(struct list_options, member)

/* clang-format off */
static const struct cli_option list_table[] = {
    { "--state", "STATE", "only suggested, shadow, active, suspended, disabled or declined ones", OPT(state) },
    CLI_SESSION(struct list_options),
};
/* clang-format on */
static const struct cli_option look_table[] = { CLI_SESSION(struct list_options) };

static void print(struct buf *out)
{
    if (out->len)
        (void)fwrite(out->ptr, 1, out->len, stdout);
    (void)fflush(stdout);
}

static void put_raw(struct buf *out, struct str json)
{
    result_put_json(out, json, isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW);
}

/* --- list --- */

/* Those in this state alone; the others go. */
static int keep_state(struct room_rules *rules, const char *state)
{
    enum rule_state wanted;
    size_t count = 0;

    if (rule_state_parse(str_of(state), &wanted))
        return cli_fail("--state: a rule is suggested, shadow, active, suspended, "
                        "disabled or declined, not \"%s\"",
                        state),
               CLI_USAGE;
    for (size_t i = 0; i < rules->count; i++)
        if (rules->items[i].rule.state == wanted)
            rules->items[count++] = rules->items[i];
    rules->count = count;
    return CLI_OK;
}

static void put_list_json(struct buf *out, const struct room_rules *rules)
{
    CLEANUP(buf_done) struct buf text;
    struct json_writer w;

    buf_init(&text, OUT_BYTES);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("automation"), rules->has_automation ? S("on") : S("off"));
    json_key(&w, S("rules"));
    json_array_open(&w);
    for (size_t i = 0; i < rules->count; i++)
        json_raw(&w, rules->items[i].raw);
    json_array_close(&w);
    json_object_close(&w);
    put_raw(out, buf_str(&text));
}

static void say_none(const char *topic, const char *state)
{
    if (state) {
        fprintf(stderr, "moot: no rule of %s is %s\n", topic, state);
        return;
    }
    fprintf(stderr,
            "moot: %s has no rules yet; what people approved often makes some:\n"
            "  moot rules learn --topic %s > rules.yaml\n"
            "  moot rules import %s rules.yaml\n",
            topic, topic, topic);
}

/* What a person may want to do next. */
static void say_next(const struct room_rules *rules, const char *topic)
{
    size_t suggested = 0;

    for (size_t i = 0; i < rules->count; i++)
        suggested += rules->items[i].rule.state == RULE_SUGGESTED;
    if (!rules->has_automation)
        fprintf(stderr,
                "moot: automation is off in %s: no rule acts; `moot topic set %s\n"
                "      automation on` lets them\n",
                topic, topic);
    if (suggested && isatty(STDERR_FILENO))
        fprintf(stderr,
                "moot: %zu wait%s for a person; `moot rules explain %s ID` says what it\n"
                "      allows, `moot rules accept` and `decline` decide\n",
                suggested, suggested == 1 ? "s" : "", topic);
}

static int list(void *fields, char **arguments [[maybe_unused]],
                size_t count [[maybe_unused]])
{
    const struct list_options *o = fields;
    size_t columns = progress_columns(STDOUT_FILENO);
    CLEANUP(buf_done) struct buf out;
    struct room_rules rules;
    int code = room_rules_fetch(&o->session, &rules);

    buf_init(&out, OUT_BYTES);
    if (code == CLI_OK && o->state)
        code = keep_state(&rules, o->state);
    if (code == CLI_OK && o->session.json)
        put_list_json(&out, &rules);
    else if (code == CLI_OK && rules.count)
        rules_put_table(&out, &rules, clock_wall_ms(), columns ? columns : COLUMNS);
    print(&out);
    if (code == CLI_OK && !o->session.json && !rules.count)
        say_none(o->session.topic, o->state);
    if (code == CLI_OK && !o->session.json)
        say_next(&rules, o->session.topic);
    room_rules_done(&rules);
    return code;
}

const struct cli_command cli_rules_list = {
    .name = "rules list",
    .usage = "TOPIC [OPTIONS]",
    .summary = "list the rules of a topic: what they cover, and which act",
    .more = "USES/H is how often a rule was used within the hour, and how often it may.\n"
            "The beginning of an id is enough for the other commands.\n",
    .options = list_table,
    .option_count = COUNT(list_table),
    .run = list,
    .options_size = sizeof(struct list_options),
    .takes_topic = true,
};

/* --- show, explain --- */

typedef void put_one_fn(struct buf *out, const struct room_rules *rules,
                        const struct listed_rule *one);

static int look(const struct list_options *o, const char *id, put_one_fn *put)
{
    CLEANUP(buf_done) struct buf out;
    const struct listed_rule *one = NULL;
    struct room_rules rules;
    int code = room_rules_fetch(&o->session, &rules);

    buf_init(&out, OUT_BYTES);
    if (code == CLI_OK)
        one = room_rules_find(&rules, id);
    if (one)
        put(&out, &rules, one);
    print(&out);
    room_rules_done(&rules);
    return one ? CLI_OK : CLI_FAILED;
}

static void put_yaml(struct buf *out, const struct room_rules *rules [[maybe_unused]],
                     const struct listed_rule *one)
{
    buf_put(out, S("rules:\n"));
    rules_put_entry(out, one, clock_wall_ms(), progress_columns(STDOUT_FILENO));
}

static void put_json(struct buf *out, const struct room_rules *rules [[maybe_unused]],
                     const struct listed_rule *one)
{
    put_raw(out, one->raw);
}

static void put_words(struct buf *out, const struct room_rules *rules,
                      const struct listed_rule *one)
{
    rules_put_words(out, rules, one, clock_wall_ms(), progress_columns(STDOUT_FILENO));
}

static void put_words_json(struct buf *out, const struct room_rules *rules,
                           const struct listed_rule *one)
{
    CLEANUP(buf_done) struct buf text, words;
    struct json_writer w;
    const char *why = NULL;
    bool acts = rules_acts(rules, one, clock_wall_ms(), &why);

    buf_init(&text, OUT_BYTES);
    buf_init(&words, OUT_BYTES);
    rules_put_words(&words, rules, one, clock_wall_ms(), 0);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("rule"), one->rule.id);
    json_put_str(&w, S("state"), rule_state_name(one->rule.state));
    json_put_bool(&w, S("acts"), acts);
    if (why)
        json_put_str(&w, S("why_not"), str_of(why));
    json_put_str(&w, S("text"), buf_str(&words));
    json_object_close(&w);
    put_raw(out, buf_str(&text));
}

static int show(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct list_options *o = fields;

    return look(o, arguments[0], o->session.json ? put_json : put_yaml);
}

static int explain(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct list_options *o = fields;

    return look(o, arguments[0], o->session.json ? put_words_json : put_words);
}

const struct cli_command cli_rules_show = {
    .name = "rules show",
    .usage = "TOPIC RULE",
    .summary = "print a rule as a file, with its evidence and its uses",
    .options = look_table,
    .option_count = COUNT(look_table),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = show,
    .options_size = sizeof(struct list_options),
    .takes_topic = true,
};

const struct cli_command cli_rules_explain = {
    .name = "rules explain",
    .usage = "TOPIC RULE",
    .summary = "say in words what a rule covers, and why it acts or not",
    .options = look_table,
    .option_count = COUNT(look_table),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = explain,
    .options_size = sizeof(struct list_options),
    .takes_topic = true,
};

/* --- export --- */

/* All, or those that are named; CLI_FAILED has been reported. */
static int choose(const struct room_rules *rules, char **ids, size_t count,
                  struct rule_list *ret)
{
    ret->items = xcalloc(rules->count + count + 1, sizeof(*ret->items));
    for (size_t i = 0; i < rules->count && !count; i++)
        ret->items[ret->count++] = rules->items[i].rule;
    for (size_t i = 0; i < count; i++) {
        const struct listed_rule *one = room_rules_find(rules, ids[i]);
        bool is_new = one;

        if (!one)
            return CLI_FAILED;
        for (size_t k = 0; k < ret->count; k++)
            is_new = is_new && !str_eq(ret->items[k].id, one->rule.id);
        if (is_new)
            ret->items[ret->count++] = one->rule;
    }
    return CLI_OK;
}

static int export_rules(void *fields, char **arguments, size_t count)
{
    const struct list_options *o = fields;
    CLEANUP(buf_done) struct buf out;
    struct rule_list chosen = {};
    struct room_rules rules;
    int code = room_rules_fetch(&o->session, &rules);

    buf_init(&out, OUT_BYTES);
    if (code == CLI_OK)
        code = choose(&rules, arguments, count, &chosen);
    if (code == CLI_OK && o->session.json)
        rules_put_json(&out, &chosen);
    else if (code == CLI_OK)
        rules_put_yaml(&out, &chosen);
    print(&out);
    xfreep(&chosen.items);
    room_rules_done(&rules);
    return code;
}

const struct cli_command cli_rules_export = {
    .name = "rules export",
    .usage = "TOPIC [RULE...]",
    .summary = "print the rules of a topic, or some, as a file to be imported",
    .more = "  moot rules export room > rules.yaml\n",
    .options = look_table,
    .option_count = COUNT(look_table),
    .max_arguments = SIZE_MAX,
    .run = export_rules,
    .options_size = sizeof(struct list_options),
    .takes_topic = true,
};
