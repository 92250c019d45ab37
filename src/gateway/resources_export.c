/* SPDX-License-Identifier: Apache-2.0 */
/* All resources as rows, piece by piece: the next one is read when the client has taken
 * the one before. */
#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/auth.h"
#include "gateway/gateway.h"
#include "gateway/resources.h"
#include "store/directory.h"

enum { PIECE_BYTES = 256 << 10, OUT_BYTES = PIECE_BYTES + 4 * RESOURCE_TEXT };

struct export
{
    struct store_directory_job job;
    struct exchange *x;
    enum sheet_format format;
    struct buf out;
    struct buf after; /* the id that was written last */
    enum err err;
    bool is_reading;
    bool has_begun;
    bool is_last;
};

static void export_free(struct export *e)
{
    buf_done(&e->out);
    buf_done(&e->after);
    free(e);
}

static bool on_resource(void *user, const struct resource *resource)
{
    struct export *e = user;

    if (e->out.len >= PIECE_BYTES) {
        e->is_last = false;
        return false;
    }
    sheet_put(&e->out, e->format, resource);
    buf_clear(&e->after);
    buf_put(&e->after, resource->id);
    return true;
}

static void read_piece(struct store_directory_job *job, struct store_directory *directory)
{
    struct export *e = CONTAINER_OF(job, struct export, job);
    struct buf after;

    buf_init(&after, RESOURCE_ID);
    buf_put(&after, buf_str(&e->after));
    e->is_last = true;
    e->err = store_resource_each(directory, buf_str(&after), on_resource, e);
    buf_done(&after);
}

static void ask(struct export *e)
{
    e->is_reading = true;
    exchange_suspend(e->x);
    store_directory_submit(gateway_store(e->x->worker->gateway), &e->job);
}

static void on_gone(void *user)
{
    struct export *e = user;

    if (!e->is_reading) /* else it is freed when the piece comes */
        export_free(e);
}

static void on_sent(void *user)
{
    struct export *e = user;

    if (!e->is_reading) /* else that was the head of the answer */
        ask(e);
}

static void begin(struct export *e)
{
    static const struct stream_ops ops = { on_sent, on_gone };
    static const struct str types[] = {
        [SHEET_JSON] = S("application/x-ndjson"),
        [SHEET_CSV] = S("text/csv; charset=utf-8; header=present"),
    };

    exchange_stream(e->x, types[e->format], S(""), &ops, e);
    e->has_begun = true;
}

/* What goes wrong can be said only before the answer has begun. */
static void fail(struct export *e, enum err err, const char *why)
{
    if (e->has_begun)
        exchange_stream_break(e->x);
    else
        exchange_fail(e->x, err, "%s", why);
    export_free(e);
}

static void send_piece(struct export *e)
{
    struct exchange *x = e->x;

    if (!e->has_begun)
        begin(e);
    exchange_stream_write(x, buf_str(&e->out));
    buf_clear(&e->out);
    if (!e->is_last)
        return; /* it goes on when that has left */
    exchange_stream_end(x);
    export_free(e);
}

static void on_piece(struct store_directory_job *job)
{
    struct export *e = CONTAINER_OF(job, struct export, job);
    const char *why;
    enum err err;

    e->is_reading = false;
    if (!exchange_resume(e->x)) {
        export_free(e);
        return;
    }
    err = auth_again(e->x, &why);
    if (err)
        fail(e, err, why);
    else if (e->err)
        fail(e, ERR_UNAVAILABLE, "The directory cannot be reached now.");
    else
        send_piece(e);
}

void resources_export(struct exchange *x, enum sheet_format format)
{
    struct export *e = xcalloc(1, sizeof(*e));

    e->x = x;
    e->format = format;
    e->job = (struct store_directory_job){ .loop = x->worker->loop,
                                           .lane = DIRECTORY_READS,
                                           .work = read_piece,
                                           .done = on_piece };
    buf_init(&e->out, OUT_BYTES);
    buf_init(&e->after, RESOURCE_ID);
    if (x->request.method == HTTP_HEAD) {
        begin(e);
        exchange_stream_end(x);
        export_free(e);
        return;
    }
    sheet_put_head(&e->out, format);
    exchange_on_gone(x, on_gone, e);
    ask(e);
}
