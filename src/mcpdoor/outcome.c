/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of a call, as its client is told. What the owner said goes out as it is;
 * all else is the room's, and becomes words: a tool's error that a model can read.
 */
#include "base/cleanup.h"
#include "mcp/era.h"
#include "mcp/message.h"
#include "mcp/result.h"
#include "mcpdoor/rename.h"
#include "mcpdoor/wish_priv.h"
#include "participant/pick.h"

enum { WORDS = 8 << 10 }; /* of one that decides */

/* --- words --- */

/* "WHAT", or "WHAT: WHY". */
static void put_why(struct buf *out, const char *what, struct str why)
{
    buf_put(out, str_of(what));
    if (why.len)
        buf_putf(out, ": " STR_FMT, STR_ARG(why));
}

static void put_by(struct buf *out, struct str by, const char *what, struct str why)
{
    buf_put(out, by.len ? by : S("somebody"));
    buf_putc(out, ' ');
    put_why(out, what, why);
}

static void put_time(struct buf *out, uint64_t ms)
{
    if (ms % 60'000 == 0)
        buf_putf(out, "%llu minute%s", (unsigned long long)ms / 60'000,
                 ms == 60'000 ? "" : "s");
    else
        buf_putf(out, "%llu s", (unsigned long long)(ms + 999) / 1000);
}

static void put_declined(struct buf *out, const struct wish *wish,
                         const struct outcome *outcome)
{
    uint64_t ms = wish->attendee->hall->settings.proposal_ms;

    if (str_eq(outcome->error, S("expired"))) {
        buf_put(out, S("nobody decided within "));
        put_time(out, ms ? ms : WISH_PROPOSAL_MS);
    } else if (str_eq(outcome->error, S("withdrawn"))) {
        put_by(out, outcome->by, "withdrew it", outcome->message);
    } else {
        put_by(out, outcome->by, "rejected it", outcome->message);
    }
}

/* Where nobody decided it is the owner who says no. */
static void put_denied(struct buf *out, const struct wish *wish,
                       const struct outcome *outcome)
{
    if (!outcome->by.len || str_eq(outcome->by, wish->owner))
        put_why(out, "it was denied", outcome->message);
    else
        put_by(out, outcome->by, "denied it", outcome->message);
}

static void put_refused(struct buf *out, const struct outcome *outcome)
{
    struct json_span after = {};
    uint64_t ms;

    buf_putf(out, "the gateway refused it: " STR_FMT, STR_ARG(outcome->error));
    if (outcome->json.text.ptr && PICK(outcome->json, { S("retry_after_ms"), &after }) &&
        pick_is(after, JSON_NUMBER) && !str_to_u64(after.text, UINT32_MAX, &ms)) {
        buf_put(out, S(", try again in "));
        put_time(out, ms);
    } else if (outcome->message.len) {
        buf_putf(out, " (" STR_FMT ")", STR_ARG(outcome->message));
    }
}

static void put_words(struct buf *out, const struct wish *wish,
                      const struct outcome *outcome)
{
    switch (outcome->type) {
    case ASK_DENIED: put_denied(out, wish, outcome); break;
    case ASK_DECLINED: put_declined(out, wish, outcome); break;
    case ASK_REFUSED: put_refused(out, outcome); break;
    case ASK_TIMED_OUT: put_by(out, wish->owner, "did not answer in time", S("")); break;
    case ASK_GONE: put_by(out, wish->owner, "has left before it answered", S("")); break;
    case ASK_LOST:
        buf_put(out, S("the connection to the room broke; whether it ran is not known"));
        break;
    case ASK_CANCELLED: put_why(out, "it was cancelled", outcome->message); break;
    case ASK_ERROR: put_by(out, wish->owner, "asks for an authorization", S("")); break;
    case ASK_RESULT:
    case ASK_TOOL_ERROR:
    case ASK_SENT: break;
    }
}

void wish_put_failure(struct buf *out, struct str method, bool is_modern, struct str text,
                      bool *ret_is_error)
{
    const struct result_of of = { .method = method, .is_modern = is_modern };
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, text.len * 6 + WORDS);
    result_write_failure(&reply, &of, text);
    *ret_is_error = reply.is_error;
    if (reply.is_error)
        buf_put(out, buf_str(&reply.json));
    else
        (void)result_write(out, &of, buf_str(&reply.json));
}

/* --- what the owner said --- */

/* Who took the call up may have asked for it in the other era. */
static enum err put_in_era(struct buf *out, const struct wish *wish,
                           struct json_span result)
{
    static const struct str path[] = { S("resultType") };
    bool is_modern = mcp_message_find(result, path, COUNT(path)).text.ptr;
    struct str uri = str_eq(wish->method, S("resources/read")) ? wish->key : S("");

    return era_put_result(out,
                          &(struct era_change){ .method = wish->method,
                                                .is_modern_from = is_modern,
                                                .is_modern_to = wish->is_modern,
                                                .uri = uri },
                          result);
}

static enum err put_result(struct buf *out, const struct wish *wish,
                           struct json_span result)
{
    const struct showcase *showcase = wish->attendee->hall->showcase;
    CLEANUP(buf_done) struct buf renamed = {};
    enum err err;

    if (result.type != JSON_OBJECT)
        return ERR_INVALID;
    if (!showcase_renames(showcase, wish->owner))
        return put_in_era(out, wish, result);
    buf_init(&renamed, wish_room(wish));
    err = rename_result(&renamed, showcase, wish->owner, wish->method, result);
    result.text = buf_str(&renamed);
    return err ? err : put_in_era(out, wish, result);
}

/* The room's own code, which means nothing to an MCP client. */
static bool is_rooms_own(const struct outcome *outcome)
{
    static const struct str path[] = { S("data"), S("authorizationRequest") };

    return outcome->code == -32001 &&
           mcp_message_find(outcome->json, path, COUNT(path)).text.ptr;
}

static bool put_own_words(struct buf *out, const struct wish *wish,
                          const struct outcome *outcome, bool *ret_is_error)
{
    switch (outcome->type) {
    case ASK_RESULT:
    case ASK_TOOL_ERROR:
        *ret_is_error = false;
        if (!put_result(out, wish, outcome->json) && !out->is_full)
            return true;
        buf_clear(out);
        out->is_full = false;
        return false;
    case ASK_ERROR:
        if (is_rooms_own(outcome))
            return false;
        *ret_is_error = true;
        buf_put(out, outcome->json.text);
        return true;
    default: return false;
    }
}

void wish_put_outcome(struct buf *out, const struct wish *wish,
                      const struct outcome *outcome, bool *ret_is_error)
{
    CLEANUP(buf_done) struct buf words = {};

    if (put_own_words(out, wish, outcome, ret_is_error))
        return;
    buf_init(&words, WORDS);
    put_words(&words, wish, outcome);
    if (!words.len)
        put_by(&words, wish->owner, "answered what cannot be passed on", S(""));
    wish_put_failure(out, wish->method, wish->is_modern, buf_str(&words), ret_is_error);
}
