/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay after a reconnect (D16). A replaying member holds a sequence number, no memory:
 * each time its connection can take more, the next entries are taken from the ring; when
 * it has caught up it becomes an ordinary reader. If the ring rolls on faster than it
 * reads, it is told of the gap and goes on with what is left.
 */
#include "base/arena.h"
#include "envelope/system.h"
#include "topic/reading.h"
#include "topic/topic_priv.h"

enum { BATCH_BYTES = 64 * 1024, SCRATCH_BYTES = 64 << 20 };

static void send_gap(struct member *m, struct str after, uint64_t missed)
{
    struct topic *topic = member_topic(m);
    char id[SYSTEM_ID];
    struct json_writer w;
    struct buf out;

    buf_init(&out, 4096);
    system_begin(&w, &out,
                 &(struct system_head){ .dialect = m->lane->dialect,
                                        .kind = S("system/gap"),
                                        .id = topic_system_id(topic, id),
                                        .wall_ms = topic->ops->wall_ms(topic),
                                        .to = m->participant->id });
    json_put_str(&w, S("message"),
                 S("Some envelopes are no longer held; what follows is not complete."));
    if (after.len)
        json_put_str(&w, S("after"), after);
    if (missed)
        json_put_uint(&w, S("missed"), missed);
    system_end(&w);
    member_send(m, buf_str(&out), FRAME_EXEMPT);
    buf_done(&out);
}

static bool is_addressed_to(const struct topic *topic, const struct entry *entry,
                            struct str id)
{
    struct envelope env;
    struct arena arena;
    bool is_named;

    if (entry->also_hash && entry->also_hash == hash_of(&topic->ring.key, id))
        return true;
    /* One of its own: this happens while other things are being done. */
    arena_init(&arena, SCRATCH_BYTES);
    /* It was admitted, so it scans. */
    is_named = envelope_scan(entry_text(entry), JSON_MAX_DEPTH, DIALECT_SLASH, &arena,
                             &env, NULL) == OK &&
               envelope_names(&env, id);
    arena_done(&arena);
    return is_named;
}

bool topic_entry_concerns(const struct topic *topic, const struct entry *entry,
                          const struct entry_reader *reader)
{
    if (reader->routing == ROUTE_DIRECTED && entry->has_to &&
        !is_addressed_to(topic, entry, reader->id))
        return false;
    return reader->dialect == DIALECT_SLASH || entry_may_be_dotted(entry);
}

static bool is_wanted(const struct member *m, const struct entry *entry)
{
    if (entry->is_presence && m->lane->presence == PRESENCE_OFF)
        return false;
    if (!entry->is_presence && entry->sender == m->number && !m->wants_echo)
        return false; /* said while it was catching up */
    return topic_entry_concerns(member_topic(m), entry,
                                &(struct entry_reader){ m->participant->id,
                                                        (enum routing)m->routing,
                                                        m->lane->dialect });
}

static void join_live(struct member *m)
{
    m->replay_seq = 0;
    member_seat(m);
}

static void add_frame(const struct member *m, struct str text, struct buf *frames)
{
    const struct encoding *encoding = m->lane->encoding;

    /* The buffer's bound exceeds any envelope, so this cannot fail half-way. */
    if (encoding->encode(encoding, text, frames))
        frames->is_full = true;
}

static void add_batch(const struct member *m, struct presence_batch *batch,
                      struct buf *frames)
{
    struct buf text;

    if (presence_batch_is_empty(batch))
        return;
    buf_init(&text, SIZE_MAX / 2);
    presence_batch_write(batch, &text);
    add_frame(m, buf_str(&text), frames);
    buf_done(&text);
}

/* Presence entries that follow each other become one batch for those that want it. */
static void add_entry(const struct member *m, const struct entry *entry,
                      struct presence_batch *batch, struct buf *frames)
{
    bool is_batched = entry->is_presence && m->lane->presence == PRESENCE_BATCH;
    struct str text;
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    text = topic_entry_text(member_topic(m), entry, m->lane->dialect, &out);
    if (is_batched) {
        presence_batch_add(batch, text);
    } else {
        add_batch(m, batch, frames);
        add_frame(m, text, frames);
    }
    buf_done(&out);
}

/* The next entries that the member wants, as frames, up to about BATCH_BYTES. */
static void take_entries(struct member *m, struct buf *frames)
{
    const struct ring *ring = &member_topic(m)->ring;
    struct presence_batch batch;

    presence_batch_init(&batch);
    while (m->replay_seq < ring->next_seq &&
           frames->len + batch.elements.len < BATCH_BYTES) {
        const struct entry *entry = ring_at(ring, m->replay_seq++);

        if (is_wanted(m, entry))
            add_entry(m, entry, &batch, frames);
    }
    add_batch(m, &batch, frames);
    presence_batch_done(&batch);
}

void member_replay_more(struct member *m)
{
    struct topic *topic = member_topic(m);
    struct buf frames;

    if (m->replay_seq < topic->ring.first_seq) {
        send_gap(m, S(""), topic->ring.first_seq - m->replay_seq);
        m->replay_seq = topic->ring.first_seq;
    }
    buf_init(&frames, SIZE_MAX / 2);
    take_entries(m, &frames);
    if (frames.len)
        member_add_exempt(m, buf_str(&frames));
    if (m->replay_seq >= topic->ring.next_seq)
        join_live(m);
    buf_done(&frames);
}

bool member_replay_after(struct member *m, struct str id)
{
    struct topic *topic = member_topic(m);
    uint64_t seq = ring_find(&topic->ring, ring_hash(&topic->ring, id));
    bool is_found = seq != 0;

    if (!is_found)
        send_gap(m, id, 0);
    seq = is_found ? seq + 1 : topic->ring.first_seq;
    if (seq < m->participant->first_seq)
        seq = m->participant->first_seq;
    if (seq >= topic->ring.next_seq)
        return is_found;
    member_unseat(m);
    m->replay_seq = seq;
    m->ops->on_ready(m);
    return is_found;
}
