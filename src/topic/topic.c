/* SPDX-License-Identifier: Apache-2.0 */
#include "topic/topic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefetch.h"
#include "base/xalloc.h"
#include "envelope/system.h"
#include "topic/topic_priv.h"

void topic_init(struct topic *topic, const struct topic_setup *setup)
{
    struct hash_key random;

    *topic = (struct topic){ .name = setup->name,
                             .ops = setup->ops,
                             .settings = setup->settings };
    lane_init(&topic->native, setup->native);
    list_init(&topic->lanes);
    ring_init(&topic->ring, setup->settings->ring_messages, setup->settings->ring_bytes);
    map_init(&topic->participants);
    list_init(&topic->absent);
    list_init(&topic->pending);
    list_init(&topic->waiters);
    list_init(&topic->due);
    hash_key_random(&random);
    (void)snprintf(topic->system_prefix, sizeof(topic->system_prefix), "sys-%012llx",
                   (unsigned long long)(random.k0 >> 16));
}

void topic_done(struct topic *topic)
{
    struct participant *participant;

    MAP_FOREACH(participant, &topic->participants)
        participant_free(participant);
    map_done(&topic->participants);
    hold_free(topic->hold);
    roster_drop(topic);
    ring_done(&topic->ring);
    lane_done(&topic->native);
}

/* --- lanes --- */

static bool lane_is_for(const struct lane *lane, const struct encoding *encoding,
                        const struct join *join)
{
    return lane->encoding == encoding && lane->presence == join->presence &&
           lane->dialect == join->dialect;
}

static struct lane *lane_for(struct topic *topic, const struct join *join)
{
    const struct encoding *encoding =
        join->encoding ? join->encoding : topic->native.encoding;
    struct lane *lane;

    if (lane_is_for(&topic->native, encoding, join))
        return &topic->native;
    LIST_FOREACH(lane, &topic->lanes, link)
        if (lane_is_for(lane, encoding, join))
            return lane;
    lane = xmalloc(sizeof(*lane));
    lane_init(lane, encoding);
    lane->presence = join->presence;
    lane->dialect = join->dialect;
    list_append(&topic->lanes, &lane->link);
    return lane;
}

struct lane *topic_lane_use(struct topic *topic, const struct join *join)
{
    struct lane *lane = lane_for(topic, join);

    lane->user_count++;
    return lane;
}

bool topic_has_lane(const struct topic *topic, enum presence_mode presence,
                    enum dialect dialect)
{
    const struct lane *lane;

    LIST_FOREACH(lane, &topic->lanes, link)
        if (lane->presence == presence && lane->dialect == dialect)
            return true;
    return presence == PRESENCE_EACH && dialect == DIALECT_SLASH;
}

void topic_lane_leave(struct topic *topic, struct lane *lane)
{
    if (--lane->user_count || lane == &topic->native)
        return;
    list_remove(&lane->link);
    lane_done(lane);
    free(lane);
}

/* --- members --- */

void member_seat(struct member *member)
{
    if (member->routing == ROUTE_ALL) {
        lane_seat(member->lane, &member->lane_link);
        member_go_live(member);
    } else {
        list_append(&member->lane->directed, &member->lane_link);
    }
}

void member_unseat(struct member *member)
{
    if (member->block)
        lane_unseat(member->lane, &member->lane_link);
    else
        list_remove(&member->lane_link);
    member->is_ready = false;
    block_unref(member->block);
    member->block = NULL;
}

/* A directed member that has, or has not, something to be woken for. */
static void set_ready(struct member *member, bool is_ready)
{
    struct lane *lane = member->lane;

    if (member->is_ready == is_ready)
        return;
    member->is_ready = is_ready;
    list_remove(&member->lane_link);
    list_append(is_ready ? &lane->ready : &lane->directed, &member->lane_link);
}

enum err topic_may_join(const struct topic *topic, struct str id)
{
    const struct topic_settings *settings = topic->settings;
    const struct participant *participant = participant_find(topic, id);

    if (participant && participant->member_count) {
        if (settings->duplicate == DUPLICATE_REFUSE)
            return ERR_CONFLICT;
        if (settings->duplicate == DUPLICATE_SHARE &&
            participant->member_count >= settings->max_members_each)
            return ERR_OVERLOAD;
    }
    return topic->member_count >= settings->max_members ? ERR_OVERLOAD : OK;
}

void topic_join(struct topic *topic, struct member *member, const struct join *join)
{
    struct participant *participant = join->participant;

    if (topic->settings->duplicate == DUPLICATE_REPLACE)
        participant_end(participant, END_REPLACED);
    *member = (struct member){ .ops = join->ops,
                               .participant = participant,
                               .lane = topic_lane_use(topic, join),
                               .routing = (uint8_t)join->routing,
                               .wants_echo = join->wants_echo,
                               .connected_ms = join->now_wall_ms,
                               .number = join->number };
    member_seat(member);
    member_set_capabilities(member, participant->capabilities);
    list_append(&participant->members, &member->peer_link);
    topic->member_count++;
    topic->dotted_count += join->dialect == DIALECT_DOTTED;
    if (participant->member_count++ == 0) {
        participant_appears(participant);
        presence_changed(participant);
    }
}

void member_leave(struct member *member, uint64_t now_ms)
{
    struct topic *topic = member_topic(member);
    struct participant *participant = member->participant;

    if (!topic)
        return;
    member_unseat(member);
    list_remove(&member->peer_link);
    member_clear(member);
    member_set_capabilities(member, NULL);
    topic->dotted_count -= member->lane->dialect == DIALECT_DOTTED;
    topic_lane_leave(topic, member->lane);
    member->participant = NULL;
    topic->member_count--;
    if (--participant->member_count == 0) {
        presence_changed(participant);
        participant_rest(participant, now_ms);
    }
}

void member_set_routing(struct member *member, enum routing routing)
{
    if (member->routing == routing)
        return;
    member_close_open(member);
    member->routing = (uint8_t)routing;
    if (member->replay_seq)
        return; /* is seated where it belongs when it has caught up */
    member_unseat(member);
    member_seat(member);
    if (member_waiting(member) == 0)
        return;
    if (routing == ROUTE_DIRECTED)
        set_ready(member, true);
    else
        member->ops->on_ready(member); /* the round under way does not come to it */
}

/* --- appending --- */

char *topic_reserve(struct topic *topic, size_t text_len)
{
    size_t head = topic->native.encoding->head_size(text_len);

    return lane_reserve(&topic->native, head + text_len) + head;
}

/* Puts the text behind a head, where it may stand already; returns the frame's length. */
static size_t append_headed(struct lane *lane, struct str text)
{
    size_t head = lane->encoding->head_size(text.len);
    char *place = lane_reserve(lane, head + text.len) + head;

    if (place != text.ptr)
        memcpy(place, text.ptr, text.len);
    lane->encoding->head_write(place - head, text.len);
    lane_commit(lane, head + text.len);
    return head + text.len;
}

static size_t append_encoded(struct lane *lane, struct str text)
{
    struct buf frame;
    size_t len;

    if (lane->encoding->head_size)
        return append_headed(lane, text);
    buf_init(&frame, text.len + 1024);
    if (lane->encoding->encode(lane->encoding, text, &frame))
        buf_clear(&frame);
    len = frame.len;
    if (len)
        memcpy(lane_reserve(lane, len), frame.ptr, len);
    lane_commit(lane, len);
    buf_done(&frame);
    return len;
}

static void deliver_directed(struct member *member, const struct member *sender,
                             size_t frame_len)
{
    struct block *tail = member->lane->tail;

    if (member == sender && !member->wants_echo)
        return;
    member_add_slice(member, tail, tail->used - (uint32_t)frame_len, tail->used);
    set_ready(member, true);
}

/* The last frame to those directed members of one participant that read this lane. */
static void deliver_to(struct topic *topic, struct str id, const struct lane *lane,
                       const struct topic_entry *entry, size_t frame_len)
{
    struct participant *participant = participant_find(topic, id);
    struct member *member;

    if (!participant || participant->routing_number == topic->routing_number)
        return; /* nobody, or named before */
    participant->routing_number = topic->routing_number;
    LIST_FOREACH(member, &participant->members, peer_link)
        if (member->lane == lane && member->routing == ROUTE_DIRECTED &&
            !member->replay_seq)
            deliver_directed(member, entry->sender, frame_len);
}

static void deliver_all(struct link *members, const struct topic_entry *entry,
                        size_t frame_len)
{
    struct member *member;

    LIST_FOREACH(member, members, lane_link)
        deliver_directed(member, entry->sender, frame_len);
}

/* Hands the frame just committed in the lane to its directed members. */
static void route_directed(struct topic *topic, struct lane *lane,
                           const struct topic_entry *entry, size_t frame_len)
{
    if (list_is_empty(&lane->directed) && list_is_empty(&lane->ready))
        return;
    if (entry->to_count == 0) {
        deliver_all(&lane->ready, entry, frame_len);
        deliver_all(&lane->directed, entry, frame_len);
        return;
    }
    topic->routing_number++;
    for (size_t i = 0; i < entry->to_count; i++)
        deliver_to(topic, entry->to[i], lane, entry, frame_len);
    if (entry->also.len)
        deliver_to(topic, entry->also, lane, entry, frame_len);
}

/* The frame just committed in the lane goes to whom it concerns; cursors see it by
 * themselves, but not those of a sender that wants no echo. One that wants it waits for
 * it, perhaps to go on: it is told first. */
static void route(struct topic *topic, struct lane *lane, const struct topic_entry *entry,
                  size_t frame_len)
{
    struct member *sender = entry->sender;

    lane_show(lane);
    route_directed(topic, lane, entry, frame_len);
    if (!sender || sender->lane != lane)
        return;
    if (!sender->wants_echo)
        member_skip_last(sender, frame_len);
    else if (sender->block)
        lane_put_first(lane, &sender->lane_link);
}

/* The index entry of what was just put into the native lane. */
static struct entry index_entry(const struct topic *topic,
                                const struct topic_entry *entry)
{
    struct block *tail = topic->native.tail;

    if (entry->presence)
        return (struct entry){ .len = (uint32_t)entry->text.len,
                               .is_presence = true,
                               .was_checked = true,
                               .presence = *entry->presence };
    return (struct entry){
        .len = (uint32_t)entry->text.len,
        .has_to = entry->to_count > 0,
        .was_checked = entry->was_checked,
        .block = tail,
        .also_hash = entry->also.len ? hash_of(&topic->ring.key, entry->also) : 0,
        .sender = entry->sender ? entry->sender->number : 0,
        .at = tail->used - (uint32_t)entry->text.len,
    };
}

/* In dots, if it came so; else written once, into `out`. */
static struct str dotted_text(const struct topic *topic, const struct topic_entry *entry,
                              struct buf *out)
{
    if (entry->dialect == DIALECT_DOTTED)
        return entry->env->text;
    if (out->len)
        return buf_str(out);
    if (entry->presence)
        (void)presence_write(topic, entry->presence, DIALECT_DOTTED, out);
    else if (entry->env)
        spell_dotted(entry->env, out);
    else
        spell_text(entry->text, out);
    return buf_str(out);
}

static void append_to_lanes(struct topic *topic, const struct topic_entry *entry)
{
    struct lane *lane;
    struct buf dotted;

    buf_init(&dotted, SIZE_MAX / 2);
    LIST_FOREACH(lane, &topic->lanes, link) {
        struct str text = entry->text;

        if (entry->presence && lane->presence != PRESENCE_EACH)
            continue;
        if (lane->dialect == DIALECT_DOTTED)
            text = dotted_text(topic, entry, &dotted);
        route(topic, lane, entry, append_encoded(lane, text));
    }
    buf_done(&dotted);
}

void topic_append(struct topic *topic, const struct topic_entry *entry)
{
    if (entry->ticket || topic_is_holding(topic))
        hold_entry(topic, entry);
    else
        topic_enter(topic, entry);
}

void topic_enter(struct topic *topic, const struct topic_entry *entry)
{
    size_t frame_len = append_headed(&topic->native, entry->text);

    ring_push(&topic->ring, entry->id_hash, index_entry(topic, entry));
    route(topic, &topic->native, entry, frame_len);
    if (!list_is_empty(&topic->lanes))
        append_to_lanes(topic, entry);
    list_splice(&topic->due, &topic->waiters);
    topic_mark_dirty(topic);
}

void topic_append_to(struct topic *topic, enum presence_mode presence,
                     enum dialect dialect, struct str text)
{
    struct lane *lane;

    LIST_FOREACH(lane, &topic->lanes, link)
        if (lane->presence == presence && lane->dialect == dialect)
            route(topic, lane, &(struct topic_entry){ .text = text },
                  append_encoded(lane, text));
    topic_mark_dirty(topic);
}

/* --- waking --- */

void topic_mark_dirty(struct topic *topic)
{
    if (topic->is_dirty)
        return;
    topic->is_dirty = true;
    topic->ops->on_dirty(topic);
}

static void warn_slow(struct member *member, size_t backlog)
{
    struct topic *topic = member_topic(member);
    char id[SYSTEM_ID];
    struct json_writer w;
    struct buf out;

    member->was_warned = true;
    buf_init(&out, 4096);
    system_begin(&w, &out,
                 &(struct system_head){ .dialect = member->lane->dialect,
                                        .kind = S("system/error"),
                                        .id = topic_system_id(topic, id),
                                        .wall_ms = topic->ops->wall_ms(topic),
                                        .to = member->participant->id });
    json_put_str(&w, S("error"), str_of(err_name(ERR_SLOW_CONSUMER)));
    json_put_str(
        &w, S("message"),
        S("You read more slowly than the room speaks; the connection will be closed "
          "when your outbox is full."));
    json_put_uint(&w, S("waiting_bytes"), backlog);
    json_put_uint(&w, S("outbox_bytes"), topic->settings->outbox_hard);
    system_end(&w);
    member_send(member, buf_str(&out), FRAME_COUNTS);
    buf_done(&out);
}

/* D18: a blocked member is warned over the soft mark and ended over the hard one. */
static void judge_blocked(struct member *member)
{
    const struct topic_settings *settings = member_topic(member)->settings;
    size_t backlog = member_backlog(member);

    if (member->is_ending)
        return;
    if (backlog > settings->outbox_hard) {
        member->is_ending = true;
        member->ops->on_end(member, END_SLOW);
    } else if (backlog > settings->outbox_soft && !member->was_warned) {
        warn_slow(member, backlog);
    }
}

static void wake(struct member *member)
{
    if (member->is_blocked)
        judge_blocked(member);
    else if (member_backlog(member)) /* not who has just spoken and wants no echo */
        member->ops->on_ready(member);
}

static struct member *next_ready(struct lane *lane)
{
    struct member *member = LIST_FIRST(&lane->ready, struct member, lane_link);

    if (member)
        set_ready(member, false);
    return member;
}

static struct member *next_reader(struct lane *lane)
{
    struct link *reader = lane_next_untold(lane);

    if (!reader)
        return NULL;
    /* The one after it, with what it is embedded in. */
    prefetch((const char *)lane->next - PREFETCH_OWNER / 2, PREFETCH_OWNER);
    return CONTAINER_OF(reader, struct member, lane_link);
}

/*
 * Where entries come faster than all can be told, each of them makes everybody untold
 * again. So no group goes before another: readers and directed members of a lane, the
 * native lane and the others, and those among themselves, take turns.
 */
static struct member *next_in_lane(struct lane *lane)
{
    struct member *member;

    if (list_is_empty(&lane->ready))
        return next_reader(lane);
    lane->is_readers_turn = !lane->is_readers_turn;
    member = lane->is_readers_turn ? next_reader(lane) : NULL;
    return member ? member : next_ready(lane);
}

static struct member *next_in_lanes(struct topic *topic)
{
    struct member *member;
    struct lane *lane;

    LIST_FOREACH(lane, &topic->lanes, link) {
        member = next_in_lane(lane);
        if (!member)
            continue;
        list_remove(&lane->link);
        list_append(&topic->lanes, &lane->link);
        return member;
    }
    return NULL;
}

/* The next member who has not been told, or NULL when everyone has. */
static struct member *next_untold(struct topic *topic)
{
    struct member *member;

    if (list_is_empty(&topic->lanes))
        return next_in_lane(&topic->native);
    topic->is_lanes_turn = !topic->is_lanes_turn;
    member = topic->is_lanes_turn ? next_in_lanes(topic) : NULL;
    if (!member)
        member = next_in_lane(&topic->native);
    return member ? member : next_in_lanes(topic);
}

/* Waiters wait for one entry: those that wait again do so for the next. */
static bool wake_waiter(struct topic *topic)
{
    struct waiter *waiter = LIST_FIRST(&topic->due, struct waiter, link);

    if (!waiter)
        return false;
    list_remove(&waiter->link);
    waiter->on_entry(waiter);
    return true;
}

/* Returns false when there is nobody. */
static bool wake_next(struct topic *topic)
{
    struct member *member;

    if (!list_is_empty(&topic->due) && ++topic->told % 4 == 0)
        return wake_waiter(topic);
    member = next_untold(topic);
    if (!member)
        return wake_waiter(topic);
    wake(member);
    return true;
}

bool topic_wake(struct topic *topic, size_t *budget)
{
    for (; *budget; --*budget)
        if (!wake_next(topic)) {
            topic->is_dirty = false;
            return true;
        }
    return false;
}

void topic_wait(struct topic *topic, struct waiter *waiter)
{
    list_append(&topic->waiters, &waiter->link);
}

void waiter_cancel(struct waiter *waiter)
{
    list_remove(&waiter->link);
}
