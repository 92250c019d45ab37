/* SPDX-License-Identifier: Apache-2.0 */
/* moot resource list, search: who there is, and who fits what is asked for. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/cell.h"
#include "cli/resource.h"
#include "cli/result.h"
#include "cli/table.h"
#include "json/json.h"

enum {
    TREE_BYTES = 64 << 20,
    OUT_BYTES = 16 << 20,
    PAGE = 100,
    PRESET = 20,
    MOST = 1'000'000,
    INDENT = 2, /* of what stands below a row */
};

struct search_options {
    struct resource_place place;
    const char *skills, *availability, *kind, *location, *max_rate, *currency, *team,
        *limit;
    bool json;
};

#define OPT(member) CLI_AT(struct search_options, member)

/* clang-format off */
static const struct cli_option options[] = {
    { "--skills",       "LIST",        "only who has all of these, with commas between them", OPT(skills) },
    { "--availability", "WHEN",        "only who is available so: full-time, part-time, contract", OPT(availability) },
    { "--kind",         "human|agent", "only people, or only agents",                         OPT(kind) },
    { "--location",     "PLACE",       "only there: each word begins one of the location",    OPT(location) },
    { "--max-rate",     "AMOUNT",      "only who takes no more than this, by the hour",       OPT(max_rate) },
    { "--currency",     "CODE",        "only who is paid in this currency",                    OPT(currency) },
    { "--team",         "ID",          "only who is in this team",                            OPT(team) },
    { "--limit",        "N",           "at most so many; else 20",                            OPT(limit) },
    { "--json",         NULL,          "one JSON object a line",                              OPT(json) },
    CLI_RESOURCE_PLACE(struct search_options),
};
/* clang-format on */

/* --- a question --- */

struct question {
    const struct search_options *options;
    struct str words;
    uint64_t left;
    struct buf cursor;
    struct buf out;
    struct table table;
    bool is_terminal;
    bool has_head;
    uint64_t count;
};

static void put_parameter(struct buf *path, const char *name, struct str value)
{
    if (value.len == 0)
        return;
    buf_putf(path, "&%s=", name);
    cli_put_segment(path, value);
}

static void put_path(const struct question *q, struct buf *path)
{
    const struct search_options *o = q->options;

    buf_putf(path, "/admin/resources?limit=%llu",
             (unsigned long long)(q->left < PAGE ? q->left : PAGE));
    put_parameter(path, "query", q->words);
    put_parameter(path, "skills", str_of(o->skills));
    put_parameter(path, "availability", str_of(o->availability));
    put_parameter(path, "kind", str_of(o->kind));
    put_parameter(path, "location", str_of(o->location));
    put_parameter(path, "max_rate", str_of(o->max_rate));
    put_parameter(path, "currency", str_of(o->currency));
    put_parameter(path, "team", str_of(o->team));
    put_parameter(path, "cursor", buf_str(&q->cursor));
}

/* --- a table --- */

/* clang-format off */
static const struct table_column columns[] = {
    { S("ID"),        true },
    { S("NAME"),      false },
    { S("ROLE"),      false },
    { S("AVAILABLE"), true },
    { S("LOCATION"),  false },
};
/* clang-format on */

static struct str cell_of(const struct json *hit, size_t column)
{
    static const struct str members[COUNT(columns)] = { S("id"), S("name"), S("role"),
                                                        S("availability"),
                                                        S("location") };

    return json_text(json_find(json_find(hit, S("resource")), members[column]));
}

static void put_head(struct question *q, const struct json *list)
{
    if (q->has_head || q->options->json || list->count == 0)
        return;
    q->has_head = true;
    table_fit(&q->table, list);
    table_put_head(&q->table, &q->out);
}

static void put_items(struct buf *text, const struct json *list)
{
    if (!list || list->type != JSON_ARRAY)
        return;
    JSON_FOREACH(item, list) {
        buf_put(text, item->text);
        buf_put(text, item->next ? S(", ") : S(""));
    }
}

/* Below: the skills; of a search, what was found. */
static void put_below(struct question *q, const struct json *hit,
                      const struct json *resource)
{
    const struct json *reason = json_find(hit, S("reason"));
    const struct json *words = json_find(reason, S("words"));
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, OUT_BYTES);
    if (words && words->count) {
        buf_put(&text, S("found: "));
        put_items(&text, words);
        buf_put(&text, S("; "));
    }
    put_items(&text, json_find(resource, S("skills")));
    if (text.len == 0)
        return;
    (void)cell_put(&q->out, S(""), INDENT);
    (void)cell_put_cut(&q->out, buf_str(&text),
                       q->table.room > INDENT ? q->table.room - INDENT : 0);
    buf_putc(&q->out, '\n');
}

static void put_hit(struct question *q, const struct json *hit)
{
    q->count++;
    if (q->options->json) {
        result_put_json(&q->out, hit->raw, q->is_terminal ? RESULT_PLAIN : RESULT_RAW);
        return;
    }
    table_put_row(&q->table, hit, &q->out);
    put_below(q, hit, json_find(hit, S("resource")));
}

/* --- pages --- */

static int put_page(struct question *q, struct str body, bool *ret_partial)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root, *list;

    arena_init(&arena, TREE_BYTES);
    list = json_parse(body, &arena, &root, NULL) ? NULL : json_find(root, S("resources"));
    if (!list || list->type != JSON_ARRAY)
        return cli_fail("the server's answer cannot be read");
    put_head(q, list);
    JSON_FOREACH(hit, list)
        put_hit(q, hit);
    q->left -= list->count < q->left ? list->count : q->left;
    buf_clear(&q->cursor);
    buf_put(&q->cursor, json_text(json_find(root, S("next"))));
    *ret_partial = *ret_partial || json_find(root, S("partial"));
    (void)fwrite(q->out.ptr, 1, q->out.len, stdout);
    buf_clear(&q->out);
    return CLI_OK;
}

static int ask_page(struct question *q, bool *ret_partial)
{
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf path;
    int code;

    buf_init(&path, RESOURCE_PATH);
    put_path(q, &path);
    code = resource_ask(&q->options->place,
                        &(struct cli_request){ .method = "GET", .path = buf_str(&path) },
                        NULL, &answer);
    if (code == CLI_OK)
        code = put_page(q, buf_str(&answer.body), ret_partial);
    buf_done(&answer.body);
    return code;
}

/* What the table does not say, for people. */
static void say_rest(const struct question *q, bool is_partial)
{
    (void)fflush(stdout);
    if (is_partial)
        fputs("Not all were looked at: there may be others who fit better.\n", stderr);
    else if (q->count == 0)
        fputs(q->words.len
                  ? "Nobody fits; other words, or fewer filters, may find more.\n"
                  : "There is nobody; `moot resource import FILE` adds many.\n",
              stderr);
    if (q->cursor.len && q->is_terminal)
        fputs("There are more: --limit N shows them.\n", stderr);
}

static int run(const struct search_options *o, struct str words)
{
    struct question q = { .options = o, .words = words, .left = PRESET };
    bool is_partial = false;
    int code = CLI_OK;

    if (o->limit && (str_to_u64(str_of(o->limit), MOST, &q.left) || q.left == 0))
        return cli_fail("--limit is a number from 1 to %d", MOST), CLI_USAGE;
    q.is_terminal = isatty(STDOUT_FILENO);
    q.table = (struct table){
        .columns = columns, .count = COUNT(columns), .cell = cell_of, .room = table_room()
    };
    buf_init(&q.out, OUT_BYTES);
    buf_init(&q.cursor, RESOURCE_PATH);
    do
        code = ask_page(&q, &is_partial);
    while (!code && q.left && q.cursor.len);
    if (!code && !o->json)
        say_rest(&q, is_partial);
    buf_done(&q.out);
    buf_done(&q.cursor);
    return code;
}

static int list(void *fields, char **arguments [[maybe_unused]],
                size_t count [[maybe_unused]])
{
    return run(fields, S(""));
}

static int search(void *fields, char **arguments, size_t count)
{
    CLEANUP(buf_done) struct buf words;

    buf_init(&words, RESOURCE_PATH / 4);
    for (size_t i = 0; i < count; i++) {
        buf_put(&words, i ? S(" ") : S(""));
        buf_put(&words, str_of(arguments[i]));
    }
    return run(fields, buf_str(&words));
}

const struct cli_command cli_resource_list = {
    .name = "resource list",
    .usage = "[OPTIONS]",
    .summary = "people and agents of the directory, who is available first",
    .options = options,
    .option_count = COUNT(options),
    .run = list,
    .options_size = sizeof(struct search_options),
};

const struct cli_command cli_resource_search = {
    .name = "resource search",
    .usage = "WORDS... [OPTIONS]",
    .summary = "find people and agents in everyday words, who fits best first",
    .more =
        "Words are looked for everywhere: in skills and role above all. None of them\n"
        "has to be found; filters have to hold.\n\n"
        "  moot resource search Python developer with experience in finance\n"
        "  moot resource search tester --skills Python --availability full-time\n",
    .options = options,
    .option_count = COUNT(options),
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = search,
    .options_size = sizeof(struct search_options),
};
