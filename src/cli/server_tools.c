/* SPDX-License-Identifier: Apache-2.0 */
/* moot tools --server NAME: what an MCP server offers, and what of it is held. */
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/cell.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "cli/servers.h"
#include "json/json.h"

enum { TEXT_BYTES = 64 << 20, TREE_BYTES = 256 << 20, PATH_BYTES = 4096 };
enum { DEEP = 6 }; /* what is said of an item */

static const struct str lists[] = { S("tools"), S("resources"), S("resourceTemplates"),
                                    S("prompts") };

static void put_difference(struct buf *out, struct str text)
{
    struct buf plain;

    buf_init(&plain, TEXT_BYTES);
    while (text.ptr && text.len) {
        buf_clear(&plain);
        plain_put(&plain, str_cut(&text, '\n'), PLAIN_LINE);
        buf_putf(out, "%*s", DEEP, "");
        cell_put_wrapped(out, buf_str(&plain), DEEP, progress_columns(STDOUT_FILENO));
        buf_putc(out, '\n');
    }
    buf_done(&plain);
}

/* "  held     read_file: has changed", and how. */
static void put_item(struct buf *out, const struct json *item)
{
    const struct json *held = json_find(item, S("held"));
    struct str verdict = json_text(json_find(item, S("verdict")));
    struct str why = json_text(json_find(item, S("why")));
    bool is_held = held && held->type == JSON_TRUE;
    bool is_dropped = str_eq(verdict, S("dropped"));

    if (is_dropped)
        buf_put(out, S("  dropped  "));
    else
        buf_put(out, is_held ? S("  held     ") : S("  shown    "));
    plain_put(out, json_text(json_find(item, S("key"))), PLAIN_LINE);
    if (is_held || is_dropped) {
        buf_put(out, S(": "));
        plain_put(out, why.len ? why : verdict, PLAIN_LINE);
    }
    buf_putc(out, '\n');
    put_difference(out, json_text(json_find(item, S("difference"))));
}

static int put_lists(struct buf *out, struct str body)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root;

    arena_init(&arena, TREE_BYTES);
    if (json_parse(body, &arena, &root, NULL))
        return cli_fail("the server's answer cannot be read");
    for (size_t i = 0; i < COUNT(lists); i++) {
        const struct json *list = json_find(root, lists[i]);

        if (!list || list->type != JSON_ARRAY || !list->first)
            continue;
        buf_putf(out, STR_FMT ":\n", STR_ARG(lists[i]));
        JSON_FOREACH(item, list)
            put_item(out, item);
    }
    return CLI_OK;
}

static void put_approval(struct buf *out, const char *approve)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (*approve)
        json_put_str(&w, S("name"), str_of(approve));
    else
        json_put_bool(&w, S("all"), true);
    json_object_close(&w);
}

int servers_show_tools(const struct cli_server *server, const char *name,
                       const char *approve, bool as_json)
{
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf path;
    CLEANUP(buf_done) struct buf out;
    CLEANUP(buf_done) struct buf body;
    int code;

    buf_init(&path, PATH_BYTES);
    buf_init(&out, TEXT_BYTES);
    buf_init(&body, TEXT_BYTES);
    servers_path(&path, name, approve ? "/pins" : "/tools");
    if (approve)
        put_approval(&body, approve);
    code = servers_ask(server, approve ? NULL : name, approve ? "POST" : "GET",
                       buf_str(&path), buf_str(&body), &answer);
    if (code == CLI_OK && as_json)
        result_put_json(&out, buf_str(&answer.body),
                        isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW);
    else if (code == CLI_OK)
        code = put_lists(&out, buf_str(&answer.body));
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&answer.body);
    return code;
}
