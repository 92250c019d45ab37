/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/room_news.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/xalloc.h"
#include "participant/keep.h"

enum { HEAD_BYTES = 4096 };

struct piece {
    struct link link;
    uint64_t number;
    struct str from, json;
};

struct room_news {
    struct link pieces; /* the oldest first */
    size_t count, bytes;
    size_t max_count, max_bytes;
};

struct room_news *room_news_new(size_t max_count, size_t max_bytes)
{
    struct room_news *news = xcalloc(1, sizeof(*news));

    list_init(&news->pieces);
    news->max_count = max_count;
    news->max_bytes = max_bytes;
    return news;
}

static size_t piece_bytes(const struct piece *piece)
{
    return sizeof(*piece) + piece->from.len + piece->json.len;
}

static void drop(struct room_news *news, struct piece *piece)
{
    list_remove(&piece->link);
    news->count--;
    news->bytes -= piece_bytes(piece);
    free(piece);
}

void room_news_free(struct room_news *news)
{
    struct piece *piece;

    if (!news)
        return;
    LIST_FOREACH(piece, &news->pieces, link)
        drop(news, piece);
    free(news);
}

bool room_news_wants(const struct heard *heard)
{
    if (heard->is_system || heard->is_mine)
        return false;
    switch (heard->env.kind.type) {
    case KIND_CHAT:
    case KIND_PROPOSAL:
    case KIND_APPROVE:
    case KIND_REJECT:
    case KIND_WITHDRAW: return true;
    case KIND_REQUEST:
    case KIND_RESPONSE:
    case KIND_OTHER:
    case KIND_ROUTING:
    case KIND_COMMAND: break;
    }
    return false;
}

static void put_envelope(struct buf *out, const struct envelope *env)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("id"), env->id);
    json_put_str(&w, S("from"), env->from);
    json_put_str(&w, S("kind"), env->kind.text);
    if (env->ts.ptr)
        json_put_str(&w, S("ts"), env->ts);
    if (env->correlation_id.ptr)
        json_put_str(&w, S("about"), env->correlation_id);
    if (env->payload.text.len > ROOM_NEWS_PAYLOAD) {
        json_put_bool(&w, S("payload_is_too_long"), true);
    } else if (env->payload.text.len) {
        json_key(&w, S("payload"));
        json_span(&w, env->payload);
    }
    json_object_close(&w);
}

/* The last one is kept whatever its size. */
static bool is_too_much(const struct room_news *news)
{
    return news->count > news->max_count ||
           (news->bytes > news->max_bytes && news->count > 1);
}

void room_news_add(struct room_news *news, uint64_t number, const struct heard *heard)
{
    CLEANUP(buf_done) struct buf json;
    struct piece *piece;
    char *at;

    buf_init(&json, HEAD_BYTES + ROOM_NEWS_PAYLOAD);
    put_envelope(&json, &heard->env);
    if (json.is_full)
        return;
    piece = xcalloc(1, sizeof(*piece) + heard->env.from.len + json.len);
    at = (char *)(piece + 1);
    piece->number = number;
    piece->from = keep_str(&at, heard->env.from);
    piece->json = keep_str(&at, buf_str(&json));
    list_append(&news->pieces, &piece->link);
    news->count++;
    news->bytes += piece_bytes(piece);
    LIST_FOREACH(piece, &news->pieces, link) {
        if (!is_too_much(news))
            break;
        drop(news, piece);
    }
}

/* --- reading --- */

static const struct piece *next_piece(const struct room_news *news, uint64_t after)
{
    const struct piece *piece;

    if (!news)
        return NULL;
    LIST_FOREACH(piece, &news->pieces, link)
        if (piece->number > after)
            return piece;
    return NULL;
}

static const struct piece *next_of_both(const struct room_reading *reading,
                                        uint64_t after)
{
    const struct piece *common = next_piece(reading->common, after);
    const struct piece *own = next_piece(reading->own, after);

    if (!common || (own && own->number < common->number))
        return own;
    return common;
}

size_t room_news_put(const struct room_reading *reading, struct json_writer *w,
                     uint64_t *ret_last)
{
    uint64_t last = reading->after;
    const struct piece *piece;
    size_t count = 0, bytes = 0;

    while ((piece = next_of_both(reading, last)) != NULL) {
        bool is_mine = str_eq(piece->from, reading->me);

        if (count && !is_mine && bytes + piece->json.len > reading->max_bytes)
            break;
        last = piece->number;
        if (is_mine)
            continue;
        json_raw(w, piece->json);
        bytes += piece->json.len;
        count++;
    }
    *ret_last = last;
    return count;
}
