/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

enum { ARENA_BYTES = 4 << 20, TIME_COLUMNS = 6 };

/* An entry while it is laid out. */
struct layout {
    struct rows *rows;
    const struct timeline *t;
    const struct entry *entry;
    size_t width; /* of the text */
    size_t used;  /* in the last row */
};

struct shape shape_of(unsigned columns)
{
    unsigned time = columns >= 40 ? TIME_COLUMNS : 0;
    unsigned name = columns >= 100 ? 17 : 13;

    if (columns < 60)
        name = 10;
    return (struct shape){ .name = time, .text = time + name, .end = columns };
}

void rows_init(struct rows *rows)
{
    *rows = (struct rows){};
    arena_init(&rows->arena, ARENA_BYTES);
}

void rows_done(struct rows *rows)
{
    free(rows->list);
    arena_done(&rows->arena);
}

/* --- texts --- */

/* The arena has room for all texts that an entry can have. */
static struct str keep(struct layout *l, const struct buf *text)
{
    struct str kept = arena_str(&l->rows->arena, buf_str(text));

    return kept.ptr ? kept : S("");
}

static struct str time_of(struct layout *l)
{
    time_t seconds = (time_t)(l->entry->when_ms / 1000);
    struct tm tm = {};
    struct buf text;
    struct str kept;

    (void)localtime_r(&seconds, &tm); // lint: a person reads it, where he is
    buf_init(&text, 16);
    buf_putf(&text, "%02u:%02u", (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100);
    kept = keep(l, &text);
    buf_done(&text);
    return kept;
}

static enum style style_of_state(enum entry_state state)
{
    switch (state) {
    case STATE_WAITING:
    case STATE_AUTHORIZING:
    case STATE_OPEN: return STYLE_WAIT;
    case STATE_ANSWERED:
    case STATE_ALLOWED:
    case STATE_FULFILLED: return STYLE_GOOD;
    case STATE_FAILED:
    case STATE_DENIED:
    case STATE_REJECTED: return STYLE_BAD;
    case STATE_NONE:
    case STATE_ENDED:
    case STATE_WITHDRAWN:
    case STATE_EXPIRED: break;
    }
    return STYLE_DIM;
}

/* "  fulfilled by human", or nothing. */
static struct piece state_of(struct layout *l, const struct entry *entry)
{
    struct piece piece = { .style = style_of_state(entry->state) };
    struct buf text;

    if (entry->state == STATE_NONE)
        return piece;
    buf_init(&text, 1024);
    buf_put(&text, S("  "));
    if (entry->state != STATE_ENDED || !entry->note)
        buf_put(&text, state_word(entry->state));
    if (entry->note)
        buf_putf(&text, "%s%s", entry->state == STATE_ENDED ? "" : " ", entry->note);
    piece.text = keep(l, &text);
    buf_done(&text);
    return piece;
}

/* The number by which commands name it, where there are such. */
static struct piece number_of(struct layout *l)
{
    struct buf text;
    struct piece piece = { .style = STYLE_DIM };

    if (l->entry->told != TELL_CALL && l->entry->told != TELL_PROPOSAL)
        return piece;
    buf_init(&text, 64);
    buf_putf(&text, "  #%llu", (unsigned long long)l->entry->number);
    piece.text = keep(l, &text);
    buf_done(&text);
    return piece;
}

/* --- rows --- */

static struct row *row_new(struct layout *l)
{
    struct rows *rows = l->rows;

    if (rows->count == rows->size) {
        rows->size = rows->size ? 2 * rows->size : 16;
        rows->list = xrealloc(rows->list, rows->size * sizeof(*rows->list));
    }
    rows->list[rows->count] = (struct row){};
    l->used = 0;
    return &rows->list[rows->count++];
}

static struct row *row_last(struct layout *l)
{
    return &l->rows->list[l->rows->count - 1];
}

/* Below a branch of the tree its trunk goes on, if more of the thread follows. */
static void row_more(struct layout *l)
{
    struct row *row = row_new(l);

    if (l->entry->thread && !entry_ends(l->t, l->entry))
        row->tree = signs()->trunk;
}

static void put(struct layout *l, struct piece piece)
{
    struct row *row = row_last(l);

    if (piece.text.len == 0 || row->count == ROW_PIECES)
        return;
    row->pieces[row->count++] = piece;
    l->used += wrap_columns(piece.text);
}

/* In the last row if it fits, else in another. */
static void put_beside(struct layout *l, struct piece piece)
{
    if (l->used > 0 && l->used + wrap_columns(piece.text) > l->width)
        row_more(l);
    if (l->used == 0)
        piece.text = str_trim(piece.text);
    put(l, piece);
}

static void put_lines(struct layout *l, struct piece piece)
{
    struct wrap wrap = { .rest = piece.text, .columns = l->width };
    struct str line;

    while (wrap_next(&wrap, &line)) {
        if (l->used > 0)
            row_more(l);
        put(l, (struct piece){ line, piece.style });
        if (line.len == 0)
            l->used = 1; /* an empty line is one, too */
    }
}

/* A thread that goes on far from its beginning says which one it is. */
static void put_heading(struct layout *l)
{
    const struct thread *thread = l->entry->thread;
    struct buf text;

    if (!entry_is_reply(l->entry) || !entry_begins(l->t, l->entry))
        return;
    buf_init(&text, 2048);
    buf_put(&text, signs()->again);
    if (thread->root || thread->number != l->entry->number)
        buf_putf(&text, " #%llu %s", (unsigned long long)thread->number, thread->title);
    else
        buf_put(&text, S(" something that was said before"));
    (void)row_new(l);
    put(l, (struct piece){ wrap_head(keep(l, &text), l->width), STYLE_DIM });
    if (thread->root)
        put_beside(l, state_of(l, thread->root));
    buf_done(&text);
}

static void put_who(struct layout *l)
{
    const struct entry *e = l->entry;
    struct row *row = row_new(l);

    row->time = time_of(l);
    if (entry_is_reply(e))
        row->tree = entry_ends(l->t, e) ? signs()->last : signs()->branch;
    row->name.text = e->from;
    row->name.style = e->is_mine ? STYLE_ME : style_of_name(e->from);
}

static enum style style_of_entry(const struct entry *entry)
{
    switch (entry->type) {
    case ENTRY_NOTE:
    case ENTRY_PRESENCE: return STYLE_DIM;
    case ENTRY_WARNING: return STYLE_WAIT;
    case ENTRY_SAID: break;
    }
    return STYLE_PLAIN;
}

/* What fulfils a proposal mostly repeats it. */
static bool is_as_proposed(const struct entry *e)
{
    const struct entry *root = e->thread ? e->thread->root : NULL;

    return root && root != e && e->told == TELL_CALL && root->told == TELL_PROPOSAL &&
           !e->is_cut && !root->is_cut && e->body.len > 0 &&
           str_eq(e->body, str_slice(root->body, 0, e->body.len)) &&
           (root->body.len == e->body.len || root->body.ptr[e->body.len] == '\n');
}

static struct str body_of(const struct entry *e)
{
    return is_as_proposed(e) ? S("as proposed") : e->body;
}

/* "calls add → calculator (a: 1, b: 2)" and "answers: 3", where that fits in a row. */
static bool put_short(struct layout *l, struct piece state, struct piece number)
{
    const struct entry *e = l->entry;
    bool is_asking = e->told == TELL_CALL || e->told == TELL_PROPOSAL;
    struct str body = body_of(e);
    struct buf text;
    bool fits;

    if (body.len == 0 || e->is_cut || str_find(body, '\n', 0) < body.len)
        return false;
    buf_init(&text, TELL_TITLE_BYTES + TELL_BODY_BYTES + 8);
    buf_put(&text, e->title);
    buf_put(&text, is_asking ? S(" (") : S(": "));
    buf_put(&text, body);
    if (is_asking)
        buf_putc(&text, ')');
    fits = wrap_columns(buf_str(&text)) + wrap_columns(state.text) +
               wrap_columns(number.text) <=
           l->width;
    if (fits)
        put(l, (struct piece){ keep(l, &text), style_of_entry(e) });
    buf_done(&text);
    return fits;
}

static void put_what(struct layout *l)
{
    const struct entry *e = l->entry;
    struct piece state = state_of(l, e);
    struct piece number = number_of(l);
    bool is_short = e->title.len > 0 && put_short(l, state, number);

    if (!is_short && e->title.len > 0)
        put_lines(l, (struct piece){ e->title, style_of_entry(e) });
    put_beside(l, state);
    put_beside(l, number);
    if (!is_short)
        put_lines(l, (struct piece){ body_of(e), style_of_entry(e) });
}

static void put_hint(struct layout *l)
{
    struct buf text;

    if (!l->entry->is_cut)
        return;
    buf_init(&text, 64);
    buf_putf(&text, "(more: /raw %llu)", (unsigned long long)l->entry->number);
    row_more(l);
    put(l, (struct piece){ keep(l, &text), STYLE_DIM });
    buf_done(&text);
}

void rows_lay_out(struct rows *rows, const struct timeline *t, const struct entry *entry,
                  struct shape shape)
{
    struct layout l = { .rows = rows, .t = t, .entry = entry };

    l.width = shape.end > shape.text + 2 ? shape.end - shape.text : 2;
    rows->count = 0;
    arena_reset(&rows->arena);
    put_heading(&l);
    put_who(&l);
    put_what(&l);
    put_hint(&l);
}

void row_draw(const struct row *row, struct canvas *canvas, unsigned at, unsigned left,
              struct shape shape)
{
    unsigned end = left + shape.end;
    unsigned column = left + shape.name;

    if (shape.name > 0)
        (void)canvas_put(canvas, (struct span){ at, left, end }, row->time, STYLE_DIM);
    column = canvas_put(canvas, (struct span){ at, column, end }, row->tree, STYLE_DIM);
    (void)canvas_put_cut(canvas, (struct span){ at, column, left + shape.text - 1 },
                         row->name.text, row->name.style);
    column = left + shape.text;
    for (size_t i = 0; i < row->count; i++)
        column = canvas_put(canvas, (struct span){ at, column, end }, row->pieces[i].text,
                            row->pieces[i].style);
}
