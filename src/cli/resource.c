/* SPDX-License-Identifier: Apache-2.0 */
/* moot resource show, set, remove: one entry of the directory. */
#include "cli/resource.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/cell.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "directory/resource.h"
#include "json/json.h"
#include "json/number.h"

enum {
    DATA_BYTES = 4096,
    TREE_BYTES = 4 << 20,
    OUT_BYTES = 1 << 20,
    BODY_BYTES = 256 << 10,
    KEY_WIDTH = 14,
};

/* --- asking --- */

struct cli_server resource_server(const struct resource_place *place, struct buf *data)
{
    cli_data_directory(place->data, S(""), data);
    return (struct cli_server){ .url = place->server,
                                .token_file = place->token_file,
                                .ca = place->ca,
                                .data = buf_cstr(data) };
}

int resource_ask(const struct resource_place *place, const struct cli_request *request,
                 const char *id, struct cli_answer *answer)
{
    CLEANUP(buf_done) struct buf data;
    struct cli_server server;
    enum err err;

    buf_init(&data, DATA_BYTES);
    server = resource_server(place, &data);
    err = cli_stream(&server, request, answer);
    if (err == ERR_NOT_FOUND)
        return cli_fail(
            "no gateway runs on %s; `moot serve` starts one, --data names another",
            server.data);
    if (err)
        return CLI_FAILED;
    if (answer->status == 404 && id)
        return cli_fail("there is no resource \"%s\"; `moot resource search` finds them",
                        id);
    return answer->status < 400 ? CLI_OK : cli_report(answer);
}

int resource_path(struct buf *out, const char *id)
{
    const char *problem = resource_id_problem(str_of(id));

    if (problem)
        return cli_fail("that is the id of no resource: it %s", problem);
    buf_put(out, S("/admin/resources/"));
    cli_put_segment(out, str_of(id));
    return CLI_OK;
}

/* --- show --- */

struct show_options {
    struct resource_place place;
    bool json;
};

static const struct cli_option show_options[] = {
    { "--json", NULL, "as JSON", CLI_AT(struct show_options, json) },
    CLI_RESOURCE_PLACE(struct show_options),
};

static void put_value(struct buf *out, const struct json *value)
{
    switch (value->type) {
    case JSON_STRING: plain_put(out, value->text, PLAIN_TEXT); break;
    case JSON_ARRAY:
        JSON_FOREACH(item, value) {
            plain_put(out, item->text, PLAIN_LINE);
            buf_put(out, item->next ? S(", ") : S(""));
        }
        break;
    case JSON_OBJECT: /* the rate: 120.50 EUR per hour */
        plain_put(out,
                  json_find(value, S("amount")) ? json_find(value, S("amount"))->text
                                                : S(""),
                  PLAIN_LINE);
        buf_putc(out, ' ');
        plain_put(out, json_text(json_find(value, S("currency"))), PLAIN_LINE);
        buf_put(out, json_find(value, S("currency")) ? S(" per ") : S("per "));
        plain_put(out, json_text(json_find(value, S("per"))), PLAIN_LINE);
        break;
    case JSON_NUMBER:
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL: plain_put(out, value->raw, PLAIN_LINE); break;
    }
}

static void put_member(struct buf *out, const struct json *member, size_t columns)
{
    CLEANUP(buf_done) struct buf plain;

    buf_init(&plain, OUT_BYTES);
    put_value(&plain, member);
    (void)cell_put(out, member->key, KEY_WIDTH);
    cell_put_wrapped(out, buf_str(&plain), KEY_WIDTH, columns);
    buf_putc(out, '\n');
}

static int print_resource(const struct show_options *o, struct str body)
{
    size_t columns = progress_columns(STDOUT_FILENO);
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf out;
    const struct json *root;

    arena_init(&arena, TREE_BYTES);
    buf_init(&out, OUT_BYTES);
    if (json_parse(body, &arena, &root, NULL) || root->type != JSON_OBJECT)
        return cli_fail("the server's answer cannot be read");
    if (o->json)
        result_put_json(&out, body, columns ? RESULT_PLAIN : RESULT_RAW);
    else
        JSON_FOREACH(member, root)
            put_member(&out, member, columns);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    return CLI_OK;
}

static int show(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct show_options *o = fields;
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf path;
    int code;

    buf_init(&path, RESOURCE_PATH);
    code = resource_path(&path, arguments[0]);
    if (code)
        return code;
    code = resource_ask(&o->place,
                        &(struct cli_request){ .method = "GET", .path = buf_str(&path) },
                        arguments[0], &answer);
    if (code == CLI_OK)
        code = print_resource(o, buf_str(&answer.body));
    buf_done(&answer.body);
    return code;
}

/* --- set --- */

struct set_options {
    struct resource_place place;
    bool is_new;
};

static const struct cli_option set_options[] = {
    { "--new", NULL, "add it; it must not be there yet",
      CLI_AT(struct set_options, is_new) },
    CLI_RESOURCE_PLACE(struct set_options),
};

/* What the words say, before it is written: a rate has three of them. */
struct change {
    struct json_writer w;
    struct str rate, currency, per;
    bool has_rate;
};

static int complain(const char *format, const char *word)
{
    return (void)cli_fail("%s: \"%s\"", format, word), CLI_USAGE;
}

/* "a, b; c", or a JSON array as it is. */
static void put_list(struct json_writer *w, struct str text)
{
    if (str_starts(text, S("["))) {
        json_raw(w, text);
        return;
    }
    json_array_open(w);
    while (text.len) {
        size_t comma = str_find(text, ',', 0), semicolon = str_find(text, ';', 0);
        size_t end = comma < semicolon ? comma : semicolon;
        struct str item = str_trim(str_slice(text, 0, end));

        if (item.len)
            json_str(w, item);
        text = str_slice(text, end + 1, text.len);
    }
    json_array_close(w);
}

static int put_text(struct json_writer *w, struct str key, const char *value)
{
    CLEANUP(buf_done) struct buf text;
    int code = CLI_OK;

    buf_init(&text, BODY_BYTES);
    if (str_eq(key, S("profile")))
        code = cli_read_value(value, &text);
    else
        buf_put(&text, str_of(value));
    json_str(w, buf_str(&text));
    return code;
}

static bool take_rate(struct change *c, struct str key, struct str value)
{
    if (str_eq(key, S("rate"))) {
        c->rate = value;
        c->has_rate = true;
    } else if (str_eq(key, S("currency"))) {
        c->currency = value;
    } else if (str_eq(key, S("per"))) {
        c->per = value;
    } else {
        return false;
    }
    return true;
}

static int put_word(struct change *c, const char *word)
{
    static const struct str names[] = {
#define X(field) S(#field),
        RESOURCE_FIELDS(X)
#undef X
    };
    struct str value = str_of(word);
    struct str key = str_cut(&value, '=');
    bool is_known = false;

    if (!value.ptr)
        return complain("FIELD=VALUE is wanted", word);
    if (take_rate(c, key, value))
        return CLI_OK;
    for (size_t i = 0; i < COUNT(names); i++)
        is_known = is_known || str_eq(key, names[i]);
    if (!is_known || str_eq(key, S("id")) || str_eq(key, S("updated_at")))
        return complain("there is no such field to be set", word);
    json_key(&c->w, key);
    if (value.len == 0)
        json_null(&c->w);
    else if (str_eq(key, S("skills")) || str_eq(key, S("languages")))
        put_list(&c->w, value);
    else
        return put_text(&c->w, key, value.ptr);
    return CLI_OK;
}

static int put_rate(struct change *c)
{
    struct json_number number;

    if (!c->has_rate)
        return c->currency.len || c->per.len
                   ? (cli_fail("currency and per go with rate=AMOUNT"), CLI_USAGE)
                   : CLI_OK;
    json_key(&c->w, S("rate"));
    if (c->rate.len == 0) {
        json_null(&c->w);
        return CLI_OK;
    }
    if (json_number_parse(c->rate, &number))
        return cli_fail("a rate is a number, such as 120.50"), CLI_USAGE;
    json_object_open(&c->w);
    json_key(&c->w, S("amount"));
    json_raw(&c->w, c->rate);
    if (c->currency.len)
        json_put_str(&c->w, S("currency"), c->currency);
    if (c->per.len)
        json_put_str(&c->w, S("per"), c->per);
    json_object_close(&c->w);
    return CLI_OK;
}

static int write_change(const char *new_id, char **words, size_t count, struct buf *out)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root;
    struct change c = {};
    int code = CLI_OK;

    arena_init(&arena, TREE_BYTES);
    json_write_init(&c.w, out);
    json_object_open(&c.w);
    if (new_id)
        json_put_str(&c.w, S("id"), str_of(new_id));
    for (size_t i = 0; i < count && !code; i++)
        code = put_word(&c, words[i]);
    if (!code)
        code = put_rate(&c);
    json_object_close(&c.w);
    if (!code && json_parse(buf_str(out), &arena, &root, NULL))
        return cli_fail(
                   "a field is given twice, or a list that begins with [ is no JSON"),
               CLI_USAGE;
    return code;
}

static int set(void *fields, char **arguments, size_t count)
{
    const struct set_options *o = fields;
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf path;
    CLEANUP(buf_done) struct buf body;
    int code;

    buf_init(&path, RESOURCE_PATH);
    buf_init(&body, BODY_BYTES);
    code = resource_path(&path, arguments[0]);
    if (!code)
        code = write_change(o->is_new ? arguments[0] : NULL, arguments + 1, count - 1,
                            &body);
    if (code)
        return code;
    code = resource_ask(
        &o->place,
        &(struct cli_request){ .method = o->is_new ? "POST" : "PATCH",
                               .path = o->is_new ? S("/admin/resources") : buf_str(&path),
                               .body = buf_str(&body) },
        arguments[0], &answer);
    buf_done(&answer.body);
    return code;
}

/* --- remove --- */

static const struct cli_option remove_options[] = {
    CLI_RESOURCE_PLACE(struct show_options),
};

static int remove_one(const struct show_options *o, const char *id)
{
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf path;
    int code;

    buf_init(&path, RESOURCE_PATH);
    code = resource_path(&path, id);
    if (code)
        return code;
    code = resource_ask(
        &o->place, &(struct cli_request){ .method = "DELETE", .path = buf_str(&path) },
        id, &answer);
    buf_done(&answer.body);
    return code;
}

static int remove_all(void *fields, char **arguments, size_t count)
{
    int code = CLI_OK;

    for (size_t i = 0; i < count; i++) {
        int one = remove_one(fields, arguments[i]);

        code = one ? one : code;
    }
    return code;
}

/* --- the commands --- */

const struct cli_command cli_resource_show = {
    .name = "resource show",
    .usage = "RESOURCE",
    .summary = "all that the directory says about a person or an agent",
    .options = show_options,
    .option_count = COUNT(show_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = show,
    .options_size = sizeof(struct show_options),
};

const struct cli_command cli_resource_set = {
    .name = "resource set",
    .usage = "RESOURCE FIELD=VALUE... [--new]",
    .summary = "change some of an entry, or add one",
    .more =
        "FIELD is kind (human or agent), name, role, skills, availability, location,\n"
        "rate, currency, per (hour, day or month), languages, time_zone, profile,\n"
        "participant (whom rooms know it as) or invite (auto or ask). Lists have\n"
        "commas between their items. A field without a value is taken away.\n"
        "profile=@FILE reads it from a file.\n\n"
        "  moot resource set ann availability=part-time skills=Python,FastAPI\n"
        "  moot resource set ann rate=120.50 currency=EUR per=hour\n"
        "  moot resource set bot --new kind=agent name='Build bot' participant=bot\n",
    .options = set_options,
    .option_count = COUNT(set_options),
    .min_arguments = 2,
    .max_arguments = SIZE_MAX,
    .run = set,
    .options_size = sizeof(struct set_options),
};

const struct cli_command cli_resource_remove = {
    .name = "resource remove",
    .usage = "RESOURCE...",
    .summary = "take entries out of the directory",
    .options = remove_options,
    .option_count = COUNT(remove_options),
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = remove_all,
    .options_size = sizeof(struct show_options),
};
