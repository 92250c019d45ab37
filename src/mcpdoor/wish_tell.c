/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What those who wait hear before the answer: progress, with their own token, messages of
 * the level that they want, and that somebody has yet to decide.
 */
#include "base/cleanup.h"
#include "mcp/message.h"
#include "mcp/serve.h"
#include "mcpdoor/wish_priv.h"
#include "participant/pick.h"

enum { WORDS = 4096 };

static void put_params(struct buf *out, struct json_span token, struct str params)
{
    static const struct str without[] = { S("progressToken") };
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (token.text.ptr) {
        json_key(&w, S("progressToken"));
        json_span(&w, token);
    }
    json_put_members(&w, params, (struct str_list){ without, token.text.ptr ? 1 : 0 });
    json_object_close(&w);
}

static void tell(const struct wisher *wisher, struct str method, struct json_span token,
                 struct str params)
{
    CLEANUP(buf_done) struct buf said, message;

    buf_init(&said, params.len + span_raw(token).len + WORDS);
    buf_init(&message, said.max + WORDS);
    put_params(&said, token, params);
    mcp_message_put_notification(&message, method, buf_str(&said));
    strand_send(wisher->strand, buf_str(&message), wish_now(wisher->wish).mono_ms);
}

static bool wants_level(const struct wisher *wisher, struct json_span params)
{
    static const struct str path[] = { S("level") };
    struct json_span level = mcp_message_find(params, path, 1);
    int wanted = wisher->visit ? wisher->visit->level : wisher->level;

    return wanted >= 0 && pick_is(level, JSON_STRING) &&
           serve_level(level.text) >= wanted;
}

static void tell_all(struct wish *wish, struct str method, struct json_span params)
{
    bool is_progress = str_eq(method, S("notifications/progress"));
    struct wisher *wisher;

    LIST_FOREACH(wisher, &wish->wishers, link) {
        if (is_progress && wisher->progress.text.ptr)
            tell(wisher, method, wisher->progress, params.text);
        else if (!is_progress && wants_level(wisher, params))
            tell(wisher, method, (struct json_span){}, params.text);
    }
}

bool wish_hear(struct attendee *a, const struct heard *heard)
{
    const struct envelope *env = &heard->env;
    struct str method = env->kind.method;
    struct json_span params = {};
    struct wish *wish;

    if (heard->is_system || heard->is_mine || env->kind.type != KIND_REQUEST ||
        !env->correlation_id.ptr ||
        (!str_eq(method, S("notifications/progress")) &&
         !str_eq(method, S("notifications/message"))))
        return false;
    wish = wish_of_call(a, env->correlation_id);
    if (!wish || !str_eq(wish->owner, env->from))
        return false;
    if (PICK(env->payload, { S("params"), &params }) && pick_is(params, JSON_OBJECT))
        tell_all(wish, method, params);
    return true;
}

void wish_put_waiting(struct buf *out, const struct wish *wish)
{
    if (!wish->is_authorizing) {
        buf_put(out, S("waiting for a decision"));
        if (wish->needed)
            buf_putf(out, ": %u of %u approvals", wish->given, wish->needed);
        return;
    }
    buf_put(out, wish->owner);
    buf_put(out, S(" asks whether it may run this"));
    if (wish->why && *wish->why) {
        buf_put(out, S(": "));
        buf_put(out, str_of(wish->why));
    }
}

/* Rises with each, and says for whom there is a reason to wait. */
void wish_tell_waiting(struct wish *wish)
{
    CLEANUP(buf_done) struct buf params, text;
    struct wisher *wisher;
    struct json_writer w;

    buf_init(&text, (size_t)4 * WORDS);
    buf_init(&params, (size_t)32 * WORDS);
    wish_put_waiting(&text, wish);
    if (!wish->is_authorizing)
        buf_putf(&text, " (proposal %s)", wish->call_id);
    json_write_init(&w, &params);
    json_object_open(&w);
    json_put_uint(&w, S("progress"), ++wish->told);
    json_put_str(&w, S("message"), buf_str(&text));
    json_object_close(&w);
    LIST_FOREACH(wisher, &wish->wishers, link)
        if (wisher->progress.text.ptr)
            tell(wisher, S("notifications/progress"), wisher->progress, buf_str(&params));
    wish->tell_ms = wish_now(wish).mono_ms + WISH_PROGRESS_MS;
}
