/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server asks goes to the participant whose call caused it, bound to that call
 * by correlation_id, and to nobody else: where it cannot be told whose it was, it is
 * refused. Roots that are configured are answered here.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "mcp/question.h"
#include "participant/keep.h"
#include "participant/pick.h"

static struct asked *find(const struct bridge *b, const struct mcp_question *question)
{
    struct asked *asked;

    LIST_FOREACH(asked, &b->asked, link)
        if (asked->question == question)
            return asked;
    return NULL;
}

static void asked_free(struct asked *asked)
{
    list_remove(&asked->link);
    free(asked);
}

void bridge_refuse(struct bridge *b, struct mcp_question *question, int64_t code,
                   struct str message)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, message.len * 6 + 256);
    rpc_fail(&reply, code, message, S(""));
    supervisor_answer(b->supervisor, question, S("error"), buf_str(&reply.json));
}

/* --- roots --- */

bool bridge_has_roots(const struct bridge *b)
{
    const struct permit *permit = &b->spec->permit;

    return b->spec->root_count || permit->read_count || permit->write_count;
}

/* RFC 8089, RFC 3986 2.3. */
static void put_path_uri(struct buf *out, struct str path)
{
    buf_put(out, S("file://"));
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || strchr("/-._~", c);

        if (is_plain && c)
            buf_putc(out, c);
        else
            buf_putf(out, "%%%02X", (unsigned char)c);
    }
}

static void put_root(struct json_writer *w, struct str uri)
{
    json_object_open(w);
    json_put_str(w, S("uri"), uri);
    json_object_close(w);
}

static void put_paths(struct json_writer *w, const struct str *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(buf_done) struct buf uri;

        buf_init(&uri, paths[i].len * 3 + 16);
        put_path_uri(&uri, paths[i]);
        put_root(w, buf_str(&uri));
    }
}

static void answer_roots(struct bridge *b, struct mcp_question *question)
{
    const struct server_spec *spec = b->spec;
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, BRIDGE_ENVELOPE);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_key(&w, S("roots"));
    json_array_open(&w);
    for (size_t i = 0; i < spec->root_count; i++)
        put_root(&w, spec->roots[i]);
    if (!spec->root_count) {
        put_paths(&w, spec->permit.read, spec->permit.read_count);
        put_paths(&w, spec->permit.write, spec->permit.write_count);
    }
    json_array_close(&w);
    json_object_close(&w);
    supervisor_answer(b->supervisor, question, S("result"), buf_str(&out));
}

/* Where they are configured the server never saw somebody's. */
void bridge_roots_changed(struct bridge *b, struct str whose)
{
    if (!bridge_has_roots(b))
        supervisor_notify(b->supervisor, whose, S("notifications/roots/list_changed"),
                          S(""));
}

/* --- asking --- */

/* What was wrong with it, on either side, is for whoever reads the logbook as well. */
static void refuse_unfit(struct bridge *b, struct mcp_question *question,
                         const char *what, const struct buf *why)
{
    CLEANUP(buf_done) struct buf message;

    buf_init(&message, QUESTION_WHY + 64);
    buf_putf(&message, "%s: " STR_FMT, what, STR_ARG(buf_str(why)));
    b->counts.dropped++;
    bridge_note(b, "its " STR_FMT " was refused: " STR_FMT, STR_ARG(question->method),
                STR_ARG(buf_str(&message)));
    bridge_refuse(b, question, RPC_INVALID_PARAMS, buf_str(&message));
}

static size_t scratch_bytes(struct str text)
{
    return text.len * BRIDGE_TREE + (1 << 16);
}

enum err bridge_fit(const struct mcp_question *question, struct str result,
                    struct buf *out, struct buf *why)
{
    struct question_asked asked = { question->method, question->params };
    CLEANUP(arena_done) struct arena scratch;

    arena_init(&scratch, scratch_bytes(question->params) + scratch_bytes(result));
    return question_put_answer(out, &asked, result, &scratch, why);
}

/* The server gets what fits its question, or an error. */
static void give_result(struct bridge *b, struct mcp_question *question,
                        struct str result)
{
    CLEANUP(buf_done) struct buf out;
    CLEANUP(buf_done) struct buf why;

    buf_init(&out, BRIDGE_ANSWERS);
    buf_init(&why, QUESTION_WHY);
    if (bridge_fit(question, result, &out, &why))
        refuse_unfit(b, question, "the answer does not fit", &why);
    else
        supervisor_answer(b->supervisor, question, S("result"), buf_str(&out));
}

/* A client of MCP fills in forms itself, and means what it leaves out: between it and the
 * server there is nobody. */
static bool is_verbatim(const struct asked *asked, const struct outcome *outcome)
{
    return asked->is_client && outcome->type == ASK_RESULT &&
           outcome->json.type == JSON_OBJECT;
}

/* What became of it, as the server is told. */
static void on_done(void *user, const struct outcome *outcome)
{
    struct asked *asked = user;
    struct bridge *b = asked->bridge;
    struct mcp_question *question = asked->question;
    bool as_it_is = is_verbatim(asked, outcome);

    asked_free(asked);
    if (as_it_is)
        supervisor_answer(b->supervisor, question, S("result"), outcome->json.text);
    else if (outcome->type == ASK_RESULT || outcome->type == ASK_TOOL_ERROR)
        give_result(b, question, outcome->json.text);
    else if (outcome->type == ASK_ERROR)
        supervisor_answer(b->supervisor, question, S("error"), outcome->json.text);
    else
        bridge_refuse(b, question, RPC_INTERNAL,
                      outcome->message.len ? outcome->message : S("nobody answered"));
}

void bridge_elicited_end(struct bridge *b, struct elicited *elicited)
{
    list_remove(&elicited->link);
    b->elicited_count--;
    free(elicited);
}

/* A URL is shown now and ends somewhere else: who saw it is told of that. */
static void note_elicited(struct bridge *b, struct json_span params, struct str whom)
{
    static const struct str path[] = { S("elicitationId") };
    struct json_span id = mcp_message_find(params, path, COUNT(path));
    struct elicited *oldest = LIST_FIRST(&b->elicited, struct elicited, link);
    struct elicited *e;
    char *at;

    if (id.type != JSON_STRING || !id.text.ptr || id.text.len > OFFER_MAX_URI)
        return;
    if (oldest && b->elicited_count == BRIDGE_ELICITED)
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
        bridge_elicited_end(b, oldest);
    e = xcalloc(1, sizeof(*e) + id.text.len + whom.len);
    at = (char *)(e + 1);
    e->id = keep_str(&at, id.text);
    e->whom = keep_str(&at, whom);
    list_append(&b->elicited, &e->link);
    b->elicited_count++;
}

struct elicited *bridge_elicited(const struct bridge *b, struct str id)
{
    struct elicited *e;

    LIST_FOREACH(e, &b->elicited, link)
        if (str_eq(e->id, id))
            return e;
    return NULL;
}

/* ELIC-07: those that an error names are asked like any other. */
bool bridge_elicits(struct bridge *b, struct json_span error, struct str whom,
                    struct buf *why)
{
    static const struct str path[] = { S("data"), S("elicitations") };
    struct json_span list = mcp_message_find(error, path, COUNT(path));
    struct json_scan scan;
    struct json_span item;
    enum err err;

    if (!list.text.ptr || list.type != JSON_ARRAY) {
        buf_put(why, S("it names no elicitations"));
        return false;
    }
    json_scan_init(&scan, list.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err)) {
        CLEANUP(arena_done) struct arena scratch;

        arena_init(&scratch, scratch_bytes(item.text));
        if (question_check(S("elicitation/create"), item.text, &scratch, why))
            return false;
        note_elicited(b, item, whom);
    }
    return true;
}

/* Who is asked, and the envelope that it belongs to. */
struct target {
    struct str whom, about;
    bool is_client;
};

static void ask(struct bridge *b, struct mcp_question *question,
                const struct target *target)
{
    struct asked *asked = xcalloc(1, sizeof(*asked));
    const char *why = NULL;
    struct str id;
    enum err err;

    asked->bridge = b;
    asked->question = question;
    asked->is_client = target->is_client;
    err = occupant_request(b->occupant,
                           &(struct asking){ .to = target->whom,
                                             .method = question->method,
                                             .params = question->params,
                                             .correlation_id = target->about,
                                             .how = ASK_CALL_UNLESS_TOLD,
                                             .timeout_ms = BRIDGE_QUESTION_MS,
                                             .ops.on_done = on_done,
                                             .user = asked },
                           bridge_now(b), &id, &why);
    if (err) {
        free(asked);
        bridge_refuse(b, question, RPC_INTERNAL, str_of(why ? why : err_name(err)));
        return;
    }
    asked->id_len = id.len;
    memcpy(asked->id, id.ptr, id.len);
    list_append(&b->asked, &asked->link);
    if (str_eq(question->method, S("elicitation/create")))
        note_elicited(b,
                      (struct json_span){ .type = JSON_OBJECT, .text = question->params },
                      target->whom);
}

/* clang-format off */
static const struct str questions[] = {
    S("sampling/createMessage"), S("elicitation/create"), S("roots/list"),
};
/* clang-format on */

static bool is_question(struct str method)
{
    for (size_t i = 0; i < COUNT(questions); i++)
        if (str_eq(method, questions[i]))
            return true;
    return false;
}

/* SAMP-05, ELIC-12: a call asks a few things at once, and then one a second. */
static bool is_too_often(const struct bridge *b, uint64_t *asked_ms)
{
    uint64_t now = loop_now_ms(b->means.loop);

    if (*asked_ms < now)
        *asked_ms = now;
    if (*asked_ms - now >= (uint64_t)BRIDGE_ASKED_AHEAD * BRIDGE_ASKED_MS)
        return true;
    *asked_ms += BRIDGE_ASKED_MS;
    return false;
}

static bool is_fit(const struct mcp_question *question, struct buf *why)
{
    CLEANUP(arena_done) struct arena scratch;

    arena_init(&scratch, scratch_bytes(question->params));
    return !question_check(question->method, question->params, &scratch, why);
}

/* A modern owner of a legacy task is not asked: he looks (ML-11). */
static void ask_one(struct bridge *b, struct mcp_question *question,
                    const struct bridged *call, struct owned_task *task)
{
    if (task && task->is_modern)
        input_add(task, question);
    else if (call)
        ask(b, question,
            &(struct target){ call->to[0], call->request_id, call->is_client });
    else
        ask(b, question,
            &(struct target){ task->owner, task->request_id, task->is_client });
}

void bridge_ask(struct bridge *b, struct mcp_question *question, struct bridged *call,
                struct owned_task *task)
{
    bool wants_roots = str_eq(question->method, S("roots/list"));
    CLEANUP(buf_done) struct buf why;

    buf_init(&why, QUESTION_WHY);
    b->counts.questions++;
    if (!is_question(question->method)) {
        bridge_refuse(b, question, RPC_METHOD_NOT_FOUND, S("method not found"));
    } else if (wants_roots && (bridge_has_roots(b) || (!call && !task))) {
        answer_roots(b, question);
    } else if (!call && !task) {
        b->counts.dropped++;
        bridge_note(b, "its " STR_FMT " was refused: it cannot be told whose call it is",
                    STR_ARG(question->method));
        bridge_refuse(
            b, question, RPC_INTERNAL,
            S("it cannot be told whose call this belongs to; use mode per-caller"));
    } else if (call && call->is_unwanted) {
        bridge_refuse(b, question, RPC_INTERNAL, S("the caller has gone"));
    } else if (is_too_often(b, task ? &task->asked_ms : &call->asked_ms)) {
        b->counts.dropped++;
        bridge_refuse(b, question, RPC_INTERNAL, S("this call asks too often"));
    } else if (!is_fit(question, &why)) {
        refuse_unfit(b, question, "the question cannot be asked", &why);
    } else {
        ask_one(b, question, call, task);
    }
}

void bridge_unask(struct bridge *b, struct mcp_question *question)
{
    struct asked *asked = find(b, question);
    struct str id;

    if (input_gone(b, question) || !asked)
        return;
    id = (struct str){ asked->id, asked->id_len };
    occupant_forget(b->occupant, id);
    (void)occupant_cancel(b->occupant, id, S("no longer wanted"), bridge_now(b));
    asked_free(asked);
}

void bridge_drop_asked(struct bridge *b)
{
    struct asked *asked;
    struct elicited *e;

    LIST_FOREACH(asked, &b->asked, link)
        asked_free(asked);
    LIST_FOREACH(e, &b->elicited, link)
        bridge_elicited_end(b, e);
}
