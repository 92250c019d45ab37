/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot resource import, export: the directory as a file. The gateway reads and writes the
 * rows; a file goes through here in pieces, whatever its length.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/progress.h"
#include "cli/resource.h"
#include "cli/result.h"
#include "json/json.h"

enum {
    PATIENCE_MS = 3600 * 1000, /* with a store that has a million rows to write */
    TREE_BYTES = 8 << 20,
    OUT_BYTES = 8 << 20,
    NAME_BYTES = 4096,
};

int resource_format(const char *format, const char *file, enum resource_rows *ret)
{
    struct str name = str_of(file);

    if (format && strcmp(format, "csv") != 0 && strcmp(format, "jsonl") != 0)
        return cli_fail("--format takes csv or jsonl, not \"%s\"", format), CLI_USAGE;
    if (format)
        *ret = *format == 'c' ? RESOURCE_ROWS_CSV : RESOURCE_ROWS_JSONL;
    else if (str_ends(name, S(".csv")))
        *ret = RESOURCE_ROWS_CSV;
    else if (str_ends(name, S(".jsonl")) || str_ends(name, S(".ndjson")))
        *ret = RESOURCE_ROWS_JSONL;
    else
        return CLI_FAILED;
    return CLI_OK;
}

struct str resource_media_type(enum resource_rows rows)
{
    return rows == RESOURCE_ROWS_CSV ? S("text/csv") : S("application/x-ndjson");
}

/* --- import --- */

struct import_options {
    struct resource_place place;
    const char *format;
    bool is_dry, json;
};

#define OPT(member) CLI_AT(struct import_options, member)

/* clang-format off */
static const struct cli_option import_options[] = {
    { "--format", "csv|jsonl", "how FILE is written; else by its name", OPT(format) },
    { "--dry",    NULL,        "only say whether it could be taken",    OPT(is_dry) },
    { "--json",   NULL,        "answer as JSON",                        OPT(json) },
    CLI_RESOURCE_PLACE(struct import_options),
};
/* clang-format on */

struct importing {
    const char *name; /* of the file, for messages */
    int fd;
    uint64_t done, total; /* bytes */
    uint64_t lines;
    struct progress progress;
};

/* The next piece of the file; at its end none. */
static bool on_upload(void *user, struct buf *piece)
{
    struct importing *x = user;
    ssize_t got;

    if (buf_reserve(piece, CLI_PIECE))
        return false;
    do
        got = read(x->fd, piece->ptr, CLI_PIECE);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        progress_end(&x->progress);
        (void)cli_fail("%s: %s", x->name, strerror(errno));
        return false;
    }
    piece->len = (size_t)got;
    x->done += (uint64_t)got;
    for (ssize_t i = 0; i < got; i++)
        x->lines += piece->ptr[i] == '\n';
    if (progress_is_due(&x->progress))
        progress_tell(&x->progress, x->done, x->total, x->lines);
    return true;
}

static uint64_t number_of(const struct json *root, struct str key)
{
    const struct json *value = json_find(root, key);
    uint64_t number = 0;

    if (value && value->type == JSON_NUMBER &&
        str_to_u64(value->text, UINT64_MAX, &number))
        return 0;
    return number;
}

static void put_count(struct buf *out, uint64_t count, const char *what)
{
    progress_put_number(out, count);
    buf_putf(out, " %s", what);
}

/* "1,000 resources: 900 added, 100 replaced." */
static void put_summary(struct buf *out, const struct json *root, bool is_dry)
{
    uint64_t rows = number_of(root, S("rows"));

    put_count(out, rows, rows == 1 ? "resource" : "resources");
    if (is_dry) {
        buf_put(out, S(" could be taken; nothing was changed.\n"));
        return;
    }
    buf_put(out, S(": "));
    put_count(out, number_of(root, S("added")), "added, ");
    put_count(out, number_of(root, S("replaced")), "replaced.\n");
}

/* "people.csv:3:7: name is missing" for each, as compilers do. */
static void put_problems(struct buf *out, const struct json *root, const char *name)
{
    const struct json *list = json_find(root, S("problems"));
    uint64_t bad = number_of(root, S("bad_rows"));

    if (!list || list->type != JSON_ARRAY)
        return;
    JSON_FOREACH(problem, list) {
        plain_put(out, str_of(name), PLAIN_LINE);
        buf_putf(out, ":%llu:%llu: ", (unsigned long long)number_of(problem, S("line")),
                 (unsigned long long)number_of(problem, S("column")));
        plain_put(out, json_text(json_find(problem, S("message"))), PLAIN_LINE);
        buf_putc(out, '\n');
    }
    if (bad <= list->count)
        return;
    buf_put(out, S("… and "));
    put_count(out, bad - list->count, "more\n");
}

static int report(const struct importing *x, const struct import_options *o,
                  const struct cli_answer *answer)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf out;
    bool has_failed = answer->status >= 400;
    const struct json *root;

    arena_init(&arena, TREE_BYTES);
    buf_init(&out, OUT_BYTES);
    if (json_parse(buf_str(&answer->body), &arena, &root, NULL))
        return has_failed ? cli_report(answer)
                          : cli_fail("the server's answer cannot be read");
    if (o->json)
        result_put_json(&out, buf_str(&answer->body),
                        isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW);
    else if (has_failed)
        put_problems(&out, root, x->name);
    else
        put_summary(&out, root, o->is_dry);
    (void)fwrite(out.ptr, 1, out.len, has_failed && !o->json ? stderr : stdout);
    return has_failed ? cli_report(answer) : CLI_OK;
}

static int send_file(struct importing *x, const struct import_options *o,
                     enum resource_rows rows)
{
    struct cli_request request = {
        .method = "POST",
        .path = o->is_dry ? S("/admin/resources/import?dry_run=true")
                          : S("/admin/resources/import"),
        .type = resource_media_type(rows),
        .patience_ms = PATIENCE_MS,
        .on_upload = on_upload,
        .user = x,
    };
    CLEANUP(buf_done) struct buf data;
    struct cli_answer answer = {};
    struct cli_server server;
    enum err err;
    int code = CLI_FAILED;

    buf_init(&data, NAME_BYTES);
    server = resource_server(&o->place, &data);
    progress_begin(&x->progress, o->is_dry ? "checking" : "importing", "rows");
    err = cli_stream(&server, &request, &answer);
    progress_end(&x->progress);
    if (err == ERR_NOT_FOUND)
        (void)cli_fail(
            "no gateway runs on %s; `moot serve` starts one, --data names another",
            server.data);
    if (!err)
        code = report(x, o, &answer);
    buf_done(&answer.body);
    return code;
}

static int import(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct import_options *o = fields;
    bool is_stdin = strcmp(arguments[0], "-") == 0;
    struct importing x = { .name = is_stdin ? "standard input" : arguments[0] };
    enum resource_rows rows;
    struct stat about;
    int code = resource_format(o->format, arguments[0], &rows);

    if (code == CLI_FAILED)
        return cli_fail("%s: is it csv or jsonl? --format says so", x.name), CLI_USAGE;
    if (code)
        return code;
    x.fd = is_stdin ? STDIN_FILENO : open(arguments[0], O_RDONLY | O_CLOEXEC);
    if (x.fd < 0)
        return cli_fail("%s: %s", x.name, strerror(errno));
    if (fstat(x.fd, &about) == 0 && S_ISREG(about.st_mode))
        x.total = (uint64_t)about.st_size;
    code = send_file(&x, o, rows);
    if (!is_stdin)
        (void)close(x.fd);
    return code;
}

/* --- export --- */

struct export_options {
    struct resource_place place;
    const char *format, *output;
};

/* clang-format off */
static const struct cli_option export_options[] = {
    { "--format", "csv|jsonl", "else by the name of the file, else jsonl",
      CLI_AT(struct export_options, format) },
    { "-o",       "FILE",      "into this file, which is there only when it is whole",
      CLI_AT(struct export_options, output) },
    CLI_RESOURCE_PLACE(struct export_options),
};
/* clang-format on */

struct exporting {
    FILE *file;
    uint64_t lines;
    uint64_t done;
    struct progress progress;
    int error; /* of writing, or 0 */
};

static bool on_bytes(void *user, struct str piece)
{
    struct exporting *x = user;

    if (fwrite(piece.ptr, 1, piece.len, x->file) != piece.len)
        x->error = errno ? errno : EIO;
    x->done += piece.len;
    for (size_t i = 0; i < piece.len; i++)
        x->lines += piece.ptr[i] == '\n';
    if (progress_is_due(&x->progress))
        progress_tell(&x->progress, x->done, 0, x->lines);
    return x->error == 0;
}

static int receive(struct exporting *x, const struct export_options *o,
                   enum resource_rows rows)
{
    struct cli_answer answer = {};
    int code;

    progress_begin(&x->progress, "exporting", "rows");
    if (isatty(fileno(x->file)))
        x->progress.is_shown = false;
    code = resource_ask(&o->place,
                        &(struct cli_request){ .method = "GET",
                                               .path = S("/admin/resources"),
                                               .accept = resource_media_type(rows),
                                               .patience_ms = PATIENCE_MS,
                                               .on_bytes = on_bytes,
                                               .user = x },
                        NULL, &answer);
    progress_end(&x->progress);
    buf_done(&answer.body);
    if (!x->error && fflush(x->file) != 0)
        x->error = errno;
    return code;
}

/* Beside the place where it will be, so that it can be renamed. */
static int export_to_file(const struct export_options *o, enum resource_rows rows)
{
    struct exporting x = {};
    char temporary[NAME_BYTES];
    int len = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", o->output);
    int fd = -1;
    int code;

    errno = ENAMETOOLONG;
    if (len > 0 && (size_t)len < sizeof(temporary))
        fd = mkostemp(temporary, O_CLOEXEC);
    x.file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!x.file)
        return cli_fail("%s: %s", o->output, strerror(errno));
    code = receive(&x, o, rows);
    if (!code && !x.error && fsync(fd) != 0)
        x.error = errno;
    if (fclose(x.file) != 0 && !x.error)
        x.error = errno;
    if (!code && !x.error && rename(temporary, o->output) != 0)
        x.error = errno;
    if (code || x.error)
        (void)unlink(temporary);
    return !code && x.error ? cli_fail("%s: %s", o->output, strerror(x.error)) : code;
}

static int export_to_stdout(const struct export_options *o, enum resource_rows rows)
{
    struct exporting x = { .file = stdout };
    int code = receive(&x, o, rows);

    if (code || !x.error)
        return code;
    return x.error == EPIPE ? CLI_FAILED : cli_fail("%s", strerror(x.error));
}

static int export(void *fields, char **arguments [[maybe_unused]],
                  size_t count [[maybe_unused]])
{
    const struct export_options *o = fields;
    enum resource_rows rows = RESOURCE_ROWS_JSONL;
    bool is_stdout = !o->output || strcmp(o->output, "-") == 0;

    if (resource_format(o->format, o->output, &rows) == CLI_USAGE)
        return CLI_USAGE;
    return is_stdout ? export_to_stdout(o, rows) : export_to_file(o, rows);
}

/* --- the commands --- */

const struct cli_command cli_resource_import = {
    .name = "resource import",
    .usage = "FILE [--dry] [OPTIONS]",
    .summary = "take people and agents in from a file, all or nothing",
    .more =
        "FILE is CSV whose first row names the fields, or a JSON object on each line;\n"
        "- is standard input. Who is there already, by id, is replaced; who has no id\n"
        "gets one. If a row cannot be taken nothing is changed, and what is wrong is said\n"
        "as FILE:LINE:COLUMN. Lists (skills, languages) have semicolons between their\n"
        "items, and a rate has three columns: rate, currency, per.\n\n"
        "  id,kind,name,role,skills,availability,rate,currency,per\n"
        "  ann,human,Ann,developer,Python;FastAPI,full-time,120.50,EUR,hour\n\n"
        "  moot resource import people.csv --dry\n"
        "  zcat people.jsonl.gz | moot resource import - --format jsonl\n",
    .options = import_options,
    .option_count = COUNT(import_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = import,
    .options_size = sizeof(struct import_options),
};

const struct cli_command cli_resource_export = {
    .name = "resource export",
    .usage = "[-o FILE] [OPTIONS]",
    .summary = "write the whole directory as lines of JSON or as CSV",
    .more = "What is written can be imported again.\n\n"
            "  moot resource export -o people.csv\n",
    .options = export_options,
    .option_count = COUNT(export_options),
    .run = export,
    .options_size = sizeof(struct export_options),
};
