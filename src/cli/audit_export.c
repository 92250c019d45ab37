/* SPDX-License-Identifier: Apache-2.0 */
/* moot audit export: the record, or a part of it, as a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/audit_ask.h"
#include "cli/audit_source.h"
#include "cli/progress.h"

enum { LINE_BYTES = 512 << 20, FLUSH_BYTES = 1 << 16, PATH_BYTES = 4096 };

struct export_options {
    struct audit_place place;
    struct audit_filter filter;
    const char *format, *output;
};

#define OPT(member) CLI_AT(struct export_options, member)

/* clang-format off */
static const struct cli_option options[] = {
    { "--format", "FORMAT", "jsonl, or csv; else by the name of the file, else jsonl", OPT(format) },
    { "-o",       "FILE",   "into this file, which is there only when it is whole",    OPT(output) },
    CLI_AUDIT_FILTER(struct export_options),
    CLI_AUDIT_PLACE(struct export_options),
};
/* clang-format on */

struct exporting {
    struct audit_source *source;
    struct progress progress;
    FILE *file;
    bool is_csv;
    uint64_t records;
    struct buf out;
    int error; /* of writing, or 0 */
};

static bool flush(struct exporting *x, size_t above)
{
    if (x->out.len > above) {
        if (fwrite(x->out.ptr, 1, x->out.len, x->file) != x->out.len)
            x->error = errno ? errno : EIO;
        buf_clear(&x->out);
    }
    return x->error == 0;
}

static bool on_origin(void *user, const struct audit_origin *origin)
{
    struct exporting *x = user;

    audit_origin_write(origin, &x->out);
    return flush(x, FLUSH_BYTES);
}

static bool on_record(void *user, const struct audit_record *record)
{
    struct exporting *x = user;
    uint64_t done, total;

    x->records++;
    if (x->is_csv)
        audit_csv_write(record, &x->out);
    else
        audit_record_write(record, &x->out);
    if (progress_is_due(&x->progress)) {
        audit_source_progress(x->source, &done, &total);
        progress_tell(&x->progress, done, total, x->records);
    }
    return flush(x, FLUSH_BYTES);
}

static bool on_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    struct exporting *x = user;

    audit_checkpoint_write(checkpoint, &x->out);
    return flush(x, FLUSH_BYTES);
}

/* Whole, with what proves it; a part, or a table, cannot be verified. */
static int copy(struct exporting *x, struct audit_query *query)
{
    struct audit_sink sink = { on_origin, on_record, on_checkpoint, x };
    enum err err;

    query->order = AUDIT_OLDEST_FIRST;
    progress_begin(&x->progress, "exporting", "records");
    if (x->is_csv)
        audit_csv_head(&x->out);
    if (audit_asks_all(query) && !x->is_csv)
        err = audit_source_all(x->source, &sink);
    else
        err = audit_source_records(x->source, query, on_record, x);
    progress_end(&x->progress);
    if (x->out.is_full)
        return cli_fail("a record is too long to be written");
    (void)flush(x, 0);
    return err ? audit_source_fail(x->source) : CLI_OK;
}

/* --- into a file --- */

/* FILE.XXXXXX beside it, for our eyes only. */
static int open_named(const char *path, char temporary[static PATH_BYTES])
{
    int len = snprintf(temporary, PATH_BYTES, "%s.XXXXXX", path);

    if (len < 0 || len >= PATH_BYTES) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return mkostemp(temporary, O_CLOEXEC);
}

/* In the folder of the file and without a name, where there is such a thing: whatever
 * ends us leaves nothing behind. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_BYTES];
    int len = snprintf(folder, sizeof(folder), "%.*s",
                       slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");

    if (len < 0 || len >= PATH_BYTES)
        return -1;
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

static FILE *open_beside(const char *path, char temporary[static PATH_BYTES])
{
    int fd = open_nameless(path);
    FILE *file;

    *temporary = '\0';
    if (fd < 0)
        fd = open_named(path, temporary);
    if (fd < 0)
        return NULL;
    file = fdopen(fd, "w");
    if (!file)
        (void)close(fd);
    return file;
}

/* Gives what is whole a name to be renamed from: a link replaces nothing. */
static int give_name(int fd, const char *path, char temporary[static PATH_BYTES])
{
    char self[64];
    int named = open_named(path, temporary);

    if (named < 0)
        return -1;
    (void)close(named);
    (void)unlink(temporary);
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW);
}

/* There when it is whole and on disk, else not at all. */
static int finish_file(struct exporting *x, const char *path,
                       char temporary[static PATH_BYTES], int code)
{
    if (!x->error && (fflush(x->file) != 0 || fsync(fileno(x->file)) != 0))
        x->error = errno;
    if (!code && !x->error && !*temporary &&
        give_name(fileno(x->file), path, temporary) != 0)
        x->error = errno;
    if (fclose(x->file) != 0 && !x->error)
        x->error = errno;
    if (!code && !x->error && rename(temporary, path) != 0)
        x->error = errno;
    if ((code || x->error) && *temporary)
        (void)unlink(temporary);
    return !code && x->error ? cli_fail("%s: %s", path, strerror(x->error)) : code;
}

static int export_to_file(struct exporting *x, struct audit_query *query,
                          const char *path)
{
    char temporary[PATH_BYTES];
    int code;

    x->file = open_beside(path, temporary);
    if (!x->file)
        return cli_fail("%s: %s", path, strerror(errno));
    code = finish_file(x, path, temporary, copy(x, query));
    if (!code && isatty(STDERR_FILENO)) {
        struct buf count;

        buf_init(&count, 64);
        progress_put_number(&count, x->records);
        fprintf(stderr, "moot: %s records are in %s\n", buf_cstr(&count), path);
        buf_done(&count);
    }
    return code;
}

/* A pipe or a device is written to, not replaced. */
static int export_to_device(struct exporting *x, struct audit_query *query,
                            const char *path)
{
    int code;

    x->file = fopen(path, "we");
    if (!x->file)
        return cli_fail("%s: %s", path, strerror(errno));
    code = copy(x, query);
    if (fclose(x->file) != 0 && !x->error)
        x->error = errno;
    return !code && x->error ? cli_fail("%s: %s", path, strerror(x->error)) : code;
}

static int export_to(struct exporting *x, struct audit_query *query, const char *path)
{
    CLEANUP(xfreep) char *whole = NULL;
    struct stat about;

    if (!path || strcmp(path, "-") == 0) {
        x->file = stdout;
        return copy(x, query);
    }
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return export_to_device(x, query, path);
    whole = realpath(path, NULL); /* a link stays one */
    return export_to_file(x, query, whole ? whole : path);
}

static int read_format(const struct export_options *o, bool *ret_is_csv)
{
    const char *format = o->format;

    if (!format)
        format = o->output && str_ends(str_of(o->output), S(".csv")) ? "csv" : "jsonl";
    *ret_is_csv = strcmp(format, "csv") == 0;
    if (*ret_is_csv || strcmp(format, "jsonl") == 0)
        return CLI_OK;
    return cli_fail("--format takes jsonl or csv, not \"%s\"", format), CLI_USAGE;
}

static int export(void *fields, char **arguments [[maybe_unused]],
                  size_t count [[maybe_unused]])
{
    const struct export_options *o = fields;
    struct exporting x = {};
    struct audit_query query;
    int code = read_format(o, &x.is_csv);

    if (!code)
        code = audit_ask(&o->filter, clock_wall_ms(), &query);
    if (!code)
        code = audit_source_open(&o->place, &x.source);
    if (code)
        return code;
    buf_init(&x.out, LINE_BYTES);
    code = export_to(&x, &query, o->output);
    buf_done(&x.out);
    audit_source_close(x.source);
    return code;
}

const struct cli_command cli_audit_export = {
    .name = "audit export",
    .usage = "[-o FILE] [OPTIONS]",
    .summary = "write the record, or a part of it, as lines of JSON or as CSV",
    .more =
        "Without filters the export is whole: it begins with the key of the\n"
        "installation, holds its signatures, and `moot audit verify --file FILE` proves\n"
        "it anywhere. A part cannot be verified by itself, nor can CSV.\n\n"
        "  moot audit export -o record.jsonl\n"
        "  moot audit export --since 2026-11-01 --topic lobby -o lobby.csv\n"
        "  moot audit export | zstd > record.jsonl.zst\n",
    .options = options,
    .option_count = COUNT(options),
    .run = export,
    .options_size = sizeof(struct export_options),
};
