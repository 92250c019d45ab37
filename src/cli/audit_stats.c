/* SPDX-License-Identifier: Apache-2.0 */
/* moot audit stats: what went on, as plots. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/audit_ask.h"
#include "cli/audit_figures.h"
#include "cli/audit_source.h"
#include "cli/progress.h"

enum { OUT_BYTES = 64 << 20, ROWS = 8, WIDTH = 80, WIDEST = 120 };

struct stats_options {
    struct audit_place place;
    struct audit_filter filter;
    bool json;
};

#define OPT(member) CLI_AT(struct stats_options, member)

/* clang-format off */
static const struct cli_option options[] = {
    CLI_AUDIT_TIMES(struct stats_options),
    { "--topic",       "TOPIC",       "of this topic",     OPT(filter.topic) },
    { "--participant", "PARTICIPANT", "what this one did", OPT(filter.participant) },
    { "--json",        NULL,          "as JSON",           OPT(json) },
    CLI_AUDIT_PLACE(struct stats_options),
};
/* clang-format on */

struct counting {
    struct audit_source *source;
    struct audit_figures *figures;
    struct progress progress;
};

static bool on_record(void *user, const struct audit_record *record)
{
    struct counting *c = user;

    audit_figures_add(c->figures, record);
    if (progress_is_due(&c->progress))
        progress_tell(&c->progress, 0, 0, c->figures->records);
    return true;
}

static void print(const struct audit_figures *figures, bool is_json)
{
    size_t columns = progress_columns(STDOUT_FILENO);
    struct audit_figures_look look = { .ink = palette_for(stdout),
                                       .is_utf8 = palette_is_utf8(),
                                       .columns = columns ? columns : WIDTH,
                                       .rows = ROWS };
    struct buf out;

    look.columns = look.columns < WIDEST ? look.columns : WIDEST;
    buf_init(&out, OUT_BYTES);
    if (is_json)
        audit_figures_put_json(&out, figures);
    else if (figures->records)
        audit_figures_put(&out, figures, &look);
    else
        buf_put(&out, S("Nothing was recorded in that time.\n"));
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
}

static int count_all(struct counting *c, const struct audit_query *query)
{
    enum err err;

    progress_begin(&c->progress, "counting", "records");
    err = audit_source_records(c->source, query, on_record, c);
    progress_end(&c->progress);
    return err ? audit_source_fail(c->source) : CLI_OK;
}

static int stats(void *fields, char **arguments [[maybe_unused]],
                 size_t count [[maybe_unused]])
{
    CLEANUP(xfreep) struct audit_figures *figures = NULL;
    struct stats_options *o = fields;
    struct counting c = {};
    struct audit_query query;
    int code;

    if (!o->filter.since && !o->place.file)
        o->filter.since = "24h"; /* a file may be of any time, and is looked at whole */
    code = audit_ask(&o->filter, clock_wall_ms(), &query);
    if (!code)
        code = audit_source_open(&o->place, &c.source);
    if (code)
        return code;
    query.order = AUDIT_OLDEST_FIRST;
    figures = xmalloc(sizeof(*figures));
    audit_figures_init(figures);
    c.figures = figures;
    code = count_all(&c, &query);
    if (!code)
        print(figures, o->json);
    audit_figures_done(figures);
    audit_source_close(c.source);
    return code;
}

const struct cli_command cli_audit_stats = {
    .name = "audit stats",
    .usage = "[OPTIONS]",
    .summary = "plot messages per minute, refusals, who is busy, approval times",
    .more =
        "Of the last 24 hours, unless --since says otherwise; of --file all there is.\n"
        "A proposal is decided by the request that fulfils it, or by a rejection.\n\n"
        "  moot audit stats --since 7d --topic lobby\n",
    .options = options,
    .option_count = COUNT(options),
    .run = stats,
    .options_size = sizeof(struct stats_options),
};
