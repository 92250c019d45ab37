/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/rights.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/xalloc.h"
#include "policy/capset.h"

struct rights_record {
    struct rights_key key; /* both in `text` */
    struct str name;       /* the key of the map: topic, slash, id */
    struct link grants;
    struct link strikes;
    size_t grant_count;
    size_t strike_count;
    size_t bytes;
    char text[];
};

struct rights {
    struct map records;
    struct link expiring; /* grants, by when they expire */
    uint64_t order;       /* of the last change */
    size_t topics_bytes;
};

/* A topic's name holds no slash; names are of any length, so the map's key is one text.
 */
enum { NAME_BYTES = 1024 };

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

static struct rights_record *record_find(const struct rights *rights,
                                         struct rights_key key)
{
    char name[NAME_BYTES];

    return map_find(&rights->records, write_name(key, name));
}

/* The record, made where there is none. */
static struct rights_record *record_of(struct rights *rights, struct rights_key key)
{
    struct rights_record *record = record_find(rights, key);
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

/* Counts texts towards the limits, or takes them off again. */
static void count_bytes(struct rights *rights, struct rights_record *record, size_t added,
                        size_t dropped)
{
    record->bytes += added - dropped;
    if (record->key.topic.len)
        rights->topics_bytes += added - dropped;
}

static bool has_space(const struct rights *rights, const struct rights_record *record,
                      size_t bytes)
{
    if (record->bytes + bytes > RIGHTS_RECORD_BYTES)
        return false;
    return record->key.topic.len == 0 ||
           rights->topics_bytes + bytes <= RIGHTS_TOPICS_BYTES;
}

static void end_strike(struct rights *rights, struct rights_record *record,
                       struct strike *strike)
{
    list_remove(&strike->link);
    record->strike_count--;
    count_bytes(rights, record, 0, strike->bytes);
    capability_free(strike->capability);
    free(strike);
}

static void free_grant(struct rights *rights, struct grant *grant)
{
    struct rights_record *record = grant->record;

    list_remove(&grant->link);
    list_remove(&grant->expiry_link);
    record->grant_count--;
    count_bytes(rights, record, 0, grant->bytes);
    for (size_t i = 0; i < grant->capabilities.count; i++)
        capability_free(grant->compiled[i]);
    free(grant);
}

/* A record that says nothing goes. */
static void settle(struct rights *rights, struct rights_record *record)
{
    if (record->grant_count || record->strike_count)
        return;
    (void)map_remove(&rights->records, record->name);
    free(record);
}

static void empty_record(struct rights *rights, struct rights_record *record)
{
    struct grant *grant;
    struct strike *strike;

    LIST_FOREACH(grant, &record->grants, link)
        free_grant(rights, grant);
    LIST_FOREACH(strike, &record->strikes, link)
        end_strike(rights, record, strike);
}

void rights_end(struct rights *rights, struct grant *grant)
{
    struct rights_record *record = grant->record;

    free_grant(rights, grant);
    settle(rights, record);
}

void rights_free(struct rights *rights)
{
    struct rights_record *record;

    if (!rights)
        return;
    MAP_FOREACH(record, &rights->records) {
        empty_record(rights, record);
        free(record);
    }
    map_done(&rights->records);
    free(rights);
}

/* A record of the participant in any topic, all of them included; or NULL. */
static struct rights_record *record_next(const struct rights *rights, struct str id,
                                         size_t *at)
{
    struct rights_record *record;

    while ((record = map_next(&rights->records, at)))
        if (str_eq(record->key.id, id))
            return record;
    return NULL;
}

void rights_forget(struct rights *rights, struct str id)
{
    struct rights_record *record;
    size_t at = 0;

    while ((record = record_next(rights, id, &at))) {
        empty_record(rights, record);
        settle(rights, record);
        at = 0; /* the table has changed */
    }
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

static void free_compiled(struct capability **compiled, size_t count)
{
    for (size_t i = 0; i < count; i++)
        capability_free(compiled[i]);
}

static enum err compile(struct str_list list, struct capability **ret)
{
    for (size_t i = 0; i < list.count; i++) {
        enum err err = capability_new(list.items[i], &ret[i], NULL);

        if (err) {
            free_compiled(ret, i);
            return err;
        }
    }
    return OK;
}

/* One block: the struct, the arrays, the texts. */
static enum err grant_new(const struct grant_terms *terms, struct grant **ret)
{
    size_t count = terms->capabilities.count;
    size_t bytes = terms->id.len + terms->granter.len + terms->reason.len +
                   bytes_of(terms->capabilities);
    struct grant *grant = xcalloc(
        1, sizeof(*grant) + count * (sizeof(struct str) + sizeof(struct capability *)) +
               bytes);
    char *at;
    enum err err;

    grant->compiled = (struct capability **)(grant + 1);
    grant->texts = (struct str *)(grant->compiled + count);
    at = (char *)(grant->texts + count);
    err = compile(terms->capabilities, grant->compiled);
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
    grant->created_ms = terms->created_ms;
    grant->expires_ms = terms->expires_ms;
    grant->max_uses = terms->max_uses;
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

static enum err may_add_grant(const struct rights *rights,
                              const struct rights_record *record,
                              const struct grant_terms *terms)
{
    size_t bytes = terms->id.len + terms->granter.len + terms->reason.len +
                   bytes_of(terms->capabilities);

    if (terms->capabilities.count > RIGHTS_MAX_CAPABILITIES)
        return ERR_TOO_BIG;
    if (rights_find(rights, record->key, terms->id))
        return ERR_CONFLICT;
    if (record->grant_count >= RIGHTS_MAX_GRANTS || !has_space(rights, record, bytes))
        return ERR_OVERLOAD;
    return OK;
}

enum err rights_grant(struct rights *rights, struct rights_key holder,
                      const struct grant_terms *terms)
{
    struct rights_record *record = record_of(rights, holder);
    struct grant *grant = NULL;
    enum err err = may_add_grant(rights, record, terms);

    if (!err)
        err = grant_new(terms, &grant);
    if (err) {
        settle(rights, record);
        return err;
    }
    grant->record = record;
    grant->holder = record->key;
    grant->order = ++rights->order;
    record->grant_count++;
    count_bytes(rights, record, grant->bytes, 0);
    list_append(&record->grants, &grant->link);
    await_expiry(rights, grant);
    return OK;
}

/* --- striking --- */

static bool strikes(const struct strike *strike, struct str text,
                    const struct capability *capability)
{
    if (strike->reach == STRIKE_SAME)
        return str_eq(strike->text, text);
    return capability_covers(strike->capability, capability);
}

static void strike_grant(struct grant *grant, const struct strike *strike)
{
    size_t kept = 0;

    for (size_t i = 0; i < grant->capabilities.count; i++) {
        if (strikes(strike, grant->texts[i], grant->compiled[i])) {
            capability_free(grant->compiled[i]);
            continue;
        }
        grant->texts[kept] = grant->texts[i];
        grant->compiled[kept++] = grant->compiled[i];
    }
    grant->capabilities.count = kept;
}

/* What was granted in this record loses what is struck; empty grants end. */
static void strike_grants(struct rights *rights, struct rights_record *record,
                          const struct strike *strike)
{
    struct grant *grant;

    LIST_FOREACH(grant, &record->grants, link) {
        strike_grant(grant, strike);
        if (grant->capabilities.count == 0)
            free_grant(rights, grant);
    }
}

/* What is struck in all topics is struck in each. */
static void strike_everywhere(struct rights *rights, const struct strike *strike,
                              struct str id)
{
    struct rights_record *record;
    size_t at = 0;

    while ((record = record_next(rights, id, &at)))
        strike_grants(rights, record, strike);
    at = 0;
    while ((record = record_next(rights, id, &at)))
        if (record->grant_count + record->strike_count == 0) {
            settle(rights, record);
            at = 0;
        }
}

static struct strike *find_strike(const struct rights_record *record, struct str text,
                                  enum strike_reach reach)
{
    struct strike *strike;

    LIST_FOREACH(strike, &record->strikes, link)
        if (strike->reach == reach && str_eq(strike->text, text))
            return strike;
    return NULL;
}

static size_t strike_bytes(const struct strike_terms *terms, struct str text)
{
    return text.len + terms->by.len + terms->reason.len;
}

static enum err strike_new(const struct strike_terms *terms, struct str text,
                           struct strike **ret)
{
    struct capability *capability;
    struct strike *strike;
    char *at;
    enum err err = capability_new(text, &capability, NULL);

    if (err)
        return err;
    strike = xcalloc(1, sizeof(*strike) + strike_bytes(terms, text));
    at = (char *)(strike + 1);
    strike->capability = capability;
    strike->text = keep(&at, text);
    strike->by = keep(&at, terms->by);
    strike->reason = keep(&at, terms->reason);
    strike->reach = terms->reach;
    strike->created_ms = terms->created_ms;
    strike->bytes = strike_bytes(terms, text);
    *ret = strike;
    return OK;
}

/* One that says the same as an earlier one takes its place. */
static void add_strike(struct rights *rights, struct rights_record *record,
                       struct strike *strike)
{
    struct strike *old = find_strike(record, strike->text, strike->reach);

    strike->order = ++rights->order;
    list_append(&record->strikes, &strike->link);
    record->strike_count++;
    count_bytes(rights, record, strike->bytes, 0);
    if (old)
        end_strike(rights, record, old);
    strike_grants(rights, record, strike);
    if (record->key.topic.len == 0)
        strike_everywhere(rights, strike, record->key.id);
}

static enum err may_add_strikes(const struct rights *rights,
                                const struct rights_record *record,
                                const struct strike_terms *terms)
{
    size_t count = record->strike_count;
    size_t bytes = 0;

    for (size_t i = 0; i < terms->capabilities.count; i++) {
        struct str text = terms->capabilities.items[i];

        if (find_strike(record, text, terms->reach))
            continue;
        count++;
        bytes += strike_bytes(terms, text);
    }
    return count > RIGHTS_MAX_STRIKES || !has_space(rights, record, bytes) ? ERR_OVERLOAD
                                                                           : OK;
}

enum err rights_strike(struct rights *rights, struct rights_key holder,
                       const struct strike_terms *terms)
{
    struct rights_record *record = record_of(rights, holder);
    enum err err = may_add_strikes(rights, record, terms);

    for (size_t i = 0; !err && i < terms->capabilities.count; i++) {
        struct strike *strike;

        err = strike_new(terms, terms->capabilities.items[i], &strike);
        if (!err)
            add_strike(rights, record, strike);
    }
    settle(rights, record);
    return err;
}

/* --- asking --- */

/* What was said in all topics, and here. */
struct view {
    const struct rights_record *said[2];
    uint64_t now_ms;
};

static struct view view_of(const struct rights *rights, struct rights_key who,
                           uint64_t now_ms)
{
    struct view view = { .now_ms = now_ms };

    view.said[0] = record_find(rights, (struct rights_key){ S(""), who.id });
    if (who.topic.len)
        view.said[1] = record_find(rights, who);
    return view;
}

bool rights_knows(const struct rights *rights, struct rights_key who)
{
    struct view view;

    if (rights->records.count == 0)
        return false;
    view = view_of(rights, who, 0);
    return view.said[0] || view.said[1];
}

/* Was this taken away after that point in the order? */
static bool is_struck(const struct view *view, struct str text,
                      const struct capability *capability, uint64_t order)
{
    const struct strike *strike;

    for (size_t i = 0; i < COUNT(view->said); i++) {
        if (!view->said[i])
            continue;
        LIST_FOREACH(strike, &view->said[i]->strikes, link)
            if (strike->order > order && strikes(strike, text, capability))
                return true;
    }
    return false;
}

static bool is_in_force(const struct view *view, const struct grant *grant)
{
    return !grant->max_uses && (!grant->expires_ms || view->now_ms < grant->expires_ms);
}

/* Whoever looks through what somebody holds; returns true to stop. Uses stand for
 * themselves and are not among them. */
struct visitor {
    bool (*on_held)(struct visitor *self, struct str text,
                    const struct capability *capability, uint64_t expires_ms);
};

static bool visit_own(const struct view *view, struct str_list own,
                      struct visitor *visitor)
{
    bool stops = false;

    for (size_t i = 0; !stops && i < own.count; i++) {
        struct capability *capability;

        if (capability_new(own.items[i], &capability, NULL))
            continue; /* was checked when it came in; else it is nothing */
        stops = !is_struck(view, own.items[i], capability, 0) &&
                visitor->on_held(visitor, own.items[i], capability, 0);
        capability_free(capability);
    }
    return stops;
}

static bool visit_grant(const struct view *view, const struct grant *grant,
                        struct visitor *visitor)
{
    for (size_t i = 0; i < grant->capabilities.count; i++) {
        struct str text = grant->texts[i];
        const struct capability *capability = grant->compiled[i];

        if (!is_struck(view, text, capability, grant->order) &&
            visitor->on_held(visitor, text, capability, grant->expires_ms))
            return true;
    }
    return false;
}

static void visit_grants(const struct view *view, struct visitor *visitor)
{
    const struct grant *grant;

    for (size_t i = 0; i < COUNT(view->said); i++) {
        if (!view->said[i])
            continue;
        LIST_FOREACH(grant, &view->said[i]->grants, link)
            if (is_in_force(view, grant) && visit_grant(view, grant, visitor))
                return;
    }
}

struct collector {
    struct visitor visitor;
    struct str *items;
    size_t count;
    size_t max;
};

static bool collect(struct visitor *visitor, struct str text, const struct capability *,
                    uint64_t)
{
    struct collector *collector = CONTAINER_OF(visitor, struct collector, visitor);

    for (size_t i = 0; i < collector->count; i++)
        if (str_eq(collector->items[i], text))
            return false;
    collector->items[collector->count++] = text;
    return collector->count == collector->max;
}

/* How many of its own and granted ones there may be. */
static size_t most_held(const struct view *view, struct str_list own)
{
    size_t count = own.count;
    const struct grant *grant;

    for (size_t i = 0; i < COUNT(view->said); i++) {
        if (!view->said[i])
            continue;
        LIST_FOREACH(grant, &view->said[i]->grants, link)
            count += grant->capabilities.count;
    }
    return count < CAPSET_MAX_PATTERNS ? count : CAPSET_MAX_PATTERNS;
}

enum err rights_in_force(const struct rights *rights, struct rights_key who,
                         struct str_list own, uint64_t now_ms, struct arena *arena,
                         struct str_list *ret)
{
    struct view view = view_of(rights, who, now_ms);
    struct collector collector = { .visitor = { collect }, .max = most_held(&view, own) };
    size_t kept;

    if (!view.said[0] && !view.said[1]) {
        *ret = own;
        return OK;
    }
    collector.items = arena_alloc(arena, (collector.max + 1) * sizeof(struct str));
    if (!collector.items)
        return ERR_TOO_BIG;
    if (collector.max == 0 || visit_own(&view, own, &collector.visitor)) {
        *ret = (struct str_list){ collector.items, collector.count };
        return OK;
    }
    kept = collector.count;
    visit_grants(&view, &collector.visitor);
    /* People read it: what is added stands where capset_edit() puts it. */
    return capset_edit(
        (struct str_list){ collector.items, kept },
        (struct str_list){ collector.items + kept, collector.count - kept },
        (struct str_list){}, arena, ret);
}

struct prover {
    struct visitor visitor;
    const struct capability *wanted;
    uint64_t until_ms; /* 0: for ever */
    bool is_shown;
};

static bool prove(struct visitor *visitor, struct str, const struct capability *held,
                  uint64_t expires_ms)
{
    struct prover *prover = CONTAINER_OF(visitor, struct prover, visitor);
    bool lasts = !expires_ms || (prover->until_ms && prover->until_ms <= expires_ms);

    prover->is_shown = lasts && capability_covers(held, prover->wanted);
    return prover->is_shown;
}

bool rights_may_give(const struct rights *rights, const struct rights_bearer *bearer,
                     const struct capability *wanted, uint64_t until_ms)
{
    struct view view = view_of(rights, bearer->who, bearer->now_ms);
    struct prover prover = { .visitor = { prove },
                             .wanted = wanted,
                             .until_ms = until_ms };

    if (!visit_own(&view, bearer->own, &prover.visitor))
        visit_grants(&view, &prover.visitor);
    return prover.is_shown;
}

bool rights_covers(const struct rights *rights, const struct rights_bearer *bearer,
                   const struct capability *wanted)
{
    return rights_may_give(rights, bearer, wanted, 1); /* whatever holds now will do */
}

/* An envelope in search of a grant. */
struct use {
    struct str kind;
    struct json_span payload;
    struct arena *scratch;
};

static bool may_use(const struct view *view, const struct grant *grant,
                    const struct use *use)
{
    if (!grant->max_uses || grant_is_used_up(grant) ||
        (grant->expires_ms && view->now_ms >= grant->expires_ms))
        return false;
    for (size_t i = 0; i < grant->capabilities.count; i++)
        if (!is_struck(view, grant->texts[i], grant->compiled[i], grant->order) &&
            capability_allows(grant->compiled[i], use->kind, use->payload, use->scratch))
            return true;
    return false;
}

struct grant *rights_limited(const struct rights *rights, struct rights_key who,
                             struct str kind, struct json_span payload,
                             struct arena *scratch, uint64_t now_ms)
{
    struct use use = { kind, payload, scratch };
    struct view view;
    struct grant *grant;

    if (rights->records.count == 0)
        return NULL;
    view = view_of(rights, who, now_ms);
    for (size_t i = 0; i < COUNT(view.said); i++) {
        if (!view.said[i])
            continue;
        LIST_FOREACH(grant, &view.said[i]->grants, link)
            if (may_use(&view, grant, &use))
                return grant;
    }
    return NULL;
}

/* --- walking --- */

struct grant *rights_next_grant(const struct rights *rights, struct rights_key holder,
                                const struct grant *after)
{
    const struct rights_record *record =
        after ? after->record : record_find(rights, holder);
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
    const struct rights_record *record = record_find(rights, holder);
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
    const struct rights_record *record = record_next(rights, id, at);

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
