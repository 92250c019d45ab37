/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/interview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/form.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "json/json.h"
#include "mcp/rpc.h"

enum {
    TEXT_BYTES = 1 << 20,
    LINE_BYTES = 64 << 10,
    ARENA_BYTES = 32 << 20,
    QUESTIONS = 32,        /* that wait */
    QUESTION_MS = 86400000 /* a day, to think */
};

enum { RPC_DECLINED = -1 };

struct question {
    struct moot_call *call;
    struct link link;
};

enum stage { IN_FIELDS, AT_END, AT_PAGE };

struct interview {
    struct session *session;
    const struct cli_list *roots;
    const char *participant, *call_id;
    struct link waiting;
    size_t count;

    struct moot_call *open; /* the one that is asked now */
    enum stage stage;
    struct arena arena; /* of its parameters and fields */
    struct form form;
    struct buf *answers; /* JSON by field; empty: left out */
    size_t at;
    struct buf typed;
};

/* --- answering --- */

static void next_question(struct interview *q);

static void free_answers(struct interview *q)
{
    for (size_t i = 0; i < q->form.count; i++)
        buf_done(&q->answers[i]);
    free(q->answers);
    q->answers = NULL;
}

static void close_form(struct interview *q)
{
    free_answers(q);
    q->form = (struct form){};
    buf_clear(&q->typed);
    q->open = NULL;
    q->session->reads_input = false;
}

/* Back to waiting for the call, which has its time again. */
static void resume(struct interview *q)
{
    close_form(q);
    (void)moot_prolong(q->session->moot, q->call_id, 0);
    next_question(q);
}

static void finish(struct interview *q, const char *answer)
{
    (void)moot_reply_json(q->open, answer);
    resume(q);
}

static void refuse(struct interview *q, const char *why)
{
    (void)cli_fail("%s; it is declined", why);
    (void)moot_reply_error(q->open, RPC_INVALID_PARAMS, why);
    resume(q);
}

static void decline(struct interview *q)
{
    session_tell(q->session, "declined");
    finish(q, "{\"action\":\"decline\"}");
}

static void cancel(struct interview *q)
{
    session_tell(q->session, "cancelled, without an answer");
    finish(q, "{\"action\":\"cancel\"}");
}

static void put_content(struct interview *q, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    for (size_t i = 0; i < q->form.count; i++)
        if (q->answers[i].len) {
            json_key(&w, q->form.fields[i].name);
            json_raw(&w, buf_str(&q->answers[i]));
        }
    json_object_close(&w);
}

static void accept_form(struct interview *q)
{
    struct buf out;

    buf_init(&out, (size_t)2 * TEXT_BYTES);
    buf_put(&out, S("{\"action\":\"accept\",\"content\":"));
    put_content(q, &out);
    buf_putc(&out, '}');
    session_tell(q->session, "sent");
    finish(q, buf_cstr(&out));
    buf_done(&out);
}

/* --- showing --- */

static void put_theirs(struct buf *out, struct str text)
{
    page_put_words(out, text, progress_columns(STDERR_FILENO));
}

static void put_title(struct buf *out, const struct form_field *field)
{
    plain_put(out, field->title.len ? field->title : field->name, PLAIN_LINE);
}

static void put_choices(struct buf *out, const struct form_field *field)
{
    for (size_t i = 0; i < field->choice_count; i++) {
        const struct form_choice *choice = &field->choices[i];

        buf_putf(out, "  %4zu  ", i + 1);
        plain_put(out, choice->title.len ? choice->title : choice->value, PLAIN_LINE);
        buf_putc(out, '\n');
    }
}

/* A value for people: choices by their titles, yes and no, texts without quotes. */
static void put_value(struct buf *out, const struct form_field *field,
                      const struct json *value)
{
    const char *comma = "";

    if (value->type == JSON_TRUE || value->type == JSON_FALSE) {
        buf_put(out, value->type == JSON_TRUE ? S("yes") : S("no"));
    } else if (value->type == JSON_ARRAY) {
        JSON_FOREACH(item, value) {
            buf_put(out, str_of(comma));
            put_value(out, field, item);
            comma = ", ";
        }
    } else {
        struct str text = value->text;

        for (size_t i = 0; i < field->choice_count; i++)
            if (str_eq(field->choices[i].value, text) && field->choices[i].title.len)
                text = field->choices[i].title;
        plain_put(out, text, PLAIN_LINE);
    }
}

static void show(struct interview *q, struct buf *out)
{
    session_quiet(q->session);
    fputs(buf_cstr(out), stderr);
    buf_done(out);
}

/* What stands in the brackets is taken by Enter alone: what was answered before, else
 * the default. */
static void put_kept(struct interview *q, struct buf *out)
{
    const struct form_field *field = &q->form.fields[q->at];
    const struct json *kept = field->preset;

    if (q->answers[q->at].len)
        (void)json_parse(buf_str(&q->answers[q->at]), &q->arena, &kept, NULL);
    if (!kept)
        return;
    buf_put(out, S(" ["));
    put_value(out, field, kept);
    buf_putc(out, ']');
}

static void ask_field(struct interview *q)
{
    const struct form_field *field = &q->form.fields[q->at];
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    buf_putf(&out, "\n%zu/%zu %s", q->at + 1, q->form.count, q->session->ask_ink->bold);
    put_title(&out, field);
    buf_putf(&out, "%s%s\n", q->session->ask_ink->off,
             field->is_required ? ", required" : "");
    put_theirs(&out, field->description);
    buf_put(&out, S("  ("));
    form_put_kind(&out, field);
    buf_put(&out, S(")\n"));
    put_choices(&out, field);
    put_kept(q, &out);
    buf_put(&out, S(" > "));
    show(q, &out);
}

static void ask_end(struct interview *q)
{
    struct buf out;

    q->stage = AT_END;
    buf_init(&out, (size_t)2 * TEXT_BYTES);
    buf_put(&out, S("\nThis is what "));
    plain_put(&out, str_of(q->participant), PLAIN_LINE);
    buf_put(&out, S(" will get:\n"));
    for (size_t i = 0; i < q->form.count; i++) {
        const struct json *value;

        buf_put(&out, S("  "));
        put_title(&out, &q->form.fields[i]);
        buf_put(&out, S(": "));
        if (!q->answers[i].len)
            buf_put(&out, S("(left out)"));
        else if (json_parse(buf_str(&q->answers[i]), &q->arena, &value, NULL) == OK)
            put_value(&out, &q->form.fields[i], value);
        buf_putc(&out, '\n');
    }
    buf_put(&out, S("Send it? [y]es, [n]o: decline, [e]dit, [c]ancel > "));
    show(q, &out);
}

static void ask_next(struct interview *q)
{
    if (q->at < q->form.count)
        ask_field(q);
    else
        ask_end(q);
}

/* --- a line that was typed --- */

static void complain(struct interview *q, struct str why)
{
    (void)fprintf(stderr, "  %s" STR_FMT "%s\n > ", q->session->ask_ink->bold,
                  STR_ARG(why), q->session->ask_ink->off);
}

static void keep_answer(struct interview *q, struct str json)
{
    buf_clear(&q->answers[q->at]);
    buf_put(&q->answers[q->at], json);
    q->at++;
    ask_next(q);
}

static void take_empty(struct interview *q)
{
    const struct form_field *field = &q->form.fields[q->at];

    if (q->answers[q->at].len) {
        q->at++;
        ask_next(q);
    } else if (field->preset) {
        keep_answer(q, field->preset->raw);
    } else if (field->is_required) {
        complain(q, S("it is required; /decline and /cancel are there as well"));
    } else {
        keep_answer(q, S(""));
    }
}

static void take_answer(struct interview *q, struct str line)
{
    struct buf json, why;

    buf_init(&json, (size_t)2 * LINE_BYTES);
    buf_init(&why, TEXT_BYTES);
    if (form_judge(&q->form.fields[q->at], line, &json, &why))
        complain(q, buf_str(&why));
    else
        keep_answer(q, buf_str(&json));
    buf_done(&why);
    buf_done(&json);
}

static void go_back(struct interview *q)
{
    q->at -= q->at > 0;
    ask_field(q);
}

/* What is left out becomes its default on the way: that is what is shown and sent. */
static void skip(struct interview *q)
{
    buf_clear(&q->answers[q->at]);
    take_empty(q);
}

static void take_field(struct interview *q, struct str line)
{
    static const struct {
        struct str word;
        void (*act)(struct interview *q);
    } commands[] = {
        { S(""), take_empty },      { S("/skip"), skip },     { S("/back"), go_back },
        { S("/decline"), decline }, { S("/cancel"), cancel },
    };

    for (size_t i = 0; i < COUNT(commands); i++)
        if (str_eq(str_trim(line), commands[i].word)) {
            commands[i].act(q);
            return;
        }
    take_answer(q, line);
}

static bool is_word(struct str line, struct str letter, struct str word)
{
    struct str typed = str_trim(line);

    return str_ieq(typed, letter) || str_ieq(typed, word);
}

static void take_end(struct interview *q, struct str line)
{
    if (is_word(line, S("y"), S("yes"))) {
        accept_form(q);
    } else if (is_word(line, S("n"), S("no")) || is_word(line, S("n"), S("/decline"))) {
        decline(q);
    } else if (is_word(line, S("c"), S("cancel")) ||
               is_word(line, S("c"), S("/cancel"))) {
        cancel(q);
    } else if (is_word(line, S("e"), S("edit")) || is_word(line, S("e"), S("/back"))) {
        q->stage = IN_FIELDS;
        q->at = 0;
        ask_next(q);
    } else {
        complain(q, S("y, n, e or c"));
    }
}

static void take_page(struct interview *q, struct str line)
{
    if (is_word(line, S("y"), S("yes"))) {
        session_tell(q->session, "agreed; open the address yourself");
        finish(q, "{\"action\":\"accept\"}");
    } else if (is_word(line, S("n"), S("no")) || is_word(line, S("n"), S("/decline"))) {
        decline(q);
    } else if (is_word(line, S("c"), S("cancel")) ||
               is_word(line, S("c"), S("/cancel"))) {
        cancel(q);
    } else {
        complain(q, S("y, n or c"));
    }
}

static void take_line(struct interview *q, struct str line)
{
    if (str_ends(line, S("\r")))
        line.len--;
    switch (q->stage) {
    case IN_FIELDS: take_field(q, line); break;
    case AT_END: take_end(q, line); break;
    case AT_PAGE: take_page(q, line); break;
    }
}

void interview_input(struct interview *q)
{
    char piece[4096];
    ssize_t got = read(STDIN_FILENO, piece, sizeof(piece));

    if (!q->open)
        return;
    if (got <= 0 || buf_append(&q->typed, (struct str){ piece, (size_t)got })) {
        (void)fputc('\n', stderr);
        cancel(q); /* the end of the input, or more than a line should be */
        return;
    }
    while (q->open) {
        struct str all = buf_str(&q->typed);
        size_t end = str_find(all, '\n', 0);
        char *line;

        if (end == all.len)
            return;
        line = str_dup(str_slice(all, 0, end));
        buf_drop(&q->typed, end + 1);
        take_line(q, str_of(line));
        free(line);
    }
}

/* --- a question comes --- */

static void open_form(struct interview *q, const struct json *params)
{
    struct buf out, why;

    buf_init(&why, TEXT_BYTES);
    if (form_read(json_find(params, S("requestedSchema")), &q->arena, &q->form, &why)) {
        refuse(q, why.len ? buf_cstr(&why) : "the form is too large");
        buf_done(&why);
        return;
    }
    buf_done(&why);
    q->answers = xcalloc(q->form.count + 1, sizeof(*q->answers));
    for (size_t i = 0; i < q->form.count; i++)
        buf_init(&q->answers[i], (size_t)2 * LINE_BYTES);
    buf_init(&out, TEXT_BYTES);
    buf_putf(&out, "\n%s", q->session->ask_ink->bold);
    plain_put(&out, str_of(q->participant), PLAIN_LINE);
    buf_putf(&out, " asks you%s:\n", q->session->ask_ink->off);
    put_theirs(&out, json_text(json_find(params, S("message"))));
    if (q->form.count)
        buf_put(&out, S("Enter takes what is in [brackets], or leaves the field out. "
                        "You may also write\n/back, /skip, /decline or /cancel. You see "
                        "all of it before it is sent. Write no\npasswords.\n"));
    show(q, &out);
    q->stage = IN_FIELDS;
    q->at = 0;
    ask_next(q);
}

static void open_page(struct interview *q, const struct json *params)
{
    struct str url = json_text(json_find(params, S("url")));
    struct buf out;

    if (!page_is_address(url)) {
        refuse(q, "the address to open is none of http or https");
        return;
    }
    buf_init(&out, TEXT_BYTES);
    buf_putf(&out, "\n%s", q->session->ask_ink->bold);
    plain_put(&out, str_of(q->participant), PLAIN_LINE);
    buf_putf(&out, " wants you to open a page%s:\n", q->session->ask_ink->off);
    put_theirs(&out, json_text(json_find(params, S("message"))));
    page_put(&out, url);
    buf_put(&out, S("Will you open it yourself? [y]es, [n]o: decline, [c]ancel > "));
    show(q, &out);
    q->stage = AT_PAGE;
}

static bool has_terminal(const struct interview *q)
{
    return q->session->talks && isatty(STDIN_FILENO);
}

static void open_question(struct interview *q, struct moot_call *call)
{
    struct moot_str raw = moot_raw(moot_call_params(call));
    const struct json *params = NULL;

    q->open = call;
    arena_reset(&q->arena);
    if (!raw.ptr ||
        json_parse((struct str){ raw.ptr, raw.len }, &q->arena, &params, NULL)) {
        refuse(q, "the question cannot be read");
        return;
    }
    (void)moot_prolong(q->session->moot, q->call_id, QUESTION_MS);
    (void)tcflush(STDIN_FILENO, TCIFLUSH); /* what was typed before is no answer */
    q->session->reads_input = true;
    if (str_eq(json_text(json_find(params, S("mode"))), S("url")))
        open_page(q, params);
    else
        open_form(q, params);
}

static void next_question(struct interview *q)
{
    struct question *first = LIST_FIRST(&q->waiting, struct question, link);
    struct moot_call *call;

    if (q->open || !first)
        return;
    call = first->call;
    list_remove(&first->link);
    q->count--;
    free(first);
    open_question(q, call);
}

/* The one who asked wants no answer any more. */
static void on_cancel(struct moot *m [[maybe_unused]], void *user, struct moot_call *call)
{
    struct interview *q = user;
    struct question *one;

    if (call == q->open) {
        (void)fputc('\n', stderr);
        session_tell(q->session, "the question was withdrawn");
        finish(q, "{\"action\":\"cancel\"}");
        return;
    }
    LIST_FOREACH(one, &q->waiting, link)
        if (one->call == call) {
            list_remove(&one->link);
            q->count--;
            free(one);
            break;
        }
    (void)moot_reply_json(call, "{\"action\":\"cancel\"}");
}

static void take_elicitation(struct interview *q, struct moot_call *call)
{
    struct question *one;

    if (!has_terminal(q) || q->count == QUESTIONS) {
        (void)cli_fail("%s asks something, and there is no terminal to answer it at: "
                       "declined",
                       q->participant);
        (void)moot_reply_json(call, "{\"action\":\"decline\"}");
        return;
    }
    one = xcalloc(1, sizeof(*one));
    one->call = call;
    list_append(&q->waiting, &one->link);
    q->count++;
    moot_call_on_cancel(call, on_cancel);
    next_question(q);
}

static void take_sampling(struct interview *q, struct moot_call *call)
{
    session_quiet(q->session);
    (void)cli_fail("%s asks for the answer of a language model, and there is none here: "
                   "declined",
                   q->participant);
    (void)moot_reply_error(call, RPC_DECLINED,
                           "sampling is declined: the caller is a command line without a "
                           "model");
}

/* --- roots --- */

static const struct str file_scheme = S("file://");

static bool is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("/-._~", c));
}

static void put_uri(struct buf *out, const char *path)
{
    buf_put(out, file_scheme);
    for (const char *at = path; *at; at++)
        if (is_unreserved((unsigned char)*at))
            buf_putc(out, *at);
        else
            buf_putf(out, "%%%02X", (unsigned char)*at);
}

int interview_check_roots(const struct cli_list *roots)
{
    for (size_t i = 0; i < roots->count; i++) {
        CLEANUP(xfreep) char *whole = NULL;

        if (str_starts(str_of(roots->items[i]), file_scheme))
            continue;
        whole = realpath(roots->items[i], NULL);
        if (!whole)
            return cli_fail("--root takes a folder that is there, or file:///…, not "
                            "\"%s\"",
                            roots->items[i]),
                   CLI_USAGE;
    }
    return CLI_OK;
}

static void put_root(struct json_writer *w, const char *root)
{
    CLEANUP(xfreep) char *whole = NULL;
    struct buf uri;

    buf_init(&uri, LINE_BYTES);
    if (str_starts(str_of(root), file_scheme)) {
        buf_put(&uri, str_of(root));
    } else {
        whole = realpath(root, NULL);
        put_uri(&uri, whole ? whole : root);
    }
    json_object_open(w);
    json_put_str(w, S("uri"), buf_str(&uri));
    json_object_close(w);
    buf_done(&uri);
}

static void take_roots(struct interview *q, struct moot_call *call)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_key(&w, S("roots"));
    json_array_open(&w);
    for (size_t i = 0; i < q->roots->count; i++)
        put_root(&w, q->roots->items[i]);
    json_array_close(&w);
    json_object_close(&w);
    (void)moot_reply_json(call, buf_cstr(&out));
    buf_done(&out);
}

static bool is_ours(const struct interview *q, const struct moot_call *call)
{
    return q->call_id && *q->call_id && q->participant &&
           strcmp(moot_call_from(call), q->participant) == 0 &&
           strcmp(moot_call_correlation_id(call), q->call_id) == 0;
}

static void on_call(struct moot *m [[maybe_unused]], void *user, struct moot_call *call)
{
    static const struct {
        const char *method;
        void (*take)(struct interview *q, struct moot_call *call);
    } methods[] = {
        { "elicitation/create", take_elicitation },
        { "sampling/createMessage", take_sampling },
        { "roots/list", take_roots },
    };
    struct interview *q = user;

    for (size_t i = 0; i < COUNT(methods); i++)
        if (is_ours(q, call) && strcmp(moot_call_method(call), methods[i].method) == 0) {
            methods[i].take(q, call);
            return;
        }
    (void)moot_reply_error(call, RPC_METHOD_NOT_FOUND, "method not found");
}

/* --- life --- */

struct interview *interview_new(struct session *session, const struct cli_list *roots)
{
    struct interview *q = xcalloc(1, sizeof(*q));

    q->session = session;
    q->roots = roots;
    list_init(&q->waiting);
    arena_init(&q->arena, ARENA_BYTES);
    buf_init(&q->typed, LINE_BYTES);
    moot_serve_others(session->moot, on_call, q);
    return q;
}

void interview_free(struct interview *q)
{
    struct question *one;

    if (!q)
        return;
    LIST_FOREACH(one, &q->waiting, link)
        free(one);
    free_answers(q);
    arena_done(&q->arena);
    buf_done(&q->typed);
    free(q);
}

void interview_about(struct interview *q, const char *participant, const char *call_id)
{
    q->participant = participant;
    q->call_id = call_id;
}

bool interview_is_open(const struct interview *q)
{
    return q && q->open;
}

void interview_end(struct interview *q)
{
    if (!interview_is_open(q))
        return;
    (void)fputc('\n', stderr);
    session_tell(q->session, "the call has ended; nothing of this was sent");
    close_form(q);
}
