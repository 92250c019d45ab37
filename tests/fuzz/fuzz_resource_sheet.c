/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of resources. The first byte chooses the format and how the rest is cut. Whole or
 * in pieces, the same rows come out; problems lie inside the text; and every resource is
 * written in both formats and read as the same again.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "directory/sheet.h"

enum { TEXT = 1 << 26 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void expect_again(const struct resource *resource, enum sheet_format format,
                         struct str wanted)
{
    struct buf text, out;
    struct sheet sheet;
    struct row row;
    struct str rest;

    buf_init(&text, TEXT);
    buf_init(&out, TEXT);
    sheet_init(&sheet, format);
    sheet_put_head(&text, format);
    sheet_put(&text, format, resource);
    rest = buf_str(&text);
    row = sheet_next(&sheet, &rest);
    expect(row.type == ROW_RESOURCE && row.number == 1 && rest.len == 0);
    sheet_put(&out, SHEET_JSON, &row.resource);
    expect(str_eq(buf_str(&out), wanted));
    expect(sheet_end(&sheet).type == ROW_NEED_MORE);
    sheet_done(&sheet);
    buf_done(&text);
    buf_done(&out);
}

static void put_resource(const struct row *row, struct buf *out)
{
    size_t begin = out->len;
    struct str text;

    sheet_put(out, SHEET_JSON, &row->resource);
    text = str_slice(buf_str(out), begin, out->len);
    expect(text.len <= RESOURCE_TEXT && utf8_is_valid(text));
    expect_again(&row->resource, SHEET_JSON, text);
    expect_again(&row->resource, SHEET_CSV, text);
}

static void put_row(const struct row *row, struct str text, struct buf *out)
{
    buf_putf(out, "%llu %llu:%llu ", (unsigned long long)row->number,
             (unsigned long long)row->line, (unsigned long long)row->column);
    if (row->type == ROW_RESOURCE) {
        put_resource(row, out);
        return;
    }
    expect(row->line >= 1 && row->line <= text.len + 1);
    expect(row->column >= 1 && row->column <= text.len + 1);
    expect(row->problem.what && *row->problem.what);
    row_put_problem(out, row);
    buf_putc(out, '\n');
}

static void read_all(enum sheet_format format, struct str text, size_t piece,
                     struct buf *out)
{
    struct sheet sheet;
    struct row row;

    sheet_init(&sheet, format);
    for (size_t at = 0; at < text.len; at += piece) {
        struct str part = str_slice(text, at, at + piece);

        while ((row = sheet_next(&sheet, &part)).type != ROW_NEED_MORE)
            put_row(&row, text, out);
        expect(part.len == 0);
    }
    row = sheet_end(&sheet);
    if (row.type != ROW_NEED_MORE)
        put_row(&row, text, out);
    expect(sheet_end(&sheet).type == ROW_NEED_MORE);
    sheet_done(&sheet);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes + 1, size - 1 };
    struct buf whole, cut;

    if (size == 0)
        return 0;
    buf_init(&whole, TEXT);
    buf_init(&cut, TEXT);
    read_all(bytes[0] & 1 ? SHEET_CSV : SHEET_JSON, text, SIZE_MAX / 2, &whole);
    read_all(bytes[0] & 1 ? SHEET_CSV : SHEET_JSON, text, 1 + (bytes[0] >> 1), &cut);
    expect(whole.is_full == cut.is_full);
    expect(str_eq(buf_str(&whole), buf_str(&cut)));
    buf_done(&whole);
    buf_done(&cut);
    return 0;
}
