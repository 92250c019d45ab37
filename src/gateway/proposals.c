/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/proposals.h"

#include "gateway/worker.h"
#include "topic/reading.h"

/* Writes the envelope if there is room; returns how many bytes that took. */
static size_t put_envelope(const struct proposal *p, enum dialect dialect, size_t room,
                           struct json_writer *w)
{
    struct buf space;
    struct str text;
    size_t len = 0;

    if (p->envelope_bytes > room)
        return 0;
    buf_init(&space, SIZE_MAX / 2);
    text = topic_text_in((struct str){ p->envelope, p->envelope_bytes }, dialect, &space);
    if (text.len && text.len <= room) {
        json_key(w, S("envelope"));
        json_raw(w, text);
        len = text.len;
    }
    buf_done(&space);
    return len;
}

/* Nobody has heard of it yet: it comes as an entry. */
static bool is_held(const struct live_room *room, const struct proposal *p)
{
    const struct topic *topic = &room->room.topic;
    uint64_t ticket;

    return topic_is_holding(topic) &&
           topic_find_held(topic, ring_hash(&topic->ring, p->id), &ticket).ptr;
}

void proposals_show(struct live_room *room, enum dialect dialect,
                    const struct proposals_showing *showing, struct json_writer *w)
{
    char space[KIND_MAX_BYTES];
    uint64_t now_ms = loop_wall_ms(room->worker->loop);
    size_t left = showing->all_bytes;
    const struct proposal *p = NULL;

    json_key(w, S("proposals"));
    json_array_open(w);
    while ((p = ledger_next_open(&room->room.ledger, p, now_ms))) {
        if ((showing->id.ptr && !str_eq(showing->id, p->id)) || is_held(room, p))
            continue;
        json_object_open(w);
        json_put_str(w, S("id"), p->id);
        json_put_str(w, S("proposer"), p->proposer);
        json_put_str(w, S("kind"), kind_in(p->kind.text, dialect, space));
        json_put_time(w, S("created"), p->created_ms);
        json_put_time(w, S("expires"), p->expires_ms);
        left -= put_envelope(
            p, dialect, left < showing->envelope_bytes ? left : showing->envelope_bytes,
            w);
        json_object_close(w);
    }
    json_array_close(w);
}
