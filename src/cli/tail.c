/* SPDX-License-Identifier: Apache-2.0 */
/* moot tail: what is said in a topic, as it is said. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "cli/thread.h"
#include "policy/pattern.h"

enum { LINE_BYTES = 64 << 20 };

struct tail_options {
    struct session_options session;
    struct cli_list kinds, senders;
    const char *thread, *count, *since;
};

#define OPT(member) CLI_AT(struct tail_options, member)

/* clang-format off */
static const struct cli_option options[] = {
    { "--kind",   "PATTERN", "only such kinds: chat, mcp/*; may be given again",         OPT(kinds) },
    { "--from",   "PARTICIPANT",      "only what this participant says; may be given again",      OPT(senders) },
    { "--thread", "ID",      "only this envelope and what refers to it, at any distance", OPT(thread) },
    { "--count",  "N",       "end after so many envelopes",                              OPT(count) },
    { "--since",  "ID",      "begin with what was said behind this envelope",            OPT(since) },
    CLI_SESSION(struct tail_options),
};
/* clang-format on */

/* What is followed, and how much of it is still to come. */
struct watch {
    const struct tail_options *options;
    struct pattern **patterns; /* as many as options->kinds */
    struct thread thread;
    uint64_t left; /* 0: without end */
    struct buf line;
};

static bool is_kind(const struct watch *watch, struct str kind)
{
    for (size_t i = 0; i < watch->options->kinds.count; i++)
        if (pattern_matches(watch->patterns[i], kind))
            return true;
    return watch->options->kinds.count == 0;
}

static bool is_sender(const struct watch *watch, struct str from)
{
    const struct cli_list *senders = &watch->options->senders;

    for (size_t i = 0; i < senders->count; i++)
        if (str_eq(str_of(senders->items[i]), from))
            return true;
    return senders->count == 0;
}

/* The thread is asked first: it grows by what other filters leave out. */
static bool is_wanted(struct watch *watch, const struct moot_message *m)
{
    if (watch->options->thread &&
        !thread_takes(&watch->thread, str_of(m->id), str_of(m->correlation_id)))
        return false;
    return is_kind(watch, str_of(m->kind)) && is_sender(watch, str_of(m->from));
}

static void on_message(struct moot *moot [[maybe_unused]], void *user,
                       const struct moot_message *m)
{
    struct session *session = user;
    struct watch *watch = session->user;
    struct summary_look look = { .palette = session->ink,
                                 .has_lines = session->form == RESULT_PLAIN,
                                 .now_ms = clock_wall_ms() };

    if (session->is_ending || !is_wanted(watch, m))
        return;
    if (session->options->json)
        result_put_json(&watch->line, (struct str){ m->text.ptr, m->text.len },
                        session->form);
    else
        summary_put(&watch->line, m, &look);
    session_print(session, &watch->line);
    if (watch->left && --watch->left == 0)
        session_end(session, CLI_OK);
}

static void on_begin(struct session *session [[maybe_unused]])
{
}

static int read_filters(struct watch *watch)
{
    const struct tail_options *o = watch->options;

    if (o->count &&
        (str_to_u64(str_of(o->count), UINT64_MAX, &watch->left) || !watch->left))
        return cli_fail("--count takes a number from 1 on, not \"%s\"", o->count),
               CLI_USAGE;
    watch->patterns = xcalloc(o->kinds.count + 1, sizeof(struct pattern *));
    for (size_t i = 0; i < o->kinds.count; i++) {
        const char *why = "";

        if (pattern_new(str_of(o->kinds.items[i]), &watch->patterns[i], &why))
            return cli_fail("--kind \"%s\": %s", o->kinds.items[i], why), CLI_USAGE;
    }
    return CLI_OK;
}

static int tail(void *fields, char **arguments [[maybe_unused]],
                size_t count [[maybe_unused]])
{
    const struct tail_options *o = fields;
    struct watch watch = { .options = o };
    struct session_plan plan = { .on_begin = on_begin,
                                 .handlers.on_message = on_message,
                                 .after = o->since,
                                 .follows = true,
                                 .user = &watch };
    int code;

    buf_init(&watch.line, LINE_BYTES);
    thread_init(&watch.thread, str_of(o->thread));
    code = read_filters(&watch);
    if (code == CLI_OK)
        code = session_run(&o->session, &plan);
    for (size_t i = 0; watch.patterns && i < o->kinds.count; i++)
        pattern_free(watch.patterns[i]);
    free(watch.patterns);
    thread_done(&watch.thread);
    buf_done(&watch.line);
    return code;
}

const struct cli_command cli_tail = {
    .name = "tail",
    .usage = "TOPIC [OPTIONS]",
    .summary = "follow what is said in a topic",
    .more =
        "A line for each envelope, or with --json the envelope itself. What stands in\n"
        "brackets is its id and the id it refers to; long ones are shortened.\n\n"
        "  moot tail lobby --kind 'mcp/proposal:*' --json | jq .payload\n",
    .options = options,
    .option_count = COUNT(options),
    .run = tail,
    .options_size = sizeof(struct tail_options),
    .takes_topic = true,
};
