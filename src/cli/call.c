/* SPDX-License-Identifier: Apache-2.0 */
/* moot call, moot propose: a tool is called, or somebody is asked to call it. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/interview.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/toolbox.h"

enum { ARGUMENT_BYTES = 16 << 20, TEXT_BYTES = 65536, FIND_MS = 2000 };
enum { MAX_MS = 86'400'000, BAR = 20 };

struct call_options {
    struct session_options session;
    struct cli_list args, roots;
    const char *json_args, *timeout, *reason;
    bool propose, direct, no_wait;
};

#define OPT(member) CLI_AT(struct call_options, member)

/* clang-format off */
#define ARGUMENTS                                                                                          \
    { "--arg",       "NAME=VALUE", "an argument: JSON, or text if it is none; may be given again", OPT(args) },      \
    { "--json-args", "JSON",       "all arguments as an object, @FILE or - for standard input",    OPT(json_args) }, \
    { "--reason",    "TEXT",       "why, for those who decide on a proposal",                      OPT(reason) }
/* clang-format on */

struct call {
    const struct call_options *options;
    const char *participant; /* NULL: whoever offers the tool; of a proposal: anybody */
    const char *tool;
    enum moot_how how;
    uint32_t timeout_ms;
    struct buf arguments;
    struct toolbox box;
    struct interview *interview;
    struct buf asked; /* the name of whoever is called */
    char id[MOOT_ID];
};

/* --- the call --- */

static void on_done(struct moot *m [[maybe_unused]], void *user,
                    const struct moot_outcome *outcome)
{
    struct session *session = user;
    const struct call *call = session->user;

    interview_end(call->interview);
    session_end(session, session_report(session, outcome));
}

/* "[####......]  40 %  2 of 5  reading" */
static void show_progress(struct session *session, const struct moot_progress *p)
{
    struct buf line;

    buf_init(&line, TEXT_BYTES);
    if (p->total > 0) {
        progress_put_bar(&line, p->done / p->total, BAR);
        buf_putf(&line, "  %g of %g", p->done, p->total);
    } else {
        buf_putf(&line, "%g", p->done);
    }
    buf_put(&line, S("  "));
    buf_put(&line, str_of(p->message));
    session_status(session, buf_str(&line));
    buf_done(&line);
}

/* Whoever waits at a terminal learns what for. */
static void tell_progress(struct session *session, const struct moot_progress *p)
{
    struct buf by;

    buf_init(&by, TEXT_BYTES);
    plain_put(&by, str_of(p->by), PLAIN_LINE);
    switch (p->type) {
    case MOOT_PROPOSED: break; /* told when the room has heard it */
    case MOOT_TAKEN_UP: session_tell(session, "%s makes the call", buf_cstr(&by)); break;
    case MOOT_AUTHORIZING:
        session_tell(session, "%s asks whether it may", buf_cstr(&by));
        break;
    case MOOT_UNDERWAY: show_progress(session, p); break;
    case MOOT_APPROVED:
        session_tell(session, "%s approves: %g of %g", buf_cstr(&by), p->done, p->total);
        break;
    }
    buf_done(&by);
}

static void print_id(struct session *session, const char *id)
{
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    buf_putf(&out,
             session->options->json ? "{\"outcome\":\"proposed\",\"id\":\"%s\"}\n"
                                    : "%s\n",
             id);
    session_print(session, &out);
    buf_done(&out);
}

static void on_progress(struct moot *m [[maybe_unused]], void *user,
                        const struct moot_progress *progress)
{
    struct session *session = user;
    const struct call *call = session->user;

    if (!call->options->no_wait && !interview_is_open(call->interview))
        tell_progress(session, progress);
}

/* The room has heard the proposal, ourselves included: now somebody can decide. */
static void on_message(struct moot *m [[maybe_unused]], void *user,
                       const struct moot_message *message)
{
    struct session *session = user;
    const struct call *call = session->user;

    if (session->is_ending || !message->is_mine || strcmp(message->id, call->id) != 0)
        return;
    if (call->options->no_wait) {
        print_id(session, message->id);
        session_end(session, CLI_OK);
    } else if (strncmp(message->kind, "mcp/proposal", strlen("mcp/proposal")) == 0 &&
               !interview_is_open(call->interview)) {
        session_tell(session, "proposed as %s; it waits for somebody who decides",
                     message->id);
    }
}

static void make(struct session *session, const char *participant)
{
    struct call *call = session->user;
    struct moot_request request = { .to = participant,
                                    .method = "tools/call",
                                    .name = call->tool,
                                    .arguments = buf_cstr(&call->arguments),
                                    .reason = call->options->reason,
                                    .how = call->how,
                                    .timeout_ms = call->timeout_ms,
                                    .on_progress = on_progress,
                                    .on_done = on_done,
                                    .user = session };
    enum moot_err err = moot_request(session->moot, &request, call->id);

    if (participant)
        buf_put(&call->asked, str_of(participant));
    interview_about(call->interview, buf_cstr(&call->asked), call->id);
    if (err)
        session_end(session, session_fail(session, err));
}

/* --- whom --- */

static void put_names(struct buf *out, const struct toolbox *box, const char *tool)
{
    for (size_t i = 0; i < box->count; i++)
        if (shelf_has(&box->shelves[i], tool)) {
            buf_put(out, S("\n  "));
            plain_put(out, str_of(box->shelves[i].owner), PLAIN_LINE);
        }
}

static void on_found(struct toolbox *box)
{
    struct session *session = box->session;
    const struct call *call = session->user;
    const char *owner = NULL;
    size_t found = 0, silent = 0;
    struct buf names;

    for (size_t i = 0; i < box->count; i++) {
        silent += box->shelves[i].state == SHELF_SILENT;
        if (!shelf_has(&box->shelves[i], call->tool))
            continue;
        owner = box->shelves[i].owner;
        found++;
    }
    if (found == 1) {
        make(session, owner);
        return;
    }
    buf_init(&names, TEXT_BYTES);
    put_names(&names, box, call->tool);
    if (found)
        session_end(session, (cli_fail("several offer \"%s\"; say which one:%s",
                                       call->tool, buf_cstr(&names)),
                              CLI_USAGE));
    else
        session_end(session,
                    cli_fail("nobody here offers \"%s\"%s; `moot tools` shows "
                             "what there is",
                             call->tool, silent ? ", as far as they answer" : ""));
    buf_done(&names);
}

static void find(struct session *session)
{
    struct call *call = session->user;
    int code;

    call->box = (struct toolbox){ .session = session,
                                  .timeout_ms = FIND_MS,
                                  .on_done = on_found };
    code = toolbox_ask(&call->box, NULL);
    if (code)
        session_end(session, code);
}

static void on_begin(struct session *session)
{
    struct call *call = session->user;

    call->interview = interview_new(session, &call->options->roots);
    if (call->how != MOOT_PROPOSE && !call->participant)
        find(session);
    else if (call->how == MOOT_PROPOSE || session_has(session, call->participant))
        make(session, call->participant);
    else
        session_end(session, CLI_FAILED);
}

static void on_input(struct session *session)
{
    const struct call *call = session->user;

    interview_input(call->interview);
}

/* What was begun is taken back, and then it ends. */
static void on_signal(struct session *session)
{
    const struct call *call = session->user;

    if (!call->id[0] || moot_cancel(session->moot, call->id, "interrupted"))
        session_end(session, CLI_FAILED);
}

/* --- the words --- */

static int read_arguments(struct call *call)
{
    const struct call_options *o = call->options;
    struct buf json;
    int code = CLI_OK;

    buf_init(&json, ARGUMENT_BYTES);
    if (o->json_args)
        code = cli_read_value(o->json_args, &json);
    if (code == CLI_OK && o->json_args && json.len == 0)
        buf_putc(&json, ' '); /* given, and nothing: no JSON */
    if (code == CLI_OK)
        code = cli_arguments(&o->args, buf_str(&json), &call->arguments);
    buf_done(&json);
    return code;
}

static int run(const struct call_options *o, enum moot_how how, char **arguments,
               size_t count)
{
    struct call call = { .options = o,
                         .participant = count > 1 ? arguments[0] : NULL,
                         .tool = arguments[count - 1],
                         .how = how };
    struct session_plan plan = { .on_begin = on_begin,
                                 .on_signal = on_signal,
                                 .on_input = on_input,
                                 .hears_itself = true,
                                 .handlers.on_message = on_message,
                                 .user = &call };
    uint64_t timeout_ms = 0; /* what the library says: a minute, of a proposal five */
    int code;

    buf_init(&call.arguments, ARGUMENT_BYTES);
    buf_init(&call.asked, TEXT_BYTES);
    code = cli_read_timeout(o->timeout, MAX_MS, &timeout_ms);
    call.timeout_ms = (uint32_t)timeout_ms;
    if (code == CLI_OK)
        code = read_arguments(&call);
    if (code == CLI_OK)
        code = interview_check_roots(&o->roots);
    if (code == CLI_OK)
        code = session_run(&o->session, &plan);
    interview_free(call.interview);
    toolbox_done(&call.box);
    buf_done(&call.asked);
    buf_done(&call.arguments);
    return code;
}

static int call_tool(void *fields, char **arguments, size_t count)
{
    const struct call_options *o = fields;
    enum moot_how how = MOOT_CALL_OR_PROPOSE;

    if (o->propose && o->direct)
        return cli_fail("either --propose or --direct"), CLI_USAGE;
    if (o->propose)
        how = MOOT_PROPOSE;
    else if (o->direct)
        how = MOOT_CALL;
    return run(o, how, arguments, count);
}

static int propose_tool(void *fields, char **arguments, size_t count)
{
    return run(fields, MOOT_PROPOSE, arguments, count);
}

/* clang-format off */
static const struct cli_option call_options[] = {
    ARGUMENTS,
    { "--timeout", "TIME", "how long to wait: 30 (seconds), 5m; else 1m, proposed 5m",  OPT(timeout) },
    { "--root",    "DIR",  "a folder to name to a server that asks for roots; again",     OPT(roots) },
    { "--direct",  NULL,   "call it yourself or not at all",                             OPT(direct) },
    { "--propose", NULL,   "propose it even if you may call it; as moot propose",        OPT(propose) },
    CLI_SESSION(struct call_options),
};

static const struct cli_option propose_options[] = {
    ARGUMENTS,
    { "--timeout", "TIME", "until it expires: 30 (seconds), 5m, 2h; default 5m",         OPT(timeout) },
    { "--no-wait", NULL,   "print the proposal's id and leave",                          OPT(no_wait) },
    CLI_SESSION(struct call_options),
};
/* clang-format on */

const struct cli_command cli_call_tool = {
    .name = "call",
    .usage = "TOPIC [PARTICIPANT] TOOL [OPTIONS]",
    .summary = "call a tool and print its result; if you may not, propose it",
    .more =
        "The texts of the result go to standard output; with --json the result itself.\n"
        "Without PARTICIPANT, whoever alone offers the tool is asked.\n\n"
        "A server may ask back while it works on the call. At a terminal you answer: a\n"
        "form field by field, or whether you open an address; the time of the call does\n"
        "not run meanwhile. Without a terminal it is declined. Sampling always is, as\n"
        "there is no model here.\n\n"
        "  moot call lobby calculator add --arg a=1 --arg b=2\n"
        "  moot call lobby read_file --arg path=notes.txt > notes.txt\n",
    .options = call_options,
    .option_count = COUNT(call_options),
    .min_arguments = 1,
    .max_arguments = 2,
    .run = call_tool,
    .options_size = sizeof(struct call_options),
    .takes_topic = true,
};

const struct cli_command cli_propose = {
    .name = "propose",
    .usage = "TOPIC [PARTICIPANT] TOOL [OPTIONS]",
    .summary = "propose a call and wait for its result",
    .more =
        "Somebody who may call the tool decides (moot approve, moot reject). Without\n"
        "PARTICIPANT the one who decides says whose tool it is. Interrupted, the proposal\n"
        "is withdrawn.\n\n"
        "  moot propose lobby files delete_file --arg path=/tmp/old --reason 'not needed'\n",
    .options = propose_options,
    .option_count = COUNT(propose_options),
    .min_arguments = 1,
    .max_arguments = 2,
    .run = propose_tool,
    .options_size = sizeof(struct call_options),
    .takes_topic = true,
};
