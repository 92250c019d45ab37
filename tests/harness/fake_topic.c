/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_topic.h"

#include <string.h>

#include "harness.h"

enum { HEAD = 4, SPANS = 8 };

/* --- encodings --- */

static size_t head_size(size_t text_len [[maybe_unused]])
{
    return HEAD;
}

static void head_write(char *out, size_t text_len)
{
    for (size_t i = 0; i < HEAD; i++)
        out[i] = (char)(text_len >> (8 * (HEAD - 1 - i)));
}

static enum err encode_plain(const struct encoding *self [[maybe_unused]],
                             struct str text, struct buf *out)
{
    char head[HEAD];
    enum err err;

    head_write(head, text.len);
    err = buf_append(out, (struct str){ head, HEAD });
    return err ? err : buf_append(out, text);
}

static enum err encode_inverse(const struct encoding *self [[maybe_unused]],
                               struct str text, struct buf *out)
{
    enum err err = buf_reserve(out, text.len + 1);

    if (err)
        return err;
    for (size_t i = 0; i < text.len; i++)
        out->ptr[out->len++] = (char)~text.ptr[i];
    out->ptr[out->len++] = '\0';
    return OK;
}

const struct encoding fake_plain = { head_size, head_write, encode_plain };
const struct encoding fake_inverse = { .encode = encode_inverse };

/* --- the deaf --- */

static void on_nothing(struct topic *topic [[maybe_unused]])
{
}

static uint64_t deaf_wall_ms(const struct topic *topic [[maybe_unused]])
{
    return 1'800'000'000'000;
}

static void on_ready_deaf(struct member *member [[maybe_unused]])
{
}

static void on_end_deaf(struct member *member [[maybe_unused]],
                        enum member_end why [[maybe_unused]])
{
}

const struct topic_ops fake_deaf_topic = { .on_dirty = on_nothing,
                                           .on_presence = on_nothing,
                                           .wall_ms = deaf_wall_ms,
                                           .on_held = on_nothing };
const struct member_ops fake_deaf_member = { .on_ready = on_ready_deaf,
                                             .on_end = on_end_deaf };

/* --- decoding --- */

static void decode_plain(struct str bytes, struct buf *out)
{
    while (bytes.len) {
        size_t len = 0;

        CHECK(bytes.len >= HEAD);
        if (bytes.len < HEAD)
            return;
        for (size_t i = 0; i < HEAD; i++)
            len = len << 8 | (unsigned char)bytes.ptr[i];
        CHECK(len <= bytes.len - HEAD);
        buf_put(out, str_slice(bytes, HEAD, HEAD + len));
        buf_putc(out, '\n');
        bytes = str_slice(bytes, HEAD + len, bytes.len);
    }
}

static void decode_inverse(struct str bytes, struct buf *out)
{
    for (size_t i = 0; i < bytes.len; i++)
        buf_putc(out, bytes.ptr[i] ? (char)~bytes.ptr[i] : '\n');
}

void fake_decode(const struct encoding *encoding, struct str bytes, struct buf *out)
{
    if (encoding == &fake_inverse)
        decode_inverse(bytes, out);
    else
        decode_plain(bytes, out);
}

/* --- dice --- */

struct dice dice_of(long seed)
{
    return (struct dice){ (uint64_t)seed * 0x9e3779b97f4a7c15 + 1 };
}

/* xorshift64* */
size_t dice_throw(struct dice *dice, size_t sides)
{
    dice->state ^= dice->state >> 12;
    dice->state ^= dice->state << 25;
    dice->state ^= dice->state >> 27;
    return (size_t)((dice->state * 0x2545f4914f6cdd1d >> 33) % sides);
}

/* --- the topic --- */

static struct fake_topic *fake_of(struct topic *topic)
{
    return CONTAINER_OF(topic, struct fake_topic, topic);
}

static void on_dirty(struct topic *topic)
{
    fake_of(topic)->dirty_count++;
}

static void on_presence(struct topic *topic)
{
    fake_of(topic)->presence_count++;
}

static uint64_t wall_ms(const struct topic *topic)
{
    return fake_of((struct topic *)(uintptr_t)topic)->wall_ms;
}

static uint64_t on_announce(struct topic *topic,
                            const struct presence_note *note [[maybe_unused]])
{
    return fake_of(topic)->ticket;
}

static void on_held(struct topic *topic)
{
    fake_of(topic)->held_count++;
}

/* A text for those whose turn it is. */
static void on_turn(struct topic *topic, struct str id)
{
    struct member *member;

    LIST_FOREACH(member, &participant_find(topic, id)->members, peer_link)
        member_send(member, S("turn"), FRAME_COUNTS);
}

static const struct topic_ops topic_ops = {
    .on_dirty = on_dirty,
    .on_presence = on_presence,
    .wall_ms = wall_ms,
    .on_announce = on_announce,
    .on_held = on_held,
    .on_turn = on_turn,
};

static const struct topic_settings roomy = {
    .duplicate = DUPLICATE_SHARE,
    .ring_messages = 1000,
    .ring_bytes = 1 << 20,
    .outbox_soft = 1 << 29,
    .outbox_hard = 1 << 30,
    .max_members = 1000,
    .max_members_each = 1000,
};

void fake_topic_init(struct fake_topic *fake, const struct topic_settings *settings)
{
    static const struct str chat[] = { S("chat") };

    *fake = (struct fake_topic){ .settings = settings ? *settings : roomy };
    fake->capsets = capsets_new();
    CHECK_INT(
        capset_intern(fake->capsets, (struct str_list){ chat, 1 }, &fake->caps, NULL),
        OK);
    topic_init(&fake->topic, &(struct topic_setup){ .name = S("room"),
                                                    .native = &fake_plain,
                                                    .settings = &fake->settings,
                                                    .ops = &topic_ops });
}

void fake_topic_done(struct fake_topic *fake)
{
    CHECK_INT(fake->topic.member_count, 0);
    topic_done(&fake->topic);
    capset_unref(fake->caps);
    capsets_free(fake->capsets);
}

/* --- members --- */

static struct fake_member *member_of(struct member *member)
{
    return CONTAINER_OF(member, struct fake_member, member);
}

static void on_ready(struct member *member)
{
    member_of(member)->ready_count++;
}

static void on_end(struct member *member, enum member_end why)
{
    struct fake_member *fake = member_of(member);

    fake->end_count++;
    fake->why = why;
    if (fake->leaves_at_end)
        member_leave(member, *fake->now_ms);
}

static const struct member_ops member_ops = { .on_ready = on_ready, .on_end = on_end };

void fake_join(struct fake_topic *fake, struct fake_member *member, struct str id,
               struct join join)
{
    *member = (struct fake_member){ .now_ms = &fake->now_ms };
    buf_init(&member->received, SIZE_MAX / 2);
    buf_init(&member->texts, SIZE_MAX / 2);
    join.participant =
        participant_enter(&fake->topic, id, TYPE_AGENT, fake->caps, fake->now_ms);
    join.ops = &member_ops;
    join.number = ++fake->joined;
    topic_join(&fake->topic, &member->member, &join);
}

void fake_leave(struct fake_member *member)
{
    member_leave(&member->member, *member->now_ms);
    buf_done(&member->received);
    buf_done(&member->texts);
}

size_t fake_read(struct fake_member *member, size_t spans, size_t limit)
{
    struct iovec out[SPANS];
    size_t total = 0;
    size_t count;

    while (limit && (count = member_pull(&member->member, out, spans)) > 0) {
        size_t taken = 0;

        for (size_t i = 0; i < count && limit; i++) {
            size_t len = out[i].iov_len < limit ? out[i].iov_len : limit;

            CHECK(out[i].iov_len > 0);
            buf_put(&member->received, (struct str){ out[i].iov_base, len });
            taken += len;
            limit -= len;
        }
        member_taken(&member->member, taken);
        total += taken;
    }
    return total;
}

struct str fake_texts(struct fake_member *member)
{
    (void)fake_read(member, SPANS, SIZE_MAX);
    buf_clear(&member->texts);
    fake_decode(member->member.lane->encoding, buf_str(&member->received),
                &member->texts);
    buf_clear(&member->received);
    return buf_str(&member->texts);
}

void fake_say(struct fake_topic *fake, struct member *sender, struct str text,
              const struct str *to)
{
    size_t count = 0;

    while (to && to[count].len)
        count++;
    topic_append(&fake->topic,
                 &(struct topic_entry){ .text = text,
                                        .id_hash = ring_hash(&fake->topic.ring, text),
                                        .to = to,
                                        .to_count = count,
                                        .sender = sender,
                                        .ticket = fake->ticket });
}

void fake_wake(struct topic *topic)
{
    size_t budget = SIZE_MAX;

    (void)topic_wake(topic, &budget);
}
