/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/recall.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

enum { KEY = AGENT_UUID + 1024 };

/* Exists as long as one of its requests is known. */
struct recall_sender {
    struct str id; /* in `text` */
    size_t entries;
    size_t counts[RECALL_KINDS]; /* of those answered */
    struct link answered[RECALL_KINDS];
    char text[];
};

void recall_init(struct recall *recall, const struct recall_limits *limits)
{
    *recall = (struct recall){ .limits = *limits };
    map_init(&recall->by_key);
    map_init(&recall->senders);
    for (size_t i = 0; i < RECALL_KINDS; i++)
        list_init(&recall->by_age[i]);
}

void recall_done(struct recall *recall)
{
    while (recall->by_key.count) {
        size_t at = 0;

        recall_forget(recall, map_next(&recall->by_key, &at));
    }
    map_done(&recall->by_key);
    map_done(&recall->senders);
}

/* The id in small letters, then the sender: an id has a fixed length. */
static struct str write_key(struct str sender, struct str message_id,
                            char out[static KEY])
{
    size_t len = sender.len < KEY - AGENT_UUID ? sender.len : KEY - AGENT_UUID;

    for (size_t i = 0; i < AGENT_UUID; i++) {
        char c = ' ';

        if (i < message_id.len)
            c = message_id.ptr[i];
        if (c >= 'A' && c <= 'F')
            c = (char)(c | 0x20);
        out[i] = c;
    }
    memcpy(out + AGENT_UUID, sender.ptr, len);
    return (struct str){ out, AGENT_UUID + len };
}

struct recall_entry *recall_find(const struct recall *recall, struct str sender,
                                 struct str message_id)
{
    char key[KEY];

    return map_find(&recall->by_key, write_key(sender, message_id, key));
}

static struct recall_sender *sender_of(struct recall *recall, struct str id)
{
    struct recall_sender *sender = map_find(&recall->senders, id);

    if (sender)
        return sender;
    sender = xcalloc(1, sizeof(*sender) + id.len);
    memcpy(sender->text, id.ptr, id.len);
    sender->id = (struct str){ sender->text, id.len };
    for (size_t i = 0; i < RECALL_KINDS; i++)
        list_init(&sender->answered[i]);
    map_set(&recall->senders, sender->id, sender);
    return sender;
}

struct recall_entry *recall_begin(struct recall *recall, struct str sender,
                                  struct str message_id, enum recall_kind kind)
{
    char text[KEY];
    struct str key = write_key(sender, message_id, text);
    struct recall_entry *entry = xcalloc(1, sizeof(*entry) + key.len);

    memcpy(entry->text, key.ptr, key.len);
    entry->key = (struct str){ entry->text, key.len };
    entry->kind = kind;
    entry->sender = sender_of(recall, sender);
    entry->sender->entries++;
    list_init(&entry->waiting);
    map_set(&recall->by_key, entry->key, entry);
    return entry;
}

/* What it takes: small answers are many. */
static size_t size_of(const struct recall_entry *entry)
{
    return sizeof(*entry) + entry->key.len + entry->answer.len;
}

void recall_forget(struct recall *recall, struct recall_entry *entry)
{
    struct recall_sender *sender;

    if (!entry)
        return;
    sender = entry->sender;
    if (entry->answer.ptr) {
        recall->bytes -= size_of(entry);
        sender->counts[entry->kind]--;
    }
    list_remove(&entry->age_link);
    list_remove(&entry->sender_link);
    (void)map_remove(&recall->by_key, entry->key);
    free((char *)(uintptr_t)entry->answer.ptr); /* drops const */
    free(entry);
    if (--sender->entries)
        return;
    (void)map_remove(&recall->senders, sender->id);
    free(sender);
}

/* What only asked goes first. */
static void make_room(struct recall *recall)
{
    for (size_t kind = 0; kind < RECALL_KINDS; kind++)
        while (recall->bytes > recall->limits.bytes &&
               !list_is_empty(&recall->by_age[kind]))
            recall_forget(
                recall, LIST_FIRST(&recall->by_age[kind], struct recall_entry, age_link));
}

void recall_answer(struct recall *recall, struct recall_entry *entry, struct str answer,
                   uint64_t now_ms)
{
    struct recall_sender *sender = entry->sender;
    enum recall_kind kind = entry->kind;

    entry->answer = (struct str){ str_dup(answer), answer.len };
    entry->answered_ms = now_ms;
    recall->bytes += size_of(entry);
    list_append(&recall->by_age[kind], &entry->age_link);
    list_append(&sender->answered[kind], &entry->sender_link);
    if (++sender->counts[kind] > recall->limits.each[kind])
        recall_forget(recall, LIST_FIRST(&sender->answered[kind], struct recall_entry,
                                         sender_link));
    make_room(recall);
}

void recall_sweep(struct recall *recall, uint64_t now_ms)
{
    for (size_t kind = 0; kind < RECALL_KINDS; kind++)
        for (;;) {
            struct recall_entry *entry =
                LIST_FIRST(&recall->by_age[kind], struct recall_entry, age_link);

            if (!entry || now_ms - entry->answered_ms < recall->limits.age_ms)
                break;
            recall_forget(recall, entry);
        }
}
