/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp_install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "json/json.h"

enum {
    FILE_BYTES = 4 << 20,
    TREE = 96, /* of its tree, for each byte */
    PATH_BYTES = 4096,
    INDENT = 2,
    CONTEXT = 2, /* lines around a change */
};

/* --- merging --- */

/* How far the line is indented in which this stands. */
static size_t margin_at(struct str text, const char *at)
{
    const char *begin = at;
    size_t margin = 0;

    while (begin > text.ptr && begin[-1] != '\n')
        begin--;
    while (begin + margin < at && (begin[margin] == ' ' || begin[margin] == '\t'))
        margin++;
    return margin;
}

static bool is_same_line(const char *from, const char *to)
{
    return !memchr(from, '\n', (size_t)(to - from));
}

/* What is to become a member: the entry, or all that it stands in. */
struct addition {
    const struct mcp_client *client;
    const struct mcp_entry *entry;
    bool has_holder;
};

static void put_addition(struct buf *out, const struct addition *add, size_t margin)
{
    if (add->has_holder) {
        mcp_client_put_key(out, add->client->holder);
        buf_put(out, S("{\n"));
        margin += INDENT;
        mcp_client_put_margin(out, margin);
    }
    mcp_client_put_key(out, add->entry->name);
    mcp_client_put_entry(out, add->client, add->entry, margin);
    if (add->has_holder) {
        buf_putc(out, '\n');
        mcp_client_put_margin(out, margin - INDENT);
        buf_putc(out, '}');
    }
}

static struct str until(struct str text, const char *end)
{
    return (struct str){ text.ptr, (size_t)(end - text.ptr) };
}

static struct str from(struct str text, const char *begin)
{
    return (struct str){ begin, (size_t)(text.ptr + text.len - begin) };
}

/* Behind the last member of an object. */
static void put_added(struct buf *out, struct str text, const struct json *object,
                      const struct addition *add)
{
    const char *open = object->raw.ptr;
    const char *close = open + object->raw.len - 1;
    size_t margin = margin_at(text, open);
    const struct json *first = object->first;
    size_t inside = first && !is_same_line(open, first->raw.ptr)
                        ? margin_at(text, first->raw.ptr)
                        : margin + INDENT;
    const char *end = close;

    while (first && strchr(" \t\r\n", end[-1]))
        end--;
    buf_put(out, first ? until(text, end) : until(text, open + 1));
    buf_put(out, first ? S(",\n") : S("\n"));
    mcp_client_put_margin(out, inside);
    put_addition(out, add, inside);
    if (!first) {
        buf_putc(out, '\n');
        mcp_client_put_margin(out, margin);
    }
    buf_put(out, from(text, first ? end : close));
}

static void put_replaced(struct buf *out, struct str text, const struct json *old,
                         const struct addition *add)
{
    buf_put(out, until(text, old->raw.ptr));
    mcp_client_put_entry(out, add->client, add->entry, margin_at(text, old->raw.ptr));
    buf_put(out, from(text, old->raw.ptr + old->raw.len));
}

static enum err refuse(struct buf *why, const char *what)
{
    buf_put(why, str_of(what));
    return ERR_INVALID;
}

static enum err merge_into(struct str text, const struct json *root,
                           const struct addition *add, struct buf *out, struct buf *why)
{
    const struct json *holder = json_find(root, add->client->holder);
    const struct json *old = json_find(holder, add->entry->name);
    struct addition whole = { add->client, add->entry, .has_holder = true };

    if (root->type != JSON_OBJECT || (holder && holder->type != JSON_OBJECT))
        return refuse(why, "it is not built as expected");
    if (old)
        put_replaced(out, text, old, add);
    else if (holder)
        put_added(out, text, holder, add);
    else
        put_added(out, text, root, &whole);
    return out->is_full ? refuse(why, "it is too large") : OK;
}

static bool is_blank(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr(" \t\r\n", text.ptr[i]))
            return false;
    return true;
}

enum err mcp_install_merge(struct str text, const struct mcp_client *client,
                           const struct mcp_entry *entry, struct buf *out,
                           struct buf *why)
{
    struct addition add = { client, entry, .has_holder = false };
    struct json_problem problem = {};
    CLEANUP(arena_done) struct arena arena;
    const struct json *root;

    arena_init(&arena, text.len * TREE + (1 << 16));
    if (client->format != CLIENT_JSON)
        return refuse(why, "it is not JSON");
    if (is_blank(text)) {
        mcp_client_put_file(out, client, entry);
        return OK;
    }
    if (json_parse(text, &arena, &root, &problem)) {
        buf_putf(why, "it is not strictly JSON (byte %zu: %s)", problem.at,
                 problem.what ? problem.what : "it is too large");
        return ERR_INVALID;
    }
    return merge_into(text, root, &add, out, why);
}

/* --- what changes --- */

static void put_lines(struct buf *out, char mark, struct str text)
{
    while (text.len) {
        buf_putc(out, mark);
        buf_putc(out, ' ');
        plain_put(out, str_cut(&text, '\n'), PLAIN_LINE);
        buf_putc(out, '\n');
    }
}

/* Where the line begins in which this is. */
static size_t line_begin(struct str text, size_t at)
{
    while (at > 0 && text.ptr[at - 1] != '\n')
        at--;
    return at;
}

/* Bytes of whole lines that both begin with. */
static size_t same_lines(struct str a, struct str b)
{
    size_t least = a.len < b.len ? a.len : b.len;
    size_t same = 0;

    while (same < least && a.ptr[same] == b.ptr[same])
        same++;
    return line_begin(a, same);
}

/* … and end with. */
static size_t same_tail(struct str a, struct str b)
{
    size_t least = a.len < b.len ? a.len : b.len;
    size_t same = 0;

    while (same < least && a.ptr[a.len - 1 - same] == b.ptr[b.len - 1 - same])
        same++;
    while (same > 0 && same < a.len && a.ptr[a.len - same - 1] != '\n')
        same--;
    return same;
}

static struct str last_lines(struct str text, size_t count)
{
    size_t begin = text.len;

    for (size_t i = 0; i < count && begin > 0; i++)
        begin = line_begin(text, begin - 1);
    return str_slice(text, begin, text.len);
}

static struct str first_lines(struct str text, size_t count)
{
    struct str rest = text;

    for (size_t i = 0; i < count && rest.len; i++)
        (void)str_cut(&rest, '\n');
    return str_slice(text, 0, text.len - rest.len);
}

void mcp_install_put_diff(struct buf *out, struct str before, struct str after)
{
    size_t head, tail;

    if (str_eq(before, after))
        return;
    head = same_lines(before, after);
    tail =
        same_tail(str_slice(before, head, before.len), str_slice(after, head, after.len));
    put_lines(out, ' ', last_lines(str_slice(before, 0, head), CONTEXT));
    put_lines(out, '-', str_slice(before, head, before.len - tail));
    put_lines(out, '+', str_slice(after, head, after.len - tail));
    put_lines(out, ' ',
              first_lines(str_slice(before, before.len - tail, before.len), CONTEXT));
}

/* --- the file --- */

/* One that is a link is written where it leads. */
static int find_file(const struct mcp_client *client, struct buf *out)
{
    const char *home = getenv("HOME");
    struct str path = client->path;
    CLEANUP(xfreep) char *real = NULL;

    if (str_starts(path, S("~"))) {
        if (!home || !*home)
            return cli_fail("$HOME is not set");
        buf_put(out, str_of(home));
        path = str_slice(path, 1, path.len);
    }
    buf_put(out, path);
    real = realpath(buf_cstr(out), NULL);
    if (!real)
        return CLI_OK;
    buf_clear(out);
    buf_put(out, str_of(real));
    return CLI_OK;
}

static int read_file(const char *path, struct buf *out, mode_t *ret_mode)
{
    struct stat about;

    *ret_mode = 0600;
    if (stat(path, &about))
        return errno == ENOENT ? CLI_OK : cli_fail("%s: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return cli_fail("%s is no file", path);
    *ret_mode = about.st_mode & 0777;
    return cli_read_file(path, out);
}

/* A file that was not there before. */
static bool write_new(const char *path, struct str text, mode_t mode)
{
    CLEANUP(fd_closep)
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    return fd >= 0 && !fd_write_all(fd, text) && fchmod(fd, mode) == 0 && fsync(fd) == 0;
}

static int keep_copy(const char *path, struct str text, mode_t mode)
{
    char copy[PATH_BYTES + 32], stamp[24];
    time_t now = time(NULL);
    struct tm utc;

    if (!text.len)
        return CLI_OK;
    (void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    (void)snprintf(copy, sizeof(copy), "%s.bak-%s", path, stamp);
    if (!write_new(copy, text, mode))
        return cli_fail("%s: %s", copy, strerror(errno));
    fprintf(stderr, "moot: what was there is kept in %s\n", copy);
    return CLI_OK;
}

/* The folder, but not those that it is in: the client makes them. */
static void make_folder(const char *path)
{
    CLEANUP(xfreep) char *folder = str_dup(str_of(path));
    char *slash = strrchr(folder, '/');

    if (!slash)
        return;
    *slash = '\0';
    (void)mkdir(folder, 0700);
}

static int replace_file(const char *path, struct str text, mode_t mode)
{
    char temporary[PATH_BYTES + 32];

    make_folder(path);
    (void)snprintf(temporary, sizeof(temporary), "%s.moot-%ld", path, (long)getpid());
    if (write_new(temporary, text, mode) && rename(temporary, path) == 0)
        return CLI_OK;
    (void)cli_fail("%s: %s", path, strerror(errno));
    (void)unlink(temporary);
    return CLI_FAILED;
}

/* --- asking --- */

static int ask(const char *path, struct str before, struct str after, bool is_sure)
{
    CLEANUP(buf_done) struct buf diff;
    CLEANUP(buf_done) struct buf question;

    buf_init(&diff, (size_t)FILE_BYTES);
    buf_init(&question, PATH_BYTES + 32);
    mcp_install_put_diff(&diff, before, after);
    fprintf(stderr, "%s:\n" STR_FMT, path, STR_ARG(buf_str(&diff)));
    if (is_sure)
        return CLI_OK;
    if (!cli_can_ask())
        return cli_fail("nothing was written: say --yes where nobody can be asked");
    buf_putf(&question, "Write this to %s?", path);
    return cli_ask(buf_cstr(&question)) ? CLI_OK : cli_fail("nothing was written");
}

/* What cannot be written is shown, for somebody to paste. */
static int give_up(const char *path, const struct buf *why,
                   const struct mcp_client *client, const struct mcp_entry *entry)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, 1 << 20);
    mcp_client_put_file(&text, client, entry);
    (void)cli_fail("%s is left as it is: " STR_FMT ". This belongs there:", path,
                   STR_ARG(buf_str(why)));
    fputs(buf_cstr(&text), stdout);
    return CLI_FAILED;
}

int mcp_install(const struct mcp_client *client, const struct mcp_entry *entry,
                bool is_sure)
{
    CLEANUP(buf_done) struct buf path;
    CLEANUP(buf_done) struct buf before;
    CLEANUP(buf_done) struct buf after;
    CLEANUP(buf_done) struct buf why;
    mode_t mode;
    int code;

    buf_init(&path, PATH_BYTES);
    buf_init(&before, FILE_BYTES);
    buf_init(&after, (size_t)FILE_BYTES + (1 << 20));
    buf_init(&why, 512);
    code = find_file(client, &path);
    if (!code)
        code = read_file(buf_cstr(&path), &before, &mode);
    if (code)
        return code;
    if (mcp_install_merge(buf_str(&before), client, entry, &after, &why))
        return give_up(buf_cstr(&path), &why, client, entry);
    if (str_eq(buf_str(&before), buf_str(&after))) {
        fprintf(stderr, "moot: %s says so already\n", buf_cstr(&path));
        return CLI_OK;
    }
    code = ask(buf_cstr(&path), buf_str(&before), buf_str(&after), is_sure);
    if (!code)
        code = keep_copy(buf_cstr(&path), buf_str(&before), mode);
    if (!code)
        code = replace_file(buf_cstr(&path), buf_str(&after), mode);
    if (!code)
        fprintf(stderr,
                "moot: " STR_FMT " finds the room when it is started the next time\n",
                STR_ARG(client->title));
    return code;
}
