/* SPDX-License-Identifier: Apache-2.0 */
/* moot audit verify: does the chain hold? Always on files, never through a server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/verify.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/audit_look.h"
#include "cli/audit_source.h"
#include "cli/place.h"
#include "cli/progress.h"
#include "json/json.h"
#include "store/record.h"

enum { OUT_BYTES = 1 << 20, PATH_BYTES = 4096 };

struct verify_options {
    struct audit_place place;
    const char *key, *head;
    bool json;
};

#define OPT(member) CLI_AT(struct verify_options, member)

/* clang-format off */
static const struct cli_option options[] = {
    { "--file", "FILE",     "a copy of audit.db or an export, - for standard input; else DATA/audit.db", OPT(place.file) },
    { "--data", "DIR",      "data directory of the server",                            OPT(place.data) },
    { "--config", "FILE",   "settings of the server, where its store is PostgreSQL",   OPT(place.config) },
    { "--key",  "FILE",     "audit.pub of the installation; else the one beside the file", OPT(key) },
    { "--head", "SEQ:HASH", "a head that was kept elsewhere: the record must reach it", OPT(head) },
    { "--json", NULL,       "what was found, as JSON",                                 OPT(json) },
};
/* clang-format on */

struct verifying {
    struct audit_source *source;
    struct audit_verifier *verifier; /* made when the origin is known */
    struct audit_head head;
    bool has_head, has_key;
    struct audit_origin key;
    char installation[AUDIT_INSTALLATION];
    struct progress progress;
    uint64_t count;
    const char *refused; /* it cannot be verified at all, or NULL */
};

/* --- the key --- */

/* Beside the file that is verified: DIR/audit.pub. */
static int path_beside(const struct verify_options *o, char out[static PATH_BYTES])
{
    const char *slash = o->place.file ? strrchr(o->place.file, '/') : NULL;
    struct cli_place place;

    if (o->place.file) {
        int len = slash ? (int)(slash - o->place.file) : 1;

        (void)snprintf(out, PATH_BYTES, "%.*s/audit.pub", len,
                       slash ? o->place.file : ".");
        return CLI_OK;
    }
    if (cli_place_init(&place, o->place.config, o->place.data))
        return CLI_FAILED;
    (void)snprintf(out, PATH_BYTES, "%s/audit.pub", place.setup.data);
    cli_place_done(&place);
    return CLI_OK;
}

static int read_key(const struct verify_options *o, struct verifying *v)
{
    CLEANUP(xfreep) char *why = NULL;
    char beside[PATH_BYTES];
    const char *path = o->key;

    if (!path) {
        bool is_input = o->place.file && strcmp(o->place.file, "-") == 0;

        if (path_beside(o, beside))
            return CLI_FAILED;
        if (is_input || access(beside, F_OK) != 0)
            return CLI_OK;
        path = beside;
    }
    if (store_public_read(path, &v->key, v->installation, &why))
        return why ? cli_fail("%s", why) : cli_fail("%s: it cannot be read", path);
    v->has_key = true;
    return CLI_OK;
}

/* --- the walk --- */

static const struct audit_head *expected(const struct verifying *v)
{
    return v->has_head ? &v->head : NULL;
}

static bool on_origin(void *user, const struct audit_origin *origin)
{
    struct verifying *v = user;

    if (v->verifier) {
        audit_verify_unreadable(v->verifier, "a second beginning");
        return false;
    }
    if (!v->has_key) {
        memcpy(v->installation, origin->installation.ptr, AUDIT_INSTALLATION);
        v->key = *origin;
        v->key.installation.ptr = v->installation;
    } else if (!str_eq(origin->installation, v->key.installation)) {
        v->refused = "it is the record of another installation than the key's";
        return false;
    } else if (memcmp(origin->public_key, v->key.public_key, ED25519_PUBLIC) != 0) {
        v->refused = "it names another key than the one it is verified with";
        return false;
    }
    v->verifier = audit_verifier_new(v->key.installation, v->key.public_key, expected(v));
    return true;
}

/* Records without a beginning: a part of an export, or one whose first line is gone. */
static bool has_begun(struct verifying *v)
{
    if (!v->verifier)
        v->refused = "it does not begin with its origin: only a whole export can be "
                     "verified";
    return v->verifier != NULL;
}

static void tell_progress(struct verifying *v)
{
    uint64_t done, total;

    if (!progress_is_due(&v->progress))
        return;
    audit_source_progress(v->source, &done, &total);
    progress_tell(&v->progress, done, total, v->count);
}

static bool on_record(void *user, const struct audit_record *record)
{
    struct verifying *v = user;

    if (!has_begun(v))
        return false;
    v->count++;
    tell_progress(v);
    return audit_verify_record(v->verifier, record);
}

static bool on_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    struct verifying *v = user;

    return has_begun(v) && audit_verify_checkpoint(v->verifier, checkpoint);
}

/* --- what was found --- */

static void put_counted(struct buf *out, uint64_t count, const char *what)
{
    progress_put_number(out, count);
    buf_putf(out, " %s%s", what, count == 1 ? "" : "s");
}

static void put_damage(struct buf *out, const struct verifying *v,
                       const struct audit_report *r, const struct palette *ink)
{
    buf_putf(out, "%sdamaged%s  ", ink->bad, ink->off);
    plain_put(out, str_of(audit_source_name(v->source)), PLAIN_LINE);
    buf_put(out, S("\n  record "));
    progress_put_number(out, r->bad_seq);
    buf_put(out, S(": "));
    plain_put(out, str_of(r->what), PLAIN_LINE);
    buf_put(out, S("\n  "));
    if (r->records >= r->bad_seq)
        buf_put(out, S("else the chain holds: "));
    put_counted(out, r->records, "record");
    if (r->records < r->bad_seq)
        buf_putf(out, " before it hold%s", r->records == 1 ? "s" : "");
}

static void put_whole(struct buf *out, const struct verifying *v,
                      const struct audit_report *r, const struct palette *ink)
{
    buf_putf(out, "%sholds%s  ", ink->good, ink->off);
    plain_put(out, str_of(audit_source_name(v->source)), PLAIN_LINE);
    buf_put(out, S("\n  "));
    put_counted(out, r->records, "record");
    buf_put(out, S(", "));
    put_counted(out, r->checkpoints, "signed checkpoint");
    if (r->removed) {
        buf_put(out, S(", "));
        progress_put_number(out, r->removed);
        buf_put(out, S(" with a body removed by retention"));
    }
}

static void put_head(struct buf *out, const struct audit_report *r)
{
    char text[AUDIT_HEAD_TEXT];

    if (!r->head.seq)
        return;
    buf_put(out, S("\n  up to "));
    audit_look_put_time(out, r->head.at_ms);
    buf_putf(out, ", head " STR_FMT, STR_ARG(audit_head_text(&r->head, text)));
}

static void put_coverage(struct buf *out, const struct verifying *v,
                         const struct audit_report *r)
{
    if (r->uncovered && !r->is_damaged) {
        buf_put(out, S("\n  the last "));
        put_counted(out, r->uncovered, "record");
        buf_putf(out,
                 " %s behind the last signature: only a head kept elsewhere (--head) "
                 "covers %s",
                 r->uncovered == 1 ? "stands" : "stand",
                 r->uncovered == 1 ? "it" : "them");
    }
    if (v->has_head && !r->is_damaged)
        buf_put(out, S("\n  it reaches the head that was given"));
}

static void print_report(const struct verifying *v, const struct audit_report *r)
{
    const struct palette *ink = palette_for(stdout);
    struct buf out;

    buf_init(&out, OUT_BYTES);
    if (r->is_damaged)
        put_damage(&out, v, r, ink);
    else
        put_whole(&out, v, r, ink);
    put_head(&out, r);
    put_coverage(&out, v, r);
    buf_putc(&out, '\n');
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
}

static void print_json(const struct verifying *v, const struct audit_report *r)
{
    char text[AUDIT_HEAD_TEXT];
    struct json_writer w;
    struct buf out;

    buf_init(&out, OUT_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_bool(&w, S("holds"), !r->is_damaged);
    json_put_uint(&w, S("records"), r->records);
    json_put_uint(&w, S("checkpoints"), r->checkpoints);
    json_put_uint(&w, S("removed"), r->removed);
    json_put_uint(&w, S("uncovered"), r->uncovered);
    json_put_str(&w, S("head"), audit_head_text(&r->head, text));
    json_put_bool(&w, S("has_key"), v->has_key);
    if (r->is_damaged) {
        json_put_uint(&w, S("bad_seq"), r->bad_seq);
        json_put_str(&w, S("what"), str_of(r->what));
    }
    json_object_close(&w);
    buf_putc(&out, '\n');
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
}

static void warn_of_key(const struct verifying *v)
{
    if (!v->has_key)
        (void)cli_fail("without audit.pub of the installation (--key) this proves only "
                       "that the file agrees with itself");
}

/* --- all of it --- */

static int report(const struct verify_options *o, struct verifying *v)
{
    struct audit_report r;

    if (v->refused)
        return cli_fail("%s: %s", audit_source_name(v->source), v->refused);
    if (!v->verifier) /* it could not be read at all, or is empty */
        return *audit_source_problem(v->source) ? audit_source_fail(v->source)
                                                : cli_fail("%s: there is no record in it",
                                                           audit_source_name(v->source));
    audit_verify_end(v->verifier, &r);
    warn_of_key(v);
    if (o->json)
        print_json(v, &r);
    else
        print_report(v, &r);
    return r.is_damaged ? CLI_FAILED : CLI_OK;
}

static int walk(const struct verify_options *o, struct verifying *v)
{
    struct audit_sink sink = { on_origin, on_record, on_checkpoint, v };
    enum err err;

    progress_begin(&v->progress, "verifying", "records");
    err = audit_source_all(v->source, &sink);
    progress_end(&v->progress);
    if (err && v->verifier)
        audit_verify_unreadable(v->verifier, audit_source_problem(v->source));
    return report(o, v);
}

static int verify(void *fields, char **arguments [[maybe_unused]],
                  size_t count [[maybe_unused]])
{
    const struct verify_options *o = fields;
    struct verifying v = { .has_head = o->head };
    int code;

    if (o->head && audit_head_parse(str_of(o->head), &v.head))
        return cli_fail(
                   "--head takes SEQ:HASH as `moot audit head` prints it, not \"%s\"",
                   o->head),
               CLI_USAGE;
    code = read_key(o, &v);
    if (!code)
        code = audit_source_open_offline(&o->place, &v.source);
    if (code)
        return code;
    code = walk(o, &v);
    audit_verifier_free(v.verifier);
    audit_source_close(v.source);
    return code;
}

const struct cli_command cli_audit_verify = {
    .name = "audit verify",
    .usage = "[--file FILE] [OPTIONS]",
    .summary = "check that the record is whole and unchanged",
    .more =
        "Follows the chain of hashes from the first record on, and checks the signatures\n"
        "of the installation on the way. Bodies may be missing where retention says so.\n"
        "It needs no server, and asks none: take audit.pub to where the copy is.\n"
        "Records behind the last signature can be cut off unseen, unless --head names a\n"
        "head that was kept elsewhere.\n\n"
        "  moot audit verify\n"
        "  moot audit verify --file copy.db --key audit.pub --head 1204:5ce1…\n"
        "  zstdcat record.jsonl.zst | moot audit verify --file - --key audit.pub\n\n"
        "Exit status: 0 it holds, 1 it is damaged or cannot be read, 2 wrong usage.\n",
    .options = options,
    .option_count = COUNT(options),
    .run = verify,
    .options_size = sizeof(struct verify_options),
};
