/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the topic allows it (self_approve) the client's own user is asked as well: a form
 * with the call in full. Yes: the hall's own seat asks for it in the room, and says who
 * has approved. No: the proposal is withdrawn. Anybody else may decide meanwhile.
 */
#include "base/cleanup.h"
#include "mcp/message.h"
#include "mcp/serve.h"
#include "mcpdoor/wish_priv.h"
#include "participant/pick.h"
#include "participant/proposals.h"

enum { WORDS = 4096 };

static const struct proposed *proposal_of(const struct wish *wish)
{
    return occupant_find_proposal(wish->attendee->occupant, str_of(wish->call_id));
}

bool wish_may_approve(const struct wish *wish)
{
    const struct hall *hall = wish->attendee->hall;
    const struct wisher *wisher = wish_latest(wish);
    const struct proposed *p = proposal_of(wish);

    return hall->settings.may_self_approve && hall->occupant && wisher &&
           wisher->can & CAN_FILL_FORMS && p && p->params.len;
}

/* --- asking --- */

static void put_call(struct buf *out, const struct wish *wish, struct str params)
{
    static const struct str path[] = { S("arguments") };
    struct json_span arguments = mcp_message_find(
        (struct json_span){ .type = JSON_OBJECT, .text = params }, path, 1);

    buf_put(out, S("Approve this call? "));
    buf_put(out, wish->owner);
    buf_put(out, S(": "));
    buf_put(out, wish->method);
    buf_putc(out, ' ');
    buf_put(out, wish->key);
    buf_putc(out, ' ');
    buf_put(out, arguments.text.ptr ? span_raw(arguments) : S("{}"));
}

void wish_put_approval(struct buf *out, const struct wish *wish)
{
    static const char form[] =
        "{\"type\":\"object\",\"properties\":{\"approve\":{\"type\":"
        "\"boolean\",\"title\":\"Approve\"}},\"required\":["
        "\"approve\"]}";
    CLEANUP(buf_done) struct buf text;
    struct json_writer w;

    buf_init(&text, wish_room(wish));
    put_call(&text, wish, proposal_of(wish)->params);
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("mode"), S("form"));
    json_put_str(&w, S("message"), buf_str(&text));
    json_key(&w, S("requestedSchema"));
    json_raw(&w, str_of(form));
    json_object_close(&w);
}

/* --- deciding --- */

static bool says_yes(struct str result)
{
    static const struct str action_path[] = { S("action") };
    static const struct str approve_path[] = { S("content"), S("approve") };
    struct json_span answer = { .type = JSON_OBJECT, .text = result };
    struct json_span action = mcp_message_find(answer, action_path, 1);
    struct json_span approve = mcp_message_find(answer, approve_path, 2);

    return pick_is(action, JSON_STRING) && json_string_is(action, S("accept")) &&
           pick_is(approve, JSON_TRUE);
}

static void put_request(struct buf *out, const struct wish *wish, struct str params)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("jsonrpc"), S("2.0"));
    json_put_str(&w, S("id"), str_of(wish->call_id));
    json_put_str(&w, S("method"), wish->method);
    json_key(&w, S("params"));
    json_raw(&w, params);
    json_object_close(&w);
}

static void put_approver(struct buf *out, const struct wish *wish)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("self_approved"), wish->attendee->id);
    json_object_close(&w);
}

static enum err fulfil(const struct wish *wish)
{
    const struct proposed *p = proposal_of(wish);
    CLEANUP(buf_done) struct buf kind = {}, payload = {}, members = {};

    if (!p)
        return ERR_NOT_FOUND;
    buf_init(&kind, WORDS);
    buf_init(&payload, wish_room(wish));
    buf_init(&members, WORDS);
    buf_putf(&kind, "mcp/request:" STR_FMT "%s" STR_FMT, STR_ARG(wish->method),
             p->name.len ? ":" : "", STR_ARG(p->name));
    put_request(&payload, wish, p->params);
    put_approver(&members, wish);
    return occupant_say(wish->attendee->hall->occupant,
                        &(struct saying){ .kind = buf_str(&kind),
                                          .payload = buf_str(&payload),
                                          .correlation_id = str_of(wish->call_id),
                                          .to = &wish->owner,
                                          .to_count = 1,
                                          .members = buf_str(&members) },
                        wish_now(wish), NULL, NULL);
}

/* Who does not fill the form in leaves it to others; who says no takes it back. */
static bool says_no(struct str member, struct str json)
{
    static const struct str path[] = { S("action") };
    struct json_span action = mcp_message_find(
        (struct json_span){ .type = JSON_OBJECT, .text = json }, path, 1);

    if (!str_eq(member, S("result")) || !pick_is(action, JSON_STRING))
        return false;
    return !json_string_is(action, S("cancel")) && !says_yes(json);
}

void wish_decide(struct wish *wish, struct str member, struct str json)
{
    if (str_eq(member, S("result")) && says_yes(json)) {
        (void)fulfil(wish); /* else others may still do it */
        return;
    }
    if (!says_no(member, json))
        return;
    wish_stop(wish, S("its own user said no"));
    buf_clear(&wish->answer);
    wish_put_failure(&wish->answer, wish->method, wish->is_modern,
                     S("it was not approved"), &wish->was_error);
    wish->state = WISH_ANSWERED;
    wish->tell_ms = UINT64_MAX;
    wish_due(wish, 0);
}
