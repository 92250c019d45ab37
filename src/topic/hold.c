/* SPDX-License-Identifier: Apache-2.0 */
#include "topic/hold.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "topic/topic_priv.h"

enum held_type { HELD_ENTRY, HELD_PRESENCE, HELD_TURN, HELD_PRIVATE };

/* Whoever is refused over and over leaves room for what others say. */
enum { PRIVATE_BYTES = 4 << 20 };

/* What waits, with the texts it needs. Who sent it may be gone when its time has come, so
 * he is kept by name. */
struct held {
    struct link link;
    enum held_type type;
    struct topic_entry entry; /* with `ticket`; without `env` and `sender`; of what is
                               * private only `text` */
    struct str dotted;        /* as it came, if it came in dots */
    struct str who;           /* the sender; whose turn it is; for whom it is */
    uint64_t number;          /* of his connection; 0: none */
    struct presence_note note;
    enum private_form form;
    size_t bytes;
    struct str *to;
    char *texts;
};

static struct hold *hold_of(struct topic *topic)
{
    if (!topic->hold) {
        topic->hold = xcalloc(1, sizeof(*topic->hold));
        list_init(&topic->hold->items);
        map_init(&topic->hold->ids);
    }
    return topic->hold;
}

static struct str id_key(const struct held *held)
{
    return (struct str){ (const char *)&held->entry.id_hash,
                         sizeof(held->entry.id_hash) };
}

/* Memory for the item, `to_count` addressees and this many bytes of texts. */
static struct held *held_new(enum held_type type, size_t to_count, size_t text_bytes)
{
    size_t bytes = sizeof(struct held) + to_count * sizeof(struct str) + text_bytes;
    struct held *held = xmalloc(bytes);

    *held = (struct held){ .type = type, .bytes = bytes };
    held->to = (struct str *)(held + 1);
    held->texts = (char *)(held->to + to_count);
    return held;
}

static struct str keep(struct held *held, struct str text)
{
    char *place = held->texts;

    if (text.len)
        memcpy(place, text.ptr, text.len);
    held->texts += text.len;
    return (struct str){ place, text.len };
}

static void put_last(struct topic *topic, struct held *held)
{
    struct hold *hold = hold_of(topic);

    if (hold->count++ == 0)
        topic->ops->on_held(topic);
    hold->presence_count += held->type == HELD_PRESENCE;
    hold->private_count += held->type == HELD_PRIVATE;
    hold->bytes += held->bytes;
    list_append(&hold->items, &held->link);
    if (held->type == HELD_ENTRY)
        map_set(&hold->ids, id_key(held), held);
}

static size_t text_bytes(const struct topic_entry *entry, struct str dotted,
                         struct str sender)
{
    size_t bytes = entry->text.len + entry->also.len + dotted.len + sender.len;

    for (size_t i = 0; i < entry->to_count; i++)
        bytes += entry->to[i].len;
    return bytes;
}

void hold_entry(struct topic *topic, const struct topic_entry *entry)
{
    bool came_in_dots = entry->env && entry->dialect == DIALECT_DOTTED;
    struct str dotted = came_in_dots ? entry->env->text : (struct str){};
    struct str sender = entry->sender ? entry->sender->participant->id : (struct str){};
    struct held *held =
        held_new(HELD_ENTRY, entry->to_count, text_bytes(entry, dotted, sender));

    held->entry = *entry;
    held->entry.env = NULL;
    held->entry.sender = NULL;
    held->number = entry->sender ? entry->sender->number : 0;
    held->entry.text = keep(held, entry->text);
    held->entry.also = keep(held, entry->also);
    held->dotted = keep(held, dotted);
    held->who = keep(held, sender);
    for (size_t i = 0; i < entry->to_count; i++)
        held->to[i] = keep(held, entry->to[i]);
    held->entry.to = held->to;
    put_last(topic, held);
}

void hold_presence(struct topic *topic, const struct presence_note *note, uint64_t ticket)
{
    struct held *held = held_new(HELD_PRESENCE, 0, 0);

    held->note = *note;
    if (note->capabilities)
        (void)capset_ref(note->capabilities);
    held->entry.ticket = ticket;
    put_last(topic, held);
}

bool topic_hold_turn(struct topic *topic, struct str id, uint64_t ticket)
{
    struct held *held;

    if (!ticket && !topic_is_holding(topic))
        return false;
    held = held_new(HELD_TURN, 0, id.len);
    held->who = keep(held, id);
    held->entry.ticket = ticket;
    put_last(topic, held);
    return true;
}

struct str topic_find_held(const struct topic *topic, uint64_t id_hash,
                           uint64_t *ret_ticket)
{
    const struct held *held = NULL;

    if (topic_is_holding(topic))
        held = map_find(&topic->hold->ids,
                        (struct str){ (const char *)&id_hash, sizeof(id_hash) });
    if (!held)
        return (struct str){};
    *ret_ticket = held->entry.ticket;
    return held->entry.text;
}

bool hold_names(const struct topic *topic, const struct participant *participant)
{
    const struct held *held;

    if (!topic_is_holding(topic) || topic->hold->presence_count == 0)
        return false;
    LIST_FOREACH(held, &topic->hold->items, link)
        if (held->type == HELD_PRESENCE && held->note.participant == participant)
            return true;
    return false;
}

/* --- letting in --- */

/* The connection that it came by, or is for, if it is still here. */
static struct member *find_connection(const struct topic *topic, const struct held *held)
{
    const struct participant *participant;
    struct member *member;

    if (!held->number)
        return NULL;
    participant = participant_find(topic, held->who);
    if (!participant)
        return NULL;
    LIST_FOREACH(member, &participant->members, peer_link)
        if (member->number == held->number)
            return member;
    return NULL;
}

static void enter(struct topic *topic, struct held *held)
{
    struct envelope as_it_came = { .text = held->dotted };

    held->entry.sender = find_connection(topic, held);
    if (held->dotted.len)
        held->entry.env = &as_it_came;
    else
        held->entry.dialect = DIALECT_SLASH;
    topic_enter(topic, &held->entry);
}

static void take_out(struct hold *hold, struct held *held)
{
    list_remove(&held->link);
    hold->count--;
    hold->presence_count -= held->type == HELD_PRESENCE;
    hold->private_count -= held->type == HELD_PRIVATE;
    hold->bytes -= held->bytes;
    if (held->type == HELD_ENTRY && map_find(&hold->ids, id_key(held)) == held)
        (void)map_remove(&hold->ids, id_key(held));
}

static void held_free(struct held *held)
{
    capset_unref(held->note.capabilities);
    free(held);
}

static void let_in_turn(struct topic *topic, const struct held *held)
{
    if (participant_find(topic, held->who))
        topic->ops->on_turn(topic, held->who);
}

static void send_private(struct member *member, enum private_form form, struct str bytes)
{
    if (form == PRIVATE_FRAME)
        member_send_frame(member, bytes);
    else
        member_send(member, bytes, FRAME_COUNTS);
}

static void let_in_private(const struct topic *topic, const struct held *held)
{
    struct member *member = find_connection(topic, held);

    if (member)
        send_private(member, held->form, held->entry.text);
}

/* Presence that comes in a row is one batch for those that want batches. */
static void let_in(struct topic *topic, struct held *held, struct presence_run *run)
{
    if (held->type != HELD_PRESENCE)
        presence_run_end(run);
    switch (held->type) {
    case HELD_ENTRY: enter(topic, held); break;
    case HELD_PRESENCE: presence_enter(run, &held->note); break;
    case HELD_TURN: let_in_turn(topic, held); break;
    case HELD_PRIVATE: let_in_private(topic, held); break;
    }
}

static struct held *first_due(const struct hold *hold, uint64_t ticket)
{
    struct held *held = LIST_FIRST(&hold->items, struct held, link);

    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    return held && held->entry.ticket <= ticket ? held : NULL;
}

bool topic_release(struct topic *topic, uint64_t ticket)
{
    struct hold *hold = topic->hold;
    struct presence_run run;
    struct held *held;

    if (!topic_is_holding(topic))
        return true;
    presence_run_begin(&run, topic);
    while ((held = first_due(hold, ticket))) {
        take_out(hold, held);
        let_in(topic, held, &run);
        held_free(held);
    }
    presence_run_done(&run);
    return hold->count == 0;
}

/* --- what is private --- */

static void hold_private(struct member *member, const struct private_note *note)
{
    struct str id = member->participant->id;
    struct held *held = held_new(HELD_PRIVATE, 0, id.len + note->bytes.len);

    held->who = keep(held, id);
    held->number = member->number;
    held->form = note->form;
    held->entry.text = keep(held, note->bytes);
    put_last(member_topic(member), held);
}

/* Never the first in the line, so there still is one behind it. */
static void let_out_private(struct topic *topic)
{
    struct held *held;

    LIST_FOREACH(held, &topic->hold->items, link) {
        if (held->type != HELD_PRIVATE)
            continue;
        take_out(topic->hold, held);
        let_in_private(topic, held);
        held_free(held);
    }
}

static bool must_wait(const struct topic *topic, enum private_turn turn)
{
    if (turn == AT_ONCE || topic->hold->bytes > PRIVATE_BYTES)
        return false;
    return turn == BEHIND_ALL || topic->hold->private_count;
}

void topic_tell(struct member *member, const struct private_note *note)
{
    struct topic *topic = member_topic(member);

    if (topic_is_holding(topic) && must_wait(topic, note->turn)) {
        hold_private(member, note);
        return;
    }
    if (topic_is_holding(topic) && topic->hold->private_count)
        let_out_private(topic);
    send_private(member, note->form, note->bytes);
}

void hold_free(struct hold *hold)
{
    struct held *held;

    if (!hold)
        return;
    LIST_FOREACH(held, &hold->items, link)
        held_free(held);
    map_done(&hold->ids);
    free(hold);
}
