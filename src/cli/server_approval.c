/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before a command is used for the first time whoever runs it sees what it is and what it
 * may touch, and says so. What was approved is remembered by the digest of all that was
 * shown.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "bridge/plan.h"
#include "cli/input.h"
#include "cli/server_options.h"
#include "crypto/crypto.h"

enum {
    TEXT_BYTES = 1 << 20,
    PLAIN_BYTES = TEXT_BYTES * 6,
    FILE_BYTES = 1 << 20,
    PATH_BYTES = 4096,
    DIGEST_BYTES = 2 * SHA256_BYTES,
};

static void put_warnings(struct buf *out, const struct server_spec *spec)
{
    CLEANUP(arena_done) struct arena arena;
    const struct str *warnings = NULL;
    size_t count;

    arena_init(&arena, TEXT_BYTES);
    count = sandbox_warnings(&spec->command, &spec->permit, &arena, &warnings);
    for (size_t i = 0; i < count; i++) {
        buf_put(out, S("warning: "));
        plain_put(out, warnings[i], PLAIN_LINE);
        buf_putc(out, '\n');
    }
}

/* Nobody is asked, but whoever runs this sees what he would have been shown to mind. It
 * is no error that it cannot start from here: variables and programs of the gateway may
 * be others, and a program may be installed later. */
static void tell(const struct server_spec *spec)
{
    CLEANUP(xfreep) char *why = NULL;
    CLEANUP(buf_done) struct buf out;
    struct sandbox_plan *plan = NULL;

    buf_init(&out, PLAIN_BYTES);
    if (spec->url.len)
        return;
    if (server_plan_make(spec, &spec->command, NULL, NULL, &plan, &why)) {
        buf_put(&out, S("warning: it cannot start: "));
        plain_put(&out, str_of(why ? why : "no plan can be made"), PLAIN_LINE);
        buf_putc(&out, '\n');
    }
    sandbox_plan_free(plan);
    put_warnings(&out, spec);
    fprintf(stderr, STR_FMT, STR_ARG(buf_str(&out)));
}

static int put_explanation(struct buf *out, const struct server_spec *spec)
{
    CLEANUP(xfreep) char *why = NULL;
    struct sandbox_plan *plan;
    struct buf text;

    if (spec->url.len) {
        buf_putf(out, "connects to " STR_FMT "\n", STR_ARG(spec->url));
        return CLI_OK;
    }
    if (server_plan_make(spec, &spec->command, NULL, NULL, &plan, &why))
        return cli_fail("%s", why ? why : "this cannot be started");
    buf_init(&text, TEXT_BYTES);
    sandbox_explain(plan, &text);
    plain_put(out, buf_str(&text), PLAIN_TEXT);
    buf_done(&text);
    sandbox_plan_free(plan);
    put_warnings(out, spec);
    return CLI_OK;
}

int server_options_explain(const struct server_spec *spec)
{
    CLEANUP(buf_done) struct buf out;
    int code;

    buf_init(&out, PLAIN_BYTES);
    code = put_explanation(&out, spec);
    if (code == CLI_OK)
        printf(STR_FMT, STR_ARG(buf_str(&out)));
    return code;
}

/* --- what was approved --- */

/* Of what the server is, not of how it is kept running, nor of the number it was given:
 * no option names one. */
static void put_digest(struct buf *out, const struct server_spec *spec)
{
    CLEANUP(buf_done) struct buf json;
    struct server_spec bare = *spec;
    uint8_t digest[SHA256_BYTES];

    buf_init(&json, TEXT_BYTES);
    bare.permit.uid = bare.permit.gid = 0;
    server_spec_write(&bare, &json);
    crypto_sha256(buf_str(&json), digest);
    hex_write(out, (struct str){ (const char *)digest, sizeof(digest) });
}

static bool has_line(struct str text, struct str line)
{
    while (text.ptr)
        if (str_eq(str_cut(&text, '\n'), line))
            return true;
    return false;
}

static bool is_approved(const char *path, struct str digest)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    CLEANUP(buf_done) struct buf text;
    ssize_t got = 0;

    buf_init(&text, FILE_BYTES);
    if (fd < 0 || buf_reserve(&text, FILE_BYTES))
        return false;
    got = read(fd, text.ptr, FILE_BYTES);
    if (got > 0)
        text.len = (size_t)got;
    return has_line(buf_str(&text), digest);
}

static int remember(const char *path, struct str digest)
{
    CLEANUP(fd_closep)
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    CLEANUP(buf_done) struct buf line;

    buf_init(&line, 128);
    buf_putf(&line, STR_FMT "\n", STR_ARG(digest));
    if (fd < 0 || write(fd, line.ptr, line.len) != (ssize_t)line.len)
        return cli_fail("%s: %s", path, strerror(errno));
    return CLI_OK;
}

/* --- asking --- */

static int ask(const struct server_spec *spec)
{
    CLEANUP(buf_done) struct buf out;
    int code;

    buf_init(&out, PLAIN_BYTES);
    code = put_explanation(&out, spec);
    if (code)
        return code;
    if (!cli_can_ask())
        return cli_fail("this command is used for the first time: look at it with "
                        "--explain, then say --yes");
    fprintf(stderr, STR_FMT "\n", STR_ARG(buf_str(&out)));
    return cli_ask("Start this?") ? CLI_OK : cli_fail("not started");
}

int server_options_approve(const struct server_options *options,
                           const struct server_spec *spec, const char *data)
{
    CLEANUP(buf_done) struct buf digest;
    char path[PATH_BYTES];
    int code = CLI_OK;

    buf_init(&digest, DIGEST_BYTES);
    put_digest(&digest, spec);
    (void)snprintf(path, sizeof(path), "%s/approved-commands", data);
    if (is_approved(path, buf_str(&digest))) {
        tell(spec);
        return CLI_OK;
    }
    if (options->yes)
        tell(spec);
    else
        code = ask(spec);
    if (code)
        return code;
    (void)mkdir(data, 0700);
    return remember(path, buf_str(&digest));
}
