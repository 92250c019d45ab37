/* SPDX-License-Identifier: Apache-2.0 */
/* A running server as a source: GET /admin/audit, streamed as lines. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/audit_source_priv.h"
#include "json/json.h"

enum { PATH_BYTES = 1 << 20, PATIENCE_MS = 600'000, ARENA_BYTES = 1 << 20 };

struct remote {
    struct audit_source base;
    struct cli_server server;
    char *data; /* what server.data points to */
    struct audit_head head;
    uint64_t done; /* records of the stream */
};

static struct remote *remote_of(struct audit_source *source)
{
    return CONTAINER_OF(source, struct remote, base);
}

/* --- the question --- */

static void put_parameter(struct buf *out, const char *name, struct str value)
{
    if (!value.ptr)
        return;
    buf_putf(out, "&%s=", name);
    cli_put_segment(out, value);
}

static void put_time(struct buf *out, const char *name, uint64_t ms)
{
    char text[CLOCK_TEXT];

    if (ms)
        put_parameter(out, name, clock_write(ms, text));
}

static void put_question(struct buf *out, const struct audit_query *q)
{
    buf_putf(out, "/admin/audit?order=%s",
             q->order == AUDIT_OLDEST_FIRST ? "oldest" : "newest");
    put_time(out, "since", q->since_ms);
    put_time(out, "until", q->until_ms);
    put_parameter(out, "event", q->event);
    put_parameter(out, "topic", q->topic);
    put_parameter(out, "participant", q->participant);
    put_parameter(out, "kind", q->kind);
    put_parameter(out, "verdict", q->verdict);
    put_parameter(out, "thread", q->thread);
    put_parameter(out, "text", q->text);
    if (q->limit)
        buf_putf(out, "&limit=%zu", q->limit);
    if (q->after_seq)
        buf_putf(out, "&cursor=%llu", (unsigned long long)q->after_seq);
}

/* --- the stream --- */

struct stream {
    struct remote *remote;
    const struct audit_sink *sink;
    struct audit_cutter cutter;
    enum err err;
};

static bool take_bytes(void *user, struct str piece)
{
    struct stream *stream = user;

    stream->err = audit_cutter_take(&stream->cutter, piece);
    return !stream->err && !stream->cutter.has_enough;
}

static bool count_record(void *user, const struct audit_record *record)
{
    struct stream *stream = user;

    stream->remote->done++;
    return !stream->sink->on_record ||
           stream->sink->on_record(stream->sink->user, record);
}

static bool pass_origin(void *user, const struct audit_origin *origin)
{
    const struct audit_sink *sink = ((struct stream *)user)->sink;

    return !sink->on_origin || sink->on_origin(sink->user, origin);
}

static bool pass_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    const struct audit_sink *sink = ((struct stream *)user)->sink;

    return !sink->on_checkpoint || sink->on_checkpoint(sink->user, checkpoint);
}

/* What the connection said has been reported; a line that is none has not. */
static enum err end_stream(struct stream *stream, enum err err,
                           const struct cli_answer *answer)
{
    if (err == ERR_NOT_FOUND)
        return audit_source_note(&stream->remote->base, ERR_IO,
                                 "the server is not there any more");
    if (err)
        return ERR_IO;
    if (answer->status >= 300) {
        (void)cli_report(answer);
        return ERR_IO;
    }
    err = stream->err ? stream->err : audit_cutter_end(&stream->cutter);
    if (!err)
        return OK;
    return audit_source_note(&stream->remote->base, err, "line %llu of its answer: %s",
                             (unsigned long long)stream->cutter.lines,
                             stream->cutter.what);
}

static enum err ask(struct remote *remote, struct str path, const struct audit_sink *sink)
{
    struct stream stream = { .remote = remote, .sink = sink };
    struct audit_sink counting = { pass_origin, count_record, pass_checkpoint, &stream };
    struct cli_request request = { .method = "GET",
                                   .path = path,
                                   .accept = S("application/x-ndjson"),
                                   .patience_ms = PATIENCE_MS,
                                   .on_bytes = take_bytes,
                                   .user = &stream };
    struct cli_answer answer = {};
    enum err err;

    buf_clear(&remote->base.problem);
    remote->done = 0;
    audit_cutter_init(&stream.cutter, &counting);
    err = cli_stream(&remote->server, &request, &answer);
    err = end_stream(&stream, err, &answer);
    audit_cutter_done(&stream.cutter);
    buf_done(&answer.body);
    return err;
}

static enum err remote_records(struct audit_source *source,
                               const struct audit_query *query,
                               audit_on_record *on_record, void *user)
{
    struct audit_sink sink = { .on_record = on_record, .user = user };
    struct buf path;
    enum err err;

    buf_init(&path, PATH_BYTES);
    put_question(&path, query);
    err = path.is_full
              ? audit_source_note(source, ERR_TOO_BIG, "the question is too long")
              : ask(remote_of(source), buf_str(&path), &sink);
    buf_done(&path);
    return err;
}

static enum err remote_all(struct audit_source *source, const struct audit_sink *sink)
{
    return ask(remote_of(source), S("/admin/audit?order=oldest&checkpoints=1"), sink);
}

/* --- where it has got to --- */

/* {"head":"SEQ:HASH","at":"…"} */
static enum err read_head(struct str text, struct audit_head *ret)
{
    const struct json *root = NULL;
    struct audit_head head = {};
    struct arena arena;
    enum err err;

    arena_init(&arena, ARENA_BYTES);
    err = json_parse(text, &arena, &root, NULL);
    if (!err)
        err = audit_head_parse(json_text(json_find(root, S("head"))), &head);
    if (!err && json_find(root, S("at")))
        err = clock_parse(json_text(json_find(root, S("at"))), &head.at_ms);
    arena_done(&arena);
    if (!err)
        *ret = head;
    return err;
}

static enum err remote_head(struct audit_source *source, struct audit_head *ret)
{
    struct remote *remote = remote_of(source);
    struct cli_answer answer = {};
    enum err err =
        cli_call(&remote->server, "GET", S("/admin/audit/head"), S(""), &answer);

    if (err)
        return err;
    if (answer.status >= 300) {
        (void)cli_report(&answer);
        err = ERR_IO;
    } else {
        err = read_head(buf_str(&answer.body), ret);
    }
    if (err == ERR_INVALID)
        err = audit_source_note(source, err, "its answer cannot be read");
    buf_done(&answer.body);
    return err;
}

static void remote_progress(struct audit_source *source, uint64_t *ret_done,
                            uint64_t *ret_total)
{
    const struct remote *remote = remote_of(source);

    *ret_done = remote->done;
    *ret_total = remote->head.seq;
}

static void remote_close(struct audit_source *source)
{
    struct remote *remote = remote_of(source);

    free(remote->data);
    free(remote);
}

static const struct audit_source_ops remote_ops = {
    .records = remote_records,
    .all = remote_all,
    .head = remote_head,
    .progress = remote_progress,
    .close = remote_close,
};

int audit_server_open(const struct cli_server *server, struct audit_source **ret)
{
    struct remote *remote = xcalloc(1, sizeof(*remote));
    enum err err;

    audit_source_init(&remote->base, &remote_ops,
                      server->url ? server->url : server->data);
    remote->server = *server;
    remote->data = xstrdup(server->data);
    remote->server.data = remote->data;
    err = remote_head(&remote->base, &remote->head);
    if (err == OK) {
        *ret = &remote->base;
        return CLI_OK;
    }
    if (err != ERR_NOT_FOUND)
        (void)audit_source_fail(&remote->base);
    audit_source_close(&remote->base);
    return err == ERR_NOT_FOUND ? CLI_OK : CLI_FAILED;
}
