/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/decision.h"

#include <string.h>

#include "base/clock.h"
#include "base/plain.h"
#include "json/json.h"
#include "participant/say.h"

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

static size_t find_pending(struct decision *decision)
{
    size_t count = 0;

    for (size_t i = 0; i < decision->docket.count; i++) {
        const struct docket_item *item = &decision->docket.items[i];

        if (item->state != DOCKET_PENDING ||
            (!str_eq(str_of(item->id), str_of(decision->id)) &&
             !str_eq(str_of(item->announcement), str_of(decision->id))))
            continue;
        decision->pending = item;
        count++;
    }
    return count;
}

static void view_pending(struct session *session, struct moot_proposal *ret)
{
    struct decision *decision = session->user;

    docket_view(decision->pending, &decision->pending_to, ret);
    ret->is_mine = str_eq(str_of(ret->proposer), str_of(moot_id(session->moot)));
}

bool decision_find(struct session *session, struct moot_proposal *ret)
{
    const struct decision *decision = session->user;
    struct buf why;

    if (decision->pending) {
        view_pending(session, ret);
        return true;
    }
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

static const char several[] = "is what several call theirs; --to says whose";

static void on_docket(struct docket *docket)
{
    struct session *session = docket->session;
    struct decision *decision = session->user;
    struct moot_proposal p;
    size_t count = find_pending(decision);

    if (count == 0) {
        tell_unknown(session);
    } else if (count > 1) {
        fail_with_id(session, several, CLI_USAGE);
    } else {
        view_pending(session, &p);
        decision->act(session, &p);
    }
}

void decision_begin(struct session *session)
{
    struct decision *decision = session->user;
    struct moot_proposal p;
    size_t count = find_known(session, &p);
    int code;

    if (count > 1) {
        fail_with_id(session, several, CLI_USAGE);
    } else if (count == 1 || !decision->asks_owners || !docket_may(session)) {
        if (decision_find(session, &p))
            decision->act(session, &p);
    } else {
        decision->docket = (struct docket){ .session = session,
                                            .on_done = on_docket,
                                            .timeout_ms = ASK_MS };
        code = docket_ask(&decision->docket, decision->options->to);
        if (code)
            session_end(session, code);
    }
}

/* --- answering --- */

/* What stands only in the list of its owner. */
static enum moot_err respond(struct session *session, const struct say_decision *said,
                             moot_on_done *on_done)
{
    const struct decision *decision = session->user;
    const char *announcement = decision->pending->announcement;
    struct moot_envelope envelope = { .kind = "mcp/request:authorization/respond",
                                      .to = &decision->pending_to,
                                      .to_count = 1,
                                      .correlation_id =
                                          *announcement ? announcement : NULL,
                                      .on_done = on_done,
                                      .user = session };
    struct json_writer w;
    enum moot_err err;
    struct buf payload;

    buf_init(&payload, (size_t)8 * DECISION_REASON);
    json_write_init(&w, &payload);
    say_authorization(&w, said);
    envelope.payload = buf_cstr(&payload);
    err = moot_send(session->moot, &envelope, NULL);
    buf_done(&payload);
    return err;
}

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

    if (decision->pending)
        return respond(
            session,
            &(struct say_decision){ .id = str_of(decision->pending->id),
                                    .decision = str_of(word),
                                    .delegate = str_of(decision->options->delegate),
                                    .reason = buf_str(&decision->reason),
                                    .valid_until_ms = until_ms },
            on_done);
    (void)find_known(session, &p);
    return decide(session, word,
                  &(struct moot_decision){ .id = p.id,
                                           .to = decision->options->delegate,
                                           .reason = buf_cstr(&decision->reason),
                                           .valid_until_ms = until_ms,
                                           .on_done = on_done,
                                           .user = session });
}
