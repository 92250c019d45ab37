/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/sheet.h"

#include <stdio.h>

#include "base/csv.h"
#include "base/utf8.h"
#include "directory/directory_priv.h"

enum { REASON_BYTES = 128 };

void sheet_init(struct sheet *sheet, enum sheet_format format)
{
    *sheet = (struct sheet){ .format = format, .line_number = 1 };
    buf_init(&sheet->line, SHEET_MAX_ROW);
    arena_init(&sheet->arena, RESOURCE_ARENA);
}

void sheet_done(struct sheet *sheet)
{
    buf_done(&sheet->line);
    arena_done(&sheet->arena);
}

bool row_fail(struct row_fault *fault, size_t at, struct str field, const char *what)
{
    *fault = (struct row_fault){ at, { .field = field, .what = what } };
    return false;
}

/* --- a row of JSON --- */

/* Where the thing that is wrong stands: a member, or an item of its list. */
static size_t place_of(const struct json *root, const struct resource_problem *problem,
                       struct str row)
{
    const struct json *rate = json_find(root, S("rate"));
    const struct json *at = json_find(root, problem->field);

    if (!at)
        at = json_find(rate, problem->field);
    if (!at)
        return 0;
    if (problem->item && at->type == JSON_ARRAY) {
        at = at->first;
        for (size_t i = 1; i < problem->item && at->next; i++)
            at = at->next;
    }
    return (size_t)(at->raw.ptr - row.ptr);
}

static const char *not_json(struct arena *arena, const char *what)
{
    char *text = arena_alloc(arena, REASON_BYTES);

    if (!text)
        return "is not JSON";
    (void)snprintf(text, REASON_BYTES, "is not JSON: %s", what ? what : "it is nothing");
    return text;
}

static bool read_json(struct sheet *sheet, struct str row, struct resource *ret,
                      struct row_fault *fault)
{
    struct json_problem bad = {};
    const struct json *root;
    enum err err = json_parse(row, &sheet->arena, &root, &bad);

    if (err && err != ERR_TOO_BIG)
        return row_fail(fault, bad.at, S(""), not_json(&sheet->arena, bad.what));
    if (!err)
        err = resource_read(root, &sheet->arena, ret, &fault->problem);
    if (err == ERR_TOO_BIG)
        return row_fail(fault, 0, S(""), "has too many parts");
    if (err)
        fault->at = place_of(root, &fault->problem, row);
    return err == OK;
}

/* --- any row --- */

static struct str without_line_end(struct str row)
{
    if (row.len && row.ptr[row.len - 1] == '\n')
        row.len--;
    if (row.len && row.ptr[row.len - 1] == '\r')
        row.len--;
    return row;
}

/* Spreadsheets put a mark before the first byte. */
static struct str without_mark(const struct sheet *sheet, struct str row)
{
    static const struct str mark = { "\xef\xbb\xbf", 3 };

    if (sheet->line_number > 1 || !str_starts(row, mark))
        return row;
    return str_slice(row, mark.len, row.len);
}

static bool is_blank(const struct sheet *sheet, struct str row)
{
    return row.len == 0 || (sheet->format == SHEET_JSON && str_trim(row).len == 0);
}

static bool is_head(const struct sheet *sheet)
{
    return sheet->format == SHEET_CSV && sheet->column_count == 0;
}

static bool read_any(struct sheet *sheet, struct str text, struct row *row,
                     struct row_fault *fault)
{
    size_t valid = utf8_valid(text);

    if (valid < text.len)
        return row_fail(fault, valid, S(""), "is not UTF-8");
    if (sheet->format == SHEET_JSON)
        return read_json(sheet, text, &row->resource, fault);
    if (!is_head(sheet))
        return csv_read_row(sheet, text, &row->resource, fault);
    return csv_read_head(sheet, text, fault);
}

/* Line and column of a byte of the row. */
static void set_place(struct row *row, struct str text, size_t at)
{
    size_t begin = 0;

    for (size_t i = 0; i < at && i < text.len; i++)
        if (text.ptr[i] == '\n') {
            row->line++;
            begin = i + 1;
        }
    row->column = utf8_count(str_slice(text, begin, at)) + 1;
}

static uint64_t count_lines(struct str row)
{
    uint64_t count = 0;

    for (size_t i = 0; i < row.len; i++)
        count += row.ptr[i] == '\n';
    return count;
}

/* A row, whole or as far as it goes. ROW_NEED_MORE: it says nothing. */
static struct row read_row(struct sheet *sheet, struct str whole)
{
    struct str text = without_mark(sheet, without_line_end(whole));
    struct row row = { .line = sheet->line_number, .column = 1 };
    struct row_fault fault = {};
    bool was_head = is_head(sheet);
    bool is_long = sheet->is_too_long;

    sheet->is_used = true;
    sheet->is_too_long = false;
    if (!is_long && is_blank(sheet, text)) {
        sheet->line_number += count_lines(whole);
        return row;
    }
    if (!was_head)
        row.number = ++sheet->number;
    if (is_long)
        (void)row_fail(&fault, 0, S(""),
                       sheet->format == SHEET_CSV
                           ? "is longer than 72 KiB: is a quote not closed?"
                           : "is longer than 72 KiB");
    if (is_long || !read_any(sheet, text, &row, &fault)) {
        set_place(&row, text, fault.at);
        row.type = ROW_PROBLEM;
        row.problem = fault.problem;
        sheet->is_hopeless = was_head;
    } else if (!was_head) {
        row.type = ROW_RESOURCE;
    }
    sheet->line_number += count_lines(whole) + is_long;
    return row;
}

/* How far the row reaches in these bytes: behind its line feed, or 0. */
static size_t row_end(struct sheet *sheet, struct str bytes)
{
    size_t at;

    if (sheet->format == SHEET_CSV && !sheet->is_too_long)
        return csv_row_end(bytes, &sheet->state);
    at = str_find(bytes, '\n', 0);
    if (at == bytes.len)
        return 0;
    sheet->state = CSV_START;
    return at + 1;
}

static void begin(struct sheet *sheet)
{
    if (!sheet->is_used)
        return;
    sheet->is_used = false;
    buf_clear(&sheet->line);
    arena_reset(&sheet->arena);
}

static struct str keep(struct sheet *sheet, struct str piece)
{
    if (!sheet->is_too_long)
        buf_put(&sheet->line, piece);
    return buf_str(&sheet->line);
}

/* What does not fit is passed over up to the next line feed, whatever quotes say: with a
 * quote that is never closed there is no better place to go on. */
static struct str window_of(struct sheet *sheet, struct str bytes)
{
    if (sheet->line.len == SHEET_MAX_ROW)
        sheet->is_too_long = true;
    if (sheet->is_too_long)
        return bytes;
    return str_slice(bytes, 0, SHEET_MAX_ROW - sheet->line.len);
}

struct row sheet_next(struct sheet *sheet, struct str *bytes)
{
    struct row row = { .type = ROW_NEED_MORE };

    while (bytes->len && !sheet->is_hopeless && row.type == ROW_NEED_MORE) {
        struct str piece, whole;
        size_t end;

        begin(sheet);
        piece = window_of(sheet, *bytes);
        end = row_end(sheet, piece);
        if (end)
            piece.len = end;
        *bytes = str_slice(*bytes, piece.len, bytes->len);
        whole = sheet->line.len || !end ? keep(sheet, piece) : piece;
        if (end)
            row = read_row(sheet, whole);
    }
    if (sheet->is_hopeless && row.type == ROW_NEED_MORE)
        *bytes = str_slice(*bytes, bytes->len, bytes->len);
    return row;
}

struct row sheet_end(struct sheet *sheet)
{
    struct row row = { .type = ROW_NEED_MORE };

    begin(sheet);
    if (sheet->is_hopeless)
        return row;
    if (sheet->line.len)
        row = read_row(sheet, buf_str(&sheet->line));
    if (row.type == ROW_NEED_MORE && is_head(sheet)) {
        sheet->is_hopeless = true;
        row = (struct row){ .type = ROW_PROBLEM,
                            .line = 1,
                            .column = 1,
                            .problem = { .what = "is missing: the first row names the "
                                                 "fields" } };
    }
    return row;
}

void row_put_problem(struct buf *out, const struct row *row)
{
    struct resource_problem problem = row->problem;

    if (problem.field.len == 0)
        problem.field = row->number ? S("the row") : S("the header");
    resource_problem_put(out, &problem);
}

void sheet_put_head(struct buf *out, enum sheet_format format)
{
    if (format == SHEET_CSV)
        csv_put_head(out);
}

void sheet_put(struct buf *out, enum sheet_format format, const struct resource *resource)
{
    struct json_writer w;

    if (format == SHEET_CSV) {
        csv_put_row(out, resource);
        return;
    }
    json_write_init(&w, out);
    resource_write(&w, resource, RESOURCE_DETAILS);
    buf_putc(out, '\n');
}
