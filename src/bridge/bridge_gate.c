/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/bridge_gate.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "bridge/canonical.h"
#include "envelope/lookalike.h"
#include "json/canonical.h"
#include "participant/proposals.h"
#include "participant/roster.h"
#include "participant/rpc_error.h"

enum {
    ID_RANDOM = 12, /* bytes of an id that nobody guesses */
    CANONICAL = 2 << 20,
    WHY = 512,
    SCRATCH = 64 << 10,
};

/* --- what is looked at --- */

/* Where the canonical text would be too long, the arguments as they stand. */
static void put_arguments(struct buf *out, const struct json *arguments)
{
    CLEANUP(arena_done) struct arena order;

    arena_init(&order, CANONICAL);
    if (json_canonical_put(out, arguments, &order)) {
        buf_clear(out);
        buf_put(out, arguments->raw);
    }
}

static void make_print(const struct json *arguments, const struct listed *tool,
                       uint8_t ret[static GATE_PRINT])
{
    CLEANUP(buf_done) struct buf text;
    struct str parts[3] = { S(""), { "", 1 }, tool->said };

    buf_init(&text, CANONICAL > arguments->raw.len ? CANONICAL : arguments->raw.len);
    put_arguments(&text, arguments);
    parts[0] = buf_str(&text);
    crypto_sha256_parts(parts, COUNT(parts), ret);
}

static bool is_here(const struct bridge *b, struct str id)
{
    return occupant_find_participant(b->occupant, id);
}

static bool is_human(const struct bridge *b, struct str id)
{
    const struct roster_entry *who = occupant_find_participant(b->occupant, id);

    return who && str_eq(who->type, S("human"));
}

static struct str proposer_of(const struct bridged *call)
{
    return call->to_count > 1 ? call->to[1] : S("");
}

/* --- saying --- */

static void put_id(struct buf *out)
{
    uint8_t random[ID_RANDOM];

    crypto_random(random, sizeof(random));
    buf_put(out, S("auth-"));
    base64url_write(out, (struct str){ (const char *)random, sizeof(random) });
}

static void put_request(struct json_writer *w, const struct gate_pending *pending)
{
    json_object_open(w);
    json_put_str(w, S("id"), pending->id);
    json_put_str(w, S("tool"), pending->tool);
    json_key(w, S("arguments"));
    json_raw(w, pending->arguments);
    json_put_str(w, S("requester"), pending->caller);
    json_put_given(w, S("proposer"), pending->proposer);
    json_put_str(w, S("reason"), str_of(pending->reason));
    json_put_time(w, S("expiresAt"), pending->expires_ms);
    json_object_close(w);
}

void bridged_ungate(struct bridged *call)
{
    struct gate_pending *pending = call->pending;

    if (!pending)
        return;
    call->pending = NULL;
    if (pending->announcement)
        occupant_forget(call->bridge->occupant, str_of(pending->announcement));
    gate_take(call->bridge->gate, pending);
    gate_pending_free(pending);
}

/* Whose word it was, and why. */
struct denial {
    struct str id, by, reason;
};

static void put_default_reason(struct json_writer *w, struct str by)
{
    CLEANUP(buf_done) struct buf reason;

    buf_init(&reason, by.len + 64);
    buf_putf(&reason, "denied by " STR_FMT, STR_ARG(by));
    json_put_str(w, S("reason"), buf_str(&reason));
}

static void put_denial(struct buf *out, const struct denial *denial)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (denial->reason.len || !denial->by.len)
        json_put_str(&w, S("reason"), denial->reason);
    else
        put_default_reason(&w, denial->by);
    json_put_str(&w, S("authorizationId"), denial->id);
    if (denial->by.len)
        json_put_str(&w, S("decidedBy"), denial->by);
    json_object_close(&w);
}

static void deny(struct bridged *call, const struct denial *denial)
{
    struct bridge *b = call->bridge;
    CLEANUP(buf_done) struct buf data;
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    buf_init(&data, 6 * (denial->reason.len + denial->by.len + denial->id.len) + WHY);
    put_denial(&data, denial);
    rpc_reply_init(&reply, data.len + WHY);
    rpc_fail(&reply, RPC_DENIED, S("Authorization denied"), buf_str(&data));
    bridge_note(
        b, "authorization " STR_FMT " of " STR_FMT " for " STR_FMT " is denied: " STR_FMT,
        STR_ARG(denial->id), STR_ARG(call->context), STR_ARG(call->to[0]),
        STR_ARG(denial->reason));
    bridged_ungate(call);
    bridged_answer(call, S("error"), buf_str(&reply.json));
}

/* Nobody decided: its own id, for this reason. */
static void deny_pending(struct bridged *call, struct str by, struct str reason)
{
    CLEANUP(xfreep) char *id = str_dup(call->pending->id);

    deny(call, &(struct denial){ str_of(id), by, reason });
}

static void on_announced(void *user, const struct outcome *outcome)
{
    struct bridged *call = user;
    struct bridge *b = call->bridge;
    CLEANUP(buf_done) struct buf why;

    buf_init(&why, outcome->message.len + WHY);
    if (outcome->type == ASK_SENT)
        return;
    if (outcome->type == ASK_LOST)
        buf_put(&why, S("the room was lost before anybody decided"));
    else
        buf_putf(&why, "it could not be announced: " STR_FMT, STR_ARG(outcome->message));
    deny_pending(call, S(""), buf_str(&why));
    bridge_settle(b);
}

/* False: it could not be said, and the call is denied. */
static bool announce(struct bridged *call)
{
    static const struct str kind = S("mcp/request:notifications/authorization/request");
    struct bridge *b = call->bridge;
    struct gate_pending *pending = call->pending;
    struct str to = str_of(pending->delegate);
    CLEANUP(buf_done) struct buf payload;
    struct json_writer w;
    struct str id;

    if (pending->announcement)
        occupant_forget(b->occupant, str_of(pending->announcement));
    buf_init(&payload, bridge_answer_bytes(b));
    json_write_init(&w, &payload);
    json_object_open(&w);
    json_put_str(&w, S("jsonrpc"), S("2.0"));
    json_put_str(&w, S("method"), S("notifications/authorization/request"));
    json_key(&w, S("params"));
    put_request(&w, pending);
    json_object_close(&w);
    if (payload.is_full ||
        occupant_say(b->occupant,
                     &(struct saying){ .kind = kind,
                                       .payload = buf_str(&payload),
                                       .correlation_id = call->request_id,
                                       .to = &to,
                                       .to_count = to.len ? 1 : 0,
                                       .ops.on_done = on_announced,
                                       .user = call },
                     bridge_now(b), &id, NULL)) {
        deny_pending(call, S(""), S("it could not be announced"));
        return false;
    }
    gate_announced(pending, id);
    bridge_note(b,
                "authorization " STR_FMT " of " STR_FMT " for " STR_FMT
                " is asked of " STR_FMT,
                STR_ARG(pending->id), STR_ARG(pending->tool), STR_ARG(pending->caller),
                STR_ARG(to.len ? to : S("the room")));
    return true;
}

/* -32001: it stays pending. False: it could not be said. */
static bool say_provisional(struct bridged *call)
{
    struct bridge *b = call->bridge;
    CLEANUP(rpc_reply_done) struct rpc_reply reply;
    CLEANUP(buf_done) struct buf data;
    struct json_writer w;

    buf_init(&data, bridge_answer_bytes(b));
    rpc_reply_init(&reply, bridge_answer_bytes(b));
    json_write_init(&w, &data);
    json_object_open(&w);
    json_key(&w, S("authorizationRequest"));
    put_request(&w, call->pending);
    json_object_close(&w);
    rpc_fail(&reply, RPC_AUTHORIZING, S("Authorization required"), buf_str(&data));
    return !data.is_full && !reply.json.is_full &&
           !occupant_answer(b->occupant,
                            &(struct answer){ .request_id = call->request_id,
                                              .method = call->method,
                                              .context = call->context,
                                              .rpc_id = call->rpc_id,
                                              .to = call->to,
                                              .to_count = call->to_count,
                                              .member = S("error"),
                                              .json = buf_str(&reply.json) },
                            bridge_now(b));
}

/* --- holding --- */

/* Who is to decide is not here, or it is his own call. */
static void open_up_if_absent(struct bridged *call)
{
    struct gate_pending *pending = call->pending;
    CLEANUP(buf_done) struct buf why;
    struct str delegate = str_of(pending->delegate);

    buf_init(&why, WHY + GATE_ID_MAX);
    if (!delegate.len)
        return;
    if (str_eq(delegate, call->to[0]) || str_eq(delegate, proposer_of(call)))
        buf_putf(&why, "the delegate " STR_FMT " asked for it", STR_ARG(delegate));
    else if (!is_here(call->bridge, delegate))
        buf_putf(&why, "the delegate " STR_FMT " is not here", STR_ARG(delegate));
    if (why.len)
        gate_open_up(pending, buf_str(&why));
}

static void wait_for_a_word(struct bridged *call, const struct gate_call *what,
                            const struct gate_ruling *ruling, struct str payload)
{
    struct bridge *b = call->bridge;
    CLEANUP(buf_done) struct buf reason;
    CLEANUP(buf_done) struct buf id;
    const char *why;

    buf_init(&reason, (size_t)2 * GATE_REASON);
    buf_init(&id, 64);
    put_id(&id);
    buf_put(&reason, ruling->reason);
    if (what->proposer.len)
        buf_putf(&reason, " (proposed by " STR_FMT ")", STR_ARG(what->proposer));
    if (gate_add(b->gate, what,
                 &(struct gate_wait){
                     buf_str(&id), buf_str(&reason),
                     ruling->then == GATE_DELEGATE ? b->spec->gate.delegate : S(""),
                     ruling->timeout_ms, call },
                 bridge_now(b), &call->pending, &why)) {
        b->counts.errors++;
        bridged_fail(call, RPC_INTERNAL, str_of(why));
        return;
    }
    call->state = BRIDGED_GATED;
    call->payload = (struct str){ str_dup(payload), payload.len };
    open_up_if_absent(call);
    if (!say_provisional(call))
        deny_pending(call, S(""), S("it could not be announced"));
    else
        (void)announce(call);
}

static void deny_at_once(struct bridged *call, struct str reason)
{
    CLEANUP(buf_done) struct buf id;

    buf_init(&id, 64);
    put_id(&id);
    deny(call, &(struct denial){ buf_str(&id), S(""), reason });
}

/* By a decision of before. */
static bool is_decided(struct bridged *call, const struct gate_call *what,
                       bool *ret_is_approved)
{
    struct bridge *b = call->bridge;
    const struct gate_decision *decision = gate_find(b->gate, what, bridge_now(b));

    if (!decision)
        return false;
    *ret_is_approved = decision->is_approval;
    bridge_note(b,
                "authorization " STR_FMT " of " STR_FMT ", by " STR_FMT
                ", is used by " STR_FMT,
                STR_ARG(decision->id), STR_ARG(what->tool), STR_ARG(decision->by),
                STR_ARG(what->caller));
    if (!decision->is_approval)
        deny(call, &(struct denial){ decision->id, decision->by, decision->reason });
    return true;
}

static const struct json no_arguments = { .type = JSON_OBJECT, .raw = S("{}") };

static bool is_same(const struct json *a, const struct json *b, struct arena *arena)
{
    struct json_difference first;
    struct json_differences found = { .items = &first, .max = 1 };

    return json_differ(a, b, S(""), arena, &found) == OK && found.count == 0;
}

static const struct json *arguments_of(const struct json *params)
{
    const struct json *arguments = json_find(params, S("arguments"));

    return arguments ? arguments : &no_arguments;
}

bool gate_is_call_proposed(const struct proposed *p, const struct envelope *request)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *proposed, *payload, *asked, *name, *other;

    arena_init(&arena,
               (p->params.len + request->payload.text.len) * BRIDGE_TREE + SCRATCH);
    if (json_parse(p->params, &arena, &proposed, NULL) ||
        json_parse(request->payload.text, &arena, &payload, NULL))
        return false;
    asked = json_find(payload, S("params"));
    name = json_find(proposed, S("name"));
    other = asked ? json_find(asked, S("name")) : NULL;
    if (!name || !other || !is_same(name, other, &arena))
        return false;
    return request->edited.type == JSON_TRUE ||
           is_same(arguments_of(proposed), arguments_of(asked), &arena);
}

/* Would some reader take a name for one of those that count? The server gets all params,
 * and whoever authorizes the call is shown those. */
static bool has_lookalike(const struct json *params)
{
    static const struct str names[] = { S("name"), S("arguments") };

    JSON_FOREACH(m, params)
        if (!str_eq(m->key, names[0]) && !str_eq(m->key, names[1]) &&
            lookalike_is_any(m->key, names, COUNT(names)))
            return true;
    return false;
}

/* Who takes up what another proposed has looked at this very call. */
static bool is_own_decision(const struct bridged *call)
{
    return call->takes_up && is_human(call->bridge, call->to[0]);
}

static bool hold(struct bridged *call, const struct gate_call *what,
                 const struct gate_ruling *ruling, struct str payload)
{
    bool is_approved = false;

    if (ruling->then == GATE_DENY) {
        deny_at_once(call, ruling->reason);
        return true;
    }
    if (is_own_decision(call)) {
        bridge_note(call->bridge,
                    STR_FMT " of " STR_FMT " is authorized by " STR_FMT
                            ", who takes it up",
                    STR_ARG(what->tool), STR_ARG(what->proposer), STR_ARG(what->caller));
        return false;
    }
    if (is_decided(call, what, &is_approved))
        return !is_approved;
    wait_for_a_word(call, what, ruling, payload);
    return true;
}

/* What was authorized is what is called now. */
static bool is_still_same(struct bridged *call, const uint8_t print[static GATE_PRINT])
{
    if (crypto_equal(call->print, print, GATE_PRINT))
        return true;
    deny_at_once(call, S("the tool has changed since it was authorized"));
    return false;
}

static struct gate_ruling judge(const struct bridged *call, struct str tool_json,
                                struct str tool, struct str payload,
                                struct arena *scratch)
{
    struct gate_question question = {
        .caller = call->to[0],
        .tool = tool,
        .payload = { .type = JSON_OBJECT, .text = payload },
        .wish = gate_wish_read(tool_json, scratch),
    };

    return gate_rules_judge(call->bridge->rules, &question, scratch);
}

bool gate_holds(struct bridged *call, const struct rpc_request *request,
                const struct listed *tool, struct str payload)
{
    const struct json *arguments = arguments_of(request->params);
    CLEANUP(arena_done) struct arena scratch;
    uint8_t print[GATE_PRINT];
    struct gate_ruling ruling;

    arena_init(&scratch, payload.len + tool->json.len + SCRATCH);
    ruling = judge(call, tool->json, tool->key, payload, &scratch);
    if (ruling.then == GATE_ALLOW)
        return false;
    if (arguments->type != JSON_OBJECT) {
        bridged_fail(call, RPC_INVALID_PARAMS, S("arguments is no object"));
        return true;
    }
    if (has_lookalike(request->params)) {
        bridged_fail(call, RPC_INVALID_PARAMS,
                     S("a name looks like one of those that count"));
        return true;
    }
    make_print(arguments, tool, print);
    if (call->is_authorized && ruling.then != GATE_DENY)
        return !is_still_same(call, print);
    return hold(call,
                &(struct gate_call){ .caller = call->to[0],
                                     .proposer = proposer_of(call),
                                     .tool = tool->key,
                                     .arguments = arguments->raw,
                                     .print = { (const char *)print, sizeof(print) } },
                &ruling, payload);
}

/* --- time and room --- */

void gates_tick(struct bridge *b)
{
    struct gate_pending *pending;

    while ((pending = gate_expired(b->gate, bridge_now(b))) != NULL)
        deny_pending(pending->user, S(""), S("nobody decided in time"));
}

void gates_gone(struct bridge *b, struct str id)
{
    struct gate_pending *pending, *next = gate_next(b->gate, NULL);

    while ((pending = next) != NULL) {
        CLEANUP(buf_done) struct buf why;

        buf_init(&why, WHY + GATE_ID_MAX);
        next = gate_next(b->gate, pending);
        if (!str_eq(str_of(pending->delegate), id))
            continue;
        buf_putf(&why, "the delegate " STR_FMT " has left", STR_ARG(id));
        gate_open_up(pending, buf_str(&why));
        (void)announce(pending->user);
    }
}

void gates_close(struct bridge *b, struct str why)
{
    struct gate_pending *pending, *next = gate_next(b->gate, NULL);

    while ((pending = next) != NULL) {
        next = gate_next(b->gate, pending);
        deny_pending(pending->user, S(""), why);
    }
}

/* --- what is said to the gate --- */

static struct str text_of(const struct rpc_request *request, struct str name)
{
    return json_text(json_find(request->params, name));
}

/* `null` is as if it were not there; what is no text is no time. */
static struct str time_of(const struct rpc_request *request, struct str name)
{
    const struct json *json = json_find(request->params, name);

    if (!json || json->type == JSON_NULL)
        return (struct str){};
    return json->type == JSON_STRING ? json->text : S("");
}

static void let_pass(struct gate_pending *pending, const struct gate_decision *decision)
{
    struct bridged *call = pending->user;
    char until[CLOCK_TEXT];

    bridge_note(call->bridge,
                "authorization " STR_FMT " of " STR_FMT " for " STR_FMT
                " is approved by " STR_FMT "%s%s",
                STR_ARG(decision->id), STR_ARG(decision->tool), STR_ARG(decision->caller),
                STR_ARG(decision->by), decision->valid_ms ? " until " : "",
                decision->valid_ms ? clock_write(decision->valid_ms, until).ptr : "");
    call->is_authorized = true;
    memcpy(call->print, pending->print.ptr, GATE_PRINT);
    bridged_ungate(call);
    call->state = BRIDGED_PARKED;
    bridged_serve_again(call);
}

static void hand_on(struct gate_pending *pending, struct str from)
{
    struct bridged *call = pending->user;

    bridge_note(call->bridge, "authorization " STR_FMT " is handed on to %s by " STR_FMT,
                STR_ARG(pending->id), pending->delegate, STR_ARG(from));
    open_up_if_absent(call);
    (void)announce(call);
}

static void respond(struct bridge *b, struct str from, const struct rpc_request *request,
                    struct rpc_reply *ret)
{
    struct gate_word word = {
        .from = from,
        .about = b->about.ptr ? b->about : S(""),
        .id = text_of(request, S("authorizationId")),
        .decision = text_of(request, S("decision")),
        .reason = text_of(request, S("reason")),
        .delegate = text_of(request, S("delegate")),
        .valid_until = time_of(request, S("validUntil")),
    };
    struct gate_decision decision;
    struct gate_pending *pending;
    const char *why;

    buf_put(&ret->json, S("{}"));
    switch (gate_respond(b->gate, &word, bridge_now(b), &pending, &decision, &why)) {
    case GATE_IGNORED:
        bridge_note(
            b, "what " STR_FMT " says of authorization " STR_FMT " does not count: %s",
            STR_ARG(from), STR_ARG(str_slice(word.id, 0, 80)), why);
        rpc_fail(ret, RPC_INVALID_PARAMS, str_of(why), S(""));
        break;
    case GATE_APPROVED: let_pass(pending, &decision); break;
    case GATE_DENIED: deny_pending(pending->user, from, decision.reason); break;
    case GATE_HANDED_ON: hand_on(pending, from); break;
    }
}

static void take_back(struct bridge *b, struct str from,
                      const struct rpc_request *request, struct rpc_reply *ret)
{
    struct str id = text_of(request, S("authorizationId"));
    struct gate_pending *pending;
    CLEANUP(buf_done) struct buf why;

    buf_init(&why, WHY + GATE_ID_MAX);
    switch (gate_revoke(b->gate, id, from, bridge_now(b), &pending)) {
    case OK: break;
    case ERR_FORBIDDEN:
        rpc_fail(ret, RPC_INVALID_PARAMS, S("nobody decides on his own call"), S(""));
        return;
    default:
        rpc_fail(ret, RPC_INVALID_PARAMS, S("there is no such authorization"), S(""));
        return;
    }
    bridge_note(b, "authorization " STR_FMT " is revoked by " STR_FMT, STR_ARG(id),
                STR_ARG(from));
    buf_putf(&why, "revoked by " STR_FMT, STR_ARG(from));
    if (pending)
        deny_pending(pending->user, from, buf_str(&why));
    buf_put(&ret->json, S("{}"));
}

static void list(struct bridge *b, struct str, const struct rpc_request *request,
                 struct rpc_reply *ret)
{
    if (gate_put_list(b->gate, text_of(request, S("cursor")), bridge_answer_bytes(b) / 2,
                      bridge_now(b), &ret->json))
        rpc_fail(ret, RPC_INVALID_PARAMS, S("the cursor is none of ours"), S(""));
}

/* clang-format off */
static const struct {
    struct str name;
    void (*answer)(struct bridge *b, struct str from, const struct rpc_request *request,
                   struct rpc_reply *ret);
} methods[] = {
    { S("authorization/respond"), respond },
    { S("authorization/list"),    list },
    { S("authorization/revoke"),  take_back },
};
/* clang-format on */

bool is_gate_method(struct str method)
{
    return str_starts(method, S("authorization/"));
}

void gate_method(struct bridge *b, struct str from, const struct rpc_request *request,
                 struct rpc_reply *ret)
{
    for (size_t i = 0; i < COUNT(methods); i++)
        if (str_eq(methods[i].name, request->method)) {
            methods[i].answer(b, from, request, ret);
            return;
        }
    rpc_fail(ret, RPC_METHOD_NOT_FOUND, S("method not found"), S(""));
}
