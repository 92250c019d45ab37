/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/toolbox.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "mcp/rpc.h"

enum {
    AT_A_TIME = 200,
    PAGES_MAX = 100,
    SHELF_BYTES = 16 << 20,
    ARENA_BYTES = 256 << 20,
};

#define ASKING    "mcp/request:tools/list"
#define ANSWERING "mcp/response:tools/list"

/* --- who is asked --- */

static void add_shelf(struct toolbox *box, const struct moot_participant *who)
{
    struct shelf *shelf;

    box->shelves = xrealloc(box->shelves, (box->count + 1) * sizeof(*box->shelves));
    shelf = &box->shelves[box->count++];
    *shelf = (struct shelf){ .owner = xstrdup(who->id),
                             .type = xstrdup(who->type),
                             .why = NULL };
    buf_init(&shelf->tools, SHELF_BYTES);
}

static int compare(const void *a, const void *b)
{
    const struct shelf *left = a, *right = b;

    return str_cmp(str_of(left->owner), str_of(right->owner));
}

/* --- asking --- */

static void settle(struct shelf *shelf, const char *why)
{
    shelf->state = why ? SHELF_SILENT : SHELF_SHOWN;
    if (why)
        shelf->why = xstrdup(why);
    shelf->box->answered++;
}

/* Takes the tools of one page; false: it is no list of tools. */
static bool take_page(struct shelf *shelf, const struct json *result)
{
    const struct json *tools = json_find(result, S("tools"));

    if (!tools || tools->type != JSON_ARRAY)
        return false;
    JSON_FOREACH(tool, tools) {
        const struct json *name = json_find(tool, S("name"));

        if (!name || name->type != JSON_STRING ||
            tool->raw.len + 1 > SHELF_BYTES - shelf->tools.len)
            continue;
        if (shelf->tools.len)
            buf_putc(&shelf->tools, ',');
        buf_put(&shelf->tools, tool->raw);
    }
    return true;
}

/* An empty cursor asks for the first page. */
static void ask_page(struct shelf *shelf, struct str cursor);

static void take_answer(struct shelf *shelf, const struct json *result)
{
    const struct json *cursor = json_find(result, S("nextCursor"));

    if (!take_page(shelf, result))
        settle(shelf, "its answer is no list of tools");
    else if (cursor && cursor->type == JSON_STRING && cursor->text.len &&
             ++shelf->pages < PAGES_MAX)
        ask_page(shelf, cursor->text);
    else
        settle(shelf, NULL);
}

static void go_on(struct toolbox *box)
{
    while (box->asked < box->count && box->asked - box->answered < AT_A_TIME)
        ask_page(&box->shelves[box->asked++], S(""));
    if (box->answered == box->count)
        box->on_done(box);
}

static void on_result(struct shelf *shelf, struct str text)
{
    const struct json *root;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(text, &arena, &root, NULL))
        settle(shelf, "its answer cannot be read");
    else
        take_answer(shelf, root);
    arena_done(&arena);
}

static void on_answer(struct moot *m [[maybe_unused]], void *user,
                      const struct moot_outcome *outcome)
{
    struct shelf *shelf = user;

    if (shelf->box->session->is_ending) /* nobody waits for the rest any more */
        return;
    if (outcome->type == MOOT_RESULT)
        on_result(shelf, (struct str){ outcome->json.ptr, outcome->json.len });
    else if (outcome->type == MOOT_ERROR && outcome->code == RPC_METHOD_NOT_FOUND)
        settle(shelf, NULL); /* it does not know of tools: it has none */
    else if (outcome->type == MOOT_TIMED_OUT)
        settle(shelf, "does not answer");
    else
        settle(shelf, *outcome->message ? outcome->message : outcome->error);
    go_on(shelf->box);
}

static void ask_page(struct shelf *shelf, struct str cursor)
{
    struct toolbox *box = shelf->box;
    struct moot_request request = { .to = shelf->owner,
                                    .method = "tools/list",
                                    .how = MOOT_CALL,
                                    .timeout_ms = box->timeout_ms,
                                    .on_done = on_answer,
                                    .user = shelf };
    struct json_writer w;
    struct buf params;

    buf_init(&params, SHELF_BYTES);
    json_write_init(&w, &params);
    json_object_open(&w);
    if (cursor.len)
        json_put_str(&w, S("cursor"), cursor);
    json_object_close(&w);
    request.params = buf_cstr(&params);
    if (moot_request(box->session->moot, &request, NULL))
        settle(shelf, moot_why(box->session->moot));
    buf_done(&params);
}

int toolbox_ask(struct toolbox *box, const char *participant)
{
    struct moot *m = box->session->moot;
    struct moot_participant who;
    size_t at = 0;

    if (!moot_may(m, ASKING, "{\"method\":\"tools/list\"}"))
        return cli_fail("you may not ask for tools here (" ASKING ")"), CLI_REFUSED;
    if (participant && !session_has(box->session, participant))
        return CLI_FAILED;
    if (participant && moot_find_participant(m, participant, &who))
        add_shelf(box, &who);
    while (!participant && moot_next_participant(m, &at, &who))
        if (session_may_send(&who, S(ANSWERING)))
            add_shelf(box, &who);
    if (box->count)
        qsort(box->shelves, box->count, sizeof(*box->shelves), compare);
    for (size_t i = 0; i < box->count; i++)
        box->shelves[i].box = box;
    go_on(box);
    return CLI_OK;
}

void toolbox_done(struct toolbox *box)
{
    for (size_t i = 0; i < box->count; i++) {
        free(box->shelves[i].owner);
        free(box->shelves[i].type);
        free(box->shelves[i].why);
        buf_done(&box->shelves[i].tools);
    }
    free(box->shelves);
    box->shelves = NULL;
    box->count = 0;
}

bool shelf_has(const struct shelf *shelf, const char *tool)
{
    const struct json *list;
    struct arena arena;
    struct buf array;
    bool has = false;

    arena_init(&arena, ARENA_BYTES);
    buf_init(&array, SHELF_BYTES + 2);
    buf_putc(&array, '[');
    buf_put(&array, buf_str(&shelf->tools));
    buf_putc(&array, ']');
    if (json_parse(buf_str(&array), &arena, &list, NULL) == OK)
        JSON_FOREACH(item, list)
            has = has || str_eq(json_find(item, S("name"))->text, str_of(tool));
    buf_done(&array);
    arena_done(&arena);
    return has;
}
