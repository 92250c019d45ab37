/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot approve, reject, withdraw: what becomes of a proposal, or of a call that its owner
 * wants authorized (decision.h).
 */
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/arguments.h"
#include "cli/decision.h"
#include "cli/input.h"
#include "cli/interview.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "json/json.h"

enum { ARENA_BYTES = 256 << 20, CALL_MS = 60'000, MAX_MS = 86'400'000 };

#define OPT(member) CLI_AT(struct decide_options, member)

/* --- about a proposal --- */

static void tell(struct session *session, const char *what, const struct moot_proposal *p)
{
    struct buf out;

    buf_init(&out, DECISION_TEXT);
    summary_put_proposal(&out, p, palette_none());
    session_tell(session, "%s: %s", what, buf_cstr(&out));
    buf_done(&out);
}

/* --- what came of it --- */

/* The call that we make, before anybody can ask about it. */
static void on_message(struct moot *m [[maybe_unused]], void *user,
                       const struct moot_message *message)
{
    struct session *session = user;
    struct decision *decision = session->user;

    if (!message->is_mine || !decision->interview || decision->call_id.len ||
        message->to_count != 1 || !message->correlation_id ||
        strcmp(message->correlation_id, decision->id) != 0)
        return;
    buf_put(&decision->asked, str_of(message->to[0]));
    buf_put(&decision->call_id, str_of(message->id));
    interview_about(decision->interview, buf_cstr(&decision->asked),
                    buf_cstr(&decision->call_id));
}

/* "approved p1", and what is to be said of it. */
static void say(struct session *session, const struct moot_outcome *outcome,
                const char *what, struct str more)
{
    const struct decision *decision = session->user;
    struct buf out;

    if (outcome->type != MOOT_SENT || session->options->json) {
        session_end(session, session_report(session, outcome));
        return;
    }
    buf_init(&out, DECISION_REASON);
    buf_putf(&out, "%s ", what);
    plain_put(&out, str_of(decision->id), PLAIN_LINE);
    buf_put(&out, more);
    buf_putc(&out, '\n');
    session_print(session, &out);
    buf_done(&out);
    session_end(session, CLI_OK);
}

/* "(1 of 2 approvals)", with ours. */
static void on_voted(struct moot *m [[maybe_unused]], void *user,
                     const struct moot_outcome *outcome)
{
    struct session *session = user;
    const struct decision *decision = session->user;
    struct buf more;

    buf_init(&more, 64);
    if (decision->needed > 1)
        buf_putf(&more, " (%u of %u approvals)", decision->given + 1, decision->needed);
    say(session, outcome, "approved", buf_str(&more));
    buf_done(&more);
}

/* "approved a1, and the same call for 1h" */
static void say_authorized(struct session *session, const struct moot_outcome *outcome,
                           const char *what)
{
    const struct decision *decision = session->user;
    struct buf more;

    buf_init(&more, DECISION_REASON);
    if (decision->valid_ms)
        buf_putf(&more, ", and the same call for %s", decision->options->valid);
    say(session, outcome, what, buf_str(&more));
    buf_done(&more);
}

static void on_allowed(struct moot *m [[maybe_unused]], void *user,
                       const struct moot_outcome *outcome)
{
    say_authorized(user, outcome, "approved");
}

static void on_denied(struct moot *m [[maybe_unused]], void *user,
                      const struct moot_outcome *outcome)
{
    say_authorized(user, outcome, "denied");
}

static void on_delegated(struct moot *m [[maybe_unused]], void *user,
                         const struct moot_outcome *outcome)
{
    struct session *session = user;
    const struct decision *decision = session->user;
    struct buf more;

    buf_init(&more, DECISION_REASON);
    buf_put(&more, S(" to "));
    plain_put(&more, str_of(decision->options->delegate), PLAIN_LINE);
    say(session, outcome, "left", buf_str(&more));
    buf_done(&more);
}

static void on_rejected(struct moot *m [[maybe_unused]], void *user,
                        const struct moot_outcome *outcome)
{
    say(user, outcome, "rejected", S(""));
}

static void on_withdrawn(struct moot *m [[maybe_unused]], void *user,
                         const struct moot_outcome *outcome)
{
    say(user, outcome, "withdrawn", S(""));
}

/* --- approve --- */

/* The proposal's params with other arguments. */
static bool edit(struct decision *decision, const struct moot_proposal *p)
{
    struct str params = { p->params.ptr, p->params.len };
    const struct json *root;
    struct json_writer w;
    struct arena arena;
    bool is_object;

    arena_init(&arena, ARENA_BYTES);
    is_object =
        json_parse(params, &arena, &root, NULL) == OK && root->type == JSON_OBJECT;
    json_write_init(&w, &decision->params);
    json_object_open(&w);
    if (is_object)
        JSON_FOREACH(member, root)
            if (!str_eq(member->key, S("arguments"))) {
                json_key(&w, member->key);
                json_raw(&w, member->raw);
            }
    json_key(&w, S("arguments"));
    json_raw(&w, buf_str(&decision->arguments));
    json_object_close(&w);
    arena_done(&arena);
    return is_object;
}

static bool takes_arguments(const struct moot_proposal *p)
{
    return strcmp(p->method, "tools/call") == 0 || strcmp(p->method, "prompts/get") == 0;
}

/* A call to somebody who is not here would use the proposal up. */
static bool are_here(struct session *session, const struct moot_proposal *p,
                     const char *to)
{
    if (p->owner)
        return session_has(session, p->owner);
    for (size_t i = 0; i < p->to_count; i++)
        if (strcmp(p->to[i], moot_id(session->moot)) != 0 &&
            !session_has(session, p->to[i]))
            return false;
    return p->to_count || session_has(session, to);
}

/* Of an authorization and of a proposal alike. */
static int check_decider(struct session *session, const struct moot_proposal *p)
{
    struct buf asked;

    if (p->is_mine)
        return cli_fail("it is your own; somebody else decides"), CLI_REFUSED;
    if (!p->asked || strcmp(p->asked, moot_id(session->moot)) == 0)
        return CLI_OK;
    buf_init(&asked, DECISION_REASON);
    plain_put(&asked, str_of(p->asked), PLAIN_LINE);
    (void)cli_fail("%s is asked to decide; nobody else's answer counts",
                   buf_cstr(&asked));
    buf_done(&asked);
    return CLI_REFUSED;
}

static int check_options(const struct decision *decision, const struct moot_proposal *p)
{
    if (decision->options->edit_args && p->owner)
        return cli_fail("a call that is to be authorized cannot be edited"), CLI_USAGE;
    if (decision->options->edit_args && !takes_arguments(p))
        return cli_fail("--edit-args is for calls of tools"), CLI_USAGE;
    if (decision->options->edit_args && p->needed > 1)
        return cli_fail("where several approve nobody edits; make a proposal of it"),
               CLI_REFUSED;
    if (!p->owner && (decision->valid_ms || decision->options->delegate))
        return cli_fail("--valid and --delegate are for authorizations"), CLI_USAGE;
    return CLI_OK;
}

static int check_approval(struct session *session, const struct moot_proposal *p)
{
    const struct decision *decision = session->user;
    const char *to = decision->options->to;
    int code;

    if (p->params.len == 0)
        return cli_fail(p->owner ? "its arguments are too long to be listed, and nothing "
                                   "is approved unseen; who is in the topic when it is "
                                   "announced can approve it (moot join)"
                                 : "its arguments are too long for the welcome, and "
                                   "nothing is approved unseen; who is in the topic when "
                                   "it is proposed can approve it (moot join)");
    if (to && p->to_count && strcmp(to, p->to[0]) != 0)
        return cli_fail("the proposal itself says who is to be asked; --to is another"),
               CLI_USAGE;
    if (!to && !p->to_count && !p->owner)
        return cli_fail("the proposal does not say who is to be asked: --to WHO"),
               CLI_USAGE;
    code = check_options(decision, p);
    if (code)
        return code;
    return are_here(session, p, to) ? CLI_OK : CLI_FAILED;
}

/* --- one of several --- */

static bool has_approved(const struct session *session, const struct moot_proposal *p)
{
    for (size_t i = 0; i < p->approver_count; i++)
        if (strcmp(p->approvers[i], moot_id(session->moot)) == 0)
            return true;
    return false;
}

/* With ours, if it counts: whoever makes the call approves of it. */
static bool is_enough(struct session *session, const struct moot_proposal *p)
{
    bool counts =
        !has_approved(session, p) && moot_may(session->moot, "mcp/approve", "{}");

    return p->needed < 2 || p->given + counts >= p->needed;
}

static int check_vote(struct session *session, const struct moot_proposal *p)
{
    if (has_approved(session, p) && p->state == MOOT_OPEN)
        return cli_fail("you have approved it already: %u of %u approvals", p->given,
                        p->needed),
               CLI_REFUSED;
    return CLI_OK;
}

static void vote(struct session *session, const struct moot_proposal *p)
{
    struct decision *decision = session->user;
    struct moot_decision d = { .id = decision->id,
                               .reason = buf_cstr(&decision->reason),
                               .on_done = on_voted,
                               .user = session };
    enum moot_err err;

    decision->has_voted = true;
    decision->needed = p->needed;
    decision->given = p->given;
    err = moot_approve(session->moot, &d);
    if (err)
        session_end(session, session_fail(session, err));
}

/* --- the call --- */

/* Since we looked, or because nobody said how many it needs: it came too early. */
static bool vote_instead(struct session *session, const struct moot_outcome *outcome)
{
    const struct decision *decision = session->user;
    struct moot_proposal p;

    if (outcome->type != MOOT_REFUSED || decision->has_voted ||
        decision->options->edit_args || strcmp(outcome->error, "proposal_state") != 0 ||
        !moot_find_proposal(session->moot, decision->id, &p) || p.state != MOOT_OPEN ||
        is_enough(session, &p) || has_approved(session, &p))
        return false;
    vote(session, &p);
    return true;
}

static void on_result(struct moot *m [[maybe_unused]], void *user,
                      const struct moot_outcome *outcome)
{
    struct session *session = user;
    const struct decision *decision = session->user;

    interview_end(decision->interview);
    if (!vote_instead(session, outcome))
        session_end(session, session_report(session, outcome));
}

static const struct cli_list no_roots = {};

static void fulfil(struct session *session, const struct moot_proposal *p)
{
    struct decision *decision = session->user;
    struct moot_decision d = { .id = decision->id,
                               .to = decision->options->to,
                               .timeout_ms = decision->timeout_ms,
                               .on_done = on_result,
                               .user = session };
    struct moot_proposal shown;
    enum moot_err err;

    if (decision->options->edit_args && !edit(decision, p)) {
        session_end(session, cli_fail("its params are no object"));
        return;
    }
    shown = *p;
    if (decision->options->edit_args) {
        d.params = buf_cstr(&decision->params);
        shown.params = (struct moot_str){ decision->params.ptr, decision->params.len };
    }
    tell(session, "making the call", &shown);
    decision->interview = interview_new(session, &no_roots);
    err = moot_fulfil(session->moot, &d);
    if (err)
        session_end(session, session_fail(session, err));
    else
        decision->has_called = true;
}

/* --- the word of its owner --- */

static void allow(struct session *session, const struct moot_proposal *p)
{
    const struct decision *decision = session->user;
    bool is_left = decision->options->delegate;
    enum moot_err err;

    tell(session, is_left ? "leaving it to somebody else" : "approving", p);
    err = decision_authorize(session, is_left ? "delegate" : "approve",
                             is_left ? on_delegated : on_allowed);
    if (err)
        session_end(session, session_fail(session, err));
}

/* --- asking first --- */

static void go_on(struct session *session, const struct moot_proposal *p)
{
    const struct decision *decision = session->user;

    switch (decision->way) {
    case WAY_RUN: fulfil(session, p); break;
    case WAY_VOTE: vote(session, p); break;
    case WAY_AUTHORIZE: allow(session, p); break;
    }
}

/* Whoever sits at a terminal sees what will run before it does: since the list was read,
 * the id may have come to stand for something else. A script has decided already. */
static bool asks(const struct session *session)
{
    const struct decision *decision = session->user;

    return session->talks && !decision->options->yes && isatty(STDIN_FILENO);
}

static void put_question(struct buf *out, const struct decision *decision,
                         const struct moot_proposal *p)
{
    struct str params = { p->params.ptr, p->params.len };
    const char *one = p->owner ? p->owner : decision->options->to;
    const char *const *to = p->to_count ? p->to : &one;

    plain_put(out, str_of(p->proposer), PLAIN_LINE);
    buf_put(out, p->owner ? S(" calls ") : S(" proposes "));
    plain_put(out, str_of(p->method), PLAIN_LINE);
    if (p->name) {
        buf_putc(out, ' ');
        plain_put(out, str_of(p->name), PLAIN_LINE);
    }
    for (size_t i = 0; i < p->to_count || i == 0; i++) {
        buf_put(out, i ? S(", ") : S(" at "));
        plain_put(out, str_of(to[i]), PLAIN_LINE);
    }
    buf_put(out, decision->options->edit_args ? S(", edited by you:\n  ") : S(":\n  "));
    plain_put(out, decision->options->edit_args ? buf_str(&decision->arguments) : params,
              PLAIN_JSON);
    if (p->reason) {
        buf_put(out, S("\nbecause "));
        plain_put(out, str_of(p->reason), PLAIN_LINE);
    }
}

static void put_choice(struct buf *out, const struct decision *decision,
                       const struct moot_proposal *p)
{
    switch (decision->way) {
    case WAY_RUN: buf_put(out, S("\nRun it? [y/N] ")); break;
    case WAY_VOTE:
        buf_putf(out, "\nApprove it? That makes %u of %u approvals. [y/N] ", p->given + 1,
                 p->needed);
        break;
    case WAY_AUTHORIZE:
        buf_put(out, S("\nAllow it"));
        if (decision->valid_ms)
            buf_putf(out, ", and the same call for %s", decision->options->valid);
        buf_put(out, S("? [y/N] "));
        break;
    }
}

static void ask(struct session *session, const struct moot_proposal *p)
{
    struct decision *decision = session->user;

    struct buf choice;

    put_question(&decision->shown, decision, p);
    buf_init(&choice, DECISION_REASON);
    put_choice(&choice, decision, p);
    (void)tcflush(STDIN_FILENO, TCIFLUSH); /* what was typed before is no answer */
    fputs(buf_cstr(&decision->shown), stderr);
    fputs(buf_cstr(&choice), stderr);
    buf_done(&choice);
    session->reads_input = true;
}

static bool is_what_was_shown(const struct decision *decision,
                              const struct moot_proposal *p)
{
    struct buf now;
    bool is_same;

    buf_init(&now, DECISION_TEXT);
    put_question(&now, decision, p);
    is_same = str_eq(buf_str(&now), buf_str(&decision->shown));
    buf_done(&now);
    return is_same;
}

/* Nothing but that: a command that was pasted may begin with a y as well. */
static bool is_yes(struct str line)
{
    struct str word = str_trim(str_slice(line, 0, str_find(line, '\n', 0)));

    return str_ieq(word, S("y")) || str_ieq(word, S("yes"));
}

static void on_answer(struct session *session)
{
    const struct decision *decision = session->user;
    struct moot_proposal p;
    char line[64];
    ssize_t got = read(STDIN_FILENO, line, sizeof(line));

    session->reads_input = false;
    if (got < 1 || !is_yes((struct str){ line, (size_t)got }))
        session_end(session, (cli_fail(decision->way == WAY_RUN ? "it was not run"
                                                                : "it was not approved"),
                              CLI_REFUSED));
    else if (!decision_find(session, &p))
        return;
    else if (!is_what_was_shown(session->user, &p))
        session_end(session,
                    (cli_fail("the id stands for another proposal now"), CLI_REFUSED));
    else
        go_on(session, &p);
}

static void on_input(struct session *session)
{
    const struct decision *decision = session->user;

    if (decision->interview)
        interview_input(decision->interview);
    else
        on_answer(session);
}

static enum decision_way way_of(struct session *session, const struct moot_proposal *p)
{
    const struct decision *decision = session->user;

    if (p->owner)
        return WAY_AUTHORIZE;
    return decision->options->vote || !is_enough(session, p) ? WAY_VOTE : WAY_RUN;
}

static int check_way(struct session *session, const struct moot_proposal *p)
{
    const struct decision *decision = session->user;
    const char *delegate = decision->options->delegate;
    int code = check_decider(session, p);

    if (code == CLI_OK && decision->way == WAY_VOTE)
        code = check_vote(session, p);
    if (code == CLI_OK && !decision->options->vote)
        code = check_approval(session, p);
    if (code == CLI_OK && delegate && !session_has(session, delegate))
        code = CLI_FAILED;
    return code;
}

static void approve(struct session *session, const struct moot_proposal *p)
{
    struct decision *decision = session->user;
    int code;

    decision->way = way_of(session, p);
    code = check_way(session, p);
    if (code)
        session_end(session, code);
    else if (!decision->options->vote && !decision->options->delegate && asks(session))
        ask(session, p);
    else
        go_on(session, p);
}

/* What was called cannot be taken back. */
static void on_signal(struct session *session)
{
    const struct decision *decision = session->user;

    if (decision->has_called)
        (void)cli_fail("the call is made; what comes of it is not waited for");
    session_end(session, CLI_FAILED);
}

/* --- reject, withdraw --- */

static void reject(struct session *session, const struct moot_proposal *p)
{
    struct decision *decision = session->user;
    struct moot_decision d = { .id = decision->id,
                               .reason = buf_cstr(&decision->reason),
                               .on_done = on_rejected,
                               .user = session };
    enum moot_err err;
    int code = p->owner ? check_decider(session, p) : CLI_OK;

    if (code == CLI_OK && !p->owner && decision->valid_ms)
        code = (cli_fail("--valid is for authorizations"), CLI_USAGE);
    if (code) {
        session_end(session, code);
        return;
    }
    tell(session, p->owner ? "denying" : "rejecting", p);
    err = p->owner ? decision_authorize(session, "deny", on_denied)
                   : moot_reject(session->moot, &d);
    if (err)
        session_end(session, session_fail(session, err));
}

static void withdraw(struct session *session, const struct moot_proposal *p)
{
    const struct decision *decision = session->user;
    struct moot_envelope envelope = { .kind = "mcp/withdraw",
                                      .correlation_id = decision->id,
                                      .on_done = on_withdrawn,
                                      .user = session };
    enum moot_err err;

    if (!p->is_mine) {
        session_end(session,
                    (cli_fail("it is not yours; `moot reject` says no"), CLI_REFUSED));
        return;
    }
    err = moot_send(session->moot, &envelope, NULL);
    if (err)
        session_end(session, session_fail(session, err));
}

/* --- the words --- */

static void put_words(struct buf *out, const char *first, char **words, size_t count)
{
    if (first)
        buf_put(out, str_of(first));
    for (size_t i = 0; i < count; i++) {
        buf_put(out, out->len ? S(" ") : S(""));
        buf_put(out, str_of(words[i]));
    }
}

static int read_decision(struct decision *decision)
{
    const struct decide_options *o = decision->options;
    uint64_t ms = CALL_MS;
    struct str object;
    int code = cli_read_timeout(o->timeout, MAX_MS, &ms);

    if (code)
        return code;
    decision->timeout_ms = (uint32_t)ms;
    if (o->valid && (!cli_read_duration(str_of(o->valid), &decision->valid_ms) ||
                     !decision->valid_ms || decision->valid_ms > MAX_MS))
        return cli_fail("--valid takes a time up to a day: 30m, 1h, 24h"), CLI_USAGE;
    if (o->valid && o->delegate)
        return cli_fail("--delegate decides nothing: not with --valid"), CLI_USAGE;
    if (decision->reason.is_full)
        return cli_fail("the reason is too long"), CLI_USAGE;
    if (o->vote && (o->edit_args || o->to))
        return cli_fail("--only-approve calls nothing: neither --edit-args nor --to"),
               CLI_USAGE;
    if (o->edit_args)
        code = cli_read_value(o->edit_args, &decision->arguments);
    if (code == CLI_OK && o->edit_args)
        code = cli_check_object("--edit-args", buf_str(&decision->arguments), &object);
    return code;
}

static int decide(const struct decide_options *o, decide_fn act, char **arguments,
                  size_t count)
{
    struct decision decision = {
        .options = o,
        .id = arguments[0],
        .act = act,
        .asks_owners = act != withdraw,
        .may_object = act == reject,
    };
    struct session_plan plan = { .on_begin = decision_begin,
                                 .on_input = on_input,
                                 .on_signal = on_signal,
                                 .handlers.on_message = on_message,
                                 .hears_itself = true,
                                 .user = &decision };
    int code;

    buf_init(&decision.reason, DECISION_REASON);
    buf_init(&decision.arguments, DECISION_TEXT);
    buf_init(&decision.params, DECISION_TEXT);
    buf_init(&decision.shown, DECISION_TEXT);
    buf_init(&decision.asked, DECISION_REASON);
    buf_init(&decision.call_id, DECISION_REASON);
    put_words(&decision.reason, o->reason, arguments + 1, count - 1);
    code = read_decision(&decision);
    if (code == CLI_OK)
        code = session_run(&o->session, &plan);
    buf_done(&decision.reason);
    buf_done(&decision.arguments);
    buf_done(&decision.params);
    buf_done(&decision.shown);
    interview_free(decision.interview);
    docket_done(&decision.docket);
    buf_done(&decision.asked);
    buf_done(&decision.call_id);
    return code;
}

static int run_approve(void *fields, char **arguments, size_t count)
{
    return decide(fields, approve, arguments, count);
}

static int run_reject(void *fields, char **arguments, size_t count)
{
    return decide(fields, reject, arguments, count);
}

static int run_withdraw(void *fields, char **arguments, size_t count)
{
    return decide(fields, withdraw, arguments, count);
}

/* clang-format off */
static const struct cli_option approve_options[] = {
    { "--edit-args",    "JSON", "other arguments than proposed: an object, @FILE or -",  OPT(edit_args) },
    { "--to",           "PARTICIPANT",   "whose tool, where the id or the proposal does not say", OPT(to) },
    { "--timeout",      "TIME", "how long to wait: 30 (seconds), 5m, 2h; default 1m",    OPT(timeout) },
    { "--only-approve", NULL,   "only approve it (mcp/approve), never run it", OPT(vote) },
    { "--vote",         NULL,   "the same",                                              OPT(vote) },
    { "--valid",        "TIME", "of an authorization: also for the same call, so long",  OPT(valid) },
    { "--delegate",     "PARTICIPANT",   "of an authorization: let somebody else decide",         OPT(delegate) },
    { "--reason",       "TEXT", "of an authorization or an approval",                    OPT(reason) },
    { "--yes",          NULL,   "do it without asking, also at a terminal",              OPT(yes) },
    CLI_SESSION(struct decide_options),
};

static const struct cli_option reject_options[] = {
    { "--to",           "PARTICIPANT",   "whose tool, where several have such an id",             OPT(to) },
    { "--valid",        "TIME", "of an authorization: also for the same call, so long",  OPT(valid) },
    CLI_SESSION(struct decide_options),
};
/* clang-format on */

static const struct cli_option withdraw_options[] = { CLI_SESSION(
    struct decide_options) };

const struct cli_command cli_approve = {
    .name = "approve",
    .usage = "TOPIC PROPOSAL [OPTIONS]",
    .summary = "make the call that a proposal proposes; prints its result",
    .more = "At a terminal it shows what will run and asks; elsewhere it runs. What a\n"
            "server asks back about the call is asked here too, as by moot call.\n\n"
            "Where several approvals are needed it is one of them, and the call is made\n"
            "by the approval that makes it enough. Of a call that a server wants\n"
            "authorized first (moot proposals) it tells the server that it may run.\n\n"
            "  moot approve lobby 8c0d-17 --edit-args '{\"path\":\"/tmp/older\"}'\n"
            "  moot approve lobby auth-7 --valid 1h\n",
    .options = approve_options,
    .option_count = COUNT(approve_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_approve,
    .options_size = sizeof(struct decide_options),
    .takes_topic = true,
};

const struct cli_command cli_reject = {
    .name = "reject",
    .usage = "TOPIC PROPOSAL [REASON...]",
    .summary = "say no to a proposal, or to a call that is to be authorized",
    .more =
        "A rule that would let the proposal through is suspended, and so is one that\n"
        "has let it through already.\n",
    .options = reject_options,
    .option_count = COUNT(reject_options),
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = run_reject,
    .options_size = sizeof(struct decide_options),
    .takes_topic = true,
};

const struct cli_command cli_withdraw = {
    .name = "withdraw",
    .usage = "TOPIC PROPOSAL",
    .summary = "take back a proposal of yours",
    .options = withdraw_options,
    .option_count = COUNT(withdraw_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_withdraw,
    .options_size = sizeof(struct decide_options),
    .takes_topic = true,
};
