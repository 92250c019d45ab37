/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot rules accept | decline | enable | disable | remove: what becomes of a rule. The
 * rules are read first, so that the beginning of an id is enough; then the command goes
 * into the topic, by whoever the token is for, and the gateway's event says what came.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "cli/audit_ask.h"
#include "cli/input.h"
#include "cli/rules_room.h"
#include "cli/rules_verb.h"

enum {
    TEXT_BYTES = 1 << 20,
    RULES_BYTES = 64 << 20,
    EVENT_MS = 2000, /* so long its news is waited for */
};

static const uint64_t longest_ms = RULEBOOK_MAX_DAYS * 86'400'000ULL;

struct change_options {
    struct session_options session;
    const char *narrow, *budget, *expires, *reason;
    bool shadow, yes;
};

#define OPT(member) CLI_AT(struct change_options, member)

struct change {
    const struct change_options *options;
    enum rule_verb verb;
    const struct room_rules *rules;
    const struct listed_rule *one;
    struct rule wanted; /* accept: as it will be */
    bool is_narrowed;
    struct buf reason, payload;
    char sent[MOOT_ID];
    bool is_sent, is_heard;
    struct buf state, narrowed_to; /* as heard */
};

/* --- what came of it --- */

static void put_json(struct session *session, const struct change *c, struct buf *out)
{
    CLEANUP(buf_done) struct buf text;
    struct json_writer w;

    buf_init(&text, TEXT_BYTES);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("rule"), c->one->rule.id);
    json_put_str(&w, S("state"), buf_str(&c->state));
    json_put_given(&w, S("narrowed_to"), buf_str(&c->narrowed_to));
    json_object_close(&w);
    result_put_json(out, buf_str(&text), session->form);
}

static const char *meaning(const struct change *c)
{
    switch (c->verb) {
    case RULE_ACCEPT:
        return c->options->shadow ? "is in shadow: it only says what it would do"
                                  : "is active: it acts from now on";
    case RULE_ENABLE:
        return c->one->rule.state == RULE_SHADOW ? "is active: it acts from now on"
                                                 : "is active again";
    case RULE_DECLINE: return "is declined";
    case RULE_DISABLE: return "is disabled: it does not act";
    case RULE_REMOVE: return "is removed";
    case RULE_SUGGEST:
    case RULE_ADD:
    case RULE_SUSPEND: break;
    }
    return "is changed";
}

static void put_text(const struct change *c, struct buf *out)
{
    struct str id = c->one->rule.id;

    plain_put(out, c->narrowed_to.len ? buf_str(&c->narrowed_to) : id, PLAIN_LINE);
    buf_putf(out, " %s\n", meaning(c));
    if (c->narrowed_to.len) {
        plain_put(out, id, PLAIN_LINE);
        buf_put(out, S(" is declined: narrowed to that\n"));
    }
}

static void finish(struct session *session)
{
    struct change *c = session->user;
    bool may_act =
        (c->verb == RULE_ACCEPT && !c->options->shadow) || c->verb == RULE_ENABLE;
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    if (session->options->json)
        put_json(session, c, &out);
    else
        put_text(c, &out);
    session_print(session, &out);
    buf_done(&out);
    if (may_act && !c->rules->has_automation)
        (void)cli_fail("automation is off in %s, so it does not act yet; `moot topic set "
                       "%s automation on` lets it",
                       session->options->topic, session->options->topic);
    session_end(session, CLI_OK);
}

/* The gateway took it, and nobody told what became of it. */
static void on_wake(struct session *session)
{
    finish(session);
}

static void settle(struct session *session)
{
    const struct change *c = session->user;

    if (c->is_sent && c->is_heard)
        finish(session);
    else if (c->is_sent)
        session_wake(session, EVENT_MS);
}

static void hear(struct change *c, const struct json *payload)
{
    struct str id = json_text(json_find(payload, S("rule")));
    struct str narrowed = json_text(json_find(payload, S("narrowed_to")));

    if (!str_eq(id, c->one->rule.id)) { /* what it was narrowed to */
        c->is_heard = c->is_narrowed;
        buf_clear(&c->narrowed_to);
        buf_put(&c->narrowed_to, id);
        return;
    }
    buf_clear(&c->state);
    buf_put(&c->state, json_text(json_find(payload, S("state"))));
    c->is_heard = c->is_heard || !c->is_narrowed || narrowed.len;
    if (narrowed.len) {
        buf_clear(&c->narrowed_to);
        buf_put(&c->narrowed_to, narrowed);
    }
}

static void on_message(struct moot *m [[maybe_unused]], void *user,
                       const struct moot_message *message)
{
    struct session *session = user;
    struct change *c = session->user;
    const struct json *payload;
    struct arena arena;

    if (strcmp(message->kind, "system/rule") != 0 || !message->correlation_id ||
        strcmp(message->correlation_id, c->sent) != 0 || session->is_ending)
        return;
    arena_init(&arena, TEXT_BYTES);
    if (json_parse((struct str){ message->payload.ptr, message->payload.len }, &arena,
                   &payload, NULL) == OK)
        hear(c, payload);
    arena_done(&arena);
    settle(session);
}

static void refuse(struct session *session, const struct moot_outcome *outcome)
{
    const struct change *c = session->user;
    struct rules_refusal refusal = {
        .verb = c->verb,
        .topic = str_of(session->options->topic),
        .id = room_rules_short(c->rules, c->one),
        .proposer = c->one->rule.proposer,
        .me = moot_id(session->moot),
        .error = outcome->error,
        .message = outcome->message,
    };
    struct arena arena;
    struct buf out;

    arena_init(&arena, TEXT_BYTES);
    buf_init(&out, TEXT_BYTES);
    refusal.state = rules_refused_state(outcome, &arena);
    rules_put_refusal(&out, &refusal);
    (void)cli_fail("%s", buf_cstr(&out));
    buf_done(&out);
    arena_done(&arena);
    session_end(session, CLI_REFUSED);
}

static void on_sent(struct moot *m [[maybe_unused]], void *user,
                    const struct moot_outcome *outcome)
{
    struct session *session = user;
    struct change *c = session->user;

    if (outcome->type == MOOT_SENT) {
        c->is_sent = true;
        settle(session);
    } else if (outcome->type == MOOT_REFUSED && !session->options->json) {
        refuse(session, outcome);
    } else {
        session_end(session, session_report(session, outcome));
    }
}

/* --- what is sent --- */

/* As they were shown: meanwhile the same may have been suggested on others. */
static void write_terms(const struct change *c, struct json_writer *w)
{
    json_put_uint(w, S("budget"), c->wanted.budget);
    if (c->wanted.expires_ms)
        json_put_time(w, S("expires_at"), c->wanted.expires_ms);
}

static void write_payload(struct change *c)
{
    struct json_writer w;

    json_write_init(&w, &c->payload);
    json_object_open(&w);
    json_put_str(&w, S("rule"), c->one->rule.id);
    if (c->options->shadow)
        json_put_bool(&w, S("shadow"), true);
    if (c->is_narrowed) {
        json_key(&w, S("narrow"));
        shape_write(&w, c->wanted.arguments);
    }
    if (c->verb == RULE_ACCEPT)
        write_terms(c, &w);
    json_put_given(&w, S("reason"), buf_str(&c->reason));
    json_object_close(&w);
}

static void on_begin(struct session *session)
{
    struct change *c = session->user;
    struct moot_envelope envelope = { .kind = rules_kind(c->verb),
                                      .payload = buf_cstr(&c->payload),
                                      .on_done = on_sent,
                                      .user = session };
    enum moot_err err = moot_send(session->moot, &envelope, c->sent);

    if (err == MOOT_FORBIDDEN)
        refuse(session,
               &(struct moot_outcome){ .error = "capability_violation", .message = "" });
    else if (err)
        session_end(session, session_fail(session, err));
}

static int send(struct change *c)
{
    struct session_plan plan = { .on_begin = on_begin,
                                 .on_wake = on_wake,
                                 .handlers.on_message = on_message,
                                 .user = c };

    write_payload(c);
    return session_run(&c->options->session, &plan);
}

/* --- accept: as it was suggested, or less --- */

/* "30d" from now, or a date; false: it is neither. A bare number might mean anything. */
static bool read_end(struct str text, uint64_t now_ms, uint64_t *ret_ms)
{
    uint64_t ms;

    if (str_to_u64(text, UINT64_MAX, &ms) == OK)
        return false;
    if (!cli_read_duration(text, &ms))
        return audit_moment(text, now_ms, ret_ms) == OK;
    *ret_ms = ms < UINT64_MAX - now_ms ? now_ms + ms : UINT64_MAX;
    return true;
}

static int read_expiry(struct change *c, const char *text)
{
    uint64_t now_ms = clock_wall_ms();
    uint64_t ms;

    if (!text)
        return CLI_OK;
    if (!read_end(str_of(text), now_ms, &ms))
        return cli_fail("--expires takes a time ahead such as 12h or 30d, or a date such "
                        "as 2027-01-31, not \"%s\"",
                        text),
               CLI_USAGE;
    if (ms <= now_ms || ms > now_ms + longest_ms)
        return cli_fail("--expires: a rule holds for %d days at most, and not for the "
                        "past",
                        RULEBOOK_MAX_DAYS),
               CLI_USAGE;
    c->wanted.expires_ms = ms;
    return CLI_OK;
}

static int read_budget(struct change *c, const char *text)
{
    if (!text)
        return CLI_OK;
    if (str_to_u64(str_of(text), RULE_BUDGET, &c->wanted.budget) || !c->wanted.budget)
        return cli_fail("--budget takes 1 to %d uses an hour, not \"%s\"", RULE_BUDGET,
                        text),
               CLI_USAGE;
    return CLI_OK;
}

static bool asks_yes(const struct change *c)
{
    const char *question = c->options->shadow ? "Have it in shadow?" : "Let it act?";
    CLEANUP(buf_done) struct buf words;

    buf_init(&words, TEXT_BYTES);
    rules_put_cover(&words, &c->wanted);
    return rules_ask(buf_str(&words), question, c->options->yes);
}

static int accept_one(struct change *c, struct arena *arena)
{
    const struct change_options *o = c->options;
    int code;

    c->wanted = c->one->rule;
    code = read_budget(c, o->budget);
    if (code == CLI_OK)
        code = read_expiry(c, o->expires);
    if (code == CLI_OK && o->narrow) {
        code = rules_load_shape(o->narrow, arena, &c->one->rule, &c->wanted.arguments);
        c->is_narrowed = true;
    }
    if (code == CLI_OK && !rule_is_current(&c->wanted, clock_wall_ms()))
        code =
            (cli_fail("it has expired; with --expires it holds for longer"), CLI_REFUSED);
    if (code == CLI_OK && !asks_yes(c))
        code = (cli_fail("it was not accepted"), CLI_REFUSED);
    if (code == CLI_OK)
        code = send(c);
    return code;
}

/* --- the commands --- */

static void put_reason(struct change *c, char **words, size_t count)
{
    if (c->options->reason)
        buf_put(&c->reason, str_of(c->options->reason));
    for (size_t i = 0; i < count; i++) {
        buf_put(&c->reason, c->reason.len ? S(" ") : S(""));
        buf_put(&c->reason, str_of(words[i]));
    }
}

static int act(struct change *c, struct arena *arena)
{
    if (c->reason.len > RULE_NOTE)
        return cli_fail("the reason is longer than %d bytes", RULE_NOTE), CLI_USAGE;
    return c->verb == RULE_ACCEPT ? accept_one(c, arena) : send(c);
}

static int change(const struct change_options *o, enum rule_verb verb, char **arguments,
                  size_t count)
{
    struct change c = { .options = o, .verb = verb };
    struct room_rules rules;
    struct arena arena;
    int code = room_rules_fetch(&o->session, &rules);

    arena_init(&arena, RULES_BYTES);
    buf_init(&c.reason, TEXT_BYTES);
    buf_init(&c.payload, TEXT_BYTES);
    buf_init(&c.state, TEXT_BYTES);
    buf_init(&c.narrowed_to, TEXT_BYTES);
    c.rules = &rules;
    c.one = code == CLI_OK ? room_rules_find(&rules, arguments[0]) : NULL;
    put_reason(&c, arguments + 1, count - 1);
    code = c.one ? act(&c, &arena) : CLI_FAILED;
    buf_done(&c.narrowed_to);
    buf_done(&c.state);
    buf_done(&c.payload);
    buf_done(&c.reason);
    arena_done(&arena);
    room_rules_done(&rules);
    return code;
}

static int run_accept(void *fields, char **arguments, size_t count)
{
    return change(fields, RULE_ACCEPT, arguments, count);
}

static int run_decline(void *fields, char **arguments, size_t count)
{
    return change(fields, RULE_DECLINE, arguments, count);
}

static int run_enable(void *fields, char **arguments, size_t count)
{
    return change(fields, RULE_ENABLE, arguments, count);
}

static int run_disable(void *fields, char **arguments, size_t count)
{
    return change(fields, RULE_DISABLE, arguments, count);
}

static int run_remove(void *fields, char **arguments, size_t count)
{
    return change(fields, RULE_REMOVE, arguments, count);
}

/* clang-format off */
static const struct cli_option accept_table[] = {
    { "--shadow",  NULL,   "it does not act, it only says what it would do",          OPT(shadow) },
    { "--narrow",  "FILE", "less than suggested: its arguments, or an edited `rules show`; - for standard input", OPT(narrow) },
    { "--budget",  "N",    "uses an hour at most; else what is suggested",            OPT(budget) },
    { "--expires", "TIME", "until when: 12h or 30d from now, 2027-01-31",             OPT(expires) },
    { "--yes",     NULL,   "do it without asking, also at a terminal",                OPT(yes) },
    CLI_SESSION(struct change_options),
};

static const struct cli_option reason_table[] = {
    { "--reason",  "TEXT", "why; others see it",                                      OPT(reason) },
    CLI_SESSION(struct change_options),
};
/* clang-format on */
static const struct cli_option plain_table[] = { CLI_SESSION(struct change_options) };

const struct cli_command cli_rules_accept = {
    .name = "rules accept",
    .usage = "TOPIC RULE [OPTIONS]",
    .summary = "let a suggested rule act, or try it in shadow",
    .more =
        "At a terminal it shows what the rule allows and asks; elsewhere it does it.\n"
        "Only people accept rules, and nobody one about his own proposals. What is\n"
        "narrowed becomes a rule of its own, and the wider one is declined.\n\n"
        "  moot rules accept room r-18b26c --shadow\n"
        "  moot rules show room r-18b26c > less.yaml     (and edit its arguments)\n"
        "  moot rules accept room r-18b26c --narrow less.yaml --budget 5\n",
    .options = accept_table,
    .option_count = COUNT(accept_table),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_accept,
    .options_size = sizeof(struct change_options),
    .takes_topic = true,
};

const struct cli_command cli_rules_decline = {
    .name = "rules decline",
    .usage = "TOPIC RULE [REASON...]",
    .summary = "say no to a suggested rule, for 30 days",
    .options = reason_table,
    .option_count = COUNT(reason_table),
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = run_decline,
    .options_size = sizeof(struct change_options),
    .takes_topic = true,
};

const struct cli_command cli_rules_enable = {
    .name = "rules enable",
    .usage = "TOPIC RULE",
    .summary = "let a rule act again that is disabled, suspended or in shadow",
    .options = plain_table,
    .option_count = COUNT(plain_table),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_enable,
    .options_size = sizeof(struct change_options),
    .takes_topic = true,
};

const struct cli_command cli_rules_disable = {
    .name = "rules disable",
    .usage = "TOPIC RULE [REASON...]",
    .summary = "keep a rule from acting until it is enabled",
    .more = "`moot topic set TOPIC automation off` does it for all rules at once.\n",
    .options = reason_table,
    .option_count = COUNT(reason_table),
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = run_disable,
    .options_size = sizeof(struct change_options),
    .takes_topic = true,
};

const struct cli_command cli_rules_remove = {
    .name = "rules remove",
    .usage = "TOPIC RULE",
    .summary = "take a rule away, with what is known of it",
    .more = "It may be suggested again then. It takes rule/remove, which administrators\n"
            "have; `rules disable` and `rules decline` keep the rule and stop it.\n",
    .options = plain_table,
    .option_count = COUNT(plain_table),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_remove,
    .options_size = sizeof(struct change_options),
    .takes_topic = true,
};
