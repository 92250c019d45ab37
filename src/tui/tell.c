/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/tell.h"

#include <time.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "envelope/kind.h"
#include "json/json.h"
#include "tui/pretty.h"
#include "tui/wrap.h"

enum {
    ARENA_BYTES = 64 << 20,
    TEXT_BYTES = 16 << 20,
    SHORT_BYTES = 1024, /* of arguments and answers */
    SHORT_LINES = 12,
    NAMES = 4,
};

/* An envelope while it is told. */
struct story {
    struct telling *t;
    const struct tell_envelope *env;
    struct kind kind;
    const struct json *payload; /* NULL: it cannot be read */
};

void tell_init(struct telling *t)
{
    *t = (struct telling){};
    buf_init(&t->title, TELL_TITLE_BYTES);
    buf_init(&t->body, TELL_BODY_BYTES);
    buf_init(&t->about, 512);
}

void tell_done(struct telling *t)
{
    buf_done(&t->title);
    buf_done(&t->body);
    buf_done(&t->about);
}

void tell_put_name(struct buf *out, struct str name)
{
    struct buf plain;

    buf_init(&plain, TEXT_BYTES);
    plain_put(&plain, str_slice(name, 0, 4096), PLAIN_LINE);
    wrap_put_cut(out, buf_str(&plain), TELL_NAME_COLUMNS);
    buf_done(&plain);
}

void tell_put_names(struct buf *out, const struct str *names, size_t count)
{
    for (size_t i = 0; i < count && i < NAMES; i++) {
        if (i > 0)
            buf_put(out, S(", "));
        tell_put_name(out, names[i]);
    }
    if (count > NAMES)
        buf_putf(out, " and %zu more", count - NAMES);
}

void tell_put_call(struct buf *out, struct str method, struct str name)
{
    bool is_tool = str_eq(method, S("tools/call")) && name.len > 0;

    if (!is_tool)
        tell_put_name(out, method);
    if (!is_tool && name.len > 0)
        buf_putc(out, ' ');
    if (name.len > 0)
        tell_put_name(out, name);
}

static void title(struct story *s, struct str words)
{
    buf_put(&s->t->title, words);
}

static void put_addressees(struct story *s)
{
    if (s->env->to_count == 0)
        return;
    title(s, wcwidth(L'→') == 1 ? S(" → ") : S(" > "));
    tell_put_names(&s->t->title, s->env->to, s->env->to_count);
}

static const struct json *member(const struct json *object, struct str name)
{
    return json_find(object, name);
}

/* --- bodies --- */

/* The beginning, in whole characters and lines. */
static struct str shorten(struct str text, size_t bytes, size_t lines)
{
    text = utf8_cut(text, bytes);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\n' && --lines == 0)
            return str_slice(text, 0, i);
    return text;
}

static struct str trim_end(struct str text)
{
    while (text.len && strchr("\n ", text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Adds what is plain already; of more than fits the beginning. A tab is four spaces. */
static void put_body(struct story *s, struct str text, size_t bytes, size_t lines)
{
    struct buf *body = &s->t->body;
    struct str shown;

    text = trim_end(text);
    if (text.len == 0)
        return;
    if (body->len)
        buf_putc(body, '\n');
    if (bytes > body->max - body->len)
        bytes = body->max - body->len;
    shown = shorten(text, bytes, lines);
    s->t->is_cut = s->t->is_cut || shown.len < text.len;
    for (size_t i = 0; i < shown.len; i++)
        if (shown.ptr[i] == '\t')
            buf_put(body, S("    "));
        else
            buf_putc(body, shown.ptr[i]);
    s->t->is_cut = s->t->is_cut || body->is_full;
}

static void put_text(struct story *s, struct str text, size_t bytes, size_t lines)
{
    struct buf plain;

    buf_init(&plain, TEXT_BYTES);
    plain_put(&plain, text, PLAIN_TEXT);
    put_body(s, buf_str(&plain), bytes, lines);
    buf_done(&plain);
}

static void put_short(struct story *s, struct str text)
{
    put_text(s, text, SHORT_BYTES, SHORT_LINES);
}

/* JSON on one line: of an object its members. */
static void put_json(struct story *s, const struct json *json)
{
    struct buf line;
    enum err err;

    if (!json)
        return;
    buf_init(&line, TEXT_BYTES);
    err = json->type == JSON_OBJECT ? pretty_put_members(&line, json->raw)
                                    : pretty_put(&line, json->raw, PRETTY_LINE);
    if (!err)
        put_body(s, buf_str(&line), SHORT_BYTES, SHORT_LINES);
    s->t->is_cut = s->t->is_cut || line.is_full;
    buf_done(&line);
}

/* "why: …", where there is a reason. */
static void put_reason(struct story *s, const struct json *reason)
{
    struct buf line;

    if (json_text(reason).len == 0)
        return;
    buf_init(&line, TEXT_BYTES);
    buf_put(&line, S("why: "));
    plain_put(&line, json_text(reason), PLAIN_TEXT);
    put_body(s, buf_str(&line), SHORT_BYTES, SHORT_LINES);
    buf_done(&line);
}

/* The name that a kind may leave out and the payload has. */
static struct str name_of(const struct story *s)
{
    const struct json *params = member(s->payload, S("params"));

    if (s->kind.context.ptr)
        return s->kind.context;
    if (str_starts(s->kind.method, S("resources/")))
        return json_text(member(params, S("uri")));
    return json_text(member(params, S("name")));
}

/* Of a call or a proposal: what the title has not said yet. */
static void put_params(struct story *s)
{
    const struct json *params = member(s->payload, S("params"));

    put_json(s, name_of(s).len ? member(params, S("arguments")) : params);
}

/* --- requests --- */

static void tell_call(struct story *s)
{
    bool is_tool = str_eq(s->kind.method, S("tools/call"));

    s->t->type = TELL_CALL;
    title(s, is_tool ? S("calls ") : S("asks for "));
    tell_put_call(&s->t->title, s->kind.method, name_of(s));
    put_addressees(s);
    put_params(s);
}

static void tell_progress(struct story *s)
{
    const struct json *params = member(s->payload, S("params"));
    const struct json *done = member(params, S("progress"));
    const struct json *total = member(params, S("total"));

    s->t->type = TELL_PROGRESS;
    buf_put(&s->t->about, json_text(member(params, S("progressToken"))));
    if (done && done->type == JSON_NUMBER)
        buf_put(&s->t->title, str_slice(done->text, 0, 12));
    if (total && total->type == JSON_NUMBER) {
        title(s, S(" of "));
        buf_put(&s->t->title, str_slice(total->text, 0, 12));
    }
    if (s->t->title.len == 0)
        title(s, S("under way"));
    put_short(s, json_text(member(params, S("message"))));
}

static void tell_cancelled(struct story *s)
{
    s->t->type = TELL_DECISION;
    title(s, S("cancels it"));
    put_short(s, json_text(member(member(s->payload, S("params")), S("reason"))));
}

static void tell_authorization(struct story *s)
{
    const struct json *params = member(s->payload, S("params"));

    s->t->type = TELL_PROPOSAL;
    title(s, S("asks "));
    if (s->env->to_count == 1) {
        tell_put_name(&s->t->title, s->env->to[0]);
        title(s, S(" "));
    }
    title(s, S("whether "));
    tell_put_name(&s->t->title, json_text(member(params, S("requester"))));
    title(s, S(" may call "));
    tell_put_name(&s->t->title, json_text(member(params, S("tool"))));
    put_json(s, member(params, S("arguments")));
    put_reason(s, member(params, S("reason")));
}

/* ", and the same call until 13:00" */
static void put_until(struct story *s, struct str until)
{
    uint64_t wall_ms;
    struct tm tm;
    time_t seconds;

    if (clock_parse(until, &wall_ms))
        return;
    seconds = (time_t)(wall_ms / 1000);
    (void)localtime_r(&seconds, &tm); // lint: a person reads it, where he is
    buf_putf(&s->t->title, ", and the same call until %02d:%02d", tm.tm_hour, tm.tm_min);
}

static void tell_respond(struct story *s)
{
    const struct json *params = member(s->payload, S("params"));
    struct str decision = json_text(member(params, S("decision")));

    s->t->type = TELL_DECISION;
    if (str_eq(decision, S("approve"))) {
        title(s, S("allows it"));
        put_until(s, json_text(member(params, S("validUntil"))));
    } else if (str_eq(decision, S("deny"))) {
        title(s, S("does not allow it"));
        put_until(s, json_text(member(params, S("validUntil"))));
    } else if (str_eq(decision, S("delegate"))) {
        title(s, S("leaves it to "));
        tell_put_name(&s->t->title, json_text(member(params, S("delegate"))));
    } else {
        title(s, S("decides: "));
        tell_put_name(&s->t->title, decision);
    }
    put_short(s, json_text(member(params, S("reason"))));
}

static void tell_notification(struct story *s)
{
    s->t->type = TELL_OTHER;
    title(s, S("says "));
    tell_put_name(&s->t->title, s->kind.method);
    put_addressees(s);
    put_json(s, member(s->payload, S("params")));
}

/* clang-format off */
static const struct {
    struct str method;
    void (*tell)(struct story *s);
} requests[] = {
    { S("notifications/progress"),              tell_progress },
    { S("notifications/cancelled"),             tell_cancelled },
    { S("notifications/authorization/request"), tell_authorization },
    { S("authorization/respond"),               tell_respond },
};
/* clang-format on */

static void tell_request(struct story *s)
{
    for (size_t i = 0; i < COUNT(requests); i++)
        if (str_eq(requests[i].method, s->kind.method)) {
            requests[i].tell(s);
            return;
        }
    if (kind_is_notification(&s->kind))
        tell_notification(s);
    else
        tell_call(s);
}

/* --- answers --- */

static void tell_error(struct story *s, const struct json *error)
{
    const struct json *code = member(error, S("code"));
    bool is_provisional = member(member(error, S("data")), S("authorizationRequest"));

    s->t->outcome = TELL_FAILED;
    title(s, S("fails"));
    if (code && str_eq(code->text, S("-32002"))) {
        s->t->outcome = TELL_DENIED;
        buf_clear(&s->t->title);
        title(s, S("was not allowed to"));
    } else if (code && str_eq(code->text, S("-32001")) && is_provisional) {
        s->t->outcome = TELL_PROVISIONAL;
        buf_clear(&s->t->title);
        title(s, S("wants it authorized first"));
    }
    put_short(s, json_text(member(error, S("message"))));
}

/* What a tool gives back: texts, and the names of everything else. */
static void put_content(struct story *s, const struct json *content)
{
    JSON_FOREACH(item, content) {
        struct str text = json_text(member(item, S("text")));
        struct str type = json_text(member(item, S("type")));

        if (text.len) {
            put_short(s, text);
        } else {
            struct buf line;

            buf_init(&line, 512);
            buf_putc(&line, '[');
            tell_put_name(&line, type);
            buf_putc(&line, ']');
            put_body(s, buf_str(&line), SHORT_BYTES, 1);
            buf_done(&line);
        }
        if (s->t->is_cut || s->t->body.len > SHORT_BYTES) {
            s->t->is_cut = s->t->is_cut || item->next;
            return;
        }
    }
}

static void tell_result(struct story *s, const struct json *result)
{
    const struct json *content = member(result, S("content"));
    const struct json *is_error = member(result, S("isError"));

    title(s, S("answers"));
    if (is_error && is_error->type == JSON_TRUE) {
        s->t->outcome = TELL_FAILED;
        buf_clear(&s->t->title);
        title(s, S("fails"));
    }
    if (content && content->type == JSON_ARRAY && content->first)
        put_content(s, content);
    else
        put_json(s, result);
}

static void tell_response(struct story *s)
{
    const struct json *error = member(s->payload, S("error"));

    s->t->type = TELL_ANSWER;
    if (error)
        tell_error(s, error);
    else
        tell_result(s, member(s->payload, S("result")));
}

/* --- proposals and the rest --- */

static void tell_proposal(struct story *s)
{
    s->t->type = TELL_PROPOSAL;
    title(s, S("proposes "));
    tell_put_call(&s->t->title, s->kind.method, name_of(s));
    put_addressees(s);
    put_params(s);
    put_reason(s, member(s->payload, S("reason")));
}

static void tell_decision(struct story *s, struct str words)
{
    s->t->type = TELL_DECISION;
    title(s, words);
    put_short(s, json_text(member(s->payload, S("reason"))));
}

static void tell_chat(struct story *s)
{
    const struct json *text = member(s->payload, S("text"));

    s->t->type = TELL_CHAT;
    put_text(s, json_text(text), TELL_BODY_BYTES, SIZE_MAX);
}

/* Kinds of words, and what the gateway says. */
static void tell_other(struct story *s, struct str kind)
{
    struct str message = json_text(member(s->payload, S("message")));
    bool is_system = str_starts(kind, S("system/"));

    s->t->type = is_system ? TELL_SYSTEM : TELL_OTHER;
    if (is_system && message.len) {
        put_short(s, message);
        return;
    }
    tell_put_name(&s->t->title, kind);
    put_addressees(s);
    put_json(s, s->payload);
}

static void tell_by_kind(struct story *s)
{
    if (kind_parse(s->env->kind, &s->kind)) {
        tell_other(s, s->env->kind);
        return;
    }
    switch (s->kind.type) {
    case KIND_REQUEST: tell_request(s); return;
    case KIND_RESPONSE: tell_response(s); return;
    case KIND_PROPOSAL: tell_proposal(s); return;
    case KIND_APPROVE: tell_decision(s, S("is for it")); return;
    case KIND_WITHDRAW: tell_decision(s, S("withdraws it")); return;
    case KIND_REJECT: tell_decision(s, S("rejects it")); return;
    case KIND_CHAT: tell_chat(s); return;
    case KIND_OTHER:
    case KIND_ROUTING:
    case KIND_COMMAND: tell_other(s, s->kind.text); return;
    }
}

/* --- replays --- */

/* Of a chat, or of what is called a replay: nothing else passes for one. NULL: none. */
static const struct json *replay_of(const struct tell_envelope *env, struct arena *arena)
{
    struct str mark = S("\"replay_of\"");
    const struct json *root, *replay;

    if ((!str_starts(env->kind, S("replay/")) && !str_eq(env->kind, S("chat"))) ||
        !env->text.len || !memmem(env->text.ptr, env->text.len, mark.ptr, mark.len) ||
        json_parse(env->text, arena, &root, NULL))
        return NULL;
    replay = member(root, S("replay_of"));
    return json_text(member(replay, S("from"))).len ? replay : NULL;
}

/* "replays bot: calls read_file → files". It is told as what it was, and is nothing of
 * the kind: no thread changes by it. */
static void tell_replay(struct story *s, const struct json *replay)
{
    const struct json *to = member(replay, S("to"));
    const struct json *kind = member(replay, S("kind"));
    struct tell_envelope was = *s->env;
    struct str names[NAMES + 1];
    struct buf deed;

    was.to = names;
    was.to_count = 0;
    if (to && to->type == JSON_ARRAY)
        JSON_FOREACH(name, to)
            if (was.to_count < COUNT(names))
                names[was.to_count++] = json_text(name);
    if (json_text(kind).len && str_starts(was.kind, S("replay/")))
        was.kind = json_text(kind);
    s->env = &was;
    tell_by_kind(s);
    buf_init(&deed, TELL_TITLE_BYTES);
    buf_put(&deed, buf_str(&s->t->title));
    buf_clear(&s->t->title);
    buf_clear(&s->t->about);
    title(s, S("replays "));
    tell_put_name(&s->t->title, json_text(member(replay, S("from"))));
    title(s, deed.len ? S(": ") : S(""));
    title(s, buf_str(&deed));
    buf_done(&deed);
    s->t->outcome = TELL_FINE;
    if (s->t->type != TELL_CHAT)
        s->t->type = TELL_OTHER;
}

void tell(struct telling *t, const struct tell_envelope *envelope)
{
    struct story s = { .t = t, .env = envelope };
    const struct json *replay;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(envelope->payload, &arena, &s.payload, NULL))
        s.payload = NULL;
    replay = replay_of(envelope, &arena);
    if (replay)
        tell_replay(&s, replay);
    else
        tell_by_kind(&s);
    if (!s.payload) {
        t->is_cut = true;
        put_body(&s, S("(what it holds cannot be shown here)"), SHORT_BYTES, 1);
    }
    arena_done(&arena);
}
