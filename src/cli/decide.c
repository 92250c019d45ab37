/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot approve, reject, withdraw: what becomes of a proposal. It is named by its whole
 * id, so that none is decided that was not meant.
 */
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/interview.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "json/json.h"

enum { TEXT_BYTES = 64 << 20, ARENA_BYTES = 256 << 20, REASON_BYTES = 65536 };
enum { CALL_MS = 60'000, MAX_MS = 86'400'000 };

struct decide_options {
    struct session_options session;
    const char *edit_args, *to, *reason, *timeout;
    bool vote, yes;
};

#define OPT(member) CLI_AT(struct decide_options, member)

struct decision {
    const struct decide_options *options;
    const char *id;
    uint32_t timeout_ms;
    struct buf reason;
    struct buf arguments; /* --edit-args, read */
    struct buf params;    /* with those */
    struct buf shown;     /* what somebody at a terminal was asked about */
    bool has_called;
    struct interview *interview; /* about the call, when it is made */
    struct buf asked, call_id;   /* of it */
};

/* --- about a proposal --- */

static const char *state_name(enum moot_proposal_state state)
{
    switch (state) {
    case MOOT_OPEN: return "open";
    case MOOT_FULFILLED: return "fulfilled";
    case MOOT_REJECTED: return "rejected";
    case MOOT_WITHDRAWN: return "withdrawn";
    case MOOT_EXPIRED: return "expired";
    }
    return "";
}

/* The one that is meant, while it is open; else says why not and ends. */
static bool find(struct session *session, struct moot_proposal *ret)
{
    const struct decision *decision = session->user;
    struct buf id;
    bool is_open = false;

    buf_init(&id, REASON_BYTES);
    plain_put(&id, str_of(decision->id), PLAIN_LINE);
    if (!moot_find_proposal(session->moot, decision->id, ret))
        session_end(session, cli_fail("there is no open proposal \"%s\" in %s; "
                                      "`moot proposals` lists them",
                                      buf_cstr(&id), session->options->topic));
    else if (ret->state != MOOT_OPEN)
        session_end(session, (cli_fail("\"%s\" is %s already", buf_cstr(&id),
                                       state_name(ret->state)),
                              CLI_REFUSED));
    else
        is_open = true;
    buf_done(&id);
    return is_open;
}

static void tell(struct session *session, const char *what, const struct moot_proposal *p)
{
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    summary_put_proposal(&out, p, palette_none());
    session_tell(session, "%s: %s", what, buf_cstr(&out));
    buf_done(&out);
}

/* --- what came of it --- */

static void on_result(struct moot *m [[maybe_unused]], void *user,
                      const struct moot_outcome *outcome)
{
    struct session *session = user;
    const struct decision *decision = session->user;

    interview_end(decision->interview);
    session_end(session, session_report(session, outcome));
}

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

static void say(struct session *session, const struct moot_outcome *outcome,
                const char *what)
{
    const struct decision *decision = session->user;
    struct buf out;

    if (outcome->type != MOOT_SENT || session->options->json) {
        session_end(session, session_report(session, outcome));
        return;
    }
    buf_init(&out, REASON_BYTES);
    buf_putf(&out, "%s ", what);
    plain_put(&out, str_of(decision->id), PLAIN_LINE);
    buf_putc(&out, '\n');
    session_print(session, &out);
    buf_done(&out);
    session_end(session, CLI_OK);
}

static void on_approved(struct moot *m [[maybe_unused]], void *user,
                        const struct moot_outcome *outcome)
{
    say(user, outcome, "approved");
}

static void on_rejected(struct moot *m [[maybe_unused]], void *user,
                        const struct moot_outcome *outcome)
{
    say(user, outcome, "rejected");
}

static void on_withdrawn(struct moot *m [[maybe_unused]], void *user,
                         const struct moot_outcome *outcome)
{
    say(user, outcome, "withdrawn");
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

static int check_approval(struct session *session, const struct moot_proposal *p)
{
    const struct decision *decision = session->user;
    const char *to = decision->options->to;

    if (p->is_mine)
        return cli_fail("it is your own; somebody else decides"), CLI_REFUSED;
    if (p->params.len == 0)
        return cli_fail("its arguments are too long for the welcome, and nothing is "
                        "approved unseen; who is in the topic when it is proposed can "
                        "approve it (moot join)");
    if (to && p->to_count && strcmp(to, p->to[0]) != 0)
        return cli_fail("the proposal itself says who is to be asked; --to is another"),
               CLI_USAGE;
    if (!to && !p->to_count && !p->owner)
        return cli_fail("the proposal does not say who is to be asked: --to WHO"),
               CLI_USAGE;
    if (decision->options->edit_args && !takes_arguments(p))
        return cli_fail("--edit-args is for calls of tools"), CLI_USAGE;
    return are_here(session, p, to) ? CLI_OK : CLI_FAILED;
}

static const struct cli_list no_roots = {};

static void fulfil(struct session *session, const struct moot_proposal *p)
{
    struct decision *decision = session->user;
    struct moot_decision d = { .id = decision->id,
                               .to = decision->options->to,
                               .reason = buf_cstr(&decision->reason),
                               .timeout_ms = decision->timeout_ms,
                               .on_done = p->owner ? on_approved : on_result,
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
    if (!p->owner)
        decision->interview = interview_new(session, &no_roots);
    err = moot_fulfil(session->moot, &d);
    if (err)
        session_end(session, session_fail(session, err));
    else
        decision->has_called = !p->owner;
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
    buf_put(out, S("\nRun it? [y/N] "));
}

static void ask(struct session *session, const struct moot_proposal *p)
{
    struct decision *decision = session->user;

    put_question(&decision->shown, decision, p);
    (void)tcflush(STDIN_FILENO, TCIFLUSH); /* what was typed before is no answer */
    fputs(buf_cstr(&decision->shown), stderr);
    session->reads_input = true;
}

static bool is_what_was_shown(const struct decision *decision,
                              const struct moot_proposal *p)
{
    struct buf now;
    bool is_same;

    buf_init(&now, TEXT_BYTES);
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
    struct moot_proposal p;
    char line[64];
    ssize_t got = read(STDIN_FILENO, line, sizeof(line));

    session->reads_input = false;
    if (got < 1 || !is_yes((struct str){ line, (size_t)got }))
        session_end(session, (cli_fail("it was not run"), CLI_REFUSED));
    else if (!find(session, &p))
        return;
    else if (!is_what_was_shown(session->user, &p))
        session_end(session,
                    (cli_fail("the id stands for another proposal now"), CLI_REFUSED));
    else
        fulfil(session, &p);
}

static void on_input(struct session *session)
{
    const struct decision *decision = session->user;

    if (decision->interview)
        interview_input(decision->interview);
    else
        on_answer(session);
}

static void begin_approve(struct session *session)
{
    struct decision *decision = session->user;
    struct moot_decision d = { .id = decision->id,
                               .reason = buf_cstr(&decision->reason),
                               .on_done = on_approved,
                               .user = session };
    struct moot_proposal p;
    enum moot_err err;
    int code;

    if (!find(session, &p))
        return;
    if (!decision->options->vote) {
        code = check_approval(session, &p);
        if (code)
            session_end(session, code);
        else if (asks(session))
            ask(session, &p);
        else
            fulfil(session, &p);
        return;
    }
    err = moot_approve(session->moot, &d);
    if (err)
        session_end(session, session_fail(session, err));
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

static void begin_reject(struct session *session)
{
    struct decision *decision = session->user;
    struct moot_decision d = { .id = decision->id,
                               .reason = buf_cstr(&decision->reason),
                               .on_done = on_rejected,
                               .user = session };
    struct moot_proposal p;
    enum moot_err err;

    if (!find(session, &p))
        return;
    tell(session, "rejecting", &p);
    err = moot_reject(session->moot, &d);
    if (err)
        session_end(session, session_fail(session, err));
}

static void begin_withdraw(struct session *session)
{
    const struct decision *decision = session->user;
    struct moot_envelope envelope = { .kind = "mcp/withdraw",
                                      .correlation_id = decision->id,
                                      .on_done = on_withdrawn,
                                      .user = session };
    struct moot_proposal p;
    enum moot_err err;

    if (!find(session, &p))
        return;
    if (!p.is_mine) {
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
    if (decision->reason.is_full)
        return cli_fail("the reason is too long"), CLI_USAGE;
    if (o->vote && (o->edit_args || o->to))
        return cli_fail("--vote calls nothing: neither --edit-args nor --to"), CLI_USAGE;
    if (o->edit_args)
        code = cli_read_value(o->edit_args, &decision->arguments);
    if (code == CLI_OK && o->edit_args)
        code = cli_check_object("--edit-args", buf_str(&decision->arguments), &object);
    return code;
}

static int decide(const struct decide_options *o, void (*on_begin)(struct session *),
                  char **arguments, size_t count)
{
    struct decision decision = { .options = o, .id = arguments[0] };
    struct session_plan plan = { .on_begin = on_begin,
                                 .on_input = on_input,
                                 .on_signal = on_signal,
                                 .handlers.on_message = on_message,
                                 .hears_itself = true,
                                 .user = &decision };
    int code;

    buf_init(&decision.reason, REASON_BYTES);
    buf_init(&decision.arguments, TEXT_BYTES);
    buf_init(&decision.params, TEXT_BYTES);
    buf_init(&decision.shown, TEXT_BYTES);
    buf_init(&decision.asked, REASON_BYTES);
    buf_init(&decision.call_id, REASON_BYTES);
    put_words(&decision.reason, o->reason, arguments + 1, count - 1);
    code = read_decision(&decision);
    if (code == CLI_OK)
        code = session_run(&o->session, &plan);
    buf_done(&decision.reason);
    buf_done(&decision.arguments);
    buf_done(&decision.params);
    buf_done(&decision.shown);
    interview_free(decision.interview);
    buf_done(&decision.asked);
    buf_done(&decision.call_id);
    return code;
}

static int approve(void *fields, char **arguments, size_t count)
{
    return decide(fields, begin_approve, arguments, count);
}

static int reject(void *fields, char **arguments, size_t count)
{
    return decide(fields, begin_reject, arguments, count);
}

static int withdraw(void *fields, char **arguments, size_t count)
{
    return decide(fields, begin_withdraw, arguments, count);
}

/* clang-format off */
static const struct cli_option approve_options[] = {
    { "--edit-args", "JSON", "other arguments than proposed: an object, @FILE or -",  OPT(edit_args) },
    { "--to",        "PARTICIPANT",   "whose tool, where the proposal does not say",           OPT(to) },
    { "--timeout",   "TIME", "how long to wait: 30 (seconds), 5m, 2h; default 1m",    OPT(timeout) },
    { "--vote",      NULL,   "only say that you are for it (mcp/approve)",            OPT(vote) },
    { "--reason",    "TEXT", "of an authorization or a vote",                         OPT(reason) },
    { "--yes",       NULL,   "run it without asking, also at a terminal",             OPT(yes) },
    CLI_SESSION(struct decide_options),
};
/* clang-format on */

static const struct cli_option other_options[] = { CLI_SESSION(struct decide_options) };

const struct cli_command cli_approve = {
    .name = "approve",
    .usage = "TOPIC PROPOSAL [OPTIONS]",
    .summary = "make the call that a proposal proposes; prints its result",
    .more = "At a terminal it shows what will run and asks; elsewhere it runs. What a\n"
            "server asks back about the call is asked here too, as by moot call.\n\n"
            "  moot approve lobby 8c0d-17 --edit-args '{\"path\":\"/tmp/older\"}'\n",
    .options = approve_options,
    .option_count = COUNT(approve_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = approve,
    .options_size = sizeof(struct decide_options),
    .takes_topic = true,
};

const struct cli_command cli_reject = {
    .name = "reject",
    .usage = "TOPIC PROPOSAL [REASON...]",
    .summary = "say no to a proposal",
    .options = other_options,
    .option_count = COUNT(other_options),
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = reject,
    .options_size = sizeof(struct decide_options),
    .takes_topic = true,
};

const struct cli_command cli_withdraw = {
    .name = "withdraw",
    .usage = "TOPIC PROPOSAL",
    .summary = "take back a proposal of yours",
    .options = other_options,
    .option_count = COUNT(other_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = withdraw,
    .options_size = sizeof(struct decide_options),
    .takes_topic = true,
};
