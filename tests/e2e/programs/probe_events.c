/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

static int needs_comma;

void put_key(const char *key)
{
    printf("%s\"%s\":", needs_comma ? "," : "", key);
    needs_comma = 1;
}

void put_quoted(const char *text)
{
    size_t size = moot_quote(text, NULL, 0) + 1;
    char *quoted = malloc(size);

    if (!quoted)
        abort();
    (void)moot_quote(text, quoted, size);
    (void)fputs(quoted, stdout);
    free(quoted);
}

void put_text(const char *key, const char *text)
{
    put_key(key);
    if (text)
        put_quoted(text);
    else
        (void)fputs("null", stdout);
}

void put_number(const char *key, double number)
{
    put_key(key);
    printf("%.17g", number);
}

void put_bool(const char *key, bool value)
{
    put_key(key);
    (void)fputs(value ? "true" : "false", stdout);
}

void put_json(const char *key, struct moot_str json)
{
    put_key(key);
    if (json.len)
        (void)fwrite(json.ptr, 1, json.len, stdout);
    else
        (void)fputs("null", stdout);
}

static void put_texts(const char *key, const char *const *texts, size_t count)
{
    size_t i;

    put_key(key);
    (void)putchar('[');
    for (i = 0; i < count; i++) {
        if (i)
            (void)putchar(',');
        put_quoted(texts[i]);
    }
    (void)putchar(']');
}

void list_begin(const char *key)
{
    put_key(key);
    (void)putchar('[');
    needs_comma = 0;
}

void item_begin(void)
{
    (void)fputs(needs_comma ? ",{" : "{", stdout);
    needs_comma = 0;
}

void item_end(void)
{
    (void)putchar('}');
    needs_comma = 1;
}

void list_end(void)
{
    (void)putchar(']');
    needs_comma = 1;
}

void line_begin(const char *key, const char *name)
{
    needs_comma = 0;
    (void)putchar('{');
    put_text(key, name);
}

void line_end(void)
{
    (void)fputs("}\n", stdout);
    (void)fflush(stdout);
}

void put_tag(const char *tag)
{
    struct moot_str json;

    json.ptr = tag;
    json.len = tag ? strlen(tag) : 0;
    if (tag)
        put_json("tag", json);
}

void put_value(const struct moot_json *json)
{
    const struct moot_json *at;
    double number;

    if (moot_text(json)) {
        put_quoted(moot_text(json));
    } else if (moot_number(json, &number)) {
        printf("%.17g", number);
    } else if (!moot_first(json)) {
        (void)fwrite(moot_raw(json).ptr, 1, moot_raw(json).len, stdout);
    } else {
        bool is_object = *moot_raw(json).ptr == '{';

        (void)putchar(is_object ? '{' : '[');
        for (at = moot_first(json); at; at = moot_next(at)) {
            if (at != moot_first(json))
                (void)putchar(',');
            if (is_object) {
                put_quoted(moot_key(at));
                (void)putchar(':');
            }
            put_value(at);
        }
        (void)putchar(is_object ? '}' : ']');
    }
}

/* --- names --- */

const char *const probe_errors[] = { "ok",        "invalid",   "offline",
                                     "forbidden", "too_large", "full",
                                     "unknown",   "state",     "ended" };
const char *const probe_states[] = { "connecting", "joined", "waiting", "over" };
static const char *const changes[] = { "here", "joins", "leaves", "changes" };
static const char *const proposal_states[] = { "open", "fulfilled", "rejected",
                                               "withdrawn", "expired" };
static const char *const outcomes[] = { "result",  "tool_error", "error",     "denied",
                                        "refused", "declined",   "timed_out", "cancelled",
                                        "gone",    "lost",       "sent" };
static const char *const stages[] = { "proposed", "taken_up", "authorizing", "underway",
                                      "approved" };

/* --- events --- */

static void on_state(struct moot *m, void *user, enum moot_state state, const char *why)
{
    (void)m;
    (void)user;
    line_begin("event", "state");
    put_text("state", probe_states[state]);
    put_text("why", why);
    line_end();
}

static void on_welcome(struct moot *m, void *user, bool resumed)
{
    (void)user;
    line_begin("event", "welcome");
    put_bool("resumed", resumed);
    put_text("id", moot_id(m));
    line_end();
}

void put_participant(const struct moot_participant *who)
{
    put_text("id", who->id);
    put_text("type", who->type);
    put_json("capabilities", who->capabilities);
}

static void on_presence(struct moot *m, void *user, enum moot_presence change,
                        const struct moot_participant *who)
{
    (void)m;
    (void)user;
    line_begin("event", "presence");
    put_text("change", changes[change]);
    put_participant(who);
    line_end();
}

static void on_gap(struct moot *m, void *user, uint64_t missed)
{
    (void)m;
    (void)user;
    line_begin("event", "gap");
    put_number("missed", (double)missed);
    line_end();
}

static void on_chat(struct moot *m, void *user, const struct moot_message *message,
                    const char *text)
{
    (void)m;
    (void)user;
    line_begin("event", "chat");
    put_text("id", message->id);
    put_text("from", message->from);
    put_text("text", text);
    put_bool("is_replay", message->is_replay);
    put_bool("is_mine", message->is_mine);
    line_end();
}

/* Written member by member, so that every one of them is seen; `message` is the text. */
void probe_on_message(struct moot *m, void *user, const struct moot_message *message)
{
    (void)m;
    (void)user;
    line_begin("event", "message");
    put_text("id", message->id);
    put_text("from", message->from);
    put_text("kind", message->kind);
    put_text("ts", message->ts);
    put_text("correlation_id", message->correlation_id);
    put_texts("to", message->to, message->to_count);
    put_json("payload", message->payload);
    put_json("message", message->text);
    put_bool("is_replay", message->is_replay);
    put_bool("is_mine", message->is_mine);
    line_end();
}

void put_proposal(const struct moot_proposal *p)
{
    put_text("id", p->id);
    put_text("proposer", p->proposer);
    put_text("owner", p->owner);
    put_text("method", p->method);
    put_text("name", p->name);
    put_texts("to", p->to, p->to_count);
    put_json("params", p->params);
    put_text("reason", p->reason);
    put_text("by", p->by);
    put_number("created_ms", (double)p->created_ms);
    put_number("expires_ms", (double)p->expires_ms);
    put_text("state", proposal_states[p->state]);
    put_bool("is_mine", p->is_mine);
    put_number("needed", p->needed);
    put_number("given", p->given);
    put_texts("approvers", p->approvers, p->approver_count);
    put_text("authorization_id", p->authorization_id);
    put_text("asked", p->asked);
}

static void on_proposal(struct moot *m, void *user, const struct moot_proposal *proposal)
{
    (void)m;
    (void)user;
    line_begin("event", "proposal");
    put_proposal(proposal);
    line_end();
}

static void on_refusal(struct moot *m, void *user, const struct moot_refusal *refusal)
{
    (void)m;
    (void)user;
    line_begin("event", "refusal");
    put_text("id", refusal->id);
    put_text("error", refusal->error);
    put_text("message", refusal->message);
    put_json("details", refusal->details);
    line_end();
}

static void on_offence(struct moot *m, void *user, const struct moot_offence *offence)
{
    (void)m;
    (void)user;
    line_begin("event", "offence");
    put_text("from", offence->from);
    put_text("what", offence->what);
    put_text("field", offence->field);
    put_number("count", (double)offence->count);
    line_end();
}

void probe_on_done(struct moot *m, void *user, const struct moot_outcome *outcome)
{
    (void)m;
    line_begin("event", "done");
    put_tag(user);
    put_text("id", outcome->id);
    put_text("type", outcomes[outcome->type]);
    put_text("by", outcome->by);
    put_text("error", outcome->error);
    put_text("message", outcome->message);
    put_number("code", (double)outcome->code);
    put_json("json", outcome->json);
    line_end();
}

void probe_on_progress(struct moot *m, void *user, const struct moot_progress *progress)
{
    (void)m;
    line_begin("event", "progress");
    put_tag(user);
    put_text("id", progress->id);
    put_text("type", stages[progress->type]);
    put_text("by", progress->by);
    put_text("message", progress->message);
    put_number("done", progress->done);
    put_number("total", progress->total);
    line_end();
}

const struct moot_handlers probe_handlers = {
    on_state, on_welcome,  on_presence, on_gap,     on_chat,
    NULL,     on_proposal, on_refusal,  on_offence,
};

/* --- calls --- */

enum { MAX_CALLS = 4096 };

static struct moot_call *calls[MAX_CALLS];

static size_t number_of(const struct moot_call *call)
{
    for (size_t i = 1; i < MAX_CALLS; i++)
        if (calls[i] == call)
            return i;
    return 0;
}

static size_t enter_call(struct moot_call *call)
{
    static size_t last;

    for (size_t i = 1; i < MAX_CALLS; i++) {
        last = last % (MAX_CALLS - 1) + 1;
        if (!calls[last]) {
            calls[last] = call;
            return last;
        }
    }
    return 0;
}

static void on_cancel(struct moot *m, void *user, struct moot_call *call)
{
    (void)m;
    (void)user;
    line_begin("event", "cancelled");
    put_number("call", (double)number_of(call));
    put_bool("is_cancelled", moot_call_is_cancelled(call));
    line_end();
}

void probe_on_call(struct moot *m, void *user, struct moot_call *call)
{
    const char *says = user;
    size_t number = says ? 0 : enter_call(call);

    (void)m;
    line_begin("event", "call");
    put_number("call", (double)number);
    put_text("from", moot_call_from(call));
    put_text("method", moot_call_method(call));
    put_text("name", moot_call_name(call));
    put_json("params", moot_raw(moot_call_params(call)));
    line_end();
    if (number)
        moot_call_on_cancel(call, on_cancel);
    else
        (void)moot_reply_text(call, says ? says : "too many calls");
}

struct moot_call *probe_find_call(size_t number)
{
    return number < MAX_CALLS ? calls[number] : NULL;
}

struct moot_call *probe_take_call(size_t number)
{
    struct moot_call *call = probe_find_call(number);

    if (call)
        calls[number] = NULL;
    return call;
}

void probe_forget_calls(void)
{
    memset(calls, 0, sizeof(calls));
}
