/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/logbook.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "crypto/crypto.h"
#include "json/json.h"

enum {
    LINE_BYTES = 4096, /* of a line; the rest is cut */
    PLAIN_BYTES = LINE_BYTES * 6,
    ENTRY_BYTES = PLAIN_BYTES * 6 + 256,
    SECRET_MIN = 4, /* shorter ones would hide half of every text */
    SECRETS = 64,
};

struct line {
    struct link link;
    size_t len;
    char json[];
};

struct logbook {
    size_t max_bytes, bytes;
    struct link lines; /* oldest first */
    struct link followers;
    struct str *secrets; /* at most SECRETS */
    size_t secret_count;
};

struct logbook *logbook_new(size_t max_bytes)
{
    struct logbook *logbook = xcalloc(1, sizeof(*logbook));

    logbook->max_bytes = max_bytes;
    list_init(&logbook->lines);
    list_init(&logbook->followers);
    return logbook;
}

static void drop_line(struct logbook *logbook, struct line *line)
{
    list_remove(&line->link);
    logbook->bytes -= sizeof(*line) + line->len;
    free(line);
}

void logbook_free(struct logbook *logbook)
{
    struct log_follower *follower;
    struct line *line;

    if (!logbook)
        return;
    LIST_FOREACH(line, &logbook->lines, link)
        drop_line(logbook, line);
    LIST_FOREACH(follower, &logbook->followers, link)
        list_remove(&follower->link);
    for (size_t i = 0; i < logbook->secret_count; i++) {
        char *secret = (char *)(uintptr_t)logbook->secrets[i].ptr;

        crypto_wipe(secret, logbook->secrets[i].len);
        free(secret);
    }
    free(logbook->secrets);
    free(logbook);
}

/* --- secrets --- */

static bool is_hidden(const struct logbook *logbook, struct str secret)
{
    for (size_t i = 0; i < logbook->secret_count; i++)
        if (str_eq(logbook->secrets[i], secret))
            return true;
    return false;
}

void logbook_hide(struct logbook *logbook, struct str secret)
{
    if (secret.len < SECRET_MIN || logbook->secret_count == SECRETS ||
        is_hidden(logbook, secret))
        return;
    logbook->secrets =
        xrealloc(logbook->secrets, (logbook->secret_count + 1) * sizeof(secret));
    logbook->secrets[logbook->secret_count++] =
        (struct str){ str_dup(secret), secret.len };
}

/* The longest secret that stands at the beginning, or 0. */
static size_t secret_at(const struct logbook *logbook, struct str text)
{
    size_t longest = 0;

    for (size_t i = 0; i < logbook->secret_count; i++)
        if (logbook->secrets[i].len > longest && str_starts(text, logbook->secrets[i]))
            longest = logbook->secrets[i].len;
    return longest;
}

static void put_hiding(const struct logbook *logbook, struct str text, struct buf *out)
{
    size_t at = 0;

    while (at < text.len) {
        size_t len = secret_at(logbook, str_slice(text, at, text.len));

        if (len)
            buf_put(out, S("***"));
        else
            buf_putc(out, text.ptr[at]);
        at += len ? len : 1;
    }
}

/* --- lines --- */

/* Secrets are looked for before the line is cut: a part of one is still one. */
static void put_entry(const struct logbook *logbook, struct str by, struct str line,
                      uint64_t wall_ms, struct buf *out)
{
    CLEANUP(buf_done) struct buf hidden;
    CLEANUP(buf_done) struct buf plain;
    struct json_writer w;

    buf_init(&hidden, line.len * 3 + 1);
    buf_init(&plain, PLAIN_BYTES);
    put_hiding(logbook, line, &hidden);
    plain_put(&plain, utf8_cut(buf_str(&hidden), LINE_BYTES), PLAIN_LINE);
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_time(&w, S("ts"), wall_ms);
    json_put_str(&w, S("by"), by);
    json_put_str(&w, S("line"), buf_str(&plain));
    json_object_close(&w);
}

static void keep_line(struct logbook *logbook, struct str json)
{
    size_t size = sizeof(struct line) + json.len;
    struct line *line;

    LIST_FOREACH(line, &logbook->lines, link) {
        if (logbook->bytes + size <= logbook->max_bytes)
            break;
        drop_line(logbook, line);
    }
    if (size > logbook->max_bytes)
        return;
    line = xmalloc(size);
    *line = (struct line){ .len = json.len };
    memcpy(line->json, json.ptr, json.len);
    list_append(&logbook->lines, &line->link);
    logbook->bytes += size;
}

void logbook_add(struct logbook *logbook, struct str by, struct str line,
                 uint64_t wall_ms)
{
    CLEANUP(buf_done) struct buf json;
    struct log_follower *follower;

    buf_init(&json, ENTRY_BYTES);
    put_entry(logbook, by, line, wall_ms, &json);
    keep_line(logbook, buf_str(&json));
    LIST_FOREACH(follower, &logbook->followers, link)
        follower->on_line(follower, buf_str(&json));
}

static size_t count_lines(const struct logbook *logbook)
{
    const struct line *line;
    size_t count = 0;

    LIST_FOREACH(line, &logbook->lines, link)
        count++;
    return count;
}

void logbook_put(const struct logbook *logbook, size_t lines, struct buf *out)
{
    const struct line *line;
    size_t count = count_lines(logbook);
    size_t skipped = lines && count > lines ? count - lines : 0;

    LIST_FOREACH(line, &logbook->lines, link) {
        if (skipped) {
            skipped--;
            continue;
        }
        buf_put(out, (struct str){ line->json, line->len });
        buf_putc(out, '\n');
    }
}

/* --- who follows --- */

void logbook_follow(struct logbook *logbook, struct log_follower *follower)
{
    list_append(&logbook->followers, &follower->link);
}

void log_follower_stop(struct log_follower *follower)
{
    list_remove(&follower->link);
}
