/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/sheet.h"
#include "harness.h"

enum { TEXT = 1 << 20 };

/* What rows say, a line each: "1 r-1 Ann" or "1 2:7 sentence". */
static void put_row(struct buf *out, const struct row *row)
{
    buf_putf(out, "%llu ", (unsigned long long)row->number);
    if (row->type == ROW_RESOURCE) {
        sheet_put(out, SHEET_JSON, &row->resource);
        return;
    }
    buf_putf(out, "%llu:%llu ", (unsigned long long)row->line,
             (unsigned long long)row->column);
    row_put_problem(out, row);
    buf_putc(out, '\n');
}

/* All of a text, in pieces of this size. */
static void read_all(enum sheet_format format, struct str text, size_t piece,
                     struct buf *out)
{
    struct sheet sheet;
    struct row row;

    sheet_init(&sheet, format);
    for (size_t at = 0; at < text.len; at += piece) {
        struct str bytes = str_slice(text, at, at + piece);

        while ((row = sheet_next(&sheet, &bytes)).type != ROW_NEED_MORE)
            put_row(out, &row);
        CHECK_INT(bytes.len, 0);
    }
    row = sheet_end(&sheet);
    if (row.type != ROW_NEED_MORE)
        put_row(out, &row);
    sheet_done(&sheet);
}

static void check_all(enum sheet_format format, struct str text, struct str wanted)
{
    static const size_t pieces[] = { 1, 2, 3, 7, 64, SIZE_MAX / 2 };

    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct buf out;

        buf_init(&out, TEXT);
        read_all(format, text, pieces[i], &out);
        CHECK_STR(buf_str(&out), wanted);
        buf_done(&out);
    }
}

#define ANN "{\"id\":\"a\",\"kind\":\"human\",\"name\":\"Ann\",\"invite\":\"auto\"}"
#define BOT "{\"kind\":\"agent\",\"name\":\"Bot\",\"invite\":\"auto\"}"

TEST(json_lines_are_read_wherever_they_are_cut)
{
    static const struct {
        struct str text, wanted;
    } cases[] = {
        { S(""), S("") },
        { S("\n\n"), S("") },
        { S(ANN "\n" BOT), S("1 " ANN "\n2 " BOT "\n") },
        { S("\xef\xbb\xbf" ANN "\r\n  \r\n" BOT "\r\n"), S("1 " ANN "\n2 " BOT "\n") },
        { S("\n{\"kind\":\"human\",\"nam\":1}\n" ANN),
          S("1 2:23 nam is unknown\n2 " ANN "\n") },
        { S("{\"kind\":\"human\",\"name\":\"ö\",\"skills\":[\"é\",\"C\",\"c\"]}"),
          S("1 1:46 skills[3] stands there twice\n") },
        { S("{\"kind\":\"human\",\"name\":\"x\",\"rate\":{\"amount\":1,\"per\":\"y\"}}"),
          S("1 1:53 per must be hour, day or month\n") },
        { S("{\"kind\":}"), S("1 1:9 the row is not JSON: expected a value\n") },
        { S("{\"kind\":\"human\""),
          S("1 1:16 the row is not JSON: the text ends too early\n") },
        { S("[]"), S("1 1:1 the row must be an object\n") },
        { S("{\"a\":\"\xff\"}"), S("1 1:7 the row is not UTF-8\n") },
        { S(ANN ANN), S("1 1:55 the row is not JSON: something follows the value\n") },
    };

    FOR_EACH_CASE(c, cases)
        check_all(SHEET_JSON, c->text, c->wanted);
}

#define HEAD "id,kind,name,skills,rate,currency,per\r\n"

TEST(csv_is_read_wherever_it_is_cut)
{
    static const struct {
        struct str text, wanted;
    } cases[] = {
        { S(HEAD), S("") },
        { S("\xef\xbb\xbf" HEAD "a,human,Ann,,,,\r\n,agent,Bot,,,,"),
          S("1 " ANN "\n2 " BOT "\n") },
        { S("Name, KIND \n\nAnn,human\n"),
          S("1 {\"kind\":\"human\",\"name\":\"Ann\",\"invite\":\"auto\"}\n") },
        { S("kind,name,profile\nhuman,\"A \"\"x\"\", B\",\"1\n2\n3\"\nagent,\"\"\n"),
          S("1 {\"kind\":\"human\",\"name\":\"A \\\"x\\\", B\",\"profile\":\"1\\n2\\n3\","
            "\"invite\":\"auto\"}\n"
            "2 5:1 the row has 2 cells, the header has 3\n") },
        { S(HEAD "a,human,Ann,C; Go ;Rust,120.50,EUR,day\n"),
          S("1 {\"id\":\"a\",\"kind\":\"human\",\"name\":\"Ann\","
            "\"skills\":[\"C\",\"Go\",\"Rust\"],\"rate\":{\"amount\":120.50,"
            "\"currency\":\"EUR\",\"per\":\"day\"},\"invite\":\"auto\"}\n") },
        { S(HEAD "a,human,Ann,\"[\"\"a;b\"\",\"\"c\"\"]\",0,,\n"),
          S("1 {\"id\":\"a\",\"kind\":\"human\",\"name\":\"Ann\","
            "\"skills\":[\"a;b\",\"c\"],\"rate\":{\"amount\":0,"
            "\"per\":\"hour\"},\"invite\":\"auto\"}\n") },
    };

    FOR_EACH_CASE(c, cases)
        check_all(SHEET_CSV, c->text, c->wanted);
}

TEST(what_is_wrong_with_csv_has_its_place)
{
    static const struct {
        struct str text, wanted;
    } cases[] = {
        { S(""), S("0 1:1 the header is missing: the first row names the fields\n") },
        { S("kind,name,nmae\nhuman,x,y\n"),
          S("0 1:11 nmae is not a field of a resource\n") },
        { S("kind,name,kind\n"), S("0 1:11 kind stands there twice\n") },
        { S("kind,name,\n"), S("0 1:11 the header has a column without a name\n") },
        { S("kind;name\n"),
          S("0 1:1 the header has semicolons between its columns, not commas\n") },
        { S("kind,role\n"), S("0 1:1 name has no column\n") },
        { S("\xff\nkind,name\nhuman,x\n"), S("0 1:1 the header is not UTF-8\n") },
        { S("name,role\n"), S("0 1:1 kind has no column\n") },
        { S("kind,\"name\n"), S("0 1:6 the header has a quote that is not closed\n") },
        { S("kind,name\nhuman,Ann\nrobot,x\nagent,\n\nhuman,Ö,3\n"),
          S("1 {\"kind\":\"human\",\"name\":\"Ann\",\"invite\":\"auto\"}\n"
            "2 3:1 kind must be human or agent\n"
            "3 4:7 name is missing\n"
            "4 6:1 the row has 3 cells, the header has 2\n") },
        { S("kind,name\nhuman,A\"n\"\nhuman,\"A\"n\nhuman,\"A\n"),
          S("1 2:8 the row has a quote in a cell that does not begin with one\n"
            "2 3:10 the row goes on behind the quote of a cell\n"
            "3 4:7 the row has a quote that is not closed\n") },
        { S("profile,kind,name\n\"ä\nö\",robot,x\n"),
          S("1 3:4 kind must be human or agent\n") },
        { S(HEAD ",human,x,a;;b,,,\n,human,x,a;A,,,\n,human,x,[1],,,\n,human,x,[,,,\n"),
          S("1 2:10 skills[2] is empty\n2 3:10 skills[2] stands there twice\n"
            "3 4:10 skills must be a list of strings\n"
            "4 5:10 skills begins like a JSON array and is none\n") },
        { S(HEAD ",human,x,,12x,,\n,human,x,,-1,,\n,human,x,,1,EURO,\n,human,x,,1,,w\n"
                 ",human,x,,,EUR,\n,human,x,,,,day\n,human,x,,1e3,,\n"),
          S("1 2:11 rate must be a number, such as 120.50\n"
            "2 3:11 rate must not be below 0\n"
            "3 4:13 currency must be three letters, such as EUR\n"
            "4 5:14 per must be hour, day or month\n"
            "5 6:12 currency stands there without a rate\n"
            "6 7:13 per stands there without a rate\n"
            "7 8:11 rate must be written without an exponent\n") },
        { S("kind,name\nhuman,a\xff\xff\nhuman,\x01\nhuman,a\rb\n"),
          S("1 2:8 the row is not UTF-8\n2 3:7 name contains a control character\n"
            "3 4:7 name contains a control character\n") },
        /* A NUL, the header again, a line end too many, and what is a formula only to
         * others. */
        { S("kind,name\nhuman,a\0b\nkind,name\nhuman,a\r\r\nhuman,=1+1\n"),
          S("1 2:7 name contains a control character\n"
            "2 3:1 kind must be human or agent\n"
            "3 4:7 name contains a control character\n"
            "4 {\"kind\":\"human\",\"name\":\"=1+1\",\"invite\":\"auto\"}\n") },
        { S("kind,na\0me\n"), S("0 1:6 na\0me is not a field of a resource\n") },
    };

    FOR_EACH_CASE(c, cases)
        check_all(SHEET_CSV, c->text, c->wanted);
}

static bool has_text(struct str text, const char *what)
{
    return memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

/* A row that is too long is one problem, wherever it is cut; what follows is read. */
TEST(a_row_has_its_bound)
{
    static const size_t pieces[] = { 100, 4096, SHEET_MAX_ROW, SHEET_MAX_ROW + 1,
                                     SIZE_MAX / 2 };
    struct buf text, out;

    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        buf_init(&text, TEXT);
        buf_init(&out, TEXT);
        buf_put(&text, S("kind,name\nhuman,\"never closed\n"));
        while (text.len < SHEET_MAX_ROW + 1000)
            buf_put(&text, S("agent,x\n"));
        buf_put(&text, S("agent\nhuman,Ann\n"));
        read_all(SHEET_CSV, buf_str(&text), pieces[i], &out);
        CHECK(str_starts(buf_str(&out), S("1 2:1 the row is longer than 72 KiB: is a "
                                          "quote not closed?\n2 {\"kind\":\"agent\"")));
        CHECK(str_ends(buf_str(&out),
                       S(" the row has 1 cell, the header has 2\n127 {\"kind\":"
                         "\"human\",\"name\":\"Ann\",\"invite\":\"auto\"}\n")));
        CHECK(has_text(buf_str(&out), "126 9341:1 the row"));
        buf_clear(&text);
        buf_clear(&out);
        while (text.len < 2 * SHEET_MAX_ROW)
            buf_put(&text, S("          "));
        buf_put(&text, S("\n" ANN "\n"));
        read_all(SHEET_JSON, buf_str(&text), pieces[i], &out);
        CHECK_STR(buf_str(&out), S("1 1:1 the row is longer than 72 KiB\n2 " ANN "\n"));
        buf_done(&text);
        buf_done(&out);
    }
}

TEST(what_is_written_as_csv_is_read_as_the_same)
{
    static const struct str lines[] = {
        S("{\"id\":\"=cmd|' -C calc'!A0\",\"kind\":\"human\",\"name\":\"A, \\\"B\\\"\","
          "\"role\":\" x \",\"skills\":[\"a;b\",\" c\",\"[d\"],\"availability\":\"x\","
          "\"location\":\"y\",\"rate\":{\"amount\":1.10,\"currency\":\"EUR\","
          "\"per\":\"month\"},\"languages\":[\"de\",\"en\"],\"time_zone\":\"UTC\","
          "\"profile\":\"1\\r\\n2\\t\\n\",\"participant\":\"p/q\",\"invite\":\"ask\","
          "\"updated_at\":\"2026-11-16T10:00:00.000Z\"}\n"),
        S(BOT "\n"),
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct str bytes = lines[i];
        struct buf csv, out, wanted;
        struct sheet sheet;
        struct row row;

        buf_init(&csv, TEXT);
        buf_init(&out, TEXT);
        buf_init(&wanted, TEXT);
        sheet_init(&sheet, SHEET_JSON);
        row = sheet_next(&sheet, &bytes);
        CHECK_INT(row.type, ROW_RESOURCE);
        sheet_put_head(&csv, SHEET_CSV);
        sheet_put(&csv, SHEET_CSV, &row.resource);
        sheet_done(&sheet);
        read_all(SHEET_CSV, buf_str(&csv), SIZE_MAX / 2, &out);
        buf_putf(&wanted, "1 %.*s", STR_ARG(lines[i]));
        CHECK_STR(buf_str(&out), buf_str(&wanted));
        buf_done(&csv);
        buf_done(&out);
        buf_done(&wanted);
    }
}

/* As large as it can be, and nothing but what has to be escaped. */
TEST(the_largest_resource_fits_everywhere)
{
    struct buf csv, out;
    struct sheet sheet;
    struct row row;
    struct str rest;

    buf_init(&csv, TEXT);
    buf_init(&out, TEXT);
    buf_put(&csv, S("kind,name,skills,profile\nhuman,x,\""));
    for (unsigned i = 0; i < RESOURCE_SKILLS; i++) {
        buf_putf(&csv, "%s%02u", i ? ";" : "", i);
        for (unsigned k = 2; k < RESOURCE_WORD; k++)
            buf_put(&csv, S("\"\""));
    }
    buf_put(&csv, S("\",\""));
    for (unsigned i = 0; i < RESOURCE_PROFILE; i++)
        buf_put(&csv, S("\"\""));
    buf_put(&csv, S("\"\n"));
    read_all(SHEET_CSV, buf_str(&csv), SIZE_MAX / 2, &out);
    CHECK(str_starts(buf_str(&out), S("1 {\"kind\":\"human\"")));
    rest = str_slice(buf_str(&out), 2, out.len);
    sheet_init(&sheet, SHEET_JSON);
    row = sheet_next(&sheet, &rest);
    CHECK_INT(row.type, ROW_RESOURCE);
    CHECK_INT(row.resource.profile.len, RESOURCE_PROFILE);
    sheet_done(&sheet);
    buf_done(&csv);
    buf_done(&out);
}
