/* SPDX-License-Identifier: Apache-2.0 */
/* What is recorded of the gateway: what administrators did, its configuration, its life.
 */
#include "base/utf8.h"
#include "config/config.h"
#include "gateway/gateway.h"
#include "gateway/recording.h"
#include "json/json.h"

enum {
    BODY_BYTES = 4 << 20,
    CONFIG_BYTES = 2 * BODY_BYTES, /* all settings, as JSON */
    REQUEST_BYTES = 256 << 10,     /* of what an administrator asked for */
    POSTED_BYTES = 4 << 10,        /* of an envelope that was never judged */
    PATH_BYTES = 2048,
};

/* What belongs to no topic is recorded unless nothing at all is. */
static void note(struct worker *worker, const struct audit_record *record)
{
    if (worker->recorder.is_wanted)
        (void)recorder_note(worker, AUDIT_ASYNC, record);
}

/* Anybody may try what takes no administrator, as often as he likes. */
static void note_act_of(const struct exchange *x, const struct audit_record *record)
{
    if (x->route->access == ACCESS_ADMIN)
        note(x->worker, record);
    else if (x->worker->recorder.is_wanted)
        recorder_note_stray(x->worker, record);
}

static struct str name_of(const struct exchange *x)
{
    return x->identity ? x->identity->id : S("");
}

static struct str verdict_of(const struct exchange *x)
{
    if (x->status == 0)
        return S(""); /* who asked has gone before it was over */
    return x->outcome ? str_of(err_name(x->outcome)) : S("allowed");
}

static bool is_json(struct str text)
{
    struct arena arena;
    const struct json *root;
    bool is_valid;

    arena_init(&arena, BODY_BYTES);
    is_valid = text.len <= REQUEST_BYTES && json_parse(text, &arena, &root, NULL) == OK;
    arena_done(&arena);
    return is_valid;
}

/* Requests of administrators hold no secrets: those are made here, and only answered. Of
 * others (tickets, sessions) nothing is kept. */
static void put_request(const struct exchange *x, struct json_writer *w)
{
    if (x->route->access != ACCESS_ADMIN || !x->body.len)
        return;
    json_key(w, S("request"));
    if (is_json(x->body))
        json_raw(w, x->body);
    else
        json_str(w, S("not JSON, or too long"));
}

static void note_act(const struct exchange *x)
{
    struct json_writer w;
    struct buf body;

    buf_init(&body, BODY_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    json_put_str(&w, S("path"), utf8_cut(x->request.path, PATH_BYTES));
    if (x->request.query.len && x->route->access == ACCESS_ADMIN)
        json_put_str(&w, S("query"), utf8_cut(x->request.query, PATH_BYTES));
    json_put_str(&w, S("address"), str_of(exchange_peer(x)->address));
    if (x->identity)
        json_put_str(&w, S("token"), x->identity->token_name);
    put_request(x, &w);
    if (x->status)
        json_put_uint(&w, S("status"), (uint64_t)x->status);
    json_object_close(&w);
    note_act_of(x, &(struct audit_record){ .event = AUDIT_ADMIN,
                                           .topic = x->topic,
                                           .participant = name_of(x),
                                           .kind = x->route->act,
                                           .verdict = verdict_of(x),
                                           .body = buf_str(&body) });
    buf_done(&body);
}

static void note_unjudged(const struct exchange *x)
{
    const struct room_settings *settings = room_settings_of(x->worker, x->topic);
    struct str text = utf8_cut(x->body, POSTED_BYTES);

    if (!settings || settings->audit == AUDIT_OFF)
        return;
    recorder_note_stray(
        x->worker,
        &(struct audit_record){ .event = AUDIT_REFUSAL,
                                .topic = x->topic,
                                .participant = name_of(x),
                                .verdict = verdict_of(x),
                                .body = utf8_is_valid(text) ? text : (struct str){} });
}

/* Who could not even say who he is has done nothing. */
void recording_exchange(const struct exchange *x)
{
    if (!x->route || !x->was_handled)
        return;
    if (x->route->act.len)
        note_act(x);
    else if (x->holds_envelope && x->outcome)
        note_unjudged(x);
}

/* The settings in force, secrets left out as in `moot config print`, and comments. */
static void put_settings(const struct config *config, struct json_writer *w)
{
    struct buf all, text;
    struct str rest;

    buf_init(&all, BODY_BYTES);
    buf_init(&text, BODY_BYTES);
    config_print(config, &all);
    rest = buf_str(&all);
    while (rest.len) {
        struct str line = str_cut(&rest, '\n');

        if (str_starts(str_trim(line), S("#")))
            continue;
        buf_put(&text, line);
        buf_putc(&text, '\n');
    }
    json_put_str(w, S("settings"), buf_str(&text));
    buf_done(&text);
    buf_done(&all);
}

void recording_config(struct worker *worker, struct str kind, struct str problem)
{
    struct json_writer w;
    struct buf body;

    buf_init(&body, CONFIG_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    json_put_str(&w, S("file"), worker->settings->config->file);
    if (problem.len)
        json_put_str(&w, S("problem"), problem);
    else
        put_settings(worker->settings->config, &w);
    json_object_close(&w);
    note(worker,
         &(struct audit_record){ .event = AUDIT_CONFIG,
                                 .kind = kind,
                                 .verdict = problem.len ? S("invalid") : S("allowed"),
                                 .body = buf_str(&body) });
    buf_done(&body);
}

void recording_server(struct worker *worker, struct str kind)
{
    struct json_writer w;
    struct buf body;

    buf_init(&body, 1024);
    json_write_init(&w, &body);
    json_object_open(&w);
    json_put_str(&w, S("version"), S(MOOT_VERSION));
    json_object_close(&w);
    note(worker, &(struct audit_record){
                     .event = AUDIT_SERVER, .kind = kind, .body = buf_str(&body) });
    buf_done(&body);
}
