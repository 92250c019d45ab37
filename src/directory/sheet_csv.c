/* SPDX-License-Identifier: Apache-2.0 */
/* Resources as rows of CSV: the cells become the object that resource_read() judges, so
 * that a resource obeys the same rules however it comes. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/csv.h"
#include "directory/directory_priv.h"
#include "json/number.h"

enum { REASON_BYTES = 128, LIST_BYTES = 64 << 10 };

/* clang-format off */
#define CSV_FIELDS(X) \
    X(id) X(kind) X(name) X(role) X(skills) X(availability) X(location) X(rate) \
    X(currency) X(per) X(languages) X(time_zone) X(profile) X(participant) X(invite) \
    X(updated_at)

enum csv_field {
#define X(name) CSV_##name,
    CSV_FIELDS(X)
#undef X
    CSV_FIELD_COUNT
};

static const struct str names[CSV_FIELD_COUNT] = {
#define X(name) [CSV_##name] = S(#name),
    CSV_FIELDS(X)
#undef X
};
/* clang-format on */

_Static_assert((int)CSV_FIELD_COUNT == (int)SHEET_COLUMNS);

static bool fail_count(struct sheet *sheet, size_t count, struct row_fault *fault)
{
    char *text = arena_alloc(&sheet->arena, REASON_BYTES);

    if (text)
        (void)snprintf(text, REASON_BYTES, "has %zu cell%s, the header has %zu", count,
                       count == 1 ? "" : "s", sheet->column_count);
    return row_fail(fault, 0, S(""), text ? text : "has too many parts");
}

/* --- the header --- */

static bool find_field(struct str name, enum csv_field *ret)
{
    for (unsigned i = 0; i < CSV_FIELD_COUNT; i++)
        if (str_ieq(str_trim(name), names[i])) {
            *ret = (enum csv_field)i;
            return true;
        }
    return false;
}

static bool has_column(const struct sheet *sheet, enum csv_field field)
{
    for (size_t i = 0; i < sheet->column_count; i++)
        if (sheet->columns[i] == field)
            return true;
    return false;
}

static bool add_column(struct sheet *sheet, const struct csv_cell *cell,
                       struct row_fault *fault)
{
    enum csv_field field;

    if (!find_field(cell->text, &field)) {
        if (cell->text.len == 0)
            return row_fail(fault, cell->at, S(""), "has a column without a name");
        if (str_find(cell->text, ';', 0) < cell->text.len)
            return row_fail(fault, cell->at, S(""),
                            "has semicolons between its columns, not commas");
        return row_fail(fault, cell->at, cell->text, "is not a field of a resource");
    }
    if (has_column(sheet, field))
        return row_fail(fault, cell->at, names[field], "stands there twice");
    sheet->columns[sheet->column_count++] = (uint8_t)field;
    return true;
}

static bool read_columns(struct sheet *sheet, struct str row, struct row_fault *fault)
{
    struct csv_cell cell = {};
    const char *what = "has too many parts";

    for (size_t at = 0; at <= row.len;) {
        if (csv_next(row, &at, &sheet->arena, &cell, &what))
            return row_fail(fault, cell.at, S(""), what);
        if (!add_column(sheet, &cell, fault))
            return false;
    }
    if (!has_column(sheet, CSV_kind))
        return row_fail(fault, 0, S("kind"), "has no column");
    if (!has_column(sheet, CSV_name))
        return row_fail(fault, 0, S("name"), "has no column");
    return true;
}

bool csv_read_head(struct sheet *sheet, struct str row, struct row_fault *fault)
{
    if (read_columns(sheet, row, fault))
        return true;
    sheet->column_count = 0;
    return false;
}

/* --- a row --- */

/* A row being read: its cells by field, and the object made of them. */
struct reading {
    struct sheet *sheet;
    struct str row;
    struct row_fault *fault;
    struct csv_cell cells[CSV_FIELD_COUNT];
    struct json *last; /* member of the object */
    struct json object;
};

static bool read_cells(struct reading *r)
{
    const struct sheet *sheet = r->sheet;
    const char *what = "has too many parts";
    size_t count = 0, at = 0;

    while (at <= r->row.len) {
        struct csv_cell cell = {};

        if (csv_next(r->row, &at, &r->sheet->arena, &cell, &what))
            return row_fail(r->fault, cell.at, S(""), what);
        if (count < sheet->column_count)
            r->cells[sheet->columns[count]] = cell;
        count++;
    }
    if (count != sheet->column_count)
        return fail_count(r->sheet, count, r->fault);
    return true;
}

static bool is_given(const struct reading *r, enum csv_field field)
{
    return r->cells[field].text.len > 0;
}

static bool fail_at(struct reading *r, enum csv_field field, const char *what)
{
    return row_fail(r->fault, r->cells[field].at, names[field], what);
}

static struct json *new_node(struct reading *r, enum json_type type, struct str text)
{
    struct json *node = arena_alloc(&r->sheet->arena, sizeof(*node));

    if (node)
        *node = (struct json){ .type = type, .text = text, .raw = text };
    return node;
}

/* Behind the others; takes a NULL for what did not fit. */
static bool add_member(struct reading *r, struct str key, struct json *node)
{
    if (!node)
        return row_fail(r->fault, 0, S(""), "has too many parts");
    node->key = key;
    if (r->last)
        r->last->next = node;
    else
        r->object.first = node;
    r->last = node;
    r->object.count++;
    return true;
}

static bool add_text(struct reading *r, enum csv_field field)
{
    return add_member(r, names[field], new_node(r, JSON_STRING, r->cells[field].text));
}

/* "a; b" */
static struct json *split_list(struct reading *r, struct str text)
{
    struct json *list = new_node(r, JSON_ARRAY, text);
    struct json *last = NULL;

    while (list && text.ptr) {
        struct json *item = new_node(r, JSON_STRING, str_trim(str_cut(&text, ';')));

        if (!item)
            return NULL;
        if (last)
            last->next = item;
        else
            list->first = item;
        last = item;
        list->count++;
    }
    return list;
}

static bool add_list(struct reading *r, enum csv_field field)
{
    struct str text = r->cells[field].text;
    const struct json *parsed;
    struct json *list;

    if (text.ptr[0] != '[')
        return add_member(r, names[field], split_list(r, text));
    if (json_parse(text, &r->sheet->arena, &parsed, NULL))
        return fail_at(r, field, "begins like a JSON array and is none");
    list = new_node(r, JSON_ARRAY, text);
    if (list)
        *list = *parsed;
    return add_member(r, names[field], list);
}

static bool add_rate(struct reading *r)
{
    struct json_number number;
    struct json *rate, *amount, *last;

    if (json_number_parse(r->cells[CSV_rate].text, &number))
        return fail_at(r, CSV_rate, "must be a number, such as 120.50");
    rate = new_node(r, JSON_OBJECT, r->cells[CSV_rate].text);
    amount = new_node(r, JSON_NUMBER, r->cells[CSV_rate].text);
    if (!rate || !amount)
        return row_fail(r->fault, 0, S(""), "has too many parts");
    amount->key = S("amount");
    rate->first = last = amount;
    for (enum csv_field i = CSV_currency; i <= CSV_per; i++) {
        struct json *node = new_node(r, JSON_STRING, r->cells[i].text);

        if (!is_given(r, i))
            continue;
        if (!node)
            return row_fail(r->fault, 0, S(""), "has too many parts");
        node->key = names[i];
        last->next = node;
        last = node;
    }
    return add_member(r, names[CSV_rate], rate);
}

static bool add_field(struct reading *r, enum csv_field field)
{
    if (!is_given(r, field))
        return true;
    switch (field) {
    case CSV_skills:
    case CSV_languages: return add_list(r, field);
    case CSV_rate: return add_rate(r);
    case CSV_currency:
    case CSV_per:
        return is_given(r, CSV_rate) || fail_at(r, field, "stands there without a rate");
    case CSV_id:
    case CSV_kind:
    case CSV_name:
    case CSV_role:
    case CSV_availability:
    case CSV_location:
    case CSV_time_zone:
    case CSV_profile:
    case CSV_participant:
    case CSV_invite:
    case CSV_updated_at:
    case CSV_FIELD_COUNT: break;
    }
    return add_text(r, field);
}

bool csv_read_row(struct sheet *sheet, struct str row, struct resource *ret,
                  struct row_fault *fault)
{
    struct reading r = { .sheet = sheet, .row = row, .fault = fault };
    enum csv_field field;
    enum err err;

    r.object.type = JSON_OBJECT;
    if (!read_cells(&r))
        return false;
    for (unsigned i = 0; i < CSV_FIELD_COUNT; i++)
        if (!add_field(&r, (enum csv_field)i))
            return false;
    err = resource_read(&r.object, &sheet->arena, ret, &fault->problem);
    if (err == ERR_TOO_BIG)
        return row_fail(fault, 0, S(""), "has too many parts");
    if (err)
        fault->at = find_field(fault->problem.field, &field) ? r.cells[field].at : 0;
    return err == OK;
}

/* --- writing --- */

void csv_put_head(struct buf *out)
{
    for (unsigned i = 0; i < CSV_FIELD_COUNT; i++) {
        if (i)
            buf_putc(out, ',');
        buf_put(out, names[i]);
    }
    buf_put(out, S("\r\n"));
}

/* Would the items come back as they are? */
static bool can_split(struct str_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        struct str item = list.items[i];

        if (str_find(item, ';', 0) < item.len || str_trim(item).len < item.len ||
            str_starts(item, S("[")))
            return false;
    }
    return true;
}

static void put_list(struct buf *out, struct str_list list)
{
    CLEANUP(buf_done) struct buf text;
    struct json_writer w;

    buf_init(&text, LIST_BYTES);
    if (can_split(list)) {
        for (size_t i = 0; i < list.count; i++) {
            buf_put(&text, i ? S(";") : S(""));
            buf_put(&text, list.items[i]);
        }
    } else {
        json_write_init(&w, &text);
        json_array_open(&w);
        for (size_t i = 0; i < list.count; i++)
            json_str(&w, list.items[i]);
        json_array_close(&w);
    }
    csv_put(out, buf_str(&text));
}

static void put_field(struct buf *out, const struct resource *r, enum csv_field field)
{
    bool has_rate = r->rate.amount.len > 0;
    char time[CLOCK_TEXT];

    switch (field) {
    case CSV_id: csv_put(out, r->id); break;
    case CSV_kind: csv_put(out, resource_kind_name(r->kind)); break;
    case CSV_name: csv_put(out, r->name); break;
    case CSV_role: csv_put(out, r->role); break;
    case CSV_skills: put_list(out, r->skills); break;
    case CSV_availability: csv_put(out, r->availability); break;
    case CSV_location: csv_put(out, r->location); break;
    case CSV_rate: csv_put(out, r->rate.amount); break;
    case CSV_currency: csv_put(out, r->rate.currency); break;
    case CSV_per: csv_put(out, has_rate ? resource_per_name(r->rate.per) : S("")); break;
    case CSV_languages: put_list(out, r->languages); break;
    case CSV_time_zone: csv_put(out, r->time_zone); break;
    case CSV_profile: csv_put(out, r->profile); break;
    case CSV_participant: csv_put(out, r->participant); break;
    case CSV_invite: csv_put(out, resource_invite_name(r->invite)); break;
    case CSV_updated_at:
        if (r->updated_ms)
            csv_put(out, clock_write(r->updated_ms, time));
        break;
    case CSV_FIELD_COUNT: break;
    }
}

void csv_put_row(struct buf *out, const struct resource *resource)
{
    for (unsigned i = 0; i < CSV_FIELD_COUNT; i++) {
        if (i)
            buf_putc(out, ',');
        put_field(out, resource, (enum csv_field)i);
    }
    buf_put(out, S("\r\n"));
}
