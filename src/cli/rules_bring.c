/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot rules import | suggest: the rules of a file, one after the other, into a topic. Of
 * each it is said what became of it. What is there already is left alone, so whoever was
 * interrupted does it again.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/rules_room.h"
#include "cli/rules_verb.h"

enum { TEXT_BYTES = 1 << 20, RULES_BYTES = 256 << 20, AGAIN_MS = 250 };

struct bring_options {
    struct session_options session;
    bool dry, yes;
};

#define OPT(member) CLI_AT(struct bring_options, member)

/* What became of a rule. */
enum fate { FATE_DONE, FATE_THERE, FATE_LEFT, FATE_REFUSED, FATE_UNKNOWN, FATES };

static const char *const fates[FATES] = {
    [FATE_DONE] = "added",      [FATE_THERE] = "there",     [FATE_LEFT] = "left out",
    [FATE_REFUSED] = "refused", [FATE_UNKNOWN] = "unknown",
};

struct bringing {
    const struct bring_options *options;
    enum rule_verb verb;
    const struct room_rules *there;
    struct rule_list rules;
    size_t at; /* the next one */
    size_t counts[FATES];
    struct buf payload;
    struct session *session; /* NULL: none yet, or none any more */
};

static const char *fate_name(const struct bringing *b, enum fate fate)
{
    if (fate == FATE_DONE && b->options->dry)
        return "to add";
    if (fate == FATE_DONE && b->verb == RULE_SUGGEST)
        return "suggested";
    return fates[fate];
}

/* --- what is said --- */

static void put_line(struct buf *out, const struct bringing *b, const struct rule *rule,
                     enum fate fate, struct str why)
{
    buf_putf(out, "%-9s  ", fate_name(b, fate));
    plain_put(out, rule->id, PLAIN_LINE);
    buf_put(out, S("  "));
    if (why.len) {
        buf_put(out, why);
    } else {
        plain_put(out, rule->proposer, PLAIN_LINE);
        buf_put(out, S(": "));
        plain_put(out, rule->tool.len ? rule->tool : rule->method, PLAIN_LINE);
        buf_put(out, rule->to.len ? S(" at ") : S(""));
        plain_put(out, rule->to, PLAIN_LINE);
    }
    buf_putc(out, '\n');
}

static void put_json(struct buf *out, const struct bringing *b, const struct rule *rule,
                     enum fate fate, struct str why)
{
    CLEANUP(buf_done) struct buf text;
    struct json_writer w;

    buf_init(&text, TEXT_BYTES);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("rule"), rule->id);
    json_put_str(&w, S("result"), str_of(fate_name(b, fate)));
    json_put_given(&w, S("message"), why);
    if (b->options->dry)
        json_put_bool(&w, S("dry"), true);
    json_object_close(&w);
    result_put_json(out, buf_str(&text),
                    isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW);
}

/* `why` is plain. */
static void tell(struct bringing *b, enum fate fate, struct str why)
{
    const struct rule *rule = &b->rules.items[b->at];
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, TEXT_BYTES);
    b->counts[fate]++;
    if (b->options->session.json)
        put_json(&out, b, rule, fate, why);
    else
        put_line(&out, b, rule, fate, why);
    if (b->session)
        session_print(b->session, &out);
    else
        (void)fwrite(out.ptr, 1, out.len, stdout);
    b->at++;
}

/* "2 added, 1 there already, 1 refused; 3 were not tried" on standard error. */
static void tell_all(const struct bringing *b)
{
    size_t untried = b->rules.count - b->at;
    CLEANUP(buf_done) struct buf out;

    (void)fflush(stdout);
    buf_init(&out, TEXT_BYTES);
    for (int i = 0; i < FATES; i++)
        if (b->counts[i])
            buf_putf(&out, "%s%zu %s%s", out.len ? ", " : "", b->counts[i],
                     fate_name(b, (enum fate)i), i == FATE_THERE ? " already" : "");
    if (!out.len)
        buf_put(&out,
                b->rules.count ? S("nothing was done") : S("there is no rule in it"));
    if (untried)
        buf_putf(&out, "; %zu not tried, run it again", untried);
    if (b->options->dry)
        buf_put(&out, S("; nothing was sent (--dry)"));
    fprintf(stderr, "moot: %s\n", buf_cstr(&out));
}

/* --- what need not be sent --- */

static const struct listed_rule *find_there(const struct bringing *b, struct str id)
{
    for (size_t i = 0; i < b->there->count; i++)
        if (str_eq(b->there->items[i].rule.id, id))
            return &b->there->items[i];
    return NULL;
}

/* Whoever took a rule out of use somewhere did not want it to act elsewhere. */
static bool is_out_of_use(const struct rule *rule)
{
    return rule->state != RULE_SUGGESTED && rule->state != RULE_ACTIVE;
}

/* True: what becomes of it is known without asking, and why. */
static bool judge(const struct bringing *b, const struct rule *rule, enum fate *ret,
                  struct buf *why)
{
    const struct listed_rule *there = find_there(b, rule->id);
    struct str state = rule_state_name(there ? there->rule.state : rule->state);

    if (!str_eq(rule->topic, b->there->topic)) {
        buf_put(why, S("it is for the topic "));
        plain_put(why, rule->topic, PLAIN_LINE);
        *ret = FATE_REFUSED;
    } else if (there &&
               (there->rule.state == RULE_ACTIVE || there->rule.state == RULE_SHADOW)) {
        buf_putf(why, "%s" STR_FMT, there->rule.state == RULE_SHADOW ? "in " : "",
                 STR_ARG(state));
        *ret = FATE_THERE;
    } else if (b->verb == RULE_ADD && is_out_of_use(rule)) {
        buf_putf(why, "its state in the file is " STR_FMT ", and imported rules act",
                 STR_ARG(rule_state_name(rule->state)));
        *ret = FATE_LEFT;
    } else {
        return false;
    }
    return true;
}

/* Those that are sent, and what they replace. */
static size_t put_preview(const struct bringing *b, struct buf *out)
{
    CLEANUP(buf_done) struct buf why;
    size_t count = 0;
    enum fate fate;

    buf_init(&why, TEXT_BYTES);
    for (size_t i = 0; i < b->rules.count; i++) {
        const struct rule *rule = &b->rules.items[i];
        const struct listed_rule *there = find_there(b, rule->id);

        buf_clear(&why);
        if (judge(b, rule, &fate, &why))
            continue;
        count++;
        buf_put(out, S("\n"));
        plain_put(out, rule->id, PLAIN_LINE);
        if (there)
            buf_putf(out, " (" STR_FMT " here)",
                     STR_ARG(rule_state_name(there->rule.state)));
        buf_putc(out, '\n');
        rule_explain(out, rule);
    }
    return count;
}

/* --- one after the other --- */

static void next(struct bringing *b);

static int code_of(const struct bringing *b)
{
    if (b->counts[FATE_UNKNOWN] || b->at < b->rules.count)
        return CLI_FAILED;
    return b->counts[FATE_REFUSED] ? CLI_REFUSED : CLI_OK;
}

static void end(struct bringing *b)
{
    if (b->session)
        session_end(b->session, code_of(b));
}

static void take_refusal(struct bringing *b, const struct moot_outcome *outcome)
{
    const struct rule *rule = &b->rules.items[b->at];
    struct rules_refusal refusal = {
        .verb = b->verb,
        .topic = b->there->topic,
        .id = S("it"), /* the line has it already */
        .proposer = rule->proposer,
        .me = moot_id(b->session->moot),
        .error = outcome->error,
        .message = outcome->message,
    };
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf why;
    bool is_there;

    arena_init(&arena, TEXT_BYTES);
    buf_init(&why, TEXT_BYTES);
    refusal.state = rules_refused_state(outcome, &arena);
    is_there = strcmp(outcome->error, "rule_state") == 0 &&
               (str_eq(refusal.state, S("active")) || str_eq(refusal.state, S("shadow")));
    if (is_there)
        plain_put(&why, refusal.state, PLAIN_LINE);
    else
        rules_put_refusal(&why, &refusal);
    tell(b, is_there ? FATE_THERE : FATE_REFUSED, buf_str(&why));
    if (strcmp(outcome->error, "capability_violation") == 0)
        end(b); /* so it is for all of them */
    else
        next(b);
}

static void on_sent(struct moot *m [[maybe_unused]], void *user,
                    const struct moot_outcome *outcome)
{
    struct bringing *b = user;

    if (b->session->is_ending)
        return;
    if (outcome->type == MOOT_REFUSED && strcmp(outcome->error, "rate_limited") == 0) {
        session_wake(b->session, AGAIN_MS);
    } else if (outcome->type == MOOT_SENT) {
        tell(b, FATE_DONE, S(""));
        next(b);
    } else if (outcome->type == MOOT_REFUSED) {
        take_refusal(b, outcome);
    } else {
        tell(b, FATE_UNKNOWN, S("the connection broke before it was answered"));
        end(b);
    }
}

static void write_payload(struct bringing *b)
{
    struct json_writer w;

    buf_clear(&b->payload);
    json_write_init(&w, &b->payload);
    json_object_open(&w);
    json_key(&w, S("rule"));
    rule_write(&w, &b->rules.items[b->at]);
    json_object_close(&w);
}

static void send_one(struct bringing *b)
{
    struct moot_envelope envelope = { .kind = rules_kind(b->verb),
                                      .on_done = on_sent,
                                      .user = b };
    enum moot_err err;

    write_payload(b);
    envelope.payload = buf_cstr(&b->payload);
    err = moot_send(b->session->moot, &envelope, NULL);
    if (err == MOOT_FORBIDDEN)
        take_refusal(
            b, &(struct moot_outcome){ .error = "capability_violation", .message = "" });
    else if (err == MOOT_OFFLINE || err == MOOT_FULL)
        session_wake(b->session, AGAIN_MS);
    else if (err)
        session_end(b->session, session_fail(b->session, err));
}

/* True: it was told what became of it; false: it is to be sent. */
static bool pass(struct bringing *b)
{
    CLEANUP(buf_done) struct buf why;
    enum fate fate = FATE_DONE;
    bool is_known;

    buf_init(&why, TEXT_BYTES);
    is_known = judge(b, &b->rules.items[b->at], &fate, &why);
    if (!is_known && !b->options->dry)
        return false;
    tell(b, fate, buf_str(&why));
    return true;
}

/* Up to one that has to be sent, or to the end. */
static void next(struct bringing *b)
{
    while (b->at < b->rules.count)
        if (!pass(b)) {
            send_one(b);
            return;
        }
    end(b);
}

static void on_begin(struct session *session)
{
    struct bringing *b = session->user;

    b->session = session;
    next(b);
}

static void on_wake(struct session *session)
{
    send_one(session->user);
}

/* --- the commands --- */

static int run_all(struct bringing *b)
{
    struct session_plan plan = { .on_begin = on_begin, .on_wake = on_wake, .user = b };
    int code;

    if (b->options->dry) {
        next(b);
        tell_all(b);
        return code_of(b);
    }
    code = session_run(&b->options->session, &plan);
    b->session = NULL;
    tell_all(b);
    return code;
}

static bool is_agreed(const struct bringing *b)
{
    CLEANUP(buf_done) struct buf out;
    char question[64];
    size_t count;

    buf_init(&out, TEXT_BYTES);
    if (b->verb != RULE_ADD || b->options->dry)
        return true;
    count = put_preview(b, &out);
    (void)snprintf(question, sizeof(question),
                   count == 1 ? "\nLet it act?" : "\nLet these %zu rules act?", count);
    return !count || rules_ask(buf_str(&out), question, b->options->yes);
}

static int bring(const struct bring_options *o, const char *path, enum rule_verb verb)
{
    struct bringing b = { .options = o, .verb = verb };
    struct room_rules there = {};
    struct arena arena;
    int code;

    arena_init(&arena, RULES_BYTES);
    buf_init(&b.payload, TEXT_BYTES);
    code = rules_load(path, &arena, &b.rules);
    if (code == CLI_OK)
        code = room_rules_fetch(&o->session, &there);
    b.there = &there;
    if (code == CLI_OK && !is_agreed(&b))
        code = (cli_fail("nothing was added"), CLI_REFUSED);
    else if (code == CLI_OK)
        code = run_all(&b);
    buf_done(&b.payload);
    arena_done(&arena);
    room_rules_done(&there);
    return code;
}

static int run_import(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    return bring(fields, arguments[0], RULE_ADD);
}

static int run_suggest(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    return bring(fields, arguments[0], RULE_SUGGEST);
}

/* clang-format off */
static const struct cli_option import_table[] = {
    { "--dry", NULL, "say what would be done, and do nothing",   OPT(dry) },
    { "--yes", NULL, "do it without asking, also at a terminal", OPT(yes) },
    CLI_SESSION(struct bring_options),
};
/* clang-format on */
static const struct cli_option suggest_table[] = { CLI_SESSION(struct bring_options) };

const struct cli_command cli_rules_import = {
    .name = "rules import",
    .usage = "TOPIC FILE [OPTIONS]",
    .summary = "let the rules of a file act in a topic",
    .more =
        "The file is one of `rules learn`, of `rules export`, or written by hand; - is\n"
        "standard input. At a terminal it shows what will act and asks. What is active\n"
        "already is left alone; what the file says to be in shadow, suspended, disabled\n"
        "or declined is left out. Only people do this, and nobody adds a rule about his\n"
        "own proposals.\n\n"
        "  moot rules import room rules.yaml --dry\n",
    .options = import_table,
    .option_count = COUNT(import_table),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_import,
    .options_size = sizeof(struct bring_options),
    .takes_topic = true,
};

const struct cli_command cli_rules_suggest = {
    .name = "rules suggest",
    .usage = "TOPIC FILE",
    .summary = "suggest the rules of a file to the people of a topic",
    .more = "They do not act before somebody accepts them. It takes rule/suggest, which\n"
            "the profiles orchestrator and admin have.\n\n"
            "  moot rules learn --topic room | moot rules suggest room - \\\n"
            "      --token-file ~/.local/state/moot/admin.token\n",
    .options = suggest_table,
    .option_count = COUNT(suggest_table),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_suggest,
    .options_size = sizeof(struct bring_options),
    .takes_topic = true,
};
