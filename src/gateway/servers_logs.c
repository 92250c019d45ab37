/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /admin/servers/NAME/logs: the last lines, one JSON object each; with follow=1 also
 * those that come, until the client or the server goes. Who reads more slowly than the
 * server writes misses lines, and is told how many.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/servers_priv.h"

enum {
    LINES_MAX = 1'000'000,
    LOG_BYTES = 64 << 20,
    WAITING_BYTES = 256 << 10, /* written and not yet read */
    LOOK_MS = 5000,            /* whether the client is still there */
};

struct follower {
    struct log_follower lines;
    struct link link;
    struct exchange *x;
    struct loop_timer timer;
    size_t waiting; /* bytes */
    uint64_t missed;
};

static void follower_free(struct follower *f)
{
    log_follower_stop(&f->lines);
    list_remove(&f->link);
    loop_timer_clear(f->x->worker->loop, &f->timer);
    free(f);
}

static void write_line(struct follower *f, struct str json)
{
    struct buf line;

    buf_init(&line, json.len + 1);
    buf_put(&line, json);
    buf_putc(&line, '\n');
    exchange_stream_write(f->x, buf_str(&line));
    f->waiting += line.len;
    buf_done(&line);
}

static void on_line(struct log_follower *self, struct str json)
{
    struct follower *f = CONTAINER_OF(self, struct follower, lines);

    if (f->waiting > WAITING_BYTES)
        f->missed++;
    else
        write_line(f, json);
}

static void tell_missed(struct follower *f)
{
    struct json_writer w;
    struct buf out;
    char line[64];

    (void)snprintf(line, sizeof(line), "%llu lines were left out: too slow",
                   (unsigned long long)f->missed);
    f->missed = 0;
    buf_init(&out, 1024);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_time(&w, S("ts"), loop_wall_ms(f->x->worker->loop));
    json_put_str(&w, S("by"), S("moot"));
    json_put_str(&w, S("line"), str_of(line));
    json_object_close(&w);
    write_line(f, buf_str(&out));
    buf_done(&out);
}

static void on_sent(void *user)
{
    struct follower *f = user;

    f->waiting = 0;
    if (f->missed)
        tell_missed(f);
}

static void on_gone(void *user)
{
    follower_free(user);
}

/* Nothing is read from it, so its end is looked for. */
static void on_look(struct loop_timer *timer)
{
    struct follower *f = CONTAINER_OF(timer, struct follower, timer);
    struct exchange *x = f->x;

    if (!exchange_is_abandoned(x)) {
        loop_timer_set(x->worker->loop, timer, LOOK_MS);
        return;
    }
    follower_free(f);
    exchange_stream_break(x);
}

void server_end_followers(struct server *server)
{
    struct follower *f;

    LIST_FOREACH(f, &server->followers, link) {
        struct exchange *x = f->x;

        follower_free(f);
        exchange_stream_end(x);
    }
}

static void follow(struct exchange *x, struct server *server, struct str past)
{
    struct follower *f = xcalloc(1, sizeof(*f));

    f->x = x;
    f->lines.on_line = on_line;
    f->timer.on_fire = on_look;
    exchange_stream(x, S("application/x-ndjson"), S(""),
                    &(struct stream_ops){ on_sent, on_gone }, f);
    if (past.len) {
        exchange_stream_write(x, past);
        f->waiting = past.len;
    }
    list_append(&server->followers, &f->link);
    logbook_follow(bridge_logbook(server->bridge), &f->lines);
    loop_timer_set(x->worker->loop, &f->timer, LOOK_MS);
}

/* ?lines=N&follow=1; false if that already answered. */
static bool read_wishes(struct exchange *x, uint64_t *ret_lines, bool *ret_follows)
{
    struct str lines, follows;

    *ret_lines = 0;
    if (exchange_param(x, S("lines"), &lines) ||
        exchange_param(x, S("follow"), &follows) ||
        (lines.ptr && str_to_u64(lines, LINES_MAX, ret_lines)) ||
        (follows.ptr && !str_eq(follows, S("1")) && !str_eq(follows, S("0")))) {
        exchange_fail(x, ERR_BAD_REQUEST,
                      "`lines` is a number, 0 for all of them; `follow` is 1 or 0.");
        return false;
    }
    *ret_follows = follows.ptr && str_eq(follows, S("1"));
    return true;
}

void admin_server_logs(struct exchange *x)
{
    struct server *server = server_asked_for(x);
    struct buf past;
    uint64_t lines;
    bool follows;

    if (!server || !read_wishes(x, &lines, &follows))
        return;
    buf_init(&past, LOG_BYTES);
    logbook_put(bridge_logbook(server->bridge), (size_t)lines, &past);
    if (follows)
        follow(x, server, buf_str(&past));
    else
        exchange_reply(x, 200, S("application/x-ndjson"), buf_str(&past));
    buf_done(&past);
}
