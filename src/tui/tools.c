/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/tools.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "envelope/kind.h"
#include "json/json.h"
#include "tui/wrap.h"

enum {
    ARENA_BYTES = 64 << 20,
    NAME_BYTES = 256,
    DESCRIPTION_COLUMNS = 200,
    CURSOR_BYTES = 1024
};

static void empty(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++) {
        free(shelf->names[i]);
        free(shelf->descriptions[i]);
    }
    free(shelf->names);
    free(shelf->descriptions);
    free(shelf->why);
    *shelf = (struct shelf){ .owner = shelf->owner };
}

static void shelf_free(struct shelf *shelf)
{
    empty(shelf);
    free(shelf->owner);
    free(shelf);
}

void tools_done(struct tools *tools)
{
    for (size_t i = 0; i < tools->count; i++)
        shelf_free(tools->shelves[i]);
    *tools = (struct tools){};
}

static size_t place_of(const struct tools *tools, struct str owner)
{
    size_t i = 0;

    while (i < tools->count && !str_eq(str_of(tools->shelves[i]->owner), owner))
        i++;
    return i;
}

struct shelf *tools_find(const struct tools *tools, struct str owner)
{
    size_t i = place_of(tools, owner);

    return i < tools->count ? tools->shelves[i] : NULL;
}

struct shelf *tools_find_asked(const struct tools *tools, struct str id)
{
    for (size_t i = 0; id.len && i < tools->count; i++)
        if (str_eq(str_of(tools->shelves[i]->asked), id))
            return tools->shelves[i];
    return NULL;
}

static void drop(struct tools *tools, size_t at)
{
    shelf_free(tools->shelves[at]);
    tools->count--;
    memmove(tools->shelves + at, tools->shelves + at + 1,
            (tools->count - at) * sizeof(tools->shelves[0]));
}

void tools_forget(struct tools *tools, struct str owner)
{
    size_t i = place_of(tools, owner);

    if (i < tools->count)
        drop(tools, i);
}

struct shelf *tools_ask(struct tools *tools, struct str owner)
{
    struct shelf *shelf = tools_find(tools, owner);

    if (shelf) {
        empty(shelf);
        return shelf;
    }
    if (tools->count == TOOLS_SHELVES)
        drop(tools, 0);
    shelf = xcalloc(1, sizeof(*shelf));
    shelf->owner = str_dup(owner);
    tools->shelves[tools->count++] = shelf;
    return shelf;
}

/* What the kind of a call cannot name cannot be called. */
static bool is_callable(struct str name)
{
    struct buf text;
    struct kind kind;
    bool is_kind;

    if (name.len == 0 || name.len > NAME_BYTES)
        return false;
    buf_init(&text, NAME_BYTES + 64);
    buf_put(&text, S("mcp/request:tools/call:"));
    buf_put(&text, name);
    is_kind = kind_parse(buf_str(&text), &kind) == OK;
    buf_done(&text);
    return is_kind;
}

static char *describe(const struct json *tool)
{
    const struct json *text = json_find(tool, S("description"));
    struct buf plain, line;
    struct str first;
    char *result;

    if (!text || text->type != JSON_STRING)
        return xstrdup("");
    first = str_slice(text->text, 0, str_find(text->text, '\n', 0));
    buf_init(&plain, 64 << 10);
    buf_init(&line, 64 << 10);
    plain_put(&plain, str_slice(first, 0, 4096), PLAIN_LINE);
    wrap_put_cut(&line, buf_str(&plain), DESCRIPTION_COLUMNS);
    result = str_dup(buf_str(&line));
    buf_done(&line);
    buf_done(&plain);
    return result;
}

static void add_tool(struct shelf *shelf, const struct json *tool)
{
    const struct json *name = json_find(tool, S("name"));

    if (!name || name->type != JSON_STRING || !is_callable(name->text) ||
        shelf->count == TOOLS_EACH)
        return;
    if (!shelf->names) {
        shelf->names = xcalloc(TOOLS_EACH, sizeof(char *));
        shelf->descriptions = xcalloc(TOOLS_EACH, sizeof(char *));
    }
    shelf->names[shelf->count] = str_dup(name->text);
    shelf->descriptions[shelf->count++] = describe(tool);
}

static bool add_page(struct shelf *shelf, const struct json *result, struct buf *cursor)
{
    const struct json *list = json_find(result, S("tools"));
    const struct json *next = json_find(result, S("nextCursor"));

    if (list && list->type == JSON_ARRAY)
        JSON_FOREACH(tool, list)
            add_tool(shelf, tool);
    shelf->state = SHELF_KNOWN;
    if (!next || next->type != JSON_STRING || next->text.len == 0 ||
        next->text.len > CURSOR_BYTES || ++shelf->pages == TOOLS_PAGES ||
        shelf->count == TOOLS_EACH)
        return false;
    buf_put(cursor, next->text);
    shelf->state = SHELF_ASKED;
    return true;
}

bool shelf_add(struct shelf *shelf, struct str result, struct buf *cursor)
{
    const struct json *tree;
    struct arena arena;
    bool has_more = false;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(result, &arena, &tree, NULL) == OK)
        has_more = add_page(shelf, tree, cursor);
    else
        shelf_fail(shelf, S("the answer cannot be read"));
    arena_done(&arena);
    return has_more;
}

void shelf_fail(struct shelf *shelf, struct str why)
{
    free(shelf->why);
    shelf->why = str_dup(why);
    shelf->state = SHELF_SILENT;
}

void shelf_put(struct buf *out, const struct shelf *shelf)
{
    switch (shelf->state) {
    case SHELF_ASKED: buf_put(out, S("asked, no answer yet\n")); return;
    case SHELF_SILENT: buf_putf(out, "none: %s\n", shelf->why); return;
    case SHELF_KNOWN: break;
    }
    if (shelf->count == 0)
        buf_put(out, S("none\n"));
    for (size_t i = 0; i < shelf->count; i++) {
        plain_put(out, str_of(shelf->names[i]), PLAIN_LINE);
        if (*shelf->descriptions[i])
            buf_putf(out, ": %s", shelf->descriptions[i]);
        buf_putc(out, '\n');
    }
}
