/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/decision.h"

#include <string.h>

#include "base/clock.h"
#include "base/plain.h"
#include "json/json.h"

enum { ASK_MS = 5000 };

/* --- finding --- */

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

static void fail_with_id(struct session *session, const char *format, int code)
{
    const struct decision *decision = session->user;
    struct buf id, text;

    buf_init(&id, DECISION_REASON);
    buf_init(&text, (size_t)2 * DECISION_REASON);
    plain_put(&id, str_of(decision->id), PLAIN_LINE);
    buf_putf(&text, "\"%s\" %s", buf_cstr(&id), format);
    (void)cli_fail("%s", buf_cstr(&text));
    buf_done(&text);
    buf_done(&id);
    session_end(session, code);
}

static void tell_unknown(struct session *session)
{
    const struct decision *decision = session->user;
    struct buf id;

    buf_init(&id, DECISION_REASON);
    plain_put(&id, str_of(decision->id), PLAIN_LINE);
    session_end(session, cli_fail("there is no open proposal \"%s\" in %s; "
                                  "`moot proposals` lists them",
                                  buf_cstr(&id), session->options->topic));
    buf_done(&id);
}

/* By the id of its envelope, or by what its owner calls it. */
static bool is_meant(const struct decision *decision, const struct moot_proposal *p)
{
    struct str id = str_of(decision->id);

    return str_eq(str_of(p->id), id) ||
           (p->owner && p->state == MOOT_OPEN &&
            str_eq(str_of(p->authorization_id), id) &&
            (!decision->options->to ||
             str_eq(str_of(p->owner), str_of(decision->options->to))));
}

/* How many are meant; the last one is given. What has the very id is alone. */
static size_t find_known(struct session *session, struct moot_proposal *ret)
{
    const struct decision *decision = session->user;
    struct moot_proposal p;
    size_t count = 0;
    size_t at = 0;

    if (moot_find_proposal(session->moot, decision->id, ret))
        return 1;
    while (moot_next_proposal(session->moot, &at, &p))
        if (is_meant(decision, &p)) {
            *ret = p;
            count++;
        }
    return count;
}

bool decision_find(struct session *session, struct moot_proposal *ret)
{
    struct buf why;

    if (!find_known(session, ret)) {
        tell_unknown(session);
        return false;
    }
    if (ret->state == MOOT_OPEN)
        return true;
    buf_init(&why, DECISION_REASON);
    buf_putf(&why, "is %s already", state_name(ret->state));
    fail_with_id(session, buf_cstr(&why), CLI_REFUSED);
    buf_done(&why);
    return false;
}

/* --- objecting --- */

/* Only the gateway knows what a rule has let through. */
static void on_objected(struct moot *m [[maybe_unused]], void *user,
                        const struct moot_outcome *outcome)
{
    struct session *session = user;
    const struct decision *decision = session->user;
    struct moot_proposal p;
    struct buf out;

    if (outcome->type == MOOT_REFUSED && strcmp(outcome->error, "proposal_state") == 0) {
        (void)decision_find(session, &p); /* says why */
    } else if (outcome->type != MOOT_SENT || session->options->json) {
        session_end(session, session_report(session, outcome));
    } else {
        buf_init(&out, DECISION_REASON);
        buf_put(&out, S("rejected "));
        plain_put(&out, str_of(decision->id), PLAIN_LINE);
        buf_put(&out, S(", too late to stop it; the rule that let it through is "
                        "suspended\n"));
        session_print(session, &out);
        buf_done(&out);
        session_end(session, CLI_OK);
    }
}

static void object(struct session *session)
{
    const struct decision *decision = session->user;
    struct json_writer w;
    enum moot_err err;
    struct buf payload;

    buf_init(&payload, (size_t)8 * DECISION_REASON);
    json_write_init(&w, &payload);
    json_object_open(&w);
    json_put_given(&w, S("reason"), buf_str(&decision->reason));
    json_object_close(&w);
    err = moot_send(session->moot,
                    &(struct moot_envelope){ .kind = "mcp/reject",
                                             .payload = buf_cstr(&payload),
                                             .correlation_id = decision->id,
                                             .on_done = on_objected,
                                             .user = session },
                    NULL);
    buf_done(&payload);
    if (err)
        session_end(session, session_fail(session, err));
}

static const char several[] = "is what several call theirs; --to says whose";

static void act(struct session *session)
{
    const struct decision *decision = session->user;
    struct moot_proposal p;
    size_t count = find_known(session, &p);

    if (count > 1)
        fail_with_id(session, several, CLI_USAGE);
    else if (decision->may_object && (!count || (p.state == MOOT_FULFILLED && !p.owner)))
        object(session);
    else if (decision_find(session, &p))
        decision->act(session, &p);
}

/* What its owners told stands beside the proposals now. */
static void on_docket(struct docket *docket)
{
    act(docket->session);
}

void decision_begin(struct session *session)
{
    struct decision *decision = session->user;
    struct moot_proposal p;
    int code;

    if (!decision->asks_owners || find_known(session, &p) || !docket_may(session)) {
        act(session);
        return;
    }
    decision->docket =
        (struct docket){ .session = session, .on_done = on_docket, .timeout_ms = ASK_MS };
    code = docket_ask(&decision->docket, decision->options->to);
    if (code)
        session_end(session, code);
}

/* --- answering --- */

static enum moot_err decide(struct session *session, const char *word,
                            const struct moot_decision *d)
{
    if (strcmp(word, "approve") == 0)
        return moot_approve(session->moot, d);
    if (strcmp(word, "deny") == 0)
        return moot_reject(session->moot, d);
    return moot_delegate(session->moot, d);
}

enum moot_err decision_authorize(struct session *session, const char *word,
                                 moot_on_done *on_done)
{
    struct decision *decision = session->user;
    uint64_t until_ms = decision->valid_ms ? clock_wall_ms() + decision->valid_ms : 0;
    struct moot_proposal p;

    (void)find_known(session, &p); /* it was found just now */
    return decide(session, word,
                  &(struct moot_decision){ .id = p.id,
                                           .to = decision->options->delegate,
                                           .reason = buf_cstr(&decision->reason),
                                           .valid_until_ms = until_ms,
                                           .on_done = on_done,
                                           .user = session });
}
