/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/holdings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/xalloc.h"

enum { ARENA_BYTES = 1 << 20, NAME_BYTES = 256 };

/* An identity never changes, and is not forgotten as long as this one knows it: so its
 * address, with the topic behind it, is a name. */
struct holding {
    struct link link;
    struct identity *identity;
    struct capset *set;
    struct rights_version version;
    uint64_t until_ms; /* wall clock: something expires then */
    struct str key;
    char text[];
};

void holdings_init(struct holdings *holdings, const struct rights *rights,
                   struct capsets *capsets)
{
    *holdings = (struct holdings){ .rights = rights, .capsets = capsets };
    map_init(&holdings->by_key);
    list_init(&holdings->recent);
}

static void forget(struct holdings *holdings, struct holding *holding)
{
    (void)map_remove(&holdings->by_key, holding->key);
    list_remove(&holding->link);
    identity_unref(holding->identity);
    capset_unref(holding->set);
    free(holding);
}

void holdings_done(struct holdings *holdings)
{
    struct holding *holding;

    LIST_FOREACH(holding, &holdings->recent, link)
        forget(holdings, holding);
    map_done(&holdings->by_key);
}

static struct str write_key(struct str topic, const struct identity *identity,
                            char out[static NAME_BYTES])
{
    assert(topic.len <= NAME_BYTES - sizeof(identity)); /* topic_name_is_valid() */
    memcpy(out, &identity, sizeof(identity));
    memcpy(out + sizeof(identity), topic.ptr, topic.len);
    return (struct str){ out, sizeof(identity) + topic.len };
}

static struct holding *holding_new(struct holdings *holdings, struct str key,
                                   struct identity *identity)
{
    struct holding *holding = xcalloc(1, sizeof(*holding) + key.len);
    struct holding *oldest = LIST_FIRST(&holdings->recent, struct holding, link);

    if (oldest && holdings->by_key.count >= HOLDINGS_MAX)
        forget(holdings, oldest);
    memcpy(holding->text, key.ptr, key.len);
    holding->key = (struct str){ holding->text, key.len };
    holding->identity = identity_ref(identity);
    map_set(&holdings->by_key, holding->key, holding);
    return holding;
}

struct str_list holdings_list(const struct rights *rights, struct str topic,
                              const struct identity *identity, uint64_t wall_ms,
                              struct arena *arena)
{
    struct str_list list = {};

    if (rights_in_force(rights, (struct rights_key){ topic, identity->id },
                        identity->capabilities, wall_ms, arena, &list))
        return (struct str_list){}; /* too much to work out is nothing */
    return list;
}

static void work_out(struct holdings *holdings, struct holding *holding, struct str topic,
                     uint64_t wall_ms)
{
    struct rights_key who = { topic, holding->identity->id };
    struct capset *set;
    struct arena arena;

    holdings->worked_out++;
    arena_init(&arena, ARENA_BYTES);
    /* Lists are checked when they come in. */
    if (capset_intern(
            holdings->capsets,
            holdings_list(holdings->rights, topic, holding->identity, wall_ms, &arena),
            &set, NULL))
        abort();
    arena_done(&arena);
    capset_unref(holding->set);
    holding->set = set;
    holding->version = rights_version(holdings->rights, who);
    holding->until_ms = rights_lasts_until(holdings->rights, who, wall_ms);
}

static bool is_valid(const struct holding *holding, struct rights_version version,
                     uint64_t wall_ms)
{
    return holding->set && wall_ms < holding->until_ms &&
           holding->version.everywhere == version.everywhere &&
           holding->version.here == version.here;
}

struct capset *holdings_find(struct holdings *holdings, struct str topic,
                             struct identity *identity, uint64_t wall_ms)
{
    struct rights_version version =
        rights_version(holdings->rights, (struct rights_key){ topic, identity->id });
    char space[NAME_BYTES];
    struct str key = write_key(topic, identity, space);
    struct holding *holding = map_find(&holdings->by_key, key);

    if (!holding)
        holding = holding_new(holdings, key, identity);
    list_remove(&holding->link);
    list_append(&holdings->recent, &holding->link);
    if (!is_valid(holding, version, wall_ms))
        work_out(holdings, holding, topic, wall_ms);
    return holding->set;
}

void holdings_put_if_may(struct json_writer *w, struct capset *set, struct str kind,
                         struct str word)
{
    if (capset_may(set, kind) != VERDICT_DENY)
        json_str(w, word);
}
