/* SPDX-License-Identifier: Apache-2.0 */
/* moot audit head, moot audit retention: where the record ends, and what is gone. */
#include <stdio.h>
#include <unistd.h>

#include "audit/removal.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/audit_ask.h"
#include "cli/audit_look.h"
#include "cli/audit_source.h"
#include "cli/cell.h"
#include "cli/progress.h"
#include "cli/result.h"

enum { OUT_BYTES = 512 << 20, ARENA_BYTES = 1 << 20 };

/* --- head --- */

struct head_options {
    struct audit_place place;
    bool json;
};

/* clang-format off */
static const struct cli_option head_options[] = {
    { "--json", NULL, "as JSON", CLI_AT(struct head_options, json) },
    CLI_AUDIT_PLACE(struct head_options),
};
/* clang-format on */

static void print_head(const struct audit_head *head, bool is_json)
{
    char text[AUDIT_HEAD_TEXT], time[CLOCK_TEXT];
    struct str place = audit_head_text(head, text);
    struct str when = clock_write(head->at_ms, time);

    if (is_json && head->at_ms)
        printf("{\"head\":\"" STR_FMT "\",\"at\":\"" STR_FMT "\"}\n", STR_ARG(place),
               STR_ARG(when));
    else if (is_json)
        printf("{\"head\":\"" STR_FMT "\"}\n", STR_ARG(place));
    else if (head->at_ms)
        printf(STR_FMT " " STR_FMT "\n", STR_ARG(place), STR_ARG(when));
    else
        printf(STR_FMT "\n", STR_ARG(place));
}

static int head(void *fields, char **arguments [[maybe_unused]],
                size_t count [[maybe_unused]])
{
    const struct head_options *o = fields;
    struct audit_source *source;
    struct audit_head head;
    int code = audit_source_open(&o->place, &source);

    if (code)
        return code;
    if (audit_source_head(source, &head))
        code = audit_source_fail(source);
    else
        print_head(&head, o->json);
    audit_source_close(source);
    return code;
}

const struct cli_command cli_audit_head = {
    .name = "audit head",
    .usage = "",
    .summary = "print how far the record goes, to be kept elsewhere",
    .more = "SEQ:HASH and when. Whoever keeps it can prove later that nothing before it\n"
            "was changed or cut off: `moot audit verify --head SEQ:HASH`.\n\n"
            "  moot audit head | ssh elsewhere 'cat >> moot-heads'\n",
    .options = head_options,
    .option_count = COUNT(head_options),
    .run = head,
    .options_size = sizeof(struct head_options),
};

/* --- retention --- */

struct retention_options {
    struct audit_place place;
    struct audit_filter filter;
    bool json;
};

/* clang-format off */
static const struct cli_option retention_options[] = {
    CLI_AUDIT_TIMES(struct retention_options),
    { "--topic", "TOPIC", "of this topic",           CLI_AT(struct retention_options, filter.topic) },
    { "--json",  NULL,    "a line of JSON for each", CLI_AT(struct retention_options, json) },
    CLI_AUDIT_PLACE(struct retention_options),
};
/* clang-format on */

struct listing {
    bool is_json;
    enum result_form form;
    const struct palette *ink;
    uint64_t steps, count, bytes;
    struct buf out;
    struct arena arena;
};

static void put_bytes(struct buf *out, uint64_t bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < COUNT(units)) {
        value /= 1024;
        unit++;
    }
    buf_putf(out, "%.*f %s", unit && value < 10 ? 1 : 0, value, units[unit]);
}

static struct str whose(const struct audit_removal *r)
{
    if (r->topic.len)
        return r->topic;
    if (r->topic.ptr)
        return S("(no topic)");
    return r->except.count ? S("(all others)") : S("(all)");
}

/* "2026-11-15 18:00:00.000  room  120 bodies, 3.4 MiB, records 1 to 300, by age" */
static void put_removal(struct listing *l, const struct audit_record *record,
                        const struct audit_removal *r)
{
    buf_put(&l->out, str_of(l->ink->dim));
    audit_look_put_time(&l->out, record->at_ms);
    buf_putf(&l->out, "%s  ", l->ink->off);
    (void)cell_put(&l->out, whose(r), 6);
    buf_put(&l->out, S("  "));
    progress_put_number(&l->out, r->count);
    buf_putf(&l->out, " bod%s, ", r->count == 1 ? "y" : "ies");
    put_bytes(&l->out, r->bytes);
    buf_putf(&l->out, ", records %llu to %llu", (unsigned long long)r->first_seq,
             (unsigned long long)r->last_seq);
    if (r->reason.len) {
        buf_put(&l->out, S(", by "));
        (void)cell_put(&l->out, r->reason, 0);
    }
    buf_putc(&l->out, '\n');
}

static void put_record(struct listing *l, const struct audit_record *record)
{
    struct audit_removal r;

    if (l->is_json) {
        struct buf line;

        buf_init(&line, OUT_BYTES);
        audit_record_write(record, &line);
        result_put_json(&l->out, str_slice(buf_str(&line), 0, line.len - 1), l->form);
        buf_done(&line);
        return;
    }
    arena_reset(&l->arena);
    if (audit_removal_parse(record->body, &l->arena, &r)) {
        struct audit_look look = { .ink = l->ink };

        audit_look_put(&l->out, &look, record);
        return;
    }
    l->count += r.count;
    l->bytes += r.bytes;
    put_removal(l, record, &r);
}

static bool on_record(void *user, const struct audit_record *record)
{
    struct listing *l = user;

    l->steps++;
    put_record(l, record);
    (void)fwrite(l->out.ptr, 1, l->out.len, stdout);
    buf_clear(&l->out);
    return !ferror(stdout);
}

static void print_total(struct listing *l)
{
    if (l->is_json)
        return;
    if (l->steps == 0) {
        puts("Nothing was removed.");
        return;
    }
    progress_put_number(&l->out, l->count);
    buf_putf(&l->out, " bod%s removed, ", l->count == 1 ? "y" : "ies");
    put_bytes(&l->out, l->bytes);
    printf("%s%s%s\n", l->ink->bold, buf_cstr(&l->out), l->ink->off);
}

static int list(struct audit_source *source, const struct audit_query *query,
                bool is_json)
{
    struct listing l = { .is_json = is_json,
                         .form = isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW,
                         .ink = palette_for(stdout) };
    int code = CLI_OK;

    buf_init(&l.out, OUT_BYTES);
    arena_init(&l.arena, ARENA_BYTES);
    if (audit_source_records(source, query, on_record, &l))
        code = audit_source_fail(source);
    else
        print_total(&l);
    arena_done(&l.arena);
    buf_done(&l.out);
    return code;
}

static int retention(void *fields, char **arguments [[maybe_unused]],
                     size_t count [[maybe_unused]])
{
    struct retention_options *o = fields;
    struct audit_source *source;
    struct audit_query query;
    int code;

    o->filter.event = "retention";
    code = audit_ask(&o->filter, clock_wall_ms(), &query);
    if (!code)
        code = audit_source_open(&o->place, &source);
    if (code)
        return code;
    query.order = AUDIT_OLDEST_FIRST;
    code = list(source, &query, o->json);
    audit_source_close(source);
    return code;
}

const struct cli_command cli_audit_retention = {
    .name = "audit retention",
    .usage = "[OPTIONS]",
    .summary = "list which bodies were removed, when and why",
    .more =
        "Bodies go when they are older or more than the settings allow\n"
        "(topics.*.audit_age and audit_bytes). Their hashes stay, and the record still\n"
        "verifies.\n",
    .options = retention_options,
    .option_count = COUNT(retention_options),
    .run = retention,
    .options_size = sizeof(struct retention_options),
};
