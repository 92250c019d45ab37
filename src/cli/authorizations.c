/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot authorizations: what the owners of tools were told about calls, for how long that
 * holds, and what still waits; and how to take such a decision back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "cli/docket.h"
#include "cli/input.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "json/json.h"

enum { TEXT_BYTES = 64 << 20, LINE_BYTES = 65536, ASK_MS = 5000, MAX_MS = 600'000 };

struct authorizations_options {
    struct session_options session;
    const char *revoke, *timeout;
};

#define OPT(member) CLI_AT(struct authorizations_options, member)
/* clang-format off */
static const struct cli_option options[] = {
    { "--revoke",  "ID",   "take this decision back; such a call is asked about again", OPT(revoke) },
    { "--timeout", "TIME", "how long to wait for answers; default 5 (seconds)",                 OPT(timeout) },
    CLI_SESSION(struct authorizations_options),
};
/* clang-format on */

struct request {
    const struct authorizations_options *options;
    const char *participant; /* NULL: all services */
    struct docket docket;
};

/* --- listing --- */

static void put_times(struct buf *out, uint64_t uses)
{
    if (uses == 1)
        buf_put(out, S(", used once"));
    else if (uses)
        buf_putf(out, ", used %llu times", (unsigned long long)uses);
    else
        buf_put(out, S(", not used yet"));
}

static void put_state(struct buf *out, const struct docket_item *item)
{
    bool is_pending = item->state == DOCKET_PENDING;

    if (is_pending)
        buf_put(out, S("waits for a decision"));
    else
        buf_put(out, item->state == DOCKET_DENIED ? S("denied") : S("approved"));
    if (*item->by) {
        buf_put(out, S(" by "));
        plain_put(out, str_of(item->by), PLAIN_LINE);
    }
    if (*item->asked && is_pending) {
        buf_put(out, S(" of "));
        plain_put(out, str_of(item->asked), PLAIN_LINE);
    }
    if (item->until_ms) {
        buf_put(out, is_pending ? S(", expires in ") : S(", for another "));
        summary_put_left(out, item->until_ms, clock_wall_ms());
    }
    if (!is_pending)
        put_times(out, item->uses);
}

static void put_text(struct session *session, struct buf *out,
                     const struct docket_item *item)
{
    const struct palette *ink = session->ink;
    bool is_pending = item->state == DOCKET_PENDING;
    struct moot_proposal p;
    const char *to;

    docket_view(item, &to, &p);
    p.owner = NULL; /* who is called stands there already */
    buf_put(out, str_of(is_pending ? ink->wait : ink->bold));
    plain_put(out, str_of(item->id), PLAIN_LINE);
    buf_putf(out, "%s\n  ", ink->off);
    summary_put_proposal(out, &p, ink);
    buf_putf(out, "\n  %s", ink->dim);
    put_state(out, item);
    buf_putf(out, "%s\n", ink->off);
}

static void put_json(struct session *session, struct buf *out,
                     const struct docket_item *item)
{
    static const struct str without[] = { S("owner"), S("pending") };
    struct json_writer w;
    struct buf text;

    buf_init(&text, TEXT_BYTES);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("owner"), str_of(item->owner));
    json_put_bool(&w, S("pending"), item->state == DOCKET_PENDING);
    json_put_members(&w, str_of(item->raw), (struct str_list){ without, COUNT(without) });
    json_object_close(&w);
    result_put_json(out, buf_str(&text), session->form);
    buf_done(&text);
}

static void complain(const struct docket_owner *owner)
{
    struct buf out;

    buf_init(&out, LINE_BYTES);
    plain_put(&out, str_of(owner->id), PLAIN_LINE);
    buf_putc(&out, ' ');
    plain_put(&out, str_of(owner->why), PLAIN_LINE);
    (void)cli_fail("%s", buf_cstr(&out));
    buf_done(&out);
}

/* Who does not answer is a failure only where it was asked for by name. */
static void on_listed(struct docket *docket)
{
    struct session *session = docket->session;
    const struct request *request = session->user;
    bool has_failed = false;
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    for (size_t i = 0; i < docket->count; i++) {
        if (session->options->json)
            put_json(session, &out, &docket->items[i]);
        else
            put_text(session, &out, &docket->items[i]);
        session_print(session, &out);
    }
    buf_done(&out);
    for (size_t i = 0; i < docket->owner_count; i++)
        if (docket->owners[i].why && request->participant) {
            complain(&docket->owners[i]);
            has_failed = true;
        }
    if (docket->count == 0 && !has_failed)
        session_tell(session, "nothing is authorized for longer than a call, and nothing "
                              "waits");
    session_end(session, has_failed ? CLI_FAILED : CLI_OK);
}

/* --- revoking --- */

static void on_revoked(struct moot *m [[maybe_unused]], void *user,
                       const struct moot_outcome *outcome)
{
    struct session *session = user;
    const struct request *request = session->user;
    struct buf out;

    if (outcome->type != MOOT_RESULT || session->options->json) {
        session_end(session, session_report(session, outcome));
        return;
    }
    buf_init(&out, LINE_BYTES);
    buf_put(&out, S("revoked "));
    plain_put(&out, str_of(request->options->revoke), PLAIN_LINE);
    buf_putc(&out, '\n');
    session_print(session, &out);
    buf_done(&out);
    session_end(session, CLI_OK);
}

static void take_back(struct session *session)
{
    const struct request *request = session->user;
    struct moot_request ask = { .to = request->participant,
                                .method = "authorization/revoke",
                                .how = MOOT_CALL,
                                .timeout_ms = request->docket.timeout_ms,
                                .on_done = on_revoked,
                                .user = session };
    struct json_writer w;
    enum moot_err err;
    struct buf params;

    if (!session_has(session, request->participant)) {
        session_end(session, CLI_FAILED);
        return;
    }
    buf_init(&params, LINE_BYTES);
    json_write_init(&w, &params);
    json_object_open(&w);
    json_put_str(&w, S("authorizationId"), str_of(request->options->revoke));
    json_object_close(&w);
    ask.params = buf_cstr(&params);
    err = moot_request(session->moot, &ask, NULL);
    if (err)
        session_end(session, session_fail(session, err));
    buf_done(&params);
}

/* --- the command --- */

static void on_begin(struct session *session)
{
    struct request *request = session->user;
    int code;

    if (request->options->revoke) {
        take_back(session);
        return;
    }
    request->docket.session = session;
    request->docket.on_done = on_listed;
    code = docket_ask(&request->docket, request->participant);
    if (code)
        session_end(session, code);
}

static int authorizations(void *fields, char **arguments, size_t count)
{
    const struct authorizations_options *o = fields;
    struct request request = { .options = o, .participant = count ? arguments[0] : NULL };
    struct session_plan plan = { .on_begin = on_begin, .user = &request };
    uint64_t ms = ASK_MS;
    int code = cli_read_timeout(o->timeout, MAX_MS, &ms);

    if (code)
        return code;
    if (o->revoke && !request.participant)
        return cli_fail("--revoke: whose? Name the participant who was told"), CLI_USAGE;
    request.docket.timeout_ms = (uint32_t)ms;
    code = session_run(&o->session, &plan);
    docket_done(&request.docket);
    return code;
}

const struct cli_command cli_authorizations = {
    .name = "authorizations",
    .usage = "TOPIC [PARTICIPANT] [OPTIONS]",
    .summary = "list what servers were told about calls they ask about; revoke it",
    .more =
        "A server may ask before it runs a call. Who answers with --valid spares the\n"
        "next call of the same caller with the same arguments the question; here is\n"
        "what holds so, and what waits. Without PARTICIPANT all services are asked.\n\n"
        "  moot approve lobby auth-7 --valid 1h\n"
        "  moot authorizations lobby files --revoke auth-7\n",
    .options = options,
    .option_count = COUNT(options),
    .max_arguments = 1,
    .run = authorizations,
    .options_size = sizeof(struct authorizations_options),
    .takes_topic = true,
};
