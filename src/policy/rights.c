/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/rights.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "policy/policy_priv.h"

/* A topic's name holds no slash; names are of any length, so the map's key is one text.
 */
enum { NAME_BYTES = 1024 };

/* Places in the order carry the time, so that tables which know nothing of each other
 * have one order; the low bits count. */
enum { ORDERS_PER_MS_LOG = 16 };

struct rights *rights_new(void)
{
    struct rights *rights = xcalloc(1, sizeof(*rights));

    map_init(&rights->records);
    list_init(&rights->expiring);
    return rights;
}

/* --- records --- */

static struct str write_name(struct rights_key key, char out[static NAME_BYTES])
{
    assert(key.topic.len + 1 + key.id.len <= NAME_BYTES); /* checked at the doors */
    if (key.topic.len)
        memcpy(out, key.topic.ptr, key.topic.len);
    out[key.topic.len] = '/';
    if (key.id.len)
        memcpy(out + key.topic.len + 1, key.id.ptr, key.id.len);
    return (struct str){ out, key.topic.len + 1 + key.id.len };
}

struct rights_record *rights_record_find(const struct rights *rights,
                                         struct rights_key key)
{
    char name[NAME_BYTES];

    return map_find(&rights->records, write_name(key, name));
}

struct rights_record *rights_record_of(struct rights *rights, struct rights_key key)
{
    struct rights_record *record = rights_record_find(rights, key);
    char text[NAME_BYTES];
    struct str name;

    if (record)
        return record;
    name = write_name(key, text);
    record = xcalloc(1, sizeof(*record) + name.len);
    memcpy(record->text, name.ptr, name.len);
    record->name = (struct str){ record->text, name.len };
    record->key.topic = str_slice(record->name, 0, key.topic.len);
    record->key.id = str_slice(record->name, key.topic.len + 1, name.len);
    list_init(&record->grants);
    list_init(&record->strikes);
    map_set(&rights->records, record->name, record);
    return record;
}

void rights_set_credentials(struct rights *rights,
                            const struct rights_credentials *credentials)
{
    rights->credentials = credentials;
}

void rights_count(struct rights *rights, struct rights_record *record,
                  enum rights_origin origin, ptrdiff_t bytes)
{
    record->version = ++rights->version;
    record->usage[origin].bytes += (size_t)bytes;
    if (record->key.topic.len)
        rights->topics_bytes[origin] += (size_t)bytes;
}

void rights_free_strike(struct rights *rights, struct rights_record *record,
                        struct strike *strike)
{
    strike_keep(rights, record, strike, KEEP_NO_MORE);
    list_remove(&strike->link);
    record->usage[strike->origin].strikes--;
    rights_count(rights, record, strike->origin, -(ptrdiff_t)strike->bytes);
    capability_free(strike->capability);
    free(strike);
}

void rights_free_grant(struct rights *rights, struct grant *grant)
{
    struct rights_record *record = grant->record;

    grant_keep(rights, grant, KEEP_NO_MORE);
    list_remove(&grant->link);
    list_remove(&grant->expiry_link);
    record->usage[grant->origin].grants--;
    rights_count(rights, record, grant->origin, -(ptrdiff_t)grant->bytes);
    for (size_t i = 0; i < grant->capabilities.count; i++)
        capability_free(grant->compiled[i]);
    free(grant);
}

/* A record that says nothing goes. */
void rights_settle(struct rights *rights, struct rights_record *record)
{
    if (!list_is_empty(&record->grants) || !list_is_empty(&record->strikes))
        return;
    (void)map_remove(&rights->records, record->name);
    free(record);
}

static void empty_record(struct rights *rights, struct rights_record *record)
{
    struct grant *grant;
    struct strike *strike;

    LIST_FOREACH(grant, &record->grants, link)
        rights_free_grant(rights, grant);
    LIST_FOREACH(strike, &record->strikes, link)
        rights_free_strike(rights, record, strike);
}

void rights_end(struct rights *rights, struct grant *grant)
{
    struct rights_record *record = grant->record;

    rights_free_grant(rights, grant);
    rights_settle(rights, record);
}

void rights_free(struct rights *rights)
{
    struct rights_record *record;

    if (!rights)
        return;
    rights->keeper = NULL; /* what is kept outlives the table */
    MAP_FOREACH(record, &rights->records) {
        empty_record(rights, record);
        free(record);
    }
    map_done(&rights->records);
    free(rights);
}

struct rights_record *rights_record_next(const struct rights *rights, struct str id,
                                         size_t *at)
{
    struct rights_record *record;

    while ((record = map_next(&rights->records, at)))
        if (str_eq(record->key.id, id))
            return record;
    return NULL;
}

/* Ends those records, which were found before: the table changes with each. */
static void end_records(struct rights *rights, struct rights_record **found, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        empty_record(rights, found[i]);
        rights_settle(rights, found[i]);
    }
}

void rights_forget(struct rights *rights, struct str id)
{
    CLEANUP(xfreep)
    struct rights_record **found = xcalloc(rights->records.count + 1, sizeof(*found));
    struct rights_record *record;
    size_t count = 0;
    size_t at = 0;

    while ((record = rights_record_next(rights, id, &at)))
        found[count++] = record;
    end_records(rights, found, count);
}

bool rights_retain(struct rights *rights, const struct map *ids)
{
    CLEANUP(xfreep)
    struct rights_record **found = xcalloc(rights->records.count + 1, sizeof(*found));
    struct rights_record *record;
    size_t count = 0;

    MAP_FOREACH(record, &rights->records)
        if (!map_find(ids, record->key.id))
            found[count++] = record;
    end_records(rights, found, count);
    return count > 0;
}

/* --- granting --- */

static size_t bytes_of(struct str_list list)
{
    size_t bytes = 0;

    for (size_t i = 0; i < list.count; i++)
        bytes += list.items[i].len;
    return bytes;
}

static struct str keep(char **at, struct str s)
{
    struct str kept = { *at, s.len };

    if (s.len)
        memcpy(*at, s.ptr, s.len);
    *at += s.len;
    return kept;
}

void capabilities_free(struct capability **compiled, size_t count)
{
    for (size_t i = 0; i < count; i++)
        capability_free(compiled[i]);
}

enum err capabilities_compile(struct str_list list, struct capability **ret)
{
    for (size_t i = 0; i < list.count; i++) {
        enum err err = capability_new(list.items[i], &ret[i], NULL);

        if (err) {
            capabilities_free(ret, i);
            return err;
        }
    }
    return OK;
}

/* All of the block that grant_new() makes. */
static size_t grant_bytes(const struct grant_terms *terms)
{
    return sizeof(struct grant) +
           terms->capabilities.count * (sizeof(struct str) + sizeof(void *)) +
           terms->id.len + terms->granter.len + terms->reason.len +
           bytes_of(terms->capabilities);
}

/* One block: the struct, the arrays, the texts. */
enum err grant_new(const struct grant_terms *terms, struct grant **ret)
{
    size_t count = terms->capabilities.count;
    size_t bytes = grant_bytes(terms);
    struct grant *grant = xcalloc(1, bytes);
    char *at;
    enum err err;

    grant->compiled = (struct capability **)(grant + 1);
    grant->texts = (struct str *)(grant->compiled + count);
    at = (char *)(grant->texts + count);
    err = capabilities_compile(terms->capabilities, grant->compiled);
    if (err) {
        free(grant);
        return err;
    }
    grant->id = keep(&at, terms->id);
    grant->granter = keep(&at, terms->granter);
    grant->reason = keep(&at, terms->reason);
    for (size_t i = 0; i < count; i++)
        grant->texts[i] = keep(&at, terms->capabilities.items[i]);
    grant->capabilities = (struct str_list){ grant->texts, count };
    grant->order = terms->order;
    grant->created_ms = terms->created_ms;
    grant->expires_ms = terms->expires_ms;
    grant->max_uses = terms->max_uses;
    grant->origin = terms->origin;
    grant->is_told = terms->is_told;
    grant->bytes = bytes;
    *ret = grant;
    return OK;
}

/* Most expire later than those before them, so the place is looked for from the end. */
static void await_expiry(struct rights *rights, struct grant *grant)
{
    struct link *after = rights->expiring.prev;

    if (!grant->expires_ms)
        return;
    while (after != &rights->expiring &&
           CONTAINER_OF(after, struct grant, expiry_link)->expires_ms > grant->expires_ms)
        after = after->prev;
    list_append(after->next, &grant->expiry_link);
}

static size_t objects_in(struct str_list list)
{
    size_t count = 0;

    for (size_t i = 0; i < list.count; i++)
        count += capability_text_is_object(list.items[i]);
    return count;
}

/* Would they be too many, together with what was granted before in the same way? */
static bool are_too_many(const struct rights_record *record,
                         const struct grant_terms *terms)
{
    size_t count = terms->capabilities.count;
    size_t objects = objects_in(terms->capabilities);
    const struct grant *grant;

    if (record)
        LIST_FOREACH(grant, &record->grants, link)
            if (grant->origin == terms->origin) {
                count += grant->capabilities.count;
                objects += objects_in(grant->capabilities);
            }
    return count > RIGHTS_MAX_CAPABILITIES || objects > RIGHTS_MAX_OBJECTS;
}

enum err rights_may_grant(const struct rights *rights, struct rights_key holder,
                          const struct grant_terms *terms)
{
    const struct rights_record *record = rights_record_find(rights, holder);
    struct rights_usage usage =
        record ? record->usage[terms->origin] : (struct rights_usage){};
    size_t bytes = grant_bytes(terms);

    if (rights_find(rights, holder, terms->id))
        return ERR_CONFLICT;
    if (usage.grants >= RIGHTS_MAX_GRANTS || are_too_many(record, terms) ||
        usage.bytes + bytes > RIGHTS_RECORD_BYTES)
        return ERR_OVERLOAD;
    if (holder.topic.len &&
        rights->topics_bytes[terms->origin] + bytes > RIGHTS_TOPICS_BYTES)
        return ERR_OVERLOAD;
    return OK;
}

void rights_add_grant(struct rights *rights, struct rights_record *record,
                      struct grant *grant)
{
    grant->record = record;
    grant->holder = record->key;
    record->usage[grant->origin].grants++;
    rights_count(rights, record, grant->origin, (ptrdiff_t)grant->bytes);
    list_append(&record->grants, &grant->link);
}

uint64_t rights_reserve(struct rights *rights, uint64_t now_ms, size_t count)
{
    uint64_t first = now_ms << ORDERS_PER_MS_LOG;

    if (first <= rights->order)
        first = rights->order + 1;
    rights->order = first + count - 1;
    return first;
}

/* The place that was given, or the next. */
static uint64_t place(struct rights *rights, uint64_t given, uint64_t now_ms)
{
    if (given > rights->order)
        rights->order = given;
    return given ? given : rights_reserve(rights, now_ms, 1);
}

enum err rights_grant(struct rights *rights, struct rights_key holder,
                      const struct grant_terms *terms)
{
    struct grant *grant = NULL;
    enum err err = rights_may_grant(rights, holder, terms);

    if (!err)
        err = grant_new(terms, &grant);
    if (err)
        return err;
    grant->order = place(rights, terms->order, terms->created_ms);
    rights_add_grant(rights, rights_record_of(rights, holder), grant);
    await_expiry(rights, grant);
    grant_keep(rights, grant, KEEP);
    return OK;
}

void rights_use(struct rights *rights, struct grant *grant)
{
    grant->uses++;
    grant_keep(rights, grant, KEEP);
}

/* --- striking --- */

static size_t strike_bytes(const struct strike_terms *terms, struct str text)
{
    return sizeof(struct strike) + text.len + terms->by.len + terms->reason.len;
}

enum err strike_new(const struct strike_terms *terms, struct str text,
                    struct strike **ret)
{
    struct capability *capability;
    struct strike *strike;
    char *at;
    enum err err = capability_new(text, &capability, NULL);

    if (err)
        return err;
    strike = xcalloc(1, strike_bytes(terms, text));
    at = (char *)(strike + 1);
    strike->capability = capability;
    strike->text = keep(&at, text);
    strike->by = keep(&at, terms->by);
    strike->reason = keep(&at, terms->reason);
    strike->reach = terms->reach;
    strike->origin = terms->origin;
    strike->created_ms = terms->created_ms;
    strike->bytes = strike_bytes(terms, text);
    *ret = strike;
    return OK;
}

enum err rights_may_strike(const struct rights *rights, struct rights_key holder,
                           const struct strike_terms *terms)
{
    size_t bytes = rights->topics_bytes[terms->origin];
    size_t most = RIGHTS_TOPICS_BYTES;

    if (holder.topic.len == 0)
        return OK;
    if (!str_eq(terms->by, holder.id))
        most *= 2; /* nobody fills it to keep what he has */
    for (size_t i = 0; i < terms->capabilities.count; i++)
        bytes += strike_bytes(terms, terms->capabilities.items[i]);
    return bytes > most ? ERR_OVERLOAD : OK;
}

enum err rights_strike(struct rights *rights, struct rights_key holder,
                       const struct strike_terms *terms)
{
    struct rights_record *record;
    enum err err = rights_may_strike(rights, holder, terms);

    if (err)
        return err;
    record = rights_record_of(rights, holder);
    for (size_t i = 0; i < terms->capabilities.count; i++) {
        struct strike *strike;

        err = strike_new(terms, terms->capabilities.items[i], &strike);
        if (err)
            break;
        strike->order =
            place(rights, terms->order ? terms->order + i : 0, terms->created_ms);
        strike_apply(rights, record, strike);
    }
    strikes_prune(rights, record, terms->origin);
    rights_settle(rights, record);
    return err;
}

/* --- walking --- */

bool rights_has_any(const struct rights *rights)
{
    return rights->records.count > 0;
}

struct grant *rights_next_grant(const struct rights *rights, struct rights_key holder,
                                const struct grant *after)
{
    const struct rights_record *record =
        after ? after->record : rights_record_find(rights, holder);
    const struct link *next;

    if (!record)
        return NULL;
    next = after ? after->link.next : record->grants.next;
    if (next == &record->grants)
        return NULL;
    return CONTAINER_OF((uintptr_t)next, struct grant, link); /* drops const */
}

const struct strike *rights_next_strike(const struct rights *rights,
                                        struct rights_key holder,
                                        const struct strike *after)
{
    const struct rights_record *record = rights_record_find(rights, holder);
    const struct link *next;

    if (!record)
        return NULL;
    next = after ? after->link.next : record->strikes.next;
    if (next == &record->strikes)
        return NULL;
    return CONTAINER_OF((uintptr_t)next, struct strike, link);
}

struct grant *rights_find(const struct rights *rights, struct rights_key holder,
                          struct str grant_id)
{
    struct grant *grant = NULL;

    while ((grant = rights_next_grant(rights, holder, grant)))
        if (str_eq(grant->id, grant_id))
            return grant;
    return NULL;
}

bool rights_next_topic(const struct rights *rights, struct str id, size_t *at,
                       struct str *ret_topic)
{
    const struct rights_record *record = rights_record_next(rights, id, at);

    if (record)
        *ret_topic = record->key.topic;
    return record != NULL;
}

/* --- time --- */

uint64_t rights_next_expiry(const struct rights *rights)
{
    const struct grant *first = LIST_FIRST(&rights->expiring, struct grant, expiry_link);

    return first ? first->expires_ms : UINT64_MAX;
}

struct grant *rights_expired(const struct rights *rights, uint64_t now_ms)
{
    struct grant *first = LIST_FIRST(&rights->expiring, struct grant, expiry_link);

    return first && first->expires_ms <= now_ms ? first : NULL;
}
