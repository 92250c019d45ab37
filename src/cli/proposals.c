/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot proposals: what waits in a topic for somebody who decides. Proposals stand in the
 * welcome; calls to be authorized only their owners know, so they are asked.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "cli/docket.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "json/json.h"

enum { TEXT_BYTES = 64 << 20, ASK_MS = 2000 };

struct proposals_options {
    struct session_options session;
};

static const struct cli_option options[] = { CLI_SESSION(struct proposals_options) };

/* What is listed so far, and who is still asked. */
struct listing {
    struct docket docket;
    size_t count;
};

static void put_approvals(struct json_writer *w, const struct moot_proposal *p)
{
    json_key(w, S("approvals"));
    json_object_open(w);
    json_put_uint(w, S("needed"), p->needed);
    json_put_uint(w, S("given"), p->given);
    json_key(w, S("by"));
    json_array_open(w);
    for (size_t i = 0; i < p->approver_count; i++)
        json_str(w, str_of(p->approvers[i]));
    json_array_close(w);
    json_object_close(w);
}

static void put_json(struct session *session, struct buf *out,
                     const struct moot_proposal *p)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, TEXT_BYTES);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("id"), str_of(p->id));
    json_put_str(&w, S("proposer"), str_of(p->proposer));
    if (p->owner)
        json_put_str(&w, S("owner"), str_of(p->owner));
    if (p->asked)
        json_put_str(&w, S("asked"), str_of(p->asked));
    json_key(&w, S("to"));
    json_array_open(&w);
    for (size_t i = 0; i < p->to_count; i++)
        json_str(&w, str_of(p->to[i]));
    json_array_close(&w);
    json_put_str(&w, S("method"), str_of(p->method));
    if (p->name)
        json_put_str(&w, S("name"), str_of(p->name));
    if (p->params.len) {
        json_key(&w, S("params"));
        json_raw(&w, (struct str){ p->params.ptr, p->params.len });
    }
    if (p->reason)
        json_put_str(&w, S("reason"), str_of(p->reason));
    if (p->needed)
        put_approvals(&w, p);
    if (p->created_ms)
        json_put_time(&w, S("created_at"), p->created_ms);
    if (p->expires_ms)
        json_put_time(&w, S("expires_at"), p->expires_ms);
    json_put_bool(&w, S("mine"), p->is_mine);
    json_object_close(&w);
    result_put_json(out, buf_str(&text), session->form);
    buf_done(&text);
}

/* "yours; 1 of 2 approvals (ann); asked of bob; expires in 4m 2s" */
static void put_state(struct buf *out, const struct moot_proposal *p)
{
    size_t before = out->len;

    buf_put(out, p->is_mine ? S("yours; ") : S(""));
    summary_put_approvals(out, p);
    if (out->len > before && out->ptr[out->len - 1] != ' ')
        buf_put(out, S("; "));
    if (p->asked) {
        buf_put(out, S("asked of "));
        plain_put(out, str_of(p->asked), PLAIN_LINE);
        buf_put(out, S("; "));
    }
    if (p->expires_ms) {
        buf_put(out, S("expires in "));
        summary_put_left(out, p->expires_ms, clock_wall_ms());
    } else {
        buf_put(out, S("expires some time"));
    }
}

/* The id on a line of its own, to be copied whole; below it what it is about. */
static void put_text(struct session *session, struct buf *out,
                     const struct moot_proposal *p)
{
    buf_put(out, str_of(session->ink->wait));
    plain_put(out, str_of(p->id), PLAIN_LINE);
    buf_put(out, str_of(session->ink->off));
    buf_put(out, S("\n  "));
    summary_put_proposal(out, p, session->ink);
    buf_putf(out, "\n  %s", session->ink->dim);
    put_state(out, p);
    buf_putf(out, "%s\n", session->ink->off);
}

static void print(struct session *session, const struct moot_proposal *p)
{
    struct listing *listing = session->user;
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    listing->count++;
    if (session->options->json)
        put_json(session, &out, p);
    else
        put_text(session, &out, p);
    session_print(session, &out);
    buf_done(&out);
}

static void print_all(struct session *session, bool are_authorizations)
{
    struct moot_proposal p;
    size_t at = 0;

    while (moot_next_proposal(session->moot, &at, &p))
        if (p.state == MOOT_OPEN && (p.owner != NULL) == are_authorizations)
            print(session, &p);
}

/* What its owners told stands beside the proposals now. */
static void on_listed(struct docket *docket)
{
    struct session *session = docket->session;
    const struct listing *listing = session->user;

    print_all(session, true);
    if (listing->count == 0)
        session_tell(session, "nothing waits for a decision");
    session_end(session, CLI_OK);
}

static void on_begin(struct session *session)
{
    struct listing *listing = session->user;

    print_all(session, false);
    listing->docket =
        (struct docket){ .session = session, .on_done = on_listed, .timeout_ms = ASK_MS };
    if (!docket_may(session))
        on_listed(&listing->docket);
    else
        (void)docket_ask(&listing->docket, NULL); /* we may, and name nobody */
}

static int proposals(void *fields, char **arguments [[maybe_unused]],
                     size_t count [[maybe_unused]])
{
    const struct proposals_options *o = fields;
    struct listing listing = {};
    struct session_plan plan = { .on_begin = on_begin, .user = &listing };
    int code = session_run(&o->session, &plan);

    docket_done(&listing.docket);
    return code;
}

const struct cli_command cli_proposals = {
    .name = "proposals",
    .usage = "TOPIC",
    .summary = "list what waits for a decision, with its arguments",
    .more = "Proposals, with the approvals that they have and need, and calls that a\n"
            "server wants authorized: it is asked for those, if you may\n"
            "(mcp/request:authorization/list).\n",
    .options = options,
    .option_count = COUNT(options),
    .run = proposals,
    .options_size = sizeof(struct proposals_options),
    .takes_topic = true,
};
