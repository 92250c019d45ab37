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
 *     {"do":"fulfil","id":…,"to":…,"params":{},"reason":…,"timeout_ms":…,
 *      "valid_until_ms":…}  reject, approve, delegate
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
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

enum { LINE_BYTES = 8 << 20 };

/* Texts that are kept until the end: tags, and what a served thing says by itself. */
struct kept {
    char *text; /* may be NULL */
    struct kept *next;
};

static struct moot *reader; /* only reads JSON: options were wrong on purpose */
static struct moot *me;
static int is_ended, is_held;
static struct kept *all_kept;

/* --- reading commands --- */

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

    line_begin("did", text_of("do"));
    put_tag(tag);
    free(tag);
    put_text("err", probe_errors[err]);
    if (err)
        put_text("why", moot_why(me ? me : reader));
}

static void answer(enum moot_err err)
{
    answer_begin(err);
    line_end();
}

static void answer_id(enum moot_err err, const char *id)
{
    answer_begin(err);
    if (!err)
        put_text("id", id);
    line_end();
}

/* --- life --- */

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

static void drop_handle(void)
{
    moot_free(me);
    me = NULL;
    is_ended = 0;
    probe_forget_calls();
}

static void do_new(void)
{
    struct moot_options options;

    memset(&options, 0, sizeof(options));
    read_options(&options);
    read_limits(&options.limits);
    options.handlers = probe_handlers;
    if (is_true_at("messages"))
        options.handlers.on_message = probe_on_message;
    drop_handle();
    answer(moot_new(&options, &me));
}

static void do_free(void)
{
    drop_handle();
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

static void do_hold_or_go(void)
{
    is_held = strcmp(text_of("do"), "hold") == 0;
    answer(MOOT_OK);
}

static void do_state(void)
{
    answer_begin(MOOT_OK);
    put_text("state", probe_states[moot_state(me)]);
    line_end();
}

static void do_last_or_id(void)
{
    bool is_last = strcmp(text_of("do"), "last") == 0;

    answer_id(MOOT_OK, is_last ? moot_last(me) : moot_id(me));
}

/* --- who --- */

static void do_capabilities(void)
{
    answer_begin(MOOT_OK);
    put_json("capabilities", moot_capabilities(me));
    line_end();
}

static void do_may(void)
{
    char *payload = json_of("payload");

    answer_begin(MOOT_OK);
    put_bool("may", moot_may(me, text_of("kind"), payload));
    line_end();
    free(payload);
}

static void do_who(void)
{
    struct moot_participant who;
    size_t at = 0;

    answer_begin(MOOT_OK);
    list_begin("participants");
    while (moot_next_participant(me, &at, &who)) {
        item_begin();
        put_participant(&who);
        item_end();
    }
    list_end();
    line_end();
}

static void do_find(void)
{
    struct moot_participant who;
    bool is_here = moot_find_participant(me, text_of("id"), &who);

    answer_begin(is_here ? MOOT_OK : MOOT_UNKNOWN);
    if (is_here)
        put_participant(&who);
    line_end();
}

/* --- saying --- */

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
    envelope.on_done = moot_get(command, "tag") ? probe_on_done : NULL;
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
    request.on_progress = probe_on_progress;
    request.on_done = probe_on_done;
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

/* --- deciding --- */

static void do_proposals(void)
{
    struct moot_proposal proposal;
    size_t at = 0;

    answer_begin(MOOT_OK);
    list_begin("proposals");
    while (moot_next_proposal(me, &at, &proposal)) {
        item_begin();
        put_proposal(&proposal);
        item_end();
    }
    list_end();
    line_end();
}

static void do_proposal(void)
{
    struct moot_proposal proposal;
    bool is_known = moot_find_proposal(me, text_of("id"), &proposal);

    answer_begin(is_known ? MOOT_OK : MOOT_UNKNOWN);
    if (is_known)
        put_proposal(&proposal);
    line_end();
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
    decision.valid_until_ms = (uint64_t)number_at("valid_until_ms");
    decision.on_done = probe_on_done;
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

static void do_delegate(void)
{
    decide(moot_delegate);
}

/* --- offering --- */

static char *kept_saying(void)
{
    const char *says = text_of("says");

    return says ? keep(strdup(says))->text : NULL;
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
    tool.call = probe_on_call;
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
    resource.read = probe_on_call;
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
    prompt.get = probe_on_call;
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
    moot_serve_others(me, probe_on_call, kept_saying());
    answer(MOOT_OK);
}

/* --- replying --- */

static void do_reply_text(void)
{
    struct moot_call *call = probe_take_call(size_at("call"));

    answer(call ? moot_reply_text(call, text_of("text")) : MOOT_UNKNOWN);
}

static void do_reply_failure(void)
{
    struct moot_call *call = probe_take_call(size_at("call"));

    answer(call ? moot_reply_failure(call, text_of("text")) : MOOT_UNKNOWN);
}

static void do_reply_json(void)
{
    struct moot_call *call = probe_take_call(size_at("call"));
    char *result = json_of("result");

    answer(call ? moot_reply_json(call, result) : MOOT_UNKNOWN);
    free(result);
}

static void do_reply_error(void)
{
    struct moot_call *call = probe_take_call(size_at("call"));

    answer(call ? moot_reply_error(call, (int)number_at("code"), text_of("message"))
                : MOOT_UNKNOWN);
}

static void do_progress(void)
{
    struct moot_call *call = probe_find_call(size_at("call"));

    answer(call ? moot_call_progress(call, number_at("done"), number_at("total"),
                                     text_of("message"))
                : MOOT_UNKNOWN);
}

/* --- JSON --- */

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
    line_end();
}

/* --- the loop --- */

static const struct {
    const char *name;
    void (*run)(void);
    int needs_handle;
} commands[] = {
    { "new", do_new, 0 },
    { "free", do_free, 0 },
    { "leave", do_leave, 1 },
    { "run", do_run, 1 },
    { "hold", do_hold_or_go, 0 },
    { "go", do_hold_or_go, 0 },
    { "state", do_state, 1 },
    { "last", do_last_or_id, 1 },
    { "id", do_last_or_id, 1 },
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
    { "delegate", do_delegate, 1 },
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

    text.ptr = line;
    text.len = len;
    (void)moot_step(reader); /* what it read before is gone */
    command = moot_parse(reader, text);
    name = text_of("do");
    for (size_t i = 0; name && i < sizeof(commands) / sizeof(commands[0]); i++)
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
    line_begin("event", "ended");
    put_text("why", moot_why(me));
    line_end();
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
