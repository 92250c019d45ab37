/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An export as a source: lines that are read from the beginning to the end, more than
 * once where a question needs it. Nothing is indexed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/batch.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/audit_source_priv.h"
#include "cli/thread.h"

enum { READ_BYTES = 1 << 18, HELD_BYTES = 1 << 30 };

struct lines {
    struct audit_source base;
    int fd;
    uint64_t done, total; /* bytes */
    bool can_rewind;
    bool was_read;
};

static struct lines *lines_of(struct audit_source *source)
{
    return CONTAINER_OF(source, struct lines, base);
}

/* --- one pass --- */

static enum err rewind_file(struct lines *lines)
{
    lines->done = 0;
    if (!lines->was_read) {
        lines->was_read = true;
        return OK;
    }
    if (lines->can_rewind && lseek(lines->fd, 0, SEEK_SET) == 0)
        return OK;
    return audit_source_note(&lines->base, ERR_IO, "it can be read only once");
}

/* What there is, without waiting for more: somebody may be watching. 0: the end, or an
 * error, which is noted. */
static size_t read_some(struct lines *lines, char *chunk, enum err *ret_err)
{
    ssize_t got;

    do
        got = read(lines->fd, chunk, READ_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        *ret_err = audit_source_note(&lines->base, ERR_IO, "%s", strerror(errno));
    return got > 0 ? (size_t)got : 0;
}

static enum err cut(struct lines *lines, struct audit_cutter *cutter, struct str bytes)
{
    enum err err =
        bytes.len ? audit_cutter_take(cutter, bytes) : audit_cutter_end(cutter);

    lines->done += bytes.len;
    if (err)
        (void)audit_source_note(&lines->base, err, "line %llu: %s",
                                (unsigned long long)cutter->lines, cutter->what);
    return err;
}

/* From the beginning, each line to the sink. */
static enum err pass(struct audit_source *source, const struct audit_sink *sink)
{
    CLEANUP(xfreep) char *chunk = xmalloc(READ_BYTES);
    struct lines *lines = lines_of(source);
    struct audit_cutter cutter;
    enum err err = rewind_file(lines);
    size_t got = 1;

    if (err)
        return err;
    audit_cutter_init(&cutter, sink);
    while (got && !err && !cutter.has_enough) {
        got = read_some(lines, chunk, &err);
        if (!err)
            err = cut(lines, &cutter, (struct str){ chunk, got });
    }
    audit_cutter_done(&cutter);
    return err;
}

static int open_nameless(void)
{
    FILE *file = tmpfile();
    int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;

    if (file)
        (void)fclose(file);
    return fd;
}

/* Standard input that has to be read twice goes into a file first, one without a name. */
static enum err keep_input(struct lines *lines)
{
    CLEANUP(xfreep) char *chunk = NULL;
    CLEANUP(fd_closep) int kept = -1;
    enum err err = OK;
    size_t got;

    if (lines->can_rewind)
        return OK;
    kept = open_nameless();
    if (kept < 0)
        return audit_source_note(&lines->base, ERR_IO, "%s: %s", P_tmpdir,
                                 strerror(errno));
    chunk = xmalloc(READ_BYTES);
    while (!err && (got = read_some(lines, chunk, &err)) > 0)
        if (write(kept, chunk, got) != (ssize_t)got)
            err = audit_source_note(&lines->base, ERR_IO, "%s: %s", P_tmpdir,
                                    strerror(errno));
    if (!err && lseek(kept, 0, SEEK_SET) == 0) {
        if (lines->fd != STDIN_FILENO)
            (void)close(lines->fd);
        lines->fd = fd_take(&kept);
        lines->can_rewind = true;
    }
    return err;
}

/* --- a question --- */

/* A record that waits for those behind it: the newest are told first. */
struct held {
    struct audit_batch one;
};

struct search {
    const struct audit_query *query;
    struct thread *thread; /* NULL: it was not asked for */
    size_t grown;          /* by this pass */
    audit_on_record *on_record;
    void *user;
    uint64_t count;
    struct held **held; /* a ring of as many as are asked for, or all */
    size_t room, at;
    size_t bytes;
    bool is_full;
};

static bool grow_thread(void *user, const struct audit_record *record)
{
    struct search *s = user;
    size_t before = s->thread->ids.count;

    if (record->id.len || record->correlation.len)
        (void)thread_takes(s->thread, record->id, record->correlation);
    s->grown += s->thread->ids.count - before;
    return true;
}

/* All that hangs together: until a pass finds nothing more. */
static enum err find_thread(struct audit_source *source, struct search *s)
{
    struct audit_sink sink = { .on_record = grow_thread, .user = s };
    enum err err = keep_input(lines_of(source));

    do {
        s->grown = 0;
        if (!err)
            err = pass(source, &sink);
    } while (!err && s->grown);
    return err;
}

static bool is_in_thread(const struct search *s, const struct audit_record *record)
{
    return !s->thread || (record->id.len && map_find(&s->thread->ids, record->id)) ||
           (record->correlation.len && map_find(&s->thread->ids, record->correlation));
}

static bool is_behind_cursor(const struct audit_query *q, uint64_t seq)
{
    if (!q->after_seq)
        return true;
    return q->order == AUDIT_OLDEST_FIRST ? seq > q->after_seq : seq < q->after_seq;
}

static bool fits(const struct search *s, const struct audit_record *record)
{
    return is_behind_cursor(s->query, record->seq) &&
           audit_query_fits(s->query, record) && is_in_thread(s, record);
}

static bool tell_oldest_first(void *user, const struct audit_record *record)
{
    struct search *s = user;

    if (!fits(s, record))
        return true;
    s->count++;
    return s->on_record(s->user, record) &&
           !(s->query->limit && s->count >= s->query->limit);
}

static void held_free(struct held *held)
{
    if (held)
        audit_batch_done(&held->one);
    free(held);
}

static void make_room(struct search *s)
{
    size_t room = s->room ? 2 * s->room : 64;

    s->held = xrealloc(s->held, room * sizeof(struct held *));
    memset(s->held + s->room, 0, (room - s->room) * sizeof(struct held *));
    s->room = room;
}

/* Keeps the last so many, or all. */
static bool hold(void *user, const struct audit_record *record)
{
    struct search *s = user;
    size_t limit = s->query->limit;
    size_t slot;

    if (!fits(s, record))
        return true;
    slot = limit ? s->at % limit : s->at;
    while (slot >= s->room)
        make_room(s);
    if (s->held[slot])
        s->bytes -= s->held[slot]->one.bytes.len;
    held_free(s->held[slot]);
    s->held[slot] = xcalloc(1, sizeof(struct held));
    audit_batch_init(&s->held[slot]->one);
    audit_batch_add(&s->held[slot]->one, record);
    s->bytes += s->held[slot]->one.bytes.len;
    s->at++;
    s->is_full = s->bytes > HELD_BYTES;
    return !s->is_full;
}

static void tell_held(struct search *s)
{
    size_t limit = s->query->limit;
    size_t count = limit && s->at > limit ? limit : s->at;

    for (size_t i = 1; i <= count; i++) {
        size_t slot = limit ? (s->at - i) % limit : s->at - i;
        struct audit_record record;
        size_t at = 0;

        if (!audit_batch_next(&s->held[slot]->one, &at, &record) ||
            !s->on_record(s->user, &record))
            return;
    }
}

static enum err search(struct audit_source *source, struct search *s)
{
    bool is_oldest_first = s->query->order == AUDIT_OLDEST_FIRST;
    struct audit_sink sink = { .on_record = is_oldest_first ? tell_oldest_first : hold,
                               .user = s };
    enum err err = s->thread ? find_thread(source, s) : OK;

    if (!err)
        err = pass(source, &sink);
    if (s->is_full)
        return audit_source_note(source, ERR_TOO_BIG,
                                 "there is too much to turn it round; ask with "
                                 "--oldest-first or --limit");
    if (!is_oldest_first)
        tell_held(s);
    return err;
}

static enum err lines_records(struct audit_source *source,
                              const struct audit_query *query, audit_on_record *on_record,
                              void *user)
{
    struct search s = { .query = query, .on_record = on_record, .user = user };
    struct thread thread;
    enum err err;

    thread_init(&thread, query->thread);
    if (query->thread.ptr)
        s.thread = &thread;
    err = search(source, &s);
    for (size_t i = 0; i < s.room; i++)
        held_free(s.held[i]);
    free(s.held);
    thread_done(&thread);
    return err;
}

/* --- the rest --- */

static bool note_head(void *user, const struct audit_record *record)
{
    struct audit_head *head = user;

    head->seq = record->seq;
    head->at_ms = record->at_ms;
    memcpy(head->hash, record->hash, sizeof(head->hash));
    return true;
}

static bool note_beginning(void *user, const struct audit_origin *origin)
{
    audit_chain_begin(origin->installation, user);
    return true;
}

static enum err lines_head(struct audit_source *source, struct audit_head *ret)
{
    struct audit_head head = {};
    struct audit_sink sink = { .on_origin = note_beginning,
                               .on_record = note_head,
                               .user = &head };
    enum err err = pass(source, &sink);

    if (!err)
        *ret = head;
    return err;
}

static void lines_progress(struct audit_source *source, uint64_t *ret_done,
                           uint64_t *ret_total)
{
    const struct lines *lines = lines_of(source);

    *ret_done = lines->done;
    *ret_total = lines->total;
}

static void lines_close(struct audit_source *source)
{
    struct lines *lines = lines_of(source);

    if (lines->fd > STDIN_FILENO)
        (void)close(lines->fd);
    free(lines);
}

static const struct audit_source_ops lines_ops = {
    .records = lines_records,
    .all = pass,
    .head = lines_head,
    .progress = lines_progress,
    .close = lines_close,
};

int audit_lines_open(const char *path, struct audit_source **ret)
{
    bool is_input = strcmp(path, "-") == 0;
    struct lines *lines = xcalloc(1, sizeof(*lines));
    struct stat about = {};

    audit_source_init(&lines->base, &lines_ops, is_input ? "standard input" : path);
    lines->fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (lines->fd < 0 || fstat(lines->fd, &about) != 0) {
        int code = cli_fail("%s: %s", path, strerror(errno));

        audit_source_close(&lines->base);
        return code;
    }
    lines->can_rewind = S_ISREG(about.st_mode);
    lines->total = lines->can_rewind ? (uint64_t)about.st_size : 0;
    *ret = &lines->base;
    return CLI_OK;
}
