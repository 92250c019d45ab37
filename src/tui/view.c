/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all views have in common: the bar at the top, the line that is typed at the
 * bottom, and what is told in between.
 */
#include "base/cleanup.h"
#include "base/plain.h"
#include "tui/command.h"
#include "tui/pager.h"
#include "tui/tell.h"
#include "tui/tui_priv.h"

enum {
    MIN_ROWS = 6,
    MIN_COLUMNS = 24,
    SIDE_FROM = 100, /* columns from which on there is a pane with who is here */
    SIDE_COLUMNS = 28,
    SIDE_ROWS = 2, /* for each of them */
    LIST_MIN = 3,
};

static struct span span_of(struct area area, unsigned row)
{
    return (struct span){ area.row + row, area.column, area.column + area.columns };
}

void view_rule(struct canvas *canvas, struct area area, unsigned row, struct str word)
{
    struct span at = span_of(area, row);
    unsigned behind;

    for (unsigned column = at.column; column < at.end; column++)
        (void)canvas_put(canvas, (struct span){ at.row, column, at.end }, signs()->across,
                         STYLE_DIM);
    if (word.len == 0)
        return;
    at.column += 2;
    (void)canvas_put(canvas, at, S(" "), STYLE_DIM);
    at.column++;
    behind = canvas_put_cut(canvas, at, word, STYLE_STRONG);
    (void)canvas_put(canvas, (struct span){ at.row, behind, at.end }, S(" "), STYLE_DIM);
}

unsigned view_list_rows(struct area area, unsigned part)
{
    unsigned rows = area.rows / part > LIST_MIN ? area.rows / part : LIST_MIN;

    return rows <= area.rows / 2 ? rows : area.rows / 2;
}

void view_more(struct canvas *canvas, struct area area, unsigned row, size_t lines)
{
    struct span at = span_of(area, row);
    struct buf text;

    if (lines == 0)
        return;
    buf_init(&text, 128);
    buf_putf(&text, " " STR_FMT " %zu more %s (PgDn) ", STR_ARG(signs()->more), lines,
             lines == 1 ? "line" : "lines");
    (void)canvas_put_right(canvas, at, buf_str(&text), STYLE_WAIT);
    buf_done(&text);
}

/* --- the bar --- */

static size_t count_waiting(const struct tui *tui)
{
    struct inbox_item *item = NULL;
    size_t count = 0;

    while ((item = inbox_next(&tui->inbox, item)) != NULL)
        count += inbox_waits(item);
    return count;
}

static void put_why(const struct tui *tui, struct buf *out)
{
    if (tui->status.why.len)
        buf_putf(out, " (" STR_FMT ")", STR_ARG(buf_str(&tui->status.why)));
}

static void put_status(const struct tui *tui, struct buf *out)
{
    switch (tui->status.state) {
    case MOOT_CONNECTING: buf_put(out, S("connecting")); return;
    case MOOT_JOINED: buf_put(out, S("connected")); return;
    case MOOT_WAITING:
        buf_put(out, S("no connection"));
        if (tui->status.retry_ms >= 0)
            buf_putf(out, ", next try in %d s", (tui->status.retry_ms + 999) / 1000);
        put_why(tui, out);
        return;
    case MOOT_OVER:
        buf_put(out, S("the connection has ended"));
        put_why(tui, out);
        return;
    }
}

static void put_waiting(struct buf *out, size_t waiting)
{
    buf_clear(out);
    buf_putf(out, " %zu %s: F2 ", waiting, waiting == 1 ? "waits" : "wait");
}

static bool is_well(const struct tui *tui)
{
    return tui->status.state == MOOT_JOINED ||
           (tui->status.state == MOOT_CONNECTING && !tui->status.has_joined);
}

static void draw_bar(struct tui *tui, struct area all)
{
    enum style style = is_well(tui) ? STYLE_BAR : STYLE_ALARM;
    struct span at = span_of(all, 0);
    size_t waiting = count_waiting(tui);
    struct buf text;

    buf_init(&text, 4096);
    canvas_fill(&tui->canvas, at, style);
    at.column = canvas_put(&tui->canvas, at, S(" "), style);
    at.column = canvas_put_cut(&tui->canvas, at, str_of(tui->topic), style);
    if (waiting > 0) {
        put_waiting(&text, waiting);
        at.column =
            canvas_put(&tui->canvas, (struct span){ at.row, at.column + 2, at.end },
                       buf_str(&text), STYLE_CALL);
    }
    buf_clear(&text);
    put_status(tui, &text);
    if (tui->people.total && tui->status.state == MOOT_JOINED)
        buf_putf(&text, " " STR_FMT " %zu here", STR_ARG(signs()->dot),
                 tui->people.total);
    buf_putc(&text, ' ');
    at.column += 2;
    (void)canvas_put_right(&tui->canvas, at, buf_str(&text), style);
    buf_done(&text);
}

/* Until it is acknowledged: somebody who was away must know that he does not know all. */
static void draw_gap(struct tui *tui, struct area all)
{
    struct span at = span_of(all, 1);
    struct buf text;

    buf_init(&text, 256);
    if (tui->status.missed)
        buf_putf(&text, " %llu messages were missed while there was no connection (Esc)",
                 (unsigned long long)tui->status.missed);
    else
        buf_put(&text,
                S(" some messages were missed while there was no connection (Esc)"));
    canvas_fill(&tui->canvas, at, STYLE_ALARM);
    (void)canvas_put_cut(&tui->canvas, at, buf_str(&text), STYLE_ALARM);
    buf_done(&text);
}

/* --- the room --- */

static void draw_person(struct tui *tui, struct area side, unsigned row, size_t index)
{
    const struct person *person = &tui->people.list[index];
    struct span at = span_of(side, row);
    struct buf name;

    buf_init(&name, 1024);
    tell_put_name(&name, str_of(person->id));
    (void)canvas_put_cut(&tui->canvas, (struct span){ at.row, at.column, at.end - 9 },
                         buf_str(&name),
                         person->is_me ? STYLE_ME : style_of_name(buf_str(&name)));
    buf_clear(&name);
    plain_put(&name, str_slice(str_of(person->type), 0, 16), PLAIN_LINE);
    (void)canvas_put_right(&tui->canvas, (struct span){ at.row, at.end - 8, at.end },
                           person->is_me ? S("you") : buf_str(&name), STYLE_DIM);
    (void)canvas_put_cut(&tui->canvas, (struct span){ at.row + 1, at.column + 2, at.end },
                         str_of(person->rights), STYLE_DIM);
    buf_done(&name);
}

static void draw_side(struct tui *tui, struct area side)
{
    size_t fit = side.rows / SIDE_ROWS;
    size_t shown = tui->people.count < fit ? tui->people.count : fit;
    struct buf text;

    if (shown > 0 && shown < tui->people.total)
        shown--; /* the rest is counted */
    for (size_t i = 0; i < shown; i++)
        draw_person(tui, side, (unsigned)i * SIDE_ROWS, i);
    if (shown == tui->people.total)
        return;
    buf_init(&text, 64);
    buf_putf(&text, "and %zu more: F3", tui->people.total - shown);
    (void)canvas_put_cut(&tui->canvas, span_of(side, (unsigned)shown * SIDE_ROWS),
                         buf_str(&text), STYLE_DIM);
    buf_done(&text);
}

static void view_room(struct tui *tui, struct area area)
{
    struct area side = area;

    if (area.columns >= SIDE_FROM) {
        area.columns -= SIDE_COLUMNS + 4;
        side.column = area.columns + 3;
        side.columns = SIDE_COLUMNS;
        for (unsigned i = 0; i < area.rows; i++)
            (void)canvas_put(&tui->canvas,
                             (struct span){ area.row + i, side.column - 2, side.column },
                             signs()->down, STYLE_DIM);
        draw_side(tui, side);
    }
    tui->area = area;
    room_draw(&tui->timeline, &tui->canvas, area);
}

static void view_text(struct tui *tui, struct area area)
{
    struct area body = { area.row + 1, area.column + 1, area.rows - 1, area.columns - 2 };
    size_t below;

    view_rule(&tui->canvas, area, 0, buf_str(&tui->text.title));
    tui->area = body;
    below = pager_draw(
        &tui->canvas, body,
        &(struct pager){ .text = buf_str(&tui->text.body), .scroll = tui->text.scroll });
    view_more(&tui->canvas, area, 0, below);
}

/* --- the bottom --- */

static void put_unseen(const struct tui *tui, struct buf *out)
{
    buf_put(out, signs()->more);
    if (tui->timeline.unseen)
        buf_putf(out, " %zu new below", tui->timeline.unseen);
    else
        buf_put(out, S(" more below"));
    buf_put(out, S(" (PgDn, Esc to the end)"));
}

static void draw_notice(struct tui *tui, struct area all)
{
    unsigned row = all.rows - 2;
    struct span at = span_of(all, row);
    struct buf text;

    view_rule(&tui->canvas, all, row, S(""));
    at.column += 2;
    buf_init(&text, 256);
    if (tui->notice.text.len) {
        buf_putc(&text, ' ');
        buf_put(&text, buf_str(&tui->notice.text));
        buf_putc(&text, ' ');
        (void)canvas_put_cut(&tui->canvas, at, buf_str(&text), tui->notice.style);
    } else if (tui->view == VIEW_ROOM && tui->timeline.pin) {
        buf_putc(&text, ' ');
        put_unseen(tui, &text);
        buf_putc(&text, ' ');
        (void)canvas_put_cut(&tui->canvas, at, buf_str(&text), STYLE_WAIT);
    }
    buf_done(&text);
}

/* A field with a prompt before it; the cursor stands in it. */
static void draw_field(struct tui *tui, struct area all, struct str prompt,
                       const struct line *line)
{
    struct span at = span_of(all, all.rows - 1);
    struct line_view view;
    struct buf shown;

    at.column = canvas_put(&tui->canvas, at, prompt, STYLE_DIM);
    view = line_view(line, at.column < at.end ? at.end - at.column : 1);
    buf_init(&shown, LINE_MAX_BYTES);
    buf_put(&shown, str_slice(line_text(line), view.from, line->text.len));
    for (size_t i = 0; i < shown.len; i++)
        if (shown.ptr[i] == '\n')
            shown.ptr[i] = ' ';
    (void)canvas_put(&tui->canvas, at, buf_str(&shown), STYLE_PLAIN);
    canvas_set_cursor(&tui->canvas, at.row, at.column + (unsigned)view.cursor);
    buf_done(&shown);
}

/* What can be pressed; a list is moved in with the arrows. */
static void draw_keys(struct tui *tui, struct area all, const char *keys, bool has_list)
{
    struct span at = span_of(all, all.rows - 1);
    struct buf text;

    buf_init(&text, 256);
    buf_put(&text, str_of(keys));
    if (has_list)
        buf_putf(&text, STR_FMT " choose  ", STR_ARG(signs()->choose));
    if (tui->decision.question == ASK_NOTHING)
        buf_put(&text, S("PgDn read  Esc back"));
    at.column++;
    (void)canvas_put_cut(&tui->canvas, at, buf_str(&text), STYLE_DIM);
    buf_done(&text);
}

/* "approve write_file: 1 of 2" where ours is one of several. */
static void put_vote(struct buf *out, const struct inbox_item *item)
{
    buf_put(out, S(" approve "));
    tell_put_call(out, str_of(item->method), str_of(item->name));
    buf_putf(out, ": %u of %u, it does not run yet  ", item->given + 1, item->needed);
}

static void put_run(struct buf *out, const struct inbox_item *item,
                    const struct verdict *v)
{
    const char *first = item->to_count ? item->to[0] : "";

    buf_put(out, S(" run "));
    tell_put_call(out, str_of(item->method), str_of(item->name));
    buf_put(out, S(" at "));
    tell_put_name(out, str_of(v->to ? v->to : first));
    if (item->to_count > 1)
        buf_putf(out, " and %zu more", item->to_count - 1);
    buf_put(out, v->params ? S(", as you edited it  ") : S(", as proposed  "));
}

static unsigned draw_choice(struct tui *tui, struct span at, struct str key,
                            struct str what)
{
    at.column = canvas_put(&tui->canvas, at, key, STYLE_CHOSEN);
    return canvas_put(&tui->canvas, at, what, STYLE_STRONG);
}

/* "y allow rm at files, once  h for an hour  d for a day  n no": the first is cut. */
static void draw_allow(struct tui *tui, struct area all, const struct inbox_item *item)
{
    enum { OTHERS = 43 }; /* columns of what follows */
    struct span at = span_of(all, all.rows - 1);
    struct span first = at;
    struct buf text;

    buf_init(&text, 4096);
    buf_put(&text, S(" allow "));
    tell_put_call(&text, str_of(item->method), str_of(item->name));
    buf_put(&text, S(" at "));
    tell_put_name(&text, str_of(item->owner));
    first.column = canvas_put(&tui->canvas, at, S(" y "), STYLE_CHOSEN);
    first.end = at.end > first.column + OTHERS ? at.end - OTHERS : at.end;
    at.column = canvas_put_cut(&tui->canvas, first, buf_str(&text), STYLE_STRONG);
    at.column = draw_choice(tui, at, S(""), S(", once "));
    at.column = draw_choice(tui, at, S(" h "), S(" for an hour "));
    at.column = draw_choice(tui, at, S(" d "), S(" for a day "));
    (void)draw_choice(tui, at, S(" n "), S(" no"));
    buf_done(&text);
}

/* "run write_file at files, with the arguments that you edited?  y yes, n no" */
static void draw_run(struct tui *tui, struct area all)
{
    const struct verdict *v = &tui->decision.verdict;
    const struct inbox_item *item = inbox_find(&tui->inbox, str_of(v->id));
    struct span at = span_of(all, all.rows - 1);
    struct buf text;

    if (!item)
        return;
    if (item->owner) {
        draw_allow(tui, all, item);
        return;
    }
    buf_init(&text, 4096);
    at.column = canvas_put(&tui->canvas, at, S(" y "), STYLE_CHOSEN);
    if (tui_runs(tui, item))
        put_run(&text, item, v);
    else
        put_vote(&text, item);
    at.column = canvas_put_cut(&tui->canvas, at, buf_str(&text), STYLE_STRONG);
    at.column = canvas_put(&tui->canvas, at, S(" n "), STYLE_CHOSEN);
    (void)canvas_put(&tui->canvas, at, S(" no"), STYLE_STRONG);
    buf_done(&text);
}

static void draw_inbox_bottom(struct tui *tui, struct area all)
{
    const struct line *line = &tui->decision.line;

    switch (tui->decision.question) {
    case ASK_NOTHING:
        draw_keys(tui, all,
                  tui->inbox.chosen && tui->inbox.chosen->owner
                      ? "a allow  r deny  d let somebody decide  "
                      : "a approve  e edit  r reject  w withdraw  ",
                  true);
        return;
    case ASK_RUN: draw_run(tui, all); return;
    case ASK_TO: draw_field(tui, all, S(" whom to call: "), line); return;
    case ASK_REASON:
        draw_field(tui, all,
                   tui->inbox.chosen && tui->inbox.chosen->owner
                       ? S(" deny, because: ")
                       : S(" reject, because: "),
                   line);
        return;
    case ASK_DELEGATE: draw_field(tui, all, S(" who is to decide: "), line); return;
    case ASK_WITHDRAW: draw_keys(tui, all, "y withdraw it  n leave it", false); return;
    case ASK_EDIT_AGAIN: draw_keys(tui, all, "e edit again  n leave it", false); return;
    }
}

static void draw_bottom(struct tui *tui, struct area all)
{
    switch (tui->view) {
    case VIEW_ROOM: draw_field(tui, all, signs()->prompt, &tui->line); return;
    case VIEW_INBOX: draw_inbox_bottom(tui, all); return;
    case VIEW_PEOPLE: draw_keys(tui, all, "t ask for tools  ", true); return;
    case VIEW_TEXT: draw_keys(tui, all, "", false); return;
    }
}

void tui_draw(struct tui *tui, uint64_t now_ms)
{
    struct area all = { 0, 0, tui->canvas.rows, tui->canvas.columns };
    struct area main = { 1, 0, all.rows - 3, all.columns };

    if (all.rows < MIN_ROWS || all.columns < MIN_COLUMNS) {
        (void)canvas_put(&tui->canvas, (struct span){ 0, 0, all.columns }, S("too small"),
                         STYLE_PLAIN);
        return;
    }
    draw_bar(tui, all);
    if (tui->status.has_gap) {
        draw_gap(tui, all);
        main.row++;
        main.rows--;
    }
    switch (tui->view) {
    case VIEW_ROOM: view_room(tui, main); break;
    case VIEW_INBOX: view_inbox(tui, main, now_ms); break;
    case VIEW_PEOPLE: view_people(tui, main); break;
    case VIEW_TEXT: view_text(tui, main); break;
    }
    draw_notice(tui, all);
    draw_bottom(tui, all);
    tui->decision.is_shown = tui->view == VIEW_INBOX;
}
