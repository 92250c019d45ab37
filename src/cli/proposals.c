/* SPDX-License-Identifier: Apache-2.0 */
/* moot proposals: what waits in a topic for somebody who decides. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "json/json.h"

enum { TEXT_BYTES = 64 << 20 };

struct proposals_options {
    struct session_options session;
};

static const struct cli_option options[] = { CLI_SESSION(struct proposals_options) };

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
    json_put_time(&w, S("created_at"), p->created_ms);
    json_put_time(&w, S("expires_at"), p->expires_ms);
    json_put_bool(&w, S("mine"), p->is_mine);
    json_object_close(&w);
    result_put_json(out, buf_str(&text), session->form);
    buf_done(&text);
}

static void put_time_left(struct buf *out, uint64_t expires_ms)
{
    uint64_t now = clock_wall_ms();
    uint64_t seconds = expires_ms > now ? (expires_ms - now) / 1000 : 0;

    if (seconds >= 3600)
        buf_putf(out, "%lluh %llum", (unsigned long long)seconds / 3600,
                 (unsigned long long)seconds / 60 % 60);
    else if (seconds >= 60)
        buf_putf(out, "%llum %llus", (unsigned long long)seconds / 60,
                 (unsigned long long)seconds % 60);
    else
        buf_putf(out, "%llus", (unsigned long long)seconds);
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
    buf_putf(out, "\n  %s%sexpires in ", session->ink->dim, p->is_mine ? "yours; " : "");
    put_time_left(out, p->expires_ms);
    buf_putf(out, "%s\n", session->ink->off);
}

static void on_begin(struct session *session)
{
    struct moot_proposal p;
    size_t at = 0;
    size_t count = 0;
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    while (moot_next_proposal(session->moot, &at, &p)) {
        if (p.state != MOOT_OPEN)
            continue;
        count++;
        if (session->options->json)
            put_json(session, &out, &p);
        else
            put_text(session, &out, &p);
        session_print(session, &out);
    }
    if (count == 0)
        session_tell(session, "nothing waits for a decision");
    buf_done(&out);
    session_end(session, CLI_OK);
}

static int proposals(void *fields, char **arguments [[maybe_unused]],
                     size_t count [[maybe_unused]])
{
    const struct proposals_options *o = fields;
    struct session_plan plan = { .on_begin = on_begin };

    return session_run(&o->session, &plan);
}

const struct cli_command cli_proposals = {
    .name = "proposals",
    .usage = "TOPIC",
    .summary = "list what waits for a decision, with its arguments",
    .options = options,
    .option_count = COUNT(options),
    .run = proposals,
    .options_size = sizeof(struct proposals_options),
    .takes_topic = true,
};
