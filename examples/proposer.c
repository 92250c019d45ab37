/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a tool if it may, else proposes the call, waits for what somebody decides, and
 * prints what came of it. Ctrl-C withdraws the proposal (or cancels the call).
 *
 *     proposer ws://127.0.0.1:8420 lobby calculator add '{"a":1,"b":2}' 'to know the sum'
 *
 * `mcp/proposal:*` is enough. The status: 0 a result, 3 an error of the tool, 4 it was
 * refused, rejected or withdrawn, 5 nobody answered in time, 1 anything else.
 */
#include <signal.h>

#include "example.h"

enum { TEN_MINUTES_MS = 600000 };

struct proposer {
    const char *to, *tool, *arguments, *reason;
    char id[MOOT_ID];
    int status;
    bool has_asked, is_done;
};

static struct moot *interrupted; /* what Ctrl-C stops */

static void on_interrupt(int signal)
{
    (void)signal;
    moot_stop(interrupted);
}

static int status_of(enum moot_outcome_type type)
{
    switch (type) {
    case MOOT_RESULT: return 0;
    case MOOT_TOOL_ERROR:
    case MOOT_ERROR: return 3;
    case MOOT_DENIED:
    case MOOT_REFUSED:
    case MOOT_DECLINED:
    case MOOT_CANCELLED: return 4;
    case MOOT_TIMED_OUT: return 5;
    case MOOT_GONE:
    case MOOT_LOST:
    case MOOT_SENT: return 1;
    }
    return 1;
}

static void on_done(struct moot *m, void *user, const struct moot_outcome *outcome)
{
    struct proposer *p = user;

    p->status = status_of(outcome->type);
    p->is_done = true;
    if (outcome->json.len && p->status != 4) { /* of a result or an error */
        example_json("", outcome->json);
    } else {
        example_line("", outcome->error);
        example_line("  ", outcome->message);
    }
    moot_leave(m);
}

static void on_progress(struct moot *m, void *user, const struct moot_progress *progress)
{
    (void)m;
    (void)user;
    switch (progress->type) {
    case MOOT_PROPOSED: example_line("proposed: ", progress->id); break;
    case MOOT_TAKEN_UP: example_line("taken up by ", progress->by); break;
    case MOOT_AUTHORIZING: example_line("to be authorized: ", progress->message); break;
    case MOOT_UNDERWAY: example_line("under way: ", progress->message); break;
    case MOOT_APPROVED: example_line("approved by ", progress->by); break;
    }
}

static void on_welcome(struct moot *m, void *user, bool resumed)
{
    struct proposer *p = user;
    struct moot_request request = { .to = p->to,
                                    .method = "tools/call",
                                    .name = p->tool,
                                    .arguments = p->arguments,
                                    .reason = p->reason,
                                    .timeout_ms = TEN_MINUTES_MS,
                                    .on_progress = on_progress,
                                    .on_done = on_done,
                                    .user = p };

    (void)resumed;
    if (p->has_asked) /* a later connection, or our capabilities have changed */
        return;
    p->has_asked = true;
    if (moot_request(m, &request, p->id)) {
        example_line("proposer: ", moot_why(m));
        moot_leave(m);
    }
}

int main(int argc, char **argv)
{
    struct example example =
        example_begin(argc, argv, 2, " PARTICIPANT TOOL [ARGUMENTS [REASON]]");
    struct proposer p = { .to = example.rest[0],
                          .tool = example.rest[1],
                          .arguments = example.rest_count > 2 ? example.rest[2] : NULL,
                          .reason = example.rest_count > 3 ? example.rest[3] : NULL,
                          .status = 1 };
    struct moot_options options = { .url = example.url,
                                    .topic = example.topic,
                                    .token = example.token,
                                    .name = "proposer",
                                    .version = "1.0",
                                    .handlers = { .on_welcome = on_welcome },
                                    .user = &p };
    enum moot_err err = moot_new(&options, &interrupted);

    if (!err) {
        (void)signal(SIGINT, on_interrupt);
        err = moot_run(interrupted);
        if (!err && !moot_cancel(interrupted, p.id, "the proposer was interrupted"))
            err = moot_run(interrupted); /* until the answer to that, on_done, leaves */
    }
    if (!p.is_done)
        (void)fprintf(stderr, "proposer: %s: %s\n", moot_strerror(err),
                      moot_why(interrupted));
    moot_free(interrupted);
    return p.status;
}
