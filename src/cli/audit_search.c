/* SPDX-License-Identifier: Apache-2.0 */
/* moot audit search: records, by what they say and when. */
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/audit_ask.h"
#include "cli/audit_look.h"
#include "cli/audit_source.h"
#include "cli/progress.h"
#include "cli/result.h"

enum { USUAL = 100, LINE_BYTES = 512 << 20, TEXT_BYTES = 1 << 20 };

struct search_options {
    struct audit_place place;
    struct audit_filter filter;
    const char *limit;
    bool oldest_first, ids, json;
};

#define OPT(member) CLI_AT(struct search_options, member)

/* clang-format off */
static const struct cli_option options[] = {
    CLI_AUDIT_FILTER(struct search_options),
    { "--limit",        "N",  "at most so many: 100 unless told, 0 for all", OPT(limit) },
    { "--oldest-first", NULL, "in the order in which it happened",           OPT(oldest_first) },
    { "--ids",          NULL, "with number, id and correlation_id, whole",   OPT(ids) },
    { "--json",         NULL, "a line of JSON for each, as an export has it", OPT(json) },
    CLI_AUDIT_PLACE(struct search_options),
};
/* clang-format on */

struct finding {
    struct audit_look look;
    bool is_json;
    enum result_form form;
    size_t limit, count;
    bool has_more;
    struct buf line;
};

static bool on_record(void *user, const struct audit_record *record)
{
    struct finding *f = user;
    struct buf *line = &f->line;

    if (f->limit && f->count == f->limit) {
        f->has_more = true;
        return false;
    }
    f->count++;
    buf_clear(line);
    if (f->is_json)
        audit_record_write(record, line);
    else
        audit_look_put(line, &f->look, record);
    if (f->is_json && f->form == RESULT_PLAIN) {
        struct buf plain;

        buf_init(&plain, LINE_BYTES);
        result_put_json(&plain, str_slice(buf_str(line), 0, line->len - 1), f->form);
        (void)fwrite(plain.ptr, 1, plain.len, stdout);
        buf_done(&plain);
    } else {
        (void)fwrite(line->ptr, 1, line->len, stdout);
    }
    return !ferror(stdout);
}

static int tell_end(const struct finding *f)
{
    if (f->count == 0 && isatty(STDERR_FILENO))
        fputs("moot: nothing in the record fits\n", stderr);
    if (f->has_more)
        fprintf(stderr,
                "moot: there are more than these %zu; --limit 0 shows all of them\n",
                f->limit);
    return CLI_OK;
}

static int find(const struct search_options *o, struct audit_query *query,
                struct finding *f)
{
    struct audit_source *source;
    int code = audit_source_open(&o->place, &source);

    if (code)
        return code;
    query->order = o->oldest_first ? AUDIT_OLDEST_FIRST : AUDIT_NEWEST_FIRST;
    query->limit = f->limit ? f->limit + 1 : 0; /* one more tells whether there are */
    if (audit_source_records(source, query, on_record, f))
        code = audit_source_fail(source);
    audit_source_close(source);
    return code ? code : tell_end(f);
}

/* Words on the command line are looked for as those of --text are. */
static void put_words(struct buf *out, const char *text, char **words, size_t count)
{
    if (text)
        buf_put(out, str_of(text));
    for (size_t i = 0; i < count; i++) {
        buf_put(out, out->len ? S(" ") : S(""));
        buf_put(out, str_of(words[i]));
    }
}

static int search(void *fields, char **arguments, size_t count)
{
    struct search_options *o = fields;
    struct finding f = { .look = { .ink = palette_for(stdout),
                                   .columns = progress_columns(STDOUT_FILENO),
                                   .has_ids = o->ids },
                         .is_json = o->json,
                         .form = isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW,
                         .limit = USUAL };
    struct audit_query query;
    struct buf words;
    int code;

    buf_init(&words, TEXT_BYTES);
    buf_init(&f.line, LINE_BYTES);
    put_words(&words, o->filter.text, arguments, count);
    if (words.len)
        o->filter.text = buf_cstr(&words);
    code = audit_ask(&o->filter, clock_wall_ms(), &query);
    if (!code)
        code = audit_limit(o->limit, &f.limit);
    if (!code)
        code = find(o, &query, &f);
    buf_done(&f.line);
    buf_done(&words);
    return code;
}

const struct cli_command cli_audit_search = {
    .name = "audit search",
    .usage = "[WORDS...] [OPTIONS]",
    .summary = "find records: by time, topic, participant, kind, verdict, words",
    .more =
        "All that is given must hold. The newest come first. Without a server the data\n"
        "directory is read, or with --file a copy of audit.db or an export.\n\n"
        "  moot audit search --since 2h --participant bot --verdict capability_violation\n"
        "  moot audit search deploy prod* --topic lobby --json | jq .body.payload\n",
    .options = options,
    .option_count = COUNT(options),
    .max_arguments = SIZE_MAX,
    .run = search,
    .options_size = sizeof(struct search_options),
};
