/* SPDX-License-Identifier: Apache-2.0 */
/* moot tools --server NAME: what an MCP server offers, and what of it is held. */
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/cell.h"
#include "cli/input.h"
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

static bool is_held(const struct json *item)
{
    const struct json *held = json_find(item, S("held"));

    return held && held->type == JSON_TRUE;
}

/* "  held     read_file: has changed", and how. */
static void put_item(struct buf *out, const struct json *item)
{
    struct str verdict = json_text(json_find(item, S("verdict")));
    struct str why = json_text(json_find(item, S("why")));
    bool waits = is_held(item);
    bool is_dropped = str_eq(verdict, S("dropped"));

    if (is_dropped)
        buf_put(out, S("  dropped  "));
    else
        buf_put(out, waits ? S("  held     ") : S("  shown    "));
    plain_put(out, json_text(json_find(item, S("key"))), PLAIN_LINE);
    if (waits || is_dropped) {
        buf_put(out, S(": "));
        plain_put(out, why.len ? why : verdict, PLAIN_LINE);
    }
    buf_putc(out, '\n');
    put_difference(out, json_text(json_find(item, S("difference"))));
}

/* Everything that is offered, or what is held of it. */
static void put_lists(struct buf *out, const struct json *root, bool only_held)
{
    for (size_t i = 0; i < COUNT(lists); i++) {
        const struct json *list = json_find(root, lists[i]);
        bool has_title = false;

        if (!list || list->type != JSON_ARRAY)
            continue;
        JSON_FOREACH(item, list) {
            if (only_held && !is_held(item))
                continue;
            if (!has_title)
                buf_putf(out, STR_FMT ":\n", STR_ARG(lists[i]));
            has_title = true;
            put_item(out, item);
        }
    }
}

/* --- approving --- */

static const struct json *find_tool(const struct json *root, struct str name)
{
    const struct json *tools = json_find(root, S("tools"));

    if (tools && tools->type == JSON_ARRAY)
        JSON_FOREACH(item, tools)
            if (str_eq(json_text(json_find(item, S("key"))), name))
                return item;
    return NULL;
}

static void put_approval(struct buf *out, const char *approve, struct str digest)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (*approve)
        json_put_str(&w, S("name"), str_of(approve));
    else
        json_put_bool(&w, S("all"), true);
    json_put_str(&w, S("digest"), digest);
    json_object_close(&w);
}

/* Shows what would be approved, and asks whoever is there. *body is what the gateway is
 * to be told: with the digest of what was shown, since the server may change it
 * meanwhile. */
static int look_first(const struct servers_tools_options *o, const struct json *root,
                      struct buf *body)
{
    const struct json *shown = *o->approve ? find_tool(root, str_of(o->approve)) : root;
    struct str digest = json_text(json_find(shown, S("digest")));
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, TEXT_BYTES);
    if (!shown)
        return cli_fail("that server offers nothing of that name");
    if (!digest.len)
        return cli_fail("the gateway does not say what would be approved");
    if (*o->approve)
        put_item(&out, shown);
    else
        put_lists(&out, root, true);
    put_approval(body, o->approve, digest);
    if (o->is_sure || !out.len || !cli_can_ask())
        return CLI_OK;
    fputs(buf_cstr(&out), stderr);
    return cli_ask("Approve this?") ? CLI_OK : cli_fail("nothing was approved");
}

static int ask_tools(const struct cli_server *server, const char *name, struct str body,
                     struct cli_answer *answer, struct arena *arena,
                     const struct json **ret)
{
    CLEANUP(buf_done) struct buf path;
    int code;

    buf_init(&path, PATH_BYTES);
    servers_path(&path, name, body.len ? "/pins" : "/tools");
    code = servers_ask(server, body.len ? NULL : name, body.len ? "POST" : "GET",
                       buf_str(&path), body, answer);
    if (code == CLI_OK && json_parse(buf_str(&answer->body), arena, ret, NULL))
        return cli_fail("the server's answer cannot be read");
    return code;
}

int servers_show_tools(const struct cli_server *server,
                       const struct servers_tools_options *options)
{
    struct cli_answer answer = {}, approved = {};
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf out;
    CLEANUP(buf_done) struct buf body;
    const struct json *root;
    int code;

    arena_init(&arena, TREE_BYTES);
    buf_init(&out, TEXT_BYTES);
    buf_init(&body, TEXT_BYTES);
    code = ask_tools(server, options->name, S(""), &answer, &arena, &root);
    if (code == CLI_OK && options->approve)
        code = look_first(options, root, &body);
    if (code == CLI_OK && options->approve)
        code = ask_tools(server, options->name, buf_str(&body), &approved, &arena, &root);
    if (code == CLI_OK && options->json)
        result_put_json(&out, buf_str(options->approve ? &approved.body : &answer.body),
                        isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW);
    else if (code == CLI_OK)
        put_lists(&out, root, false);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&answer.body);
    buf_done(&approved.body);
    return code;
}
