/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The skeleton of an orchestrator (MCPx v0.1, 9.4): it fulfils proposals because a human
 * says so, and learns what it may fulfil without asking.
 *
 *     orchestrator ws://127.0.0.1:8420 lobby alice bob
 *
 * obeys alice and bob, if the gateway says that they are human:
 *
 *     @orchestrator approve ID [WORKER]   calls what was proposed; WORKER, where nobody
 * is named in it
 *     @orchestrator reject ID             says no
 *     @orchestrator always TOOL           from now on without asking
 *     @orchestrator never TOOL            asks again
 *
 * It needs `mcp/request:*`, `mcp/reject` and `chat`. Whom it obeys can do through it what
 * it may itself, so name only those who may as much. What it has learned ends with it.
 */
#include "example.h"

enum { RULES = 64, WORD = 300 };

struct orchestrator {
    char **people;
    int people_count;
    char rules[RULES][WORD]; /* tools; "": a free place */
};

static void say(struct moot *m, const char *what, const char *about)
{
    char text[1024];

    (void)snprintf(text, sizeof(text), "%s %s", what, about);
    if (moot_chat(m, text))
        example_line("cannot say it: ", moot_why(m));
}

static bool is_obeyed(struct moot *m, const struct orchestrator *o, const char *id)
{
    struct moot_participant who;

    for (int i = 0; i < o->people_count; i++)
        if (!strcmp(o->people[i], id))
            return moot_find_participant(m, id, &who) && !strcmp(who.type, "human");
    return false;
}

/* The place of a rule, or NULL; "" finds a free one. */
static char *rule_of(struct orchestrator *o, const char *tool)
{
    for (int i = 0; i < RULES; i++)
        if (!strcmp(o->rules[i], tool))
            return o->rules[i];
    return NULL;
}

static void on_done(struct moot *m, void *user, const struct moot_outcome *outcome)
{
    char *id = user;

    say(m, outcome->type == MOOT_RESULT ? "done:" : "failed:", id);
    free(id);
}

static void fulfil(struct moot *m, const char *id, const char *worker)
{
    char *about = strdup(id);
    struct moot_decision decision = {
        .id = id, .to = *worker ? worker : NULL, .on_done = on_done, .user = about
    };

    if (!moot_fulfil(m, &decision))
        return;
    say(m, "I cannot:", moot_why(m));
    free(about);
}

static void learn(struct moot *m, struct orchestrator *o, const char *tool)
{
    struct moot_proposal p;
    char *rule = rule_of(o, tool) ? rule_of(o, tool) : rule_of(o, "");

    if (!rule) {
        say(m, "I cannot remember more rules than I have:", tool);
        return;
    }
    (void)snprintf(rule, WORD, "%s", tool);
    say(m, "learned: always", tool);
    for (size_t at = 0; moot_next_proposal(m, &at, &p);) /* also what waits already */
        if (p.state == MOOT_OPEN && !p.is_mine && p.name && !strcmp(p.name, tool) &&
            !strcmp(p.method, "tools/call"))
            fulfil(m, p.id, "");
}

static void on_chat(struct moot *m, void *user, const struct moot_message *message,
                    const char *text)
{
    struct orchestrator *o = user;
    char whom[WORD] = "", verb[16] = "", what[WORD] = "", worker[WORD] = "";

    if (sscanf(text, "@%299s %15s %299s %299s", whom, verb, what, worker) < 3 ||
        strcmp(whom, moot_id(m)) != 0 || !is_obeyed(m, o, message->from))
        return;
    if (!strcmp(verb, "approve")) {
        fulfil(m, what, worker);
    } else if (!strcmp(verb, "reject")) {
        struct moot_decision decision = { .id = what, .reason = "a human said no" };

        if (moot_reject(m, &decision))
            say(m, "I cannot:", moot_why(m));
    } else if (!strcmp(verb, "always")) {
        learn(m, o, what);
    } else if (!strcmp(verb, "never") && rule_of(o, what)) {
        rule_of(o, what)[0] = '\0';
        say(m, "forgotten:", what);
    }
}

static void on_proposal(struct moot *m, void *user, const struct moot_proposal *p)
{
    struct orchestrator *o = user;

    if (p->state != MOOT_OPEN || p->is_mine)
        return;
    example_line("proposed: ", p->id);
    if (p->name && *p->name && !strcmp(p->method, "tools/call") && rule_of(o, p->name))
        fulfil(m, p->id, "");
}

int main(int argc, char **argv)
{
    struct example example = example_begin(argc, argv, 1, " HUMAN…");
    struct orchestrator o = { example.rest, example.rest_count, { "" } };
    struct moot_options options = { .url = example.url,
                                    .topic = example.topic,
                                    .token = example.token,
                                    .name = "orchestrator",
                                    .version = "1.0",
                                    .handlers = { .on_chat = on_chat,
                                                  .on_proposal = on_proposal },
                                    .user = &o };
    struct moot *m;
    enum moot_err err = moot_new(&options, &m);

    if (!err)
        err = moot_run(m);
    (void)fprintf(stderr, "orchestrator: %s: %s\n", moot_strerror(err), moot_why(m));
    moot_free(m);
    return 1; /* it never ends by itself */
}
