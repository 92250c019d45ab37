/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant that a test drives through libmoot's public functions alone: commands are
 * JSON lines on stdin, what they gave and what happens are JSON lines on stdout. It is a
 * C99 program, as users of the library may write it. At the end of stdin it frees what it
 * has and ends with 0.
 *
 * A command names a function without its moot_, and its arguments as they are named in
 * moot.h; JSON is given as JSON, not as text. It is answered by
 *
 *     {"did":"chat","err":"ok"}    {"did":"cancel","err":"unknown","why":"…"}
 *
 * with "err" one of ok invalid offline forbidden too_large full unknown state ended, and
 * with "id" where the function gives one. "tag", if there is one, is repeated in the
 * answer and, of what ends later, in "done" and "progress".
 *
 *     {"do":"new", "url":…, "topic":…, "token":…, …}   every option and, flat, every
 * limit; "messages":true: on_message too. Steps from then on
 *     {"do":"free"}  {"do":"leave"}  {"do":"state"}  {"do":"last"}  {"do":"id"}
 *     {"do":"run"}               moot_run(); SIGUSR1 calls moot_stop(). Ends with "did"
 *     {"do":"hold"}  {"do":"go"} takes no steps meanwhile
 *     {"do":"capabilities"}  {"do":"may","kind":…,"payload":{}}
 *     {"do":"who"}  {"do":"find","id":…} "participants":[{id,type,capabilities}]
 *     {"do":"send","kind":…,"payload":{},"correlation_id":…,"to":[…]}
 *     {"do":"chat","text":…}  {"do":"notify","to":…,"method":…,"params":{}}
 *     {"do":"request","to":…,"method":…,"name":…,"params":{},"arguments":{},"reason":…,
 *                    "how":"call"|"propose","timeout_ms":…}
 *     {"do":"cancel","id":…,"reason":…}
 *     {"do":"proposals"}  {"do":"proposal","id":…}     "proposals":[…] as in the event
 *     {"do":"fulfil","id":…,"to":…,"params":{},"reason":…,"timeout_ms":…}  reject,
 * approve
 *     {"do":"add_tool","name":…,"input_schema":{},…}   add_resource, add_prompt
 *     {"do":"remove_tool","name":…}                    remove_resource (uri),
 * remove_prompt
 *     {"do":"serve_others"}
 *     {"do":"reply_text","call":1,"text":…}            reply_failure; reply_json
 * ("result"); reply_error ("code", "message")
 *     {"do":"progress","call":1,"done":…,"total":…,"message":…}
 *     {"do":"parse","text":…}                          reads a text, writes what it read
 *
 * What is served with "says":"…" is answered at once with that text, everything else by a
 * later command that names the number of its "call".
 *
 * Events, each a line {"event":…}: state {state,why}; welcome {resumed,id}; presence
 * {change,id,type,capabilities}; gap {missed}; chat {id,from,text,is_replay,is_mine};
 * message {message, is_replay, is_mine}; proposal
 * {id,proposer,owner,method,name,to,params, reason,by,state,is_mine}; refusal
 * {id,error,message,details}; offence {from,what,field,count}; done
 * {id,type,by,error,message,code,json}; progress {id,type,by,message,done,total}; call
 * {call,from,method,name,params}; cancelled {call}; ended {why}.
 */
#include <errno.h>
#include <moot.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CALLS = 4096, LINE_BYTES = 8 << 20 };

/* Texts that are kept until the end: tags, and what a served thing says by itself. */
struct kept {
    char *text; /* may be NULL */
    struct kept *next;
};

static struct moot *reader; /* only reads JSON: options were wrong on purpose */
static struct moot *me;
static int is_ended, is_held;
static struct moot_call *calls[MAX_CALLS];
static struct kept *all_kept;

/* --- writing
 * ---------------------------------------------------------------------------- */

static int needs_comma;

static void put_key(const char *key)
{
    printf("%s\"%s\":", needs_comma ? "," : "", key);
    needs_comma = 1;
}

static void put_quoted(const char *text)
{
    size_t size = moot_quote(text, NULL, 0) + 1;
    char *quoted = malloc(size);

    if (!quoted)
        abort();
    (void)moot_quote(text, quoted, size);
    (void)fputs(quoted, stdout);
    free(quoted);
}

static void put_text(const char *key, const char *text)
{
    put_key(key);
    if (text)
        put_quoted(text);
    else
        (void)fputs("null", stdout);
}

static void put_number(const char *key, double number)
{
    put_key(key);
    printf("%.17g", number);
}

static void put_bool(const char *key, bool value)
{
    put_key(key);
    (void)fputs(value ? "true" : "false", stdout);
}

static void put_json(const char *key, struct moot_str json)
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

static void begin(const char *key, const char *name)
{
    needs_comma = 0;
    (void)putchar('{');
    put_text(key, name);
}

static void end(void)
{
    (void)fputs("}\n", stdout);
    (void)fflush(stdout);
}

/* --- names
 * ------------------------------------------------------------------------------ */

static const char *const errors[] = { "ok",        "invalid",   "offline",
                                      "forbidden", "too_large", "full",
                                      "unknown",   "state",     "ended" };
static const char *const states[] = { "connecting", "joined", "waiting", "over" };
static const char *const changes[] = { "here", "joins", "leaves", "changes" };
static const char *const proposal_states[] = { "open", "fulfilled", "rejected",
                                               "withdrawn", "expired" };
static const char *const outcomes[] = { "result",  "tool_error", "error",     "denied",
                                        "refused", "declined",   "timed_out", "cancelled",
                                        "gone",    "lost",       "sent" };
static const char *const stages[] = { "proposed", "taken_up", "authorizing", "underway" };

/* --- events
 * ----------------------------------------------------------------------------- */

static void on_state(struct moot *m, void *user, enum moot_state state, const char *why)
{
    (void)m;
    (void)user;
    begin("event", "state");
    put_text("state", states[state]);
    put_text("why", why);
    end();
}

static void on_welcome(struct moot *m, void *user, bool resumed)
{
    (void)user;
    begin("event", "welcome");
    put_bool("resumed", resumed);
    put_text("id", moot_id(m));
    end();
}

static void put_participant(const struct moot_participant *who)
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
    begin("event", "presence");
    put_text("change", changes[change]);
    put_participant(who);
    end();
}

static void on_gap(struct moot *m, void *user, uint64_t missed)
{
    (void)m;
    (void)user;
    begin("event", "gap");
    put_number("missed", (double)missed);
    end();
}

static void on_chat(struct moot *m, void *user, const struct moot_message *message,
                    const char *text)
{
    (void)m;
    (void)user;
    begin("event", "chat");
    put_text("id", message->id);
    put_text("from", message->from);
    put_text("text", text);
    put_bool("is_replay", message->is_replay);
    put_bool("is_mine", message->is_mine);
    end();
}

/* Written member by member, so that every one of them is seen; `message` is the text. */
static void on_message(struct moot *m, void *user, const struct moot_message *message)
{
    (void)m;
    (void)user;
    begin("event", "message");
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
    end();
}

static void put_proposal(const struct moot_proposal *p)
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
}

static void on_proposal(struct moot *m, void *user, const struct moot_proposal *proposal)
{
    (void)m;
    (void)user;
    begin("event", "proposal");
    put_proposal(proposal);
    end();
}

static void on_refusal(struct moot *m, void *user, const struct moot_refusal *refusal)
{
    (void)m;
    (void)user;
    begin("event", "refusal");
    put_text("id", refusal->id);
    put_text("error", refusal->error);
    put_text("message", refusal->message);
    put_json("details", refusal->details);
    end();
}

static void on_offence(struct moot *m, void *user, const struct moot_offence *offence)
{
    (void)m;
    (void)user;
    begin("event", "offence");
    put_text("from", offence->from);
    put_text("what", offence->what);
    put_text("field", offence->field);
    put_number("count", (double)offence->count);
    end();
}

/* `user` is the tag as JSON text, or NULL. */
static void put_tag(const char *tag)
{
    struct moot_str json;

    json.ptr = tag;
    json.len = tag ? strlen(tag) : 0;
    if (tag)
        put_json("tag", json);
}

static void on_done(struct moot *m, void *user, const struct moot_outcome *outcome)
{
    (void)m;
    begin("event", "done");
    put_tag(user);
    put_text("id", outcome->id);
    put_text("type", outcomes[outcome->type]);
    put_text("by", outcome->by);
    put_text("error", outcome->error);
    put_text("message", outcome->message);
    put_number("code", (double)outcome->code);
    put_json("json", outcome->json);
    end();
}

static void on_progress(struct moot *m, void *user, const struct moot_progress *progress)
{
    (void)m;
    begin("event", "progress");
    put_tag(user);
    put_text("id", progress->id);
    put_text("type", stages[progress->type]);
    put_text("by", progress->by);
    put_text("message", progress->message);
    put_number("done", progress->done);
    put_number("total", progress->total);
    end();
}

/* --- serving
 * ---------------------------------------------------------------------------- */

static int number_of(const struct moot_call *call)
{
    int i;

    for (i = 1; i < MAX_CALLS; i++)
        if (calls[i] == call)
            return i;
    return 0;
}

static int enter_call(struct moot_call *call)
{
    static int last;
    int i;

    for (i = 1; i < MAX_CALLS; i++) {
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
    begin("event", "cancelled");
    put_number("call", number_of(call));
    put_bool("is_cancelled", moot_call_is_cancelled(call));
    end();
}

static void on_call(struct moot *m, void *user, struct moot_call *call)
{
    const struct kept *saying = user;
    int number = saying && saying->text ? 0 : enter_call(call);

    (void)m;
    begin("event", "call");
    put_number("call", number);
    put_text("from", moot_call_from(call));
    put_text("method", moot_call_method(call));
    put_text("name", moot_call_name(call));
    put_json("params", moot_raw(moot_call_params(call)));
    end();
    if (number)
        moot_call_on_cancel(call, on_cancel);
    else
        (void)moot_reply_text(call, saying ? saying->text : "too many calls");
}

/* --- reading commands
 * ------------------------------------------------------------------- */

static const struct moot_json *command;

static const char *text_of(const char *key)
{
    return moot_text(moot_get(command, key));
}

static double number_at(const char *key)
{
    double number = 0;

    (void)moot_number(moot_get(command, key), &number);
    return number;
}

/* A terminated copy of a part of the command, as JSON; NULL: there is none. */
static char *json_of(const char *key)
{
    const struct moot_json *json = moot_get(command, key);
    struct moot_str raw = moot_raw(json);
    char *copy = json ? malloc(raw.len + 1) : NULL;

    if (copy) {
        memcpy(copy, raw.ptr, raw.len);
        copy[raw.len] = '\0';
    }
    return copy;
}

static struct kept *keep(char *text)
{
    struct kept *kept = calloc(1, sizeof(*kept));

    if (!kept)
        abort();
    kept->text = text;
    kept->next = all_kept;
    all_kept = kept;
    return kept;
}

static void *kept_tag(void)
{
    return keep(json_of("tag"))->text;
}

static void answer_begin(enum moot_err err)
{
    char *tag = json_of("tag");

    begin("did", text_of("do"));
    put_tag(tag);
    free(tag);
    put_text("err", errors[err]);
    if (err)
        put_text("why", moot_why(me ? me : reader));
}

static void answer(enum moot_err err)
{
    answer_begin(err);
    end();
}

static void answer_id(enum moot_err err, const char *id)
{
    answer_begin(err);
    if (!err)
        put_text("id", id);
    end();
}

/* --- life
 * ------------------------------------------------------------------------------- */

static size_t size_at(const char *key)
{
    return (size_t)number_at(key);
}

static uint32_t ms_at(const char *key)
{
    return (uint32_t)number_at(key);
}

static bool is_true_at(const char *key)
{
    return moot_is_true(moot_get(command, key));
}

static void read_limits(struct moot_limits *limits)
{
    limits->envelope_bytes = size_at("envelope_bytes");
    limits->outbox_bytes = size_at("outbox_bytes");
    limits->depth = size_at("depth");
    limits->calls = size_at("calls");
    limits->served = size_at("served");
    limits->served_bytes = size_at("served_bytes");
    limits->proposals = size_at("proposals");
    limits->participants = size_at("participants");
    limits->offenders = size_at("offenders");
    limits->recent = size_at("recent");
}

static void read_options(struct moot_options *o)
{
    o->url = text_of("url");
    o->topic = text_of("topic");
    o->token = text_of("token");
    o->ca_file = text_of("ca_file");
    o->name = text_of("name");
    o->version = text_of("version");
    o->after = text_of("after");
    o->is_directed = is_true_at("is_directed");
    o->hears_itself = is_true_at("hears_itself");
    o->reports = is_true_at("reports");
    o->connects_once = is_true_at("connects_once");
    o->resolves_in_thread = is_true_at("resolves_in_thread");
    o->connect_timeout_ms = ms_at("connect_timeout_ms");
    o->retry_min_ms = ms_at("retry_min_ms");
    o->retry_max_ms = ms_at("retry_max_ms");
    o->silence_ms = ms_at("silence_ms");
    o->call_timeout_ms = ms_at("call_timeout_ms");
}

static const struct moot_handlers handlers = {
    on_state, on_welcome,  on_presence, on_gap,     on_chat,
    NULL,     on_proposal, on_refusal,  on_offence,
};

static void do_new(void)
{
    struct moot_options options;

    memset(&options, 0, sizeof(options));
    read_options(&options);
    read_limits(&options.limits);
    options.handlers = handlers;
    if (is_true_at("messages"))
        options.handlers.on_message = on_message;
    moot_free(me);
    memset(calls, 0, sizeof(calls));
    is_ended = 0;
    answer(moot_new(&options, &me));
}

static void do_free(void)
{
    moot_free(me);
    me = NULL;
    memset(calls, 0, sizeof(calls));
    answer(MOOT_OK);
}

static void do_leave(void)
{
    moot_leave(me);
    answer(MOOT_OK);
}

static void on_signal(int number)
{
    (void)number;
    if (me)
        moot_stop(me);
}

static void do_run(void)
{
    answer(moot_run(me));
}

static void do_hold(void)
{
    is_held = 1;
    answer(MOOT_OK);
}

static void do_go(void)
{
    is_held = 0;
    answer(MOOT_OK);
}

static void do_state(void)
{
    answer_begin(MOOT_OK);
    put_text("state", states[moot_state(me)]);
    end();
}

static void do_last(void)
{
    answer_id(MOOT_OK, moot_last(me));
}

static void do_id(void)
{
    answer_id(MOOT_OK, moot_id(me));
}

/* --- who
 * -------------------------------------------------------------------------------- */

static void do_capabilities(void)
{
    answer_begin(MOOT_OK);
    put_json("capabilities", moot_capabilities(me));
    end();
}

static void do_may(void)
{
    char *payload = json_of("payload");

    answer_begin(MOOT_OK);
    put_bool("may", moot_may(me, text_of("kind"), payload));
    end();
    free(payload);
}

static void do_who(void)
{
    struct moot_participant who;
    size_t at = 0;
    int is_first = 1;

    answer_begin(MOOT_OK);
    put_key("participants");
    (void)putchar('[');
    while (moot_next_participant(me, &at, &who)) {
        printf(is_first ? "{" : ",{");
        is_first = needs_comma = 0;
        put_participant(&who);
        (void)putchar('}');
    }
    (void)putchar(']');
    end();
}

static void do_find(void)
{
    struct moot_participant who;
    bool is_here = moot_find_participant(me, text_of("id"), &who);

    answer_begin(is_here ? MOOT_OK : MOOT_UNKNOWN);
    if (is_here)
        put_participant(&who);
    end();
}

/* --- saying
 * ----------------------------------------------------------------------------- */

static void do_send(void)
{
    const struct moot_json *to = moot_first(moot_get(command, "to"));
    const char *names[1100];
    struct moot_envelope envelope;
    char id[MOOT_ID] = "";
    char *payload = json_of("payload");
    enum moot_err err;

    memset(&envelope, 0, sizeof(envelope));
    for (; to && envelope.to_count < 1100; to = moot_next(to))
        names[envelope.to_count++] = moot_text(to);
    envelope.kind = text_of("kind");
    envelope.payload = payload;
    envelope.correlation_id = text_of("correlation_id");
    envelope.to = names;
    envelope.on_done = moot_get(command, "tag") ? on_done : NULL;
    envelope.user = kept_tag();
    err = moot_send(me, &envelope, id);
    answer_id(err, id);
    free(payload);
}

static void do_chat(void)
{
    answer(moot_chat(me, text_of("text")));
}

static void do_notify(void)
{
    char *params = json_of("params");

    answer(moot_notify(me, text_of("to"), text_of("method"), params));
    free(params);
}

static enum moot_how how_of(const char *how)
{
    if (how && strcmp(how, "call") == 0)
        return MOOT_CALL;
    return how && strcmp(how, "propose") == 0 ? MOOT_PROPOSE : MOOT_CALL_OR_PROPOSE;
}

static void do_request(void)
{
    struct moot_request request;
    char *params = json_of("params");
    char *arguments = json_of("arguments");
    char id[MOOT_ID] = "";
    enum moot_err err;

    memset(&request, 0, sizeof(request));
    request.to = text_of("to");
    request.method = text_of("method");
    request.name = text_of("name");
    request.params = params;
    request.arguments = arguments;
    request.reason = text_of("reason");
    request.how = how_of(text_of("how"));
    request.timeout_ms = ms_at("timeout_ms");
    request.on_progress = on_progress;
    request.on_done = on_done;
    request.user = kept_tag();
    err = moot_request(me, &request, id);
    answer_id(err, id);
    free(params);
    free(arguments);
}

static void do_cancel(void)
{
    answer(moot_cancel(me, text_of("id"), text_of("reason")));
}

/* --- deciding
 * --------------------------------------------------------------------------- */

static void do_proposals(void)
{
    struct moot_proposal proposal;
    size_t at = 0;
    int is_first = 1;

    answer_begin(MOOT_OK);
    put_key("proposals");
    (void)putchar('[');
    while (moot_next_proposal(me, &at, &proposal)) {
        printf(is_first ? "{" : ",{");
        is_first = needs_comma = 0;
        put_proposal(&proposal);
        (void)putchar('}');
    }
    (void)putchar(']');
    end();
}

static void do_proposal(void)
{
    struct moot_proposal proposal;
    bool is_known = moot_find_proposal(me, text_of("id"), &proposal);

    answer_begin(is_known ? MOOT_OK : MOOT_UNKNOWN);
    if (is_known)
        put_proposal(&proposal);
    end();
}

static void decide(enum moot_err (*fn)(struct moot *m, const struct moot_decision *d))
{
    struct moot_decision decision;
    char *params = json_of("params");
    enum moot_err err;

    memset(&decision, 0, sizeof(decision));
    decision.id = text_of("id");
    decision.to = text_of("to");
    decision.params = params;
    decision.reason = text_of("reason");
    decision.timeout_ms = ms_at("timeout_ms");
    decision.on_done = on_done;
    decision.user = kept_tag();
    err = fn(me, &decision);
    answer(err);
    free(params);
}

static void do_fulfil(void)
{
    decide(moot_fulfil);
}

static void do_reject(void)
{
    decide(moot_reject);
}

static void do_approve(void)
{
    decide(moot_approve);
}

/* --- offering
 * --------------------------------------------------------------------------- */

static struct kept *kept_saying(void)
{
    const char *says = text_of("says");

    return keep(says ? strdup(says) : NULL);
}

static void do_add_tool(void)
{
    struct moot_tool tool;
    char *input = json_of("input_schema");
    char *output = json_of("output_schema");
    char *annotations = json_of("annotations");

    memset(&tool, 0, sizeof(tool));
    tool.name = text_of("name");
    tool.title = text_of("title");
    tool.description = text_of("description");
    tool.input_schema = input;
    tool.output_schema = output;
    tool.annotations = annotations;
    tool.call = on_call;
    tool.user = kept_saying();
    answer(moot_add_tool(me, &tool));
    free(input);
    free(output);
    free(annotations);
}

static void do_add_resource(void)
{
    struct moot_resource resource;

    memset(&resource, 0, sizeof(resource));
    resource.uri = text_of("uri");
    resource.name = text_of("name");
    resource.title = text_of("title");
    resource.description = text_of("description");
    resource.mime_type = text_of("mime_type");
    resource.read = on_call;
    resource.user = kept_saying();
    answer(moot_add_resource(me, &resource));
}

static void do_add_prompt(void)
{
    struct moot_prompt prompt;
    char *arguments = json_of("arguments");

    memset(&prompt, 0, sizeof(prompt));
    prompt.name = text_of("name");
    prompt.title = text_of("title");
    prompt.description = text_of("description");
    prompt.arguments = arguments;
    prompt.get = on_call;
    prompt.user = kept_saying();
    answer(moot_add_prompt(me, &prompt));
    free(arguments);
}

static void do_remove_tool(void)
{
    answer(moot_remove_tool(me, text_of("name")));
}

static void do_remove_resource(void)
{
    answer(moot_remove_resource(me, text_of("uri")));
}

static void do_remove_prompt(void)
{
    answer(moot_remove_prompt(me, text_of("name")));
}

static void do_serve_others(void)
{
    moot_serve_others(me, on_call, kept_saying());
    answer(MOOT_OK);
}

/* --- replying
 * --------------------------------------------------------------------------- */

static struct moot_call *call_at(void)
{
    size_t number = size_at("call");

    return number < MAX_CALLS ? calls[number] : NULL;
}

/* An answer ends the call. */
static struct moot_call *take_call(void)
{
    struct moot_call *call = call_at();

    if (call)
        calls[number_of(call)] = NULL;
    return call;
}

static void do_reply_text(void)
{
    struct moot_call *call = take_call();

    answer(call ? moot_reply_text(call, text_of("text")) : MOOT_UNKNOWN);
}

static void do_reply_failure(void)
{
    struct moot_call *call = take_call();

    answer(call ? moot_reply_failure(call, text_of("text")) : MOOT_UNKNOWN);
}

static void do_reply_json(void)
{
    struct moot_call *call = take_call();
    char *result = json_of("result");

    answer(call ? moot_reply_json(call, result) : MOOT_UNKNOWN);
    free(result);
}

static void do_reply_error(void)
{
    struct moot_call *call = take_call();

    answer(call ? moot_reply_error(call, (int)number_at("code"), text_of("message"))
                : MOOT_UNKNOWN);
}

static void do_progress(void)
{
    struct moot_call *call = call_at();

    answer(call ? moot_call_progress(call, number_at("done"), number_at("total"),
                                     text_of("message"))
                : MOOT_UNKNOWN);
}

/* --- JSON
 * ------------------------------------------------------------------------------- */

static void put_value(const struct moot_json *json)
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

static void do_parse(void)
{
    const char *text = text_of("text");
    struct moot_str str;
    const struct moot_json *json;

    str.ptr = text;
    str.len = text ? strlen(text) : 0;
    json = moot_parse(me, str);
    answer_begin(json ? MOOT_OK : MOOT_INVALID);
    if (json) {
        put_key("json");
        put_value(json);
    }
    end();
}

/* --- the loop
 * --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
    int needs_handle;
} commands[] = {
    { "new", do_new, 0 },
    { "free", do_free, 0 },
    { "leave", do_leave, 1 },
    { "run", do_run, 1 },
    { "hold", do_hold, 0 },
    { "go", do_go, 0 },
    { "state", do_state, 1 },
    { "last", do_last, 1 },
    { "id", do_id, 1 },
    { "capabilities", do_capabilities, 1 },
    { "may", do_may, 1 },
    { "who", do_who, 1 },
    { "find", do_find, 1 },
    { "send", do_send, 1 },
    { "chat", do_chat, 1 },
    { "notify", do_notify, 1 },
    { "request", do_request, 1 },
    { "cancel", do_cancel, 1 },
    { "proposals", do_proposals, 1 },
    { "proposal", do_proposal, 1 },
    { "fulfil", do_fulfil, 1 },
    { "reject", do_reject, 1 },
    { "approve", do_approve, 1 },
    { "add_tool", do_add_tool, 1 },
    { "add_resource", do_add_resource, 1 },
    { "add_prompt", do_add_prompt, 1 },
    { "remove_tool", do_remove_tool, 1 },
    { "remove_resource", do_remove_resource, 1 },
    { "remove_prompt", do_remove_prompt, 1 },
    { "serve_others", do_serve_others, 1 },
    { "reply_text", do_reply_text, 1 },
    { "reply_failure", do_reply_failure, 1 },
    { "reply_json", do_reply_json, 1 },
    { "reply_error", do_reply_error, 1 },
    { "progress", do_progress, 1 },
    { "parse", do_parse, 1 },
};

static void obey(const char *line, size_t len)
{
    struct moot_str text;
    const char *name;
    size_t i;

    text.ptr = line;
    text.len = len;
    (void)moot_step(reader); /* what it read before is gone */
    command = moot_parse(reader, text);
    name = text_of("do");
    for (i = 0; name && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(name, commands[i].name) == 0 && (me || !commands[i].needs_handle)) {
            commands[i].run();
            return;
        }
    fprintf(stderr, "participant_probe: cannot obey: %.*s\n", (int)len, line);
    exit(2);
}

/* False at the end of stdin. */
static bool read_commands(void)
{
    static char buffer[LINE_BYTES];
    static size_t held;
    char *end_of_line;
    ssize_t got = read(STDIN_FILENO, buffer + held, sizeof(buffer) - held);

    if (got <= 0)
        return got < 0 && errno == EINTR;
    held += (size_t)got;
    while ((end_of_line = memchr(buffer, '\n', held))) {
        size_t len = (size_t)(end_of_line - buffer);

        obey(buffer, len);
        held -= len + 1;
        memmove(buffer, end_of_line + 1, held);
    }
    return held < sizeof(buffer);
}

static void step(void)
{
    if (moot_step(me) != MOOT_ENDED)
        return;
    is_ended = 1;
    begin("event", "ended");
    put_text("why", moot_why(me));
    end();
}

static bool turn(void)
{
    bool steps = me && !is_ended && !is_held;
    struct pollfd fds[2] = { { STDIN_FILENO, POLLIN, 0 }, { -1, 0, 0 } };

    if (steps) {
        fds[1].fd = moot_fd(me);
        fds[1].events = moot_events(me);
    }
    (void)poll(fds, 2, steps ? moot_timeout(me) : -1);
    if (steps)
        step();
    return !(fds[0].revents & (POLLIN | POLLHUP)) || read_commands();
}

static void free_kept(void)
{
    while (all_kept) {
        struct kept *next = all_kept->next;

        free(all_kept->text);
        free(all_kept);
        all_kept = next;
    }
}

int main(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    (void)sigaction(SIGUSR1, &action, NULL);
    if (moot_new(NULL, &reader) != MOOT_INVALID || !reader)
        return 1;
    while (turn())
        continue;
    moot_free(me);
    moot_free(reader);
    free_kept();
    return 0;
}
