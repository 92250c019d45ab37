/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inbox: a list above, and below it the one that is chosen, in full.
 */
#include "base/arena.h"
#include "base/plain.h"
#include "json/json.h"
#include "tui/pager.h"
#include "tui/pretty.h"
#include "tui/tell.h"
#include "tui/tui_priv.h"

enum { LEFT_COLUMNS = 14, LABEL_COLUMNS = 10, ARENA_BYTES = 256 << 20 };

static void put_addressees(const struct inbox_item *item, struct buf *out)
{
    for (size_t i = 0; i < item->to_count; i++) {
        struct str name = str_of(item->to[i]);

        if (i > 0)
            buf_put(out, S(", "));
        tell_put_names(out, &name, 1);
    }
}

/* "bot proposes write_file → files" */
static void put_line(const struct inbox_item *item, struct buf *out)
{
    tell_put_name(out, str_of(item->owner ? item->owner : item->proposer));
    if (item->owner) {
        buf_put(out, S(" asks: may "));
        tell_put_name(out, str_of(item->proposer));
        buf_put(out, S(" call "));
    } else {
        buf_put(out, S(" proposes "));
    }
    tell_put_call(out, str_of(item->method), str_of(item->name));
    if (!item->owner && item->to_count) {
        buf_putf(out, " " STR_FMT " ", STR_ARG(signs()->arrow));
        put_addressees(item, out);
    }
}

static void put_time(const struct inbox_item *item, struct buf *out, uint64_t now_ms)
{
    if (item->state != MOOT_OPEN)
        buf_put(out, inbox_state_word(item));
    else if (item->is_mine)
        buf_put(out, S("yours "));
    else if (item->needed > 1)
        buf_putf(out, "%u/%u ", item->given, item->needed);
    if (item->state == MOOT_OPEN && item->expires_ms)
        inbox_put_left(out, item->expires_ms, now_ms);
}

static void draw_item(struct tui *tui, struct area area, unsigned row,
                      const struct inbox_item *item, uint64_t now_ms)
{
    struct span at = { area.row + row, 0, area.columns };
    enum style style = item->state == MOOT_OPEN ? STYLE_PLAIN : STYLE_DIM;
    enum style left_style = item->state == MOOT_OPEN ? STYLE_WAIT : STYLE_DIM;
    struct buf text;

    if (item == tui->inbox.chosen) {
        style = STYLE_CHOSEN;
        left_style = STYLE_CHOSEN;
        canvas_fill(&tui->canvas, at, style);
    }
    buf_init(&text, 8192);
    put_line(item, &text);
    at.column++;
    (void)canvas_put_cut(&tui->canvas,
                         (struct span){ at.row, at.column, at.end - LEFT_COLUMNS },
                         buf_str(&text), style);
    buf_clear(&text);
    put_time(item, &text, now_ms);
    (void)canvas_put_right(&tui->canvas,
                           (struct span){ at.row, at.end - LEFT_COLUMNS + 1, at.end - 1 },
                           buf_str(&text), left_style);
    buf_done(&text);
}

/* Of the chosen one, from 1 on. */
static size_t place_of(const struct inbox *inbox)
{
    const struct inbox_item *item = NULL;
    size_t place = 0;

    do {
        item = inbox_next(inbox, item);
        place++;
    } while (item && item != inbox->chosen);
    return place;
}

/* A part of the list in which the chosen one is seen. Returns the rows it takes. */
static unsigned draw_list(struct tui *tui, struct area area, uint64_t now_ms)
{
    unsigned fit = view_list_rows(area, 3);
    const struct inbox_item *item = inbox_next(&tui->inbox, NULL);
    unsigned row = 0;

    for (size_t place = place_of(&tui->inbox); item && place > fit; place--)
        item = inbox_next(&tui->inbox, item);
    for (; item && row < fit; row++) {
        draw_item(tui, area, row, item, now_ms);
        item = inbox_next(&tui->inbox, item);
    }
    return row;
}

/* --- the one that is chosen --- */

static void put_field(struct buf *out, const char *label, const char *value)
{
    if (!value || !*value)
        return;
    buf_putf(out, "%-10s", label);
    plain_put(out, str_of(value), PLAIN_LINE);
    buf_putc(out, '\n');
}

/* The arguments, where nothing else is said that stands above already; else all. */
static struct str essence_of(const struct inbox_item *item, struct str params,
                             struct arena *arena)
{
    const struct json *name, *arguments, *tree;

    if (json_parse(params, arena, &tree, NULL))
        return params;
    name = json_find(tree, S("name"));
    arguments = json_find(tree, S("arguments"));
    if (!name || !arguments || tree->count != 2 || name->type != JSON_STRING ||
        !str_eq(name->text, str_of(item->name)))
        return params;
    return arguments->raw;
}

static void put_params(const struct inbox_item *item, const char *params, struct buf *out)
{
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (!*params)
        buf_put(out, S("(what it asks for is not known here: it was proposed before you "
                       "came, and is too long to be told again)\n"));
    else if (pretty_put(out, essence_of(item, str_of(params), &arena), PRETTY_SHOWN))
        buf_put(out, S("(what it asks for cannot be read)\n"));
    buf_putc(out, '\n');
    arena_done(&arena);
}

/* "tools/call write_file" */
static void put_call(const struct inbox_item *item, struct buf *out)
{
    buf_putf(out, "%-10s", "runs");
    plain_put(out, str_of(item->method), PLAIN_LINE);
    if (item->name) {
        buf_putc(out, ' ');
        plain_put(out, str_of(item->name), PLAIN_LINE);
    }
    buf_putc(out, '\n');
}

static void put_state(const struct inbox_item *item, struct buf *out, uint64_t now_ms)
{
    buf_putf(out, "%-10s", "state");
    buf_put(out, inbox_state_word(item));
    if (item->by) {
        buf_put(out, S(" by "));
        plain_put(out, str_of(item->by), PLAIN_LINE);
    }
    if (item->state == MOOT_OPEN && item->expires_ms) {
        buf_put(out, S(", expires in "));
        inbox_put_left(out, item->expires_ms, now_ms);
    }
    buf_putc(out, '\n');
}

/* "approved  1 of 2 approvals: ann" */
static void put_approvals(const struct inbox_item *item, struct buf *out)
{
    if (item->needed < 2 && item->given == 0)
        return;
    buf_putf(out, "%-10s", "approved");
    inbox_put_approvals(out, item);
    if (*item->approvers)
        buf_putf(out, ": %s", item->approvers);
    buf_putc(out, '\n');
}

static const char *remark_of(const struct tui *tui, const struct inbox_item *item)
{
    if (item->is_mine)
        return "It is your own: others decide on it.\n";
    if (item->state != MOOT_OPEN)
        return "";
    if (!item->is_for_us)
        return "Somebody else is asked to decide: no other answer counts.\n";
    if (item->owner)
        return "";
    if (!tui_runs(tui, item))
        return item->is_approved ? "You have approved it: others have to as well.\n" : "";
    return tui->decision.may_run ? "" : "Your capabilities do not allow you to run it.\n";
}

static void put_to(const struct inbox_item *item, struct buf *out)
{
    if (item->owner)
        return;
    if (item->to_count == 0)
        buf_put(out, S("at        (nobody is named: you will be asked)\n"));
    for (size_t i = 0; i < item->to_count; i++)
        put_field(out, i ? "and" : "at", item->to[i]);
}

void view_put_item(const struct tui *tui, const struct inbox_item *item, struct buf *out,
                   uint64_t now_ms)
{
    const struct verdict *v = &tui->decision.verdict;
    bool is_edited = v->params && v->id && strcmp(v->id, item->id) == 0;

    put_field(out, item->owner ? "caller" : "proposer", item->proposer);
    put_call(item, out);
    put_field(out, "at", item->owner); /* who asks is who would run it */
    put_to(item, out);
    put_state(item, out, now_ms);
    put_approvals(item, out);
    put_field(out, "asked", item->asked);
    put_field(out, "because", item->reason); /* of the rejection, if it was */
    put_field(out, "id", item->id);
    buf_put(out, str_of(remark_of(tui, item)));
    buf_put(out, is_edited ? S("\nAS YOU EDITED IT\n") : S("\n"));
    put_params(item, is_edited ? v->params : item->params, out);
}

static void draw_chosen(struct tui *tui, struct area area, uint64_t now_ms)
{
    const struct inbox_item *item = tui->inbox.chosen;
    struct area body = { area.row + 1, 1, area.rows - 1, area.columns - 2 };
    struct buf text;
    size_t below;

    tui->area = body;
    if (!item) {
        view_rule(&tui->canvas, area, 0, S("nothing waits for a decision"));
        return;
    }
    buf_init(&text, TEXT_BYTES);
    buf_putf(&text, "%zu of %zu", place_of(&tui->inbox), tui->inbox.count);
    view_rule(&tui->canvas, area, 0, buf_str(&text));
    buf_clear(&text);
    view_put_item(tui, item, &text, now_ms);
    tui->decision.is_whole = !text.is_full;
    below = pager_draw(&tui->canvas, body,
                       &(struct pager){ .text = buf_str(&text),
                                        .scroll = tui->inbox.scroll,
                                        .labels = LABEL_COLUMNS });
    view_more(&tui->canvas, area, 0, below);
    buf_done(&text);
}

void view_inbox(struct tui *tui, struct area area, uint64_t now_ms)
{
    unsigned rows = draw_list(tui, area, now_ms);

    area.row += rows;
    area.rows -= rows;
    draw_chosen(tui, area, now_ms);
}
