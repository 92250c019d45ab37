/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/orchestrate_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/xalloc.h"
#include "cli/cli.h"
#include "crypto/crypto.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 200, READ_BYTES = 64 << 10 };
enum { LONG_BYTES = 48 << 20 /* is compacted when it is opened */ };

/* --- where --- */

/* A topic as the name of a folder: readable where it can be. */
static void put_name(struct buf *out, struct str topic)
{
    CLEANUP(buf_done) struct buf name;
    uint8_t hash[SHA256_BYTES];

    buf_init(&name, NAME_BYTES);
    for (size_t i = 0; i < topic.len; i++) {
        unsigned char c = (unsigned char)topic.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                        (c == '.' && i > 0);

        if (is_plain)
            buf_putc(&name, (char)c);
        else
            buf_putf(&name, "%%%02X", c);
    }
    if (!name.is_full) {
        buf_put(out, buf_str(&name));
        return;
    }
    crypto_sha256(topic, hash);
    hex_write(out, (struct str){ (const char *)hash, sizeof(hash) });
}

static int make_folder(const char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return CLI_OK;
    return cli_fail("%s: %s", path, strerror(errno));
}

static int find_folder(const char *folder, const char *data, struct str topic,
                       struct buf *out)
{
    int code;

    if (folder) {
        buf_put(out, str_of(folder));
        return make_folder(folder);
    }
    code = make_folder(data);
    buf_putf(out, "%s/orchestrate", data);
    if (!code)
        code = make_folder(buf_cstr(out));
    buf_putc(out, '/');
    put_name(out, topic);
    return code ? code : make_folder(buf_cstr(out));
}

/* --- the file --- */

static int check_file(const struct orchestrate_state *state)
{
    struct stat about;

    if (fstat(state->fd, &about))
        return cli_fail("%s: %s", state->path, strerror(errno));
    if (!S_ISREG(about.st_mode) || about.st_uid != geteuid())
        return cli_fail("%s is no file of yours", state->path);
    if (about.st_mode & 077)
        return cli_fail("%s can be read or written by others; chmod 600 it, if it is "
                        "still to be trusted",
                        state->path);
    if (flock(state->fd, LOCK_EX | LOCK_NB))
        return cli_fail("another `moot orchestrate` uses %s", state->path);
    return CLI_OK;
}

static int open_file(struct orchestrate_state *state)
{
    state->fd =
        open(state->path,
             O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (state->fd < 0)
        return cli_fail("%s: %s", state->path, strerror(errno));
    return check_file(state);
}

static int read_file(const struct orchestrate_state *state, struct buf *out)
{
    ssize_t len;

    do {
        if (buf_reserve(out, READ_BYTES))
            return cli_fail("%s is longer than a journal can be", state->path);
        len = pread(state->fd, out->ptr + out->len, READ_BYTES, (off_t)out->len);
        if (len < 0)
            return cli_fail("%s: %s", state->path, strerror(errno));
        out->len += (size_t)len;
    } while (len > 0);
    return CLI_OK;
}

/* A crash in the middle of a line leaves a piece of it. */
static int cut_torn(struct orchestrate_state *state, struct str text)
{
    struct str whole = journal_whole(text);

    state->bytes = whole.len;
    if (whole.len == text.len)
        return CLI_OK;
    fprintf(stderr, "moot: the last line of %s is not whole, and is left out\n",
            state->path);
    if (ftruncate(state->fd, (off_t)whole.len))
        return cli_fail("%s: %s", state->path, strerror(errno));
    return CLI_OK;
}

static int begin_file(struct orchestrate_state *state)
{
    CLEANUP(buf_done) struct buf line;

    buf_init(&line, JOURNAL_LINE);
    journal_put(&line, &(struct journal_entry){ .type = JOURNAL_TOPIC,
                                                .at_ms = clock_wall_ms(),
                                                .topic = state->topic });
    return orchestrate_state_write(state, buf_str(&line));
}

static int tell_all(const struct orchestrate_state *state, struct str text,
                    const struct journal_reading *reading)
{
    size_t line = 0;
    enum err err = journal_replay(text, reading, &line);

    if (err == ERR_CONFLICT)
        return cli_fail("%s is the journal of another topic", state->path);
    if (err)
        return cli_fail("%s:%zu: this is no line of a journal; what is behind it would "
                        "be learned without it, so move the file away to begin anew",
                        state->path, line);
    return CLI_OK;
}

/* --- making it shorter --- */

/* Whole and on the disk before it takes the place of the old one. */
static bool put_file(const struct orchestrate_state *state, const char *path, int fd,
                     struct str text)
{
    return fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB) && !fd_write_all(fd, text) &&
           !fsync(fd) && !rename(path, state->path);
}

static int replace_file(struct orchestrate_state *state, struct str text)
{
    CLEANUP(buf_done) struct buf path;
    int fd;

    buf_init(&path, PATH_BYTES);
    buf_putf(&path, "%s.new", state->path);
    (void)unlink(buf_cstr(&path));
    fd = open(buf_cstr(&path),
              O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (!put_file(state, buf_cstr(&path), fd, text)) {
        int code = cli_fail("%s: %s", buf_cstr(&path), strerror(errno));

        if (fd >= 0)
            (void)close(fd);
        return code;
    }
    (void)close(state->fd);
    state->fd = fd;
    state->bytes = text.len;
    return CLI_OK;
}

static int compact(struct orchestrate_state *state)
{
    CLEANUP(buf_done) struct buf text, shorter;
    struct journal_terms terms = { .topic = state->topic,
                                   .now_ms = clock_wall_ms(),
                                   .window_ms = state->window_ms,
                                   .rejections_ms = state->rejections_ms,
                                   .max = JOURNAL_BYTES / 2 };
    int code;

    buf_init(&text, JOURNAL_BYTES + JOURNAL_LINE + 2 * READ_BYTES);
    buf_init(&shorter, JOURNAL_BYTES);
    code = read_file(state, &text);
    if (code)
        return code;
    if (journal_compact(buf_str(&text), &terms, &shorter))
        return cli_fail("%s has more that must not be forgotten than there is room for",
                        state->path);
    return replace_file(state, buf_str(&shorter));
}

/* --- for others --- */

static int take_up(struct orchestrate_state *state, const struct journal_reading *reading)
{
    CLEANUP(buf_done) struct buf text;
    int code;

    buf_init(&text, JOURNAL_BYTES + JOURNAL_LINE + 2 * READ_BYTES);
    code = read_file(state, &text);
    if (!code)
        code = cut_torn(state, buf_str(&text));
    if (!code)
        code = tell_all(state, buf_str(&text), reading);
    if (!code && state->bytes == 0)
        return begin_file(state);
    if (!code && state->bytes > LONG_BYTES)
        return compact(state);
    return code;
}

int orchestrate_state_open(struct orchestrate_state *state, const char *folder,
                           const char *data, const struct journal_reading *reading)
{
    CLEANUP(buf_done) struct buf path;
    int code;

    buf_init(&path, PATH_BYTES);
    state->fd = -1;
    state->topic = reading->topic;
    code = find_folder(folder, data, reading->topic, &path);
    buf_put(&path, S("/journal.jsonl"));
    if (!code && path.is_full)
        code = cli_fail("the name of the state folder is too long");
    state->path = xstrdup(buf_cstr(&path));
    if (!code)
        code = open_file(state);
    return code ? code : take_up(state, reading);
}

void orchestrate_state_close(struct orchestrate_state *state)
{
    orchestrate_state_sync(state);
    if (state->path && state->fd >= 0)
        (void)close(state->fd);
    free(state->path);
    *state = (struct orchestrate_state){ .fd = -1 };
}

int orchestrate_state_write(struct orchestrate_state *state, struct str line)
{
    if (fd_write_all(state->fd, line)) {
        int error = errno;
        bool is_whole = ftruncate(state->fd, (off_t)state->bytes) == 0;

        return cli_fail("%s: %s%s", state->path, strerror(error),
                        is_whole ? "" : "; its last line is torn");
    }
    state->bytes += line.len;
    state->is_unsynced = true;
    return state->bytes > JOURNAL_BYTES ? compact(state) : CLI_OK;
}

void orchestrate_state_sync(struct orchestrate_state *state)
{
    if (state->is_unsynced)
        (void)fdatasync(state->fd);
    state->is_unsynced = false;
}
