/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides on what others propose: tools named on the command line are approved at once,
 * for all others it asks. The first question is answered first, whatever arrives
 * meanwhile; what was typed before a question was shown is no answer to it.
 *
 *     approver ws://127.0.0.1:8420 lobby add sub
 *
 * It needs capabilities for the calls it makes (`mcp/request:tools/call`) and to reject
 * (`mcp/reject`); the profile `human` has both. One's own proposals are not shown: they
 * are not ours to decide.
 */
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "example.h"

struct approver {
    char **allowed;
    int allowed_count;
    char *asked; /* the proposal of the question, or NULL */
    bool has_input;
};

static bool is_allowed(const struct approver *a, const struct moot_proposal *proposal)
{
    if (strcmp(proposal->method, "tools/call") != 0 || !proposal->name)
        return false;
    for (int i = 0; i < a->allowed_count; i++)
        if (!strcmp(a->allowed[i], proposal->name))
            return true;
    return false;
}

static void on_done(struct moot *m, void *user, const struct moot_outcome *outcome)
{
    (void)m;
    (void)user;
    if (outcome->json.len)
        example_json("", outcome->json);
    else
        example_line("ended: ", outcome->message);
}

static void approve(struct moot *m, const char *id)
{
    struct moot_decision decision = { .id = id, .on_done = on_done };

    if (moot_fulfil(m, &decision))
        example_line("cannot approve: ", moot_why(m));
    else
        example_line("approved: ", id);
}

static void reject(struct moot *m, const char *id)
{
    struct moot_decision decision = { .id = id, .reason = "the approver said no" };

    if (moot_reject(m, &decision))
        example_line("cannot reject: ", moot_why(m));
    else
        example_line("rejected: ", id);
}

static void ask(struct approver *a, const struct moot_proposal *proposal)
{
    a->asked = strdup(proposal->id);
    example_line("\nproposal ", proposal->id);
    example_line("  by      ", proposal->proposer);
    for (size_t i = 0; i < proposal->to_count; i++)
        example_line("  to      ", proposal->to[i]);
    example_line("  method  ", proposal->method);
    example_line("  name    ", proposal->name ? proposal->name : "");
    example_json("  params  ", proposal->params);
    example_line("  reason  ", proposal->reason ? proposal->reason : "");
    (void)tcflush(STDIN_FILENO, TCIFLUSH);
    example_line("approve? [y/n] ", "");
}

/* The next question, unless one is open. */
static void ask_next(struct moot *m, struct approver *a)
{
    struct moot_proposal proposal;

    for (size_t at = 0;
         !a->asked && a->has_input && moot_next_proposal(m, &at, &proposal);)
        if (proposal.state == MOOT_OPEN && !proposal.is_mine && !is_allowed(a, &proposal))
            ask(a, &proposal);
}

static void on_proposal(struct moot *m, void *user, const struct moot_proposal *proposal)
{
    struct approver *a = user;

    if (proposal->state == MOOT_OPEN) {
        if (!proposal->is_mine && is_allowed(a, proposal))
            approve(m, proposal->id);
    } else if (a->asked && !strcmp(a->asked, proposal->id)) {
        example_line("decided elsewhere: ", proposal->by ? proposal->by : "it expired");
        free(a->asked);
        a->asked = NULL;
    }
}

static void on_input(struct moot *m, struct approver *a)
{
    char line[64] = "";
    ssize_t len = read(STDIN_FILENO, line, sizeof(line) - 1);
    char *id = a->asked;

    a->has_input = len > 0;
    if (!id || (line[0] != 'y' && line[0] != 'n'))
        return;
    a->asked = NULL; /* so that on_proposal does not take it for somebody else's */
    if (line[0] == 'y')
        approve(m, id);
    else
        reject(m, id);
    free(id);
}

int main(int argc, char **argv)
{
    struct example example = example_begin(argc, argv, 0, " [TOOL…]");
    struct approver a = { example.rest, example.rest_count, NULL, true };
    struct moot_options options = { .url = example.url,
                                    .topic = example.topic,
                                    .token = example.token,
                                    .name = "approver",
                                    .version = "1.0",
                                    .handlers = { .on_proposal = on_proposal },
                                    .user = &a };
    struct moot *m;
    enum moot_err err = moot_new(&options, &m);

    while (!err) {
        struct pollfd fds[] = {
            { .fd = moot_fd(m), .events = moot_events(m) },
            { .fd = a.has_input ? STDIN_FILENO : -1, .events = POLLIN },
        };

        (void)poll(fds, 2, moot_timeout(m));
        if (fds[1].revents)
            on_input(m, &a);
        err = moot_step(m);
        ask_next(m, &a);
    }
    (void)fprintf(stderr, "approver: %s: %s\n", moot_strerror(err), moot_why(m));
    moot_free(m);
    free(a.asked);
    return 1; /* it never ends by itself */
}
