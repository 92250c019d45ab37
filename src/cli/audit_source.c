/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/audit_source_priv.h"
#include "cli/place.h"
#include "store/record.h"

enum { NAME_BYTES = 8192, PROBLEM_BYTES = 65536, PATH_BYTES = 4096 };

/* --- what all of them have --- */

void audit_source_init(struct audit_source *source, const struct audit_source_ops *ops,
                       const char *name)
{
    source->ops = ops;
    buf_init(&source->name, NAME_BYTES);
    buf_init(&source->problem, PROBLEM_BYTES);
    buf_put(&source->name, str_of(name));
    (void)buf_cstr(&source->name);
}

void audit_source_close(struct audit_source *source)
{
    if (!source)
        return;
    buf_done(&source->name);
    buf_done(&source->problem);
    source->ops->close(source);
}

/* What is wrong may quote what was read. */
enum err audit_source_note(struct audit_source *source, enum err err, const char *format,
                           ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_clear(&source->problem);
    plain_put(&source->problem, str_of(text), PLAIN_LINE);
    (void)buf_cstr(&source->problem);
    return err;
}

enum err audit_source_records(struct audit_source *source,
                              const struct audit_query *query, audit_on_record *on_record,
                              void *user)
{
    return source->ops->records(source, query, on_record, user);
}

enum err audit_source_all(struct audit_source *source, const struct audit_sink *sink)
{
    return source->ops->all(source, sink);
}

enum err audit_source_head(struct audit_source *source, struct audit_head *ret)
{
    return source->ops->head(source, ret);
}

void audit_source_progress(struct audit_source *source, uint64_t *ret_done,
                           uint64_t *ret_total)
{
    source->ops->progress(source, ret_done, ret_total);
}

const char *audit_source_name(const struct audit_source *source)
{
    return source->name.ptr;
}

const char *audit_source_problem(const struct audit_source *source)
{
    return source->problem.len ? source->problem.ptr : "";
}

int audit_source_fail(const struct audit_source *source)
{
    if (source->problem.len)
        (void)cli_fail("%s: %s", source->name.ptr, source->problem.ptr);
    return CLI_FAILED;
}

/* --- a store, or a copy of one --- */

enum { PAGE = 1000 };

struct stored {
    struct audit_source base;
    struct store_reader *reader;
    uint64_t done, total; /* records */
    struct audit_checkpoint
        *checkpoints; /* of the page: there are no more than records */
    size_t checkpoint_count, checkpoint_at;
};

static struct stored *stored_of(struct audit_source *source)
{
    return CONTAINER_OF(source, struct stored, base);
}

static enum err stored_failed(struct stored *s, enum err err)
{
    if (!err)
        return OK;
    return audit_source_note(&s->base, err, "%s", store_reader_problem(s->reader));
}

static enum err stored_records(struct audit_source *source,
                               const struct audit_query *query,
                               audit_on_record *on_record, void *user)
{
    struct stored *s = stored_of(source);

    return stored_failed(s, store_reader_records(s->reader, query, on_record, user));
}

static bool keep_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    struct stored *s = user;

    s->checkpoints[s->checkpoint_count++] = *checkpoint;
    return s->checkpoint_count < PAGE;
}

/* A page of records on its way to a sink, with the checkpoints behind them. */
struct paging {
    struct stored *stored;
    const struct audit_sink *sink;
    uint64_t last;
    size_t count;
    bool has_enough;
};

/* Those of the page that are of no later record. */
static void give_checkpoints(struct paging *p, uint64_t seq)
{
    struct stored *s = p->stored;

    while (!p->has_enough && s->checkpoint_at < s->checkpoint_count &&
           s->checkpoints[s->checkpoint_at].head.seq <= seq) {
        const struct audit_checkpoint *checkpoint = &s->checkpoints[s->checkpoint_at++];

        if (p->sink->on_checkpoint && !p->sink->on_checkpoint(p->sink->user, checkpoint))
            p->has_enough = true;
    }
}

static bool page_record(void *user, const struct audit_record *record)
{
    struct paging *p = user;

    p->last = record->seq;
    p->count++;
    p->stored->done++;
    if (p->sink->on_record && !p->sink->on_record(p->sink->user, record))
        p->has_enough = true;
    give_checkpoints(p, record->seq);
    return !p->has_enough;
}

/* The records behind the last one, and what was signed of them. A checkpoint that cannot
 * be read comes behind them. */
static enum err give_page(struct paging *p)
{
    struct stored *s = p->stored;
    struct audit_query query = { .order = AUDIT_OLDEST_FIRST,
                                 .after_seq = p->last,
                                 .limit = PAGE };
    enum err signed_err, err;

    s->checkpoint_count = s->checkpoint_at = 0;
    p->count = 0;
    signed_err = stored_failed(
        s, store_reader_checkpoints(s->reader, p->last, keep_checkpoint, s));
    err = stored_records(&s->base, &query, page_record, p);
    return err ? err : signed_err;
}

static enum err give_origin(struct stored *s, const struct audit_sink *sink,
                            bool *ret_has_enough)
{
    char installation[AUDIT_INSTALLATION];
    struct audit_origin origin;
    enum err err = store_reader_origin(s->reader, &origin, installation);

    if (!err && sink->on_origin)
        *ret_has_enough = !sink->on_origin(sink->user, &origin);
    return stored_failed(s, err);
}

/* In pages, so that one question is never open while another is asked. Checkpoints that
 * are left at the end are of records that are gone. */
static enum err stored_all(struct audit_source *source, const struct audit_sink *sink)
{
    struct stored *s = stored_of(source);
    struct paging p = { .stored = s, .sink = sink };
    enum err err = give_origin(s, sink, &p.has_enough);

    if (!s->checkpoints)
        s->checkpoints = xcalloc(PAGE, sizeof(*s->checkpoints));
    s->done = 0;
    do {
        if (err || p.has_enough)
            return err;
        err = give_page(&p);
    } while (p.count);
    if (!err)
        give_checkpoints(&p, UINT64_MAX);
    return err;
}

static enum err stored_head(struct audit_source *source, struct audit_head *ret)
{
    struct stored *s = stored_of(source);

    return stored_failed(s, store_reader_head(s->reader, ret));
}

static void stored_progress(struct audit_source *source, uint64_t *ret_done,
                            uint64_t *ret_total)
{
    const struct stored *s = stored_of(source);

    *ret_done = s->done;
    *ret_total = s->total;
}

static void stored_close(struct audit_source *source)
{
    struct stored *s = stored_of(source);

    if (s->reader)
        store_reader_close(s->reader);
    free(s->checkpoints);
    free(s);
}

static const struct audit_source_ops stored_ops = {
    .records = stored_records,
    .all = stored_all,
    .head = stored_head,
    .progress = stored_progress,
    .close = stored_close,
};

/* `file` is NULL for the store that the setup names. */
static int open_stored(const struct store_setup *setup, const char *file,
                       struct audit_source **ret)
{
    CLEANUP(xfreep) char *why = NULL;
    struct stored *s = xcalloc(1, sizeof(*s));
    struct audit_head head = {};
    char path[PATH_BYTES];
    enum err err;

    (void)snprintf(path, sizeof(path), "%s/audit.db", setup->data);
    if (!file)
        file = setup->url.len ? "the database" : path;
    audit_source_init(&s->base, &stored_ops, file);
    err = store_reader_open(setup, file == path || setup->url.len ? NULL : file,
                            &s->reader, &why);
    if (err) {
        if (why) /* which says where */
            (void)cli_fail("%s", why);
        else
            (void)cli_fail("%s: %s", s->base.name.ptr, err_name(err));
        s->reader = NULL;
        audit_source_close(&s->base);
        return CLI_FAILED;
    }
    if (store_reader_head(s->reader, &head) == OK)
        s->total = head.seq;
    *ret = &s->base;
    return CLI_OK;
}

/* --- which one --- */

/* A database begins with its name; what cannot be opened is complained about later. */
static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char begin[sizeof(magic)] = "";
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "re");
    size_t got = 0;

    if (file) {
        got = fread(begin, 1, sizeof(begin), file);
        (void)fclose(file);
    }
    return got == sizeof(begin) && memcmp(begin, magic, sizeof(magic)) == 0;
}

static int open_data(const struct cli_place *place, struct audit_source **ret)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/audit.db", place->setup.data);
    if (cli_place_is_elsewhere(place))
        return cli_fail("the gateway of %s keeps its record elsewhere: name its settings "
                        "with --config",
                        place->setup.data);
    if (!place->setup.url.len && access(path, F_OK) != 0)
        return cli_fail("no server runs on %s, and there is no record in it",
                        place->setup.data);
    return open_stored(&place->setup, NULL, ret);
}

enum asking { OFFLINE, SERVER_FIRST };

static int open_place(const struct audit_place *where, enum asking asking,
                      struct audit_source **ret)
{
    struct cli_place place;
    int code = cli_place_init(&place, where->config, where->data);

    if (code)
        return code;
    if (asking == SERVER_FIRST)
        code = audit_server_open(&(struct cli_server){ .url = where->server,
                                                       .token_file = where->token_file,
                                                       .ca = where->ca,
                                                       .data = place.setup.data },
                                 ret);
    if (!code && !*ret)
        code = open_data(&place, ret);
    cli_place_done(&place);
    return code;
}

static int open_file(const char *file, struct audit_source **ret)
{
    if (!is_database(file))
        return audit_lines_open(file, ret);
    return open_stored(&(struct store_setup){ .data = "" }, file, ret);
}

static int open_with(const struct audit_place *place, enum asking asking,
                     struct audit_source **ret)
{
    *ret = NULL;
    if (!place->file)
        return open_place(place, asking, ret);
    if (place->server || place->data || place->config)
        return cli_fail("--file says where the record is; --server, --data and --config "
                        "would say something else"),
               CLI_USAGE;
    return open_file(place->file, ret);
}

int audit_source_open(const struct audit_place *place, struct audit_source **ret)
{
    return open_with(place, SERVER_FIRST, ret);
}

int audit_source_open_offline(const struct audit_place *place, struct audit_source **ret)
{
    return open_with(place, OFFLINE, ret);
}
