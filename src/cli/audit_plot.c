/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the record as plots in a terminal, and as JSON. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/audit_figures_priv.h"
#include "cli/audit_look.h"
#include "cli/cell.h"
#include "cli/progress.h"
#include "json/json.h"

enum { EIGHTHS = 8, HEIGHT = 6, LEAST = 40, MARGIN = 10, NAME = 36, NUMBER = 12 };

struct page {
    struct buf *out;
    const struct audit_figures *f;
    const struct audit_figures_look *look;
};

static void put_heading(struct page *p, const char *text)
{
    buf_putf(p->out, "\n%s%s%s\n", p->look->ink->bold, text, p->look->ink->off);
}

/* --- bars that lie --- */

static void put_bar(struct page *p, uint64_t count, uint64_t most, size_t width)
{
    static const char *const parts[EIGHTHS] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    uint64_t eighths =
        (uint64_t)((double)count / (double)(most ? most : 1) * (double)(width * EIGHTHS));

    if (count && !eighths)
        eighths = 1;
    if (eighths > width * EIGHTHS) /* all others together */
        eighths = width * EIGHTHS;
    for (size_t i = 0; i < eighths / EIGHTHS; i++)
        buf_put(p->out, p->look->is_utf8 ? S("█") : S("#"));
    if (eighths % EIGHTHS)
        buf_put(p->out, p->look->is_utf8 ? str_of(parts[eighths % EIGHTHS]) : S(":"));
}

static void put_number(struct buf *out, uint64_t number, size_t width)
{
    struct buf text;

    buf_init(&text, 64);
    progress_put_number(&text, number);
    for (size_t i = text.len; i < width; i++)
        buf_putc(out, ' ');
    buf_put(out, buf_str(&text));
    buf_done(&text);
}

static size_t widest_name(const struct tally_entry *const *entries, size_t rows)
{
    size_t width = 0;
    struct buf cell;

    buf_init(&cell, 1 << 20);
    for (size_t i = 0; i < rows && entries[i]; i++) {
        size_t count =
            cell_put_cut(&cell, (struct str){ entries[i]->name, entries[i]->len }, NAME);

        width = count > width ? count : width;
        buf_clear(&cell);
    }
    buf_done(&cell);
    return width;
}

static void put_row(struct page *p, struct str name, uint64_t count, uint64_t most,
                    size_t width)
{
    size_t used = width + NUMBER + 6;
    size_t at;

    buf_put(p->out, S("  "));
    at = cell_put_cut(p->out, name.len ? name : S("-"), NAME);
    for (size_t i = at; i < width; i++)
        buf_putc(p->out, ' ');
    put_number(p->out, count, NUMBER);
    if (count)
        buf_put(p->out, S("  "));
    put_bar(p, count, most, p->look->columns > used + 10 ? p->look->columns - used : 10);
    buf_putc(p->out, '\n');
}

static void put_tally(struct page *p, const char *title, const struct tally *tally)
{
    const struct tally_entry **entries;
    uint64_t shown = 0, most;
    size_t width;

    if (!tally->total)
        return;
    put_heading(p, title);
    entries = tally_sort(tally);
    most = entries[0] ? entries[0]->count : 0;
    width = widest_name(entries, p->look->rows);
    width = width < 8 ? 8 : width;
    for (size_t i = 0; i < p->look->rows && entries[i]; i++) {
        put_row(p, (struct str){ entries[i]->name, entries[i]->len }, entries[i]->count,
                most, width);
        shown += entries[i]->count;
    }
    if (shown < tally->total)
        put_row(p, S("(others)"), tally->total - shown, most, width);
    free(entries);
}

/* --- bars that stand --- */

/* Slots that share a column of the chart. */
struct chart {
    uint64_t *columns;
    size_t count;
    size_t slots_each;
    uint64_t most;
};

static void chart_init(struct chart *c, const struct audit_figures *f, size_t width)
{
    c->slots_each = (f->slot_count + width - 1) / width;
    c->count = (f->slot_count + c->slots_each - 1) / c->slots_each;
    c->columns = xcalloc(c->count, sizeof(uint64_t));
    c->most = 0;
    for (size_t i = 0; i < f->slot_count; i++)
        c->columns[i / c->slots_each] += f->slots[i];
    for (size_t i = 0; i < c->count; i++)
        c->most = c->columns[i] > c->most ? c->columns[i] : c->most;
}

/* What of a column stands in this row, from the bottom, in eighths. */
static size_t level_in(uint64_t value, uint64_t most, size_t row)
{
    size_t level = (size_t)((double)value / (double)most * HEIGHT * EIGHTHS);

    if (value && !level)
        level = 1;
    if (level <= row * EIGHTHS)
        return 0;
    level -= row * EIGHTHS;
    return level < EIGHTHS ? level : EIGHTHS;
}

static void put_chart_row(struct page *p, const struct chart *c, size_t row)
{
    static const char *const levels[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const char ascii[] = { ' ', '.', '.', ':', ':', '+', '+', '#', '#' };
    size_t end;

    buf_put(p->out, str_of(p->look->ink->good));
    end = p->out->len;
    for (size_t i = 0; i < c->count; i++) {
        size_t level = level_in(c->columns[i], c->most, row);

        if (p->look->is_utf8)
            buf_put(p->out, str_of(levels[level]));
        else
            buf_putc(p->out, ascii[level]);
        end = level ? p->out->len : end;
    }
    p->out->len = end; /* no spaces at the end of a line */
    buf_putf(p->out, "%s\n", p->look->ink->off);
}

/* Per minute, however wide a column is. */
static double per_minute(const struct audit_figures *f, const struct chart *c,
                         uint64_t count)
{
    return (double)count * 60'000 / ((double)f->slot_ms * (double)c->slots_each);
}

static void put_axis(struct page *p, const struct chart *c)
{
    const struct audit_figures *f = p->f;
    size_t width = c->count;

    buf_putf(p->out, "%*s", MARGIN, "");
    audit_look_put_time(p->out, f->start_ms);
    p->out->len -= sizeof(":00.000") - 1;
    if (width >= LEAST) {
        buf_putf(p->out, "%*s", (int)width - 2 * 16, "");
        audit_look_put_time(p->out, f->start_ms + f->slot_count * f->slot_ms);
        p->out->len -= sizeof(":00.000") - 1;
    }
    buf_putf(p->out, "\n%*s%sa column is ", MARGIN, "", p->look->ink->dim);
    progress_put_duration(p->out, f->slot_ms * c->slots_each);
    buf_putf(p->out, "%s\n", p->look->ink->off);
}

static void put_chart(struct page *p)
{
    size_t width =
        p->look->columns > LEAST + MARGIN + 1 ? p->look->columns - MARGIN - 1 : LEAST;
    struct chart c;

    if (!p->f->messages)
        return;
    put_heading(p, "Messages per minute");
    chart_init(&c, p->f, width);
    for (size_t row = HEIGHT; row--;) {
        if (row == HEIGHT - 1)
            buf_putf(p->out, "%*.*f ", MARGIN - 1,
                     per_minute(p->f, &c, c.most) < 10 ? 1 : 0,
                     per_minute(p->f, &c, c.most));
        else
            buf_putf(p->out, "%*s", MARGIN, row ? "" : "0 ");
        put_chart_row(p, &c, row);
    }
    put_axis(p, &c);
    free(c.columns);
}

/* --- how long proposals waited --- */

/* clang-format off */
static const struct { uint64_t ms; const char *name; } steps[] = {
    { 1'000,      "1 s" },    { 2'000,      "2 s" },    { 5'000,      "5 s" },
    { 10'000,     "10 s" },   { 30'000,     "30 s" },   { 60'000,     "1 min" },
    { 120'000,    "2 min" },  { 300'000,    "5 min" },  { 600'000,    "10 min" },
    { 1'800'000,  "30 min" }, { 3'600'000,  "1 h" },    { 10'800'000, "3 h" },
    { 43'200'000, "12 h" },   { 86'400'000, "1 d" },
};
/* clang-format on */

static void put_waits(struct page *p)
{
    const struct histogram *waits = &p->f->waits;
    uint64_t counts[COUNT(steps) + 1] = {};
    uint64_t before = 0, most = 0;
    size_t first = COUNT(steps), last = 0;

    for (size_t i = 0; i <= COUNT(steps); i++) {
        uint64_t up_to =
            i < COUNT(steps) ? histogram_up_to(waits, steps[i].ms) : waits->count;

        counts[i] = up_to - before;
        before = up_to;
        most = counts[i] > most ? counts[i] : most;
        if (counts[i] && first > i)
            first = i;
        last = counts[i] ? i : last;
    }
    for (size_t i = first; i <= last; i++) {
        char name[24];
        bool is_tail = i == COUNT(steps);

        (void)snprintf(name, sizeof(name), "%s %s", is_tail ? "over " : "up to",
                       steps[is_tail ? i - 1 : i].name);
        put_row(p, str_of(name), counts[i], most, sizeof("up to 10 min") - 1);
    }
}

static void put_approvals(struct page *p)
{
    const struct audit_figures *f = p->f;

    if (!f->proposed)
        return;
    put_heading(p, "From proposal to decision");
    buf_put(p->out, S("  "));
    progress_put_number(p->out, f->proposed);
    buf_putf(p->out, " proposed, %llu fulfilled, %llu rejected, %llu withdrawn, %zu open",
             (unsigned long long)f->fulfilled, (unsigned long long)f->rejected,
             (unsigned long long)f->withdrawn, f->proposals.count);
    if (f->waits.count) {
        buf_put(p->out, S("\n  median "));
        progress_put_duration(p->out, histogram_at(&f->waits, 50));
        buf_put(p->out, S(", nine in ten within "));
        progress_put_duration(p->out, histogram_at(&f->waits, 90));
        buf_put(p->out, S(", the longest "));
        progress_put_duration(p->out, f->waits.max);
    }
    buf_putc(p->out, '\n');
    if (f->waits.count)
        put_waits(p);
}

/* --- all of it --- */

static void put_totals(struct page *p)
{
    const struct audit_figures *f = p->f;

    audit_look_put_time(p->out, f->first_ms);
    buf_put(p->out, S(" to "));
    audit_look_put_time(p->out, f->last_ms);
    buf_putf(p->out, "\n%s", p->look->ink->bold);
    progress_put_number(p->out, f->messages);
    buf_putf(p->out, "%s messages, %s", p->look->ink->off,
             f->refusals ? p->look->ink->bad : "");
    progress_put_number(p->out, f->refusals);
    buf_putf(p->out, "%s refused, ", f->refusals ? p->look->ink->off : "");
    progress_put_number(p->out, f->records);
    buf_put(p->out, S(" records in all"));
    if (f->dropped) {
        buf_putf(p->out, ", %s", p->look->ink->bad);
        progress_put_number(p->out, f->dropped);
        buf_putf(p->out, " dropped%s", p->look->ink->off);
    }
    buf_putc(p->out, '\n');
}

void audit_figures_put(struct buf *out, const struct audit_figures *f,
                       const struct audit_figures_look *look)
{
    struct page page = { out, f, look };

    put_totals(&page);
    put_chart(&page);
    put_tally(&page, "Refused, by reason", &f->reasons);
    put_tally(&page, "Busiest participants", &f->people);
    put_tally(&page, "Kinds", &f->kinds);
    if (f->topics.names.count > 1)
        put_tally(&page, "Topics", &f->topics);
    put_approvals(&page);
}

/* --- JSON --- */

static void put_json_tally(struct json_writer *w, struct str key,
                           const struct tally *tally)
{
    const struct tally_entry **entries = tally_sort(tally);

    json_key(w, key);
    json_object_open(w);
    for (size_t i = 0; entries[i]; i++)
        json_put_uint(w, (struct str){ entries[i]->name, entries[i]->len },
                      entries[i]->count);
    json_object_close(w);
    free(entries);
}

static void put_json_slots(struct json_writer *w, const struct audit_figures *f)
{
    json_key(w, S("messages_over_time"));
    json_object_open(w);
    if (f->slot_count)
        json_put_time(w, S("from"), f->start_ms);
    json_put_uint(w, S("step_ms"), f->slot_ms);
    json_key(w, S("counts"));
    json_array_open(w);
    for (size_t i = 0; i < f->slot_count; i++)
        json_uint(w, f->slots[i]);
    json_array_close(w);
    json_object_close(w);
}

static void put_json_proposals(struct json_writer *w, const struct audit_figures *f)
{
    json_key(w, S("proposals"));
    json_object_open(w);
    json_put_uint(w, S("proposed"), f->proposed);
    json_put_uint(w, S("fulfilled"), f->fulfilled);
    json_put_uint(w, S("rejected"), f->rejected);
    json_put_uint(w, S("withdrawn"), f->withdrawn);
    json_put_uint(w, S("open"), f->proposals.count);
    if (f->waits.count) {
        json_put_uint(w, S("median_ms"), histogram_at(&f->waits, 50));
        json_put_uint(w, S("p90_ms"), histogram_at(&f->waits, 90));
        json_put_uint(w, S("max_ms"), f->waits.max);
    }
    json_object_close(w);
}

void audit_figures_put_json(struct buf *out, const struct audit_figures *f)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (f->records) {
        json_put_time(&w, S("first"), f->first_ms);
        json_put_time(&w, S("last"), f->last_ms);
    }
    json_put_uint(&w, S("records"), f->records);
    json_put_uint(&w, S("messages"), f->messages);
    json_put_uint(&w, S("refusals"), f->refusals);
    json_put_uint(&w, S("dropped"), f->dropped);
    put_json_slots(&w, f);
    put_json_tally(&w, S("refusals_by_reason"), &f->reasons);
    put_json_tally(&w, S("participants"), &f->people);
    put_json_tally(&w, S("kinds"), &f->kinds);
    put_json_tally(&w, S("topics"), &f->topics);
    put_json_proposals(&w, f);
    json_object_close(&w);
    buf_putc(out, '\n');
}
