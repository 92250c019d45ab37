/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot orchestrate: progressive automation in a topic, as long as this runs. What is to
 * be done says orchestrate/; here it is carried out, by a participant like any other.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/decimal.h"
#include "base/list.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/client.h"
#include "cli/guest_token.h"
#include "cli/orchestrate_state.h"
#include "cli/orchestrate_tools.h"
#include "cli/rules_verb.h"
#include "cli/session.h"
#include "orchestrate/orchestrator.h"

enum {
    PATH_BYTES = 4096,
    LINE_BYTES = 8192,
    ARENA_BYTES = 64 << 20,
    BOOK_PATIENCE_MS = 5000,
    CALL_MS = 10 * 60 * 1000, /* so long an answer is waited for */
    SYNC_MS = 1000,
    MILLION = 1'000'000,
};

struct orchestrate_options {
    struct session_options session;
    const char *as, *threshold, *min, *days, *state;
    bool dry;
};

#define OPT(member) CLI_AT(struct orchestrate_options, member)

/* clang-format off */
static const struct cli_option options[] = {
    { "--threshold", "RATE", "the least rate of approval that is proved: 0.80 unless given", OPT(threshold) },
    { "--min",       "N",    "a rule needs so many approvals: 15 unless given",              OPT(min) },
    { "--days",      "N",    "on so many different days: 2 unless given",                    OPT(days) },
    { "--dry",       NULL,   "say what would be done, and do nothing",                       OPT(dry) },
    { "--state",     "DIR",  "where it keeps what it learned; else in the data directory",   OPT(state) },
    { "--as",        "NAME", "the id of the token that is made: orchestrator unless given",  OPT(as) },
    CLI_PLACE(struct orchestrate_options),
};
/* clang-format on */

/* A call that was made with a rule. */
struct use {
    struct link link;
    struct orchestrating *orchestrating;
    char *rule, *proposal;
};

struct orchestrating {
    const struct orchestrate_options *options;
    struct orchestrator *orchestrator;
    struct orchestrate_state state;
    struct orchestrate_desk desk;
    struct session_target target;
    struct session *session;
    struct link uses;
    bool has_failed; /* the journal cannot be written */
};

/* --- telling --- */

/* A line for whoever runs it; foreign text is made plain. */
static void tell(struct orchestrating *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void tell(struct orchestrating *g, const char *format, ...)
{
    CLEANUP(buf_done) struct buf plain;
    char line[LINE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    buf_init(&plain, 8 * (size_t)LINE_BYTES);
    plain_put(&plain, str_of(line), PLAIN_LINE);
    if (g->session)
        session_quiet(g->session);
    fprintf(stderr, "moot: %s\n", buf_cstr(&plain));
}

/* --dry: what would have been said or done. */
static void pretend(struct orchestrating *g, const char *what, struct str words)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, 8 * (size_t)LINE_BYTES);
    buf_putf(&out, "would %s ", what);
    plain_put(&out, words, PLAIN_LINE);
    buf_putc(&out, '\n');
    session_print(g->session, &out);
}

/* --- time --- */

static void set_timer(struct orchestrating *g)
{
    uint64_t due_ms = orchestrator_due_ms(g->orchestrator);
    uint64_t now_ms = clock_wall_ms();
    uint64_t in_ms = due_ms == UINT64_MAX ? 0 : 1;

    if (!g->session || g->session->is_ending)
        return;
    if (in_ms && due_ms > now_ms)
        in_ms = due_ms - now_ms;
    if (g->state.is_unsynced && (in_ms == 0 || in_ms > SYNC_MS))
        in_ms = SYNC_MS;
    session_wake(g->session, in_ms);
}

static void on_wake(struct session *session)
{
    struct orchestrating *g = session->user;

    orchestrator_tick(g->orchestrator, clock_wall_ms());
    orchestrate_state_sync(&g->state);
    set_timer(g);
}

static void on_asked(void *user)
{
    set_timer(user);
}

/* --- the journal, and the book --- */

static void write_line(struct orchestrating *g, struct str line)
{
    if (g->has_failed)
        return;
    g->has_failed = orchestrate_state_write(&g->state, line) != CLI_OK;
    if (g->has_failed && g->session)
        session_end(g->session, CLI_FAILED);
}

static void ask_book(struct orchestrating *g)
{
    CLEANUP(buf_done) struct buf path;
    struct cli_server server = { .url = buf_cstr(&g->target.url),
                                 .token = buf_str(&g->target.token),
                                 .ca = g->options->session.ca };
    struct cli_answer answer = {};
    enum err err;

    buf_init(&path, PATH_BYTES);
    buf_put(&path, S("/topics/"));
    cli_put_segment(&path, str_of(g->options->session.topic));
    buf_put(&path, S("/rules"));
    err = cli_stream(&server,
                     &(struct cli_request){ .method = "GET",
                                            .path = buf_str(&path),
                                            .patience_ms = BOOK_PATIENCE_MS },
                     &answer);
    if (err) {
        orchestrator_no_book(g->orchestrator, clock_wall_ms());
        return;
    }
    if (answer.status >= 300) {
        (void)cli_report(&answer);
        orchestrator_no_book(g->orchestrator, clock_wall_ms());
    } else if (orchestrator_book(g->orchestrator, buf_str(&answer.body),
                                 clock_wall_ms())) {
        tell(g, "the rules of the topic cannot be read");
    }
    buf_done(&answer.body);
}

/* --- uses --- */

static void use_free(struct use *use)
{
    list_remove(&use->link);
    free(use->rule);
    free(use->proposal);
    free(use);
}

static void on_refused(struct orchestrating *g, const struct use *use,
                       const struct moot_outcome *outcome)
{
    CLEANUP(arena_done) struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    tell(g, "rule %s was not used for %s: %s (%s)", use->rule, use->proposal,
         outcome->message, outcome->error);
    orchestrator_done(g->orchestrator,
                      &(struct deed){ .end = DEED_REFUSED,
                                      .rule = str_of(use->rule),
                                      .proposal = str_of(use->proposal),
                                      .error = str_of(outcome->error),
                                      .state = rules_refused_state(outcome, &arena) },
                      clock_wall_ms());
    set_timer(g);
}

static void on_used(struct moot *m [[maybe_unused]], void *user,
                    const struct moot_outcome *outcome)
{
    struct use *use = user;
    struct orchestrating *g = use->orchestrating;

    if (outcome->type == MOOT_REFUSED)
        on_refused(g, use, outcome);
    else if (outcome->type == MOOT_RESULT)
        tell(g, "rule %s was used for %s", use->rule, use->proposal);
    else
        tell(g, "rule %s was used for %s: %s", use->rule, use->proposal,
             *outcome->message ? outcome->message : outcome->error);
    use_free(use);
}

static void fail_use(struct orchestrating *g, struct use *use, enum moot_err err)
{
    bool can_wait = err == MOOT_OFFLINE || err == MOOT_FULL;

    orchestrator_done(g->orchestrator,
                      &(struct deed){ .end = can_wait ? DEED_UNSENT : DEED_OVER,
                                      .rule = str_of(use->rule),
                                      .proposal = str_of(use->proposal) },
                      clock_wall_ms());
    use_free(use);
}

static void fulfil(struct orchestrating *g, const struct act *act)
{
    struct use *use = xcalloc(1, sizeof(*use));
    enum moot_err err;

    use->orchestrating = g;
    use->rule = str_dup(act->rule);
    use->proposal = str_dup(act->proposal);
    list_append(&g->uses, &use->link);
    err = moot_fulfil(g->session->moot, &(struct moot_decision){ .id = use->proposal,
                                                                 .rule = use->rule,
                                                                 .timeout_ms = CALL_MS,
                                                                 .on_done = on_used,
                                                                 .user = use });
    if (err)
        fail_use(g, use, err);
}

/* --- saying --- */

static void on_said(struct moot *m [[maybe_unused]], void *user,
                    const struct moot_outcome *outcome)
{
    if (outcome->type == MOOT_REFUSED)
        tell(user, "%s (%s)", outcome->message, outcome->error);
}

static void say(struct orchestrating *g, const char *kind, struct str text)
{
    CLEANUP(xfreep) char *payload = str_dup(text);

    if (moot_send(g->session->moot,
                  &(struct moot_envelope){
                      .kind = kind, .payload = payload, .on_done = on_said, .user = g },
                  NULL))
        tell(g, "%s: %s", kind, moot_why(g->session->moot));
}

static void chat(struct orchestrating *g, struct str words)
{
    CLEANUP(xfreep) char *text = str_dup(words);

    if (moot_chat(g->session->moot, text))
        tell(g, "chat: %s", moot_why(g->session->moot));
}

static void act_dry(struct orchestrating *g, const struct act *act)
{
    CLEANUP(buf_done) struct buf what;

    buf_init(&what, LINE_BYTES);
    buf_putf(&what, STR_FMT " with rule " STR_FMT, STR_ARG(act->proposal),
             STR_ARG(act->rule));
    if (act->type == ACT_FULFIL)
        pretend(g, "fulfil", buf_str(&what));
    else if (act->type == ACT_SHADOW)
        pretend(g, "fulfil in shadow", buf_str(&what));
    else
        pretend(g, "say:", act->words);
}

static void act(void *user, const struct act *act)
{
    struct orchestrating *g = user;
    bool is_ready = g->session && !g->session->is_ending;

    switch (act->type) {
    case ACT_WRITE: write_line(g, act->text); return;
    case ACT_BOOK: ask_book(g); return;
    case ACT_TELL: tell(g, STR_FMT, STR_ARG(act->words)); return;
    case ACT_SUGGEST:
    case ACT_FULFIL:
    case ACT_SHADOW:
    case ACT_CHAT: break;
    }
    if (!is_ready)
        return;
    if (g->options->dry) {
        act_dry(g, act);
        return;
    }
    switch (act->type) {
    case ACT_SUGGEST: say(g, "rule/suggest", act->text); break;
    case ACT_FULFIL: fulfil(g, act); break;
    case ACT_SHADOW: say(g, "rule/shadow", act->text); break;
    case ACT_CHAT: chat(g, act->words); break;
    case ACT_WRITE:
    case ACT_BOOK:
    case ACT_TELL: break;
    }
}

static bool is_here(void *user, struct str participant)
{
    struct orchestrating *g = user;
    CLEANUP(xfreep) char *id = str_dup(participant);
    struct moot_participant who;

    return g->session && moot_find_participant(g->session->moot, id, &who);
}

/* --- the session --- */

static void on_message(struct moot *m [[maybe_unused]], void *user,
                       const struct moot_message *message)
{
    struct session *session = user;
    struct orchestrating *g = session->user;
    bool is_system = strncmp(message->kind, "system/", strlen("system/")) == 0;

    g->session = session;
    if (session->is_ending)
        return;
    orchestrator_hear(
        g->orchestrator,
        &(struct orchestrator_heard){ .now_ms = clock_wall_ms(),
                                      .is_replay = message->is_replay,
                                      .is_entry = !is_system || message->to_count == 0,
                                      .id = str_of(message->id),
                                      .from = str_of(message->from),
                                      .kind = str_of(message->kind),
                                      .correlation = str_of(message->correlation_id),
                                      .text = { message->text.ptr, message->text.len } });
    set_timer(g);
}

static void on_gap(struct moot *m [[maybe_unused]], void *user, uint64_t missed)
{
    struct session *session = user;

    (void)missed;
    tell(session->user, "envelopes were missed; what was decided in them is not learned");
}

/* All that the profile has, but for what any participant may do. */
static bool has_profile(struct session *session)
{
    static const char *const kinds[] = { "chat", "rule/suggest", "rule/use",
                                         "rule/shadow" };
    const struct orchestrating *g = session->user;

    for (size_t i = 0; i < COUNT(kinds) && !g->options->dry; i++)
        if (!moot_may(session->moot, kinds[i], "{}")) {
            (void)cli_fail("the token of %s does not allow %s; one of the profile "
                           "orchestrator does:\n"
                           "  moot token create orchestrator --profile orchestrator "
                           "--topics %s",
                           moot_id(session->moot), kinds[i], g->options->session.topic);
            return false;
        }
    return true;
}

static void on_begin(struct session *session)
{
    struct orchestrating *g = session->user;

    g->session = session;
    if (!has_profile(session)) {
        session_end(session, CLI_REFUSED);
        return;
    }
    g->desk = (struct orchestrate_desk){ .orchestrator = g->orchestrator,
                                         .is_dry = g->options->dry,
                                         .on_asked = on_asked,
                                         .user = g };
    if (moot_may(session->moot, "mcp/response:tools/call", "{}") &&
        orchestrate_tools_add(session->moot, &g->desk))
        tell(g, "its tools cannot be offered: %s", moot_why(session->moot));
    tell(g, "%s is in %s%s", moot_id(session->moot), g->options->session.topic,
         g->options->dry ? ", and does nothing (--dry)" : "");
    set_timer(g);
}

static void on_signal(struct session *session)
{
    session_end(session, CLI_OK);
}

static void load(void *user, const struct journal_entry *entry)
{
    struct orchestrating *g = user;

    orchestrator_load(g->orchestrator, entry);
}

/* --- the command --- */

static int read_count(const char *option, const char *text, uint64_t *ret)
{
    if (!text || (str_to_u64(str_of(text), MILLION, ret) == OK && *ret > 0))
        return CLI_OK;
    return cli_fail("%s takes a number above 0, not \"%s\"", option, text), CLI_USAGE;
}

static int read_options(const struct orchestrate_options *o, struct learner_options *ret)
{
    int code = read_count("--min", o->min, &ret->min_approvals);
    double rate;

    if (!code)
        code = read_count("--days", o->days, &ret->min_days);
    if (code || !o->threshold)
        return code;
    if (decimal_parse(str_of(o->threshold), &rate) || rate <= 0 || rate >= 1)
        return cli_fail("--threshold takes a rate such as 0.80, not \"%s\"",
                        o->threshold),
               CLI_USAGE;
    ret->min_bound = (uint64_t)(rate * MILLION);
    return CLI_OK;
}

static int take_part(struct orchestrating *g)
{
    CLEANUP(xfreep) char *after = str_dup(orchestrator_after(g->orchestrator));
    struct session_plan plan = {
        .on_begin = on_begin,
        .on_signal = on_signal,
        .on_wake = on_wake,
        .handlers = { .on_message = on_message, .on_gap = on_gap },
        .after = *after ? after : NULL,
        .hears_itself = true,
        .is_service = true,
        .user = g,
    };
    struct guest_order order = { .id = str_of(g->options->as ? g->options->as
                                                             : "orchestrator"),
                                 .profile = S("orchestrator") };
    struct guest_token token;
    int code = guest_token_find(&g->options->session, &order, &g->target, &token);

    if (code == CLI_OK)
        code = session_run_at(&g->options->session, &g->target, &plan);
    g->session = NULL; /* it was the session's own */
    guest_token_done(&token, &g->target);
    return code;
}

static void orchestrating_done(struct orchestrating *g)
{
    struct use *use;

    LIST_FOREACH(use, &g->uses, link)
        use_free(use);
    orchestrator_end(g->orchestrator, clock_wall_ms());
    orchestrate_state_close(&g->state);
    orchestrator_free(g->orchestrator);
}

static int orchestrate(void *fields, char **arguments [[maybe_unused]],
                       size_t count [[maybe_unused]])
{
    const struct orchestrate_options *o = fields;
    struct orchestrator_options terms = { .topic = str_of(o->session.topic),
                                          .learner = learner_options_default() };
    struct orchestrating g = { .options = o };
    CLEANUP(buf_done) struct buf data;
    int code = read_options(o, &terms.learner);

    buf_init(&data, PATH_BYTES / 2);
    if (code)
        return code;
    cli_data_directory(o->session.data, S(""), &data);
    list_init(&g.uses);
    g.orchestrator =
        orchestrator_new(&terms, &(struct orchestrator_ops){ act, is_here, &g });
    g.state.window_ms = terms.learner.window_ms;
    g.state.rejections_ms = terms.learner.rejections_ms;
    code = orchestrate_state_open(
        &g.state, o->state, buf_cstr(&data),
        &(struct journal_reading){ .topic = terms.topic, .on_entry = load, .user = &g });
    g.has_failed = code != CLI_OK; /* nothing is written to it then */
    if (!code)
        code = take_part(&g);
    orchestrating_done(&g);
    return code;
}

const struct cli_command cli_orchestrate = {
    .name = "orchestrate",
    .usage = "TOPIC [OPTIONS]",
    .summary = "learn rules from what people decide, and act on those they accept",
    .more =
        "Hears proposals and what people decide about them. What they approved often\n"
        "and never rejected it suggests as a rule, in the room's chat; a person accepts\n"
        "or declines it (moot rules accept, moot rules decline). With an accepted rule\n"
        "it fulfils what the rule covers, and leaves everything else to people; with a\n"
        "rule in shadow it only says what it would do, and counts how often people did\n"
        "the same. It offers the tools add_rule, list_rules, remove_rule and get_stats.\n"
        "\n"
        "It takes a token of the profile orchestrator. Without --token-file and --server\n"
        "one is made at the local server, and revoked at the end. What it learned is in\n"
        "--state. `moot topic set TOPIC automation off` stops all rules at once.\n\n"
        "  moot orchestrate room --dry\n",
    .options = options,
    .option_count = COUNT(options),
    .run = orchestrate,
    .options_size = sizeof(struct orchestrate_options),
    .takes_topic = true,
    .makes_token = true,
};
