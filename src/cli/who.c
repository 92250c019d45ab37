/* SPDX-License-Identifier: Apache-2.0 */
/* moot who: who is in a topic, and what they may do. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/cell.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "json/json.h"

enum { TEXT_BYTES = 64 << 20, ARENA_BYTES = 64 << 20, WIDEST = 40 };

struct who_options {
    struct session_options session;
};

static const struct cli_option options[] = { CLI_SESSION(struct who_options) };

struct row {
    char *id, *type, *capabilities;
    bool is_me;
};

struct table {
    struct row *rows;
    size_t count;
};

static void add_row(struct table *table, const struct moot_participant *who, bool is_me)
{
    table->rows = xrealloc(table->rows, (table->count + 1) * sizeof(*table->rows));
    table->rows[table->count++] = (struct row){
        .id = xstrdup(who->id),
        .type = xstrdup(who->type),
        .capabilities =
            str_dup((struct str){ who->capabilities.ptr, who->capabilities.len }),
        .is_me = is_me,
    };
}

static int compare(const void *a, const void *b)
{
    const struct row *left = a, *right = b;

    return str_cmp(str_of(left->id), str_of(right->id));
}

/* Ourselves included: whoever asks is in the topic as well. */
static void collect(struct session *session, struct table *table)
{
    struct moot *m = session->moot;
    struct moot_participant who;
    size_t at = 0;
    bool has_me = false;

    while (moot_next_participant(m, &at, &who)) {
        bool is_me = strcmp(who.id, moot_id(m)) == 0;

        has_me |= is_me;
        add_row(table, &who, is_me);
    }
    if (!has_me)
        add_row(table,
                &(struct moot_participant){
                    .id = moot_id(m), .type = "", .capabilities = moot_capabilities(m) },
                true);
    qsort(table->rows, table->count, sizeof(*table->rows), compare);
}

/* Patterns as they are, objects by the kinds they cover. */
static void put_capabilities(struct buf *out, struct str list)
{
    const struct json *root;
    struct arena arena;
    const char *comma = "";

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(list, &arena, &root, NULL) == OK)
        JSON_FOREACH(item, root) {
            const struct json *kind = json_find(item, S("kind"));

            buf_put(out, str_of(comma));
            plain_put(out, kind ? kind->text : item->text, PLAIN_LINE);
            buf_put(out, kind ? S(" (by payload)") : S(""));
            comma = ", ";
        }
    arena_done(&arena);
}

static size_t widest(const struct table *table)
{
    size_t width = strlen("PARTICIPANT");
    struct buf cell;

    buf_init(&cell, TEXT_BYTES);
    for (size_t i = 0; i < table->count; i++) {
        size_t count = cell_put(&cell, str_of(table->rows[i].id), 0);

        width = count > width && count <= WIDEST ? count : width;
        buf_clear(&cell);
    }
    buf_done(&cell);
    return width;
}

/* The last column: at a terminal it goes on below itself. */
static void put_may(struct buf *out, const struct row *row, size_t at)
{
    struct buf may;

    buf_init(&may, TEXT_BYTES);
    put_capabilities(&may, str_of(row->capabilities));
    cell_put_wrapped(out, buf_str(&may), at, progress_columns(STDOUT_FILENO));
    buf_putc(out, '\n');
    buf_done(&may);
}

static void put_table(struct session *session, struct buf *out, const struct table *table)
{
    size_t width = widest(table);

    buf_put(out, str_of(session->ink->dim));
    (void)cell_put(out, S("PARTICIPANT"), width);
    buf_putf(out, "  TYPE     MAY%s\n", session->ink->off);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];

        buf_put(out, str_of(row->is_me ? session->ink->bold : ""));
        (void)cell_put(out, str_of(row->id), width);
        buf_put(out, str_of(row->is_me ? session->ink->off : ""));
        buf_put(out, S("  "));
        (void)cell_put(out, row->is_me && !*row->type ? S("(you)") : str_of(row->type),
                       7);
        buf_put(out, S("  "));
        put_may(out, row, width + sizeof("  TYPE     ") - 1);
    }
}

static void put_json(struct session *session, struct buf *out, const struct row *row)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, TEXT_BYTES);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("id"), str_of(row->id));
    if (*row->type)
        json_put_str(&w, S("type"), str_of(row->type));
    json_key(&w, S("capabilities"));
    json_raw(&w, *row->capabilities ? str_of(row->capabilities) : S("[]"));
    if (row->is_me)
        json_put_bool(&w, S("you"), true);
    json_object_close(&w);
    result_put_json(out, buf_str(&text), session->form);
    buf_done(&text);
}

static void on_begin(struct session *session)
{
    struct table table = {};
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    collect(session, &table);
    if (session->options->json)
        for (size_t i = 0; i < table.count; i++)
            put_json(session, &out, &table.rows[i]);
    else
        put_table(session, &out, &table);
    session_print(session, &out);
    for (size_t i = 0; i < table.count; i++) {
        free(table.rows[i].id);
        free(table.rows[i].type);
        free(table.rows[i].capabilities);
    }
    free(table.rows);
    buf_done(&out);
    session_end(session, CLI_OK);
}

static int who(void *fields, char **arguments [[maybe_unused]],
               size_t count [[maybe_unused]])
{
    const struct who_options *o = fields;
    struct session_plan plan = { .on_begin = on_begin };

    return session_run(&o->session, &plan);
}

const struct cli_command cli_who = {
    .name = "who",
    .usage = "TOPIC",
    .summary = "list who is in a topic, and what they may send",
    .options = options,
    .option_count = COUNT(options),
    .run = who,
    .options_size = sizeof(struct who_options),
    .takes_topic = true,
};
