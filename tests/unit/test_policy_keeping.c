/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of rights, put back into other tables: random changes in two tables, as
 * two workers make them, and after every few of them a restart with one table or two. All
 * must hold what it held before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "harness.h"
#include "policy/holding.h"
#include "policy/keeping.h"

enum { SHELF = 512, CAPABILITIES = 8, TABLES = 2 };

/* One thing on the shelf. */
struct kept {
    bool is_grant;
    char topic[8], holder[8], id[32], texts[CAPABILITIES][64];
    size_t count;
    uint64_t order, created_ms, expires_ms, max_uses, uses;
    enum strike_reach reach;
    enum rights_origin origin;
};

struct shelf {
    struct kept items[SHELF];
    size_t count;
};

/* A worker's table: of all topics, only the first writes. */
struct table {
    struct rights *rights;
    struct rights_keeper keeper;
    struct shelf *shelf;
    bool is_first;
};

static void copy(char *to, size_t size, struct str from)
{
    CHECK(from.len < size);
    memcpy(to, from.ptr, from.len);
    to[from.len] = '\0';
}

static void shelve(struct shelf *shelf, const struct kept *item, enum keeping what)
{
    size_t at = 0;

    while (at < shelf->count && (shelf->items[at].order != item->order ||
                                 strcmp(shelf->items[at].topic, item->topic) != 0))
        at++;
    if (what == KEEP) {
        CHECK(at < SHELF);
        shelf->items[at] = *item;
        shelf->count += at == shelf->count;
    } else if (at < shelf->count) {
        shelf->items[at] = shelf->items[--shelf->count];
    }
}

static struct table *table_of(const struct rights_keeper *self)
{
    return CONTAINER_OF((uintptr_t)self, struct table, keeper); /* drops const */
}

static void on_grant(const struct rights_keeper *self, const struct grant *grant,
                     enum keeping what)
{
    struct table *table = table_of(self);
    struct kept item = { .is_grant = true,
                         .count = grant->capabilities.count,
                         .order = grant->order,
                         .created_ms = grant->created_ms,
                         .expires_ms = grant->expires_ms,
                         .max_uses = grant->max_uses,
                         .uses = grant->uses,
                         .origin = grant->origin };

    if (!table->is_first && grant->holder.topic.len == 0)
        return;
    copy(item.topic, sizeof(item.topic), grant->holder.topic);
    copy(item.holder, sizeof(item.holder), grant->holder.id);
    copy(item.id, sizeof(item.id), grant->id);
    for (size_t i = 0; i < item.count; i++)
        copy(item.texts[i], sizeof(item.texts[i]), grant->capabilities.items[i]);
    shelve(table->shelf, &item, what);
}

static void on_strike(const struct rights_keeper *self, struct rights_key holder,
                      const struct strike *strike, enum keeping what)
{
    struct table *table = table_of(self);
    struct kept item = { .count = 1,
                         .order = strike->order,
                         .created_ms = strike->created_ms,
                         .reach = strike->reach,
                         .origin = strike->origin };

    if (!table->is_first && holder.topic.len == 0)
        return;
    copy(item.topic, sizeof(item.topic), holder.topic);
    copy(item.holder, sizeof(item.holder), holder.id);
    copy(item.texts[0], sizeof(item.texts[0]), strike->text);
    shelve(table->shelf, &item, what);
}

static struct table *table_new(struct shelf *shelf, bool is_first)
{
    struct table *table = xcalloc(1, sizeof(*table));

    *table = (struct table){ .rights = rights_new(),
                             .keeper = { .grant = on_grant, .strike = on_strike },
                             .shelf = shelf,
                             .is_first = is_first };
    return table;
}

static void table_free(struct table *table)
{
    rights_free(table->rights);
    free(table);
}

/* --- a restart --- */

static int by_name(const void *a, const void *b)
{
    const struct kept *one = a;
    const struct kept *other = b;
    int topic = strcmp(one->topic, other->topic);

    return topic ? topic : (one->order > other->order) - (one->order < other->order);
}

static enum err put_back(struct rights *rights, const struct kept *item)
{
    struct rights_key holder = { str_of(item->topic), str_of(item->holder) };
    struct str texts[CAPABILITIES];
    struct str_list list = { texts, item->count };

    for (size_t i = 0; i < item->count; i++)
        texts[i] = str_of(item->texts[i]);
    if (item->is_grant)
        return rights_restore_grant(rights, holder,
                                    &(struct grant_terms){ .id = str_of(item->id),
                                                           .granter = S("boss"),
                                                           .capabilities = list,
                                                           .order = item->order,
                                                           .created_ms = item->created_ms,
                                                           .expires_ms = item->expires_ms,
                                                           .max_uses = item->max_uses,
                                                           .origin = item->origin },
                                    item->uses);
    return rights_restore_strike(rights, holder,
                                 &(struct strike_terms){ .by = S("boss"),
                                                         .capabilities = list,
                                                         .reach = item->reach,
                                                         .order = item->order,
                                                         .created_ms = item->created_ms,
                                                         .origin = item->origin });
}

/* Topic "a" lives on the first, all others on the last of the tables. */
static struct table *home_of(struct table *const *tables, size_t count, const char *topic)
{
    return tables[strcmp(topic, "a") == 0 ? 0 : count - 1];
}

static void restore(struct table **tables, size_t count, struct shelf *shelf)
{
    uint64_t order = 0;

    qsort(shelf->items, shelf->count, sizeof(shelf->items[0]), by_name);
    for (size_t i = 0; i < shelf->count; i++)
        for (size_t t = 0; t < count; t++)
            if (!shelf->items[i].topic[0] ||
                tables[t] == home_of(tables, count, shelf->items[i].topic))
                CHECK_INT(put_back(tables[t]->rights, &shelf->items[i]), OK);
    for (size_t i = 0; i < shelf->count; i++)
        order = shelf->items[i].order > order ? shelf->items[i].order : order;
    for (size_t t = 0; t < count; t++) {
        rights_set_keeper(tables[t]->rights, &tables[t]->keeper);
        (void)rights_restored(tables[t]->rights, order);
    }
}

/* --- random changes --- */

static const struct str vocabulary[] = {
    S("chat"),           S("mcp/*"), S("mcp/request:*"), S("mcp/request:tools/call"),
    S("mcp/response:*"), S("x/*"),   S("x/y"),           S("participant/pause"),
};
static const char *const topics[] = { "", "a", "b" };
static const char *const ids[] = { "bot", "eve" };

struct world {
    struct shelf shelf;
    struct table *tables[TABLES];
    size_t count;
    uint64_t random, now_ms, grants;
};

static size_t draw(struct world *w, size_t below)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(w->random >> 33) % below;
}

static size_t draw_list(struct world *w, struct str out[static CAPABILITIES])
{
    size_t count = 1 + draw(w, 3);

    for (size_t i = 0; i < count; i++)
        out[i] = vocabulary[draw(w, COUNT(vocabulary))];
    return count;
}

/* What is said of all topics is decided by the first, and made on the others, too. */
static void say_grant(struct world *w, struct rights_key who)
{
    struct str list[CAPABILITIES];
    char id[32];
    struct grant_terms terms = { .id = { id, 0 },
                                 .granter = S("boss"),
                                 .capabilities = { list, draw_list(w, list) },
                                 .created_ms = w->now_ms,
                                 .max_uses = draw(w, 4) && who.topic.len ? draw(w, 3) : 0,
                                 .expires_ms = draw(w, 3) ? 0 : w->now_ms + draw(w, 50),
                                 .origin = (enum rights_origin)draw(w, 2) };

    terms.id.len =
        (size_t)snprintf(id, sizeof(id), "g-%llu", (unsigned long long)++w->grants);
    if (who.topic.len) {
        (void)rights_grant(home_of(w->tables, w->count, who.topic.ptr)->rights, who,
                           &terms);
        return;
    }
    terms.order = rights_reserve(w->tables[0]->rights, w->now_ms, 1);
    for (size_t t = 0; t < w->count; t++)
        (void)rights_grant(w->tables[t]->rights, who, &terms);
}

static void say_strike(struct world *w, struct rights_key who)
{
    struct str list[CAPABILITIES];
    struct strike_terms terms = { .by = S("boss"),
                                  .capabilities = { list, draw_list(w, list) },
                                  .reach = (enum strike_reach)draw(w, 2),
                                  .created_ms = w->now_ms,
                                  .origin = (enum rights_origin)draw(w, 2) };

    if (who.topic.len) {
        (void)rights_strike(home_of(w->tables, w->count, who.topic.ptr)->rights, who,
                            &terms);
        return;
    }
    terms.order =
        rights_reserve(w->tables[0]->rights, w->now_ms, terms.capabilities.count);
    for (size_t t = 0; t < w->count; t++)
        (void)rights_strike(w->tables[t]->rights, who, &terms);
}

static void use_or_end(struct world *w, struct rights_key who)
{
    struct table *home = home_of(w->tables, w->count, who.topic.ptr);
    struct grant *grant = rights_next_grant(home->rights, who, NULL);

    if (!grant || who.topic.len == 0)
        return;
    if (grant->max_uses && grant->uses < grant->max_uses && draw(w, 3))
        rights_use(home->rights, grant);
    else
        rights_end(home->rights, grant);
}

static void change(struct world *w)
{
    struct rights_key who = { str_of(topics[draw(w, COUNT(topics))]),
                              str_of(ids[draw(w, COUNT(ids))]) };
    struct grant *over;

    w->now_ms += draw(w, 3);
    for (size_t t = 0; t < w->count; t++)
        while ((over = rights_expired(w->tables[t]->rights, w->now_ms)))
            rights_end(w->tables[t]->rights, over);
    switch (draw(w, 5)) {
    case 0:
    case 1: say_strike(w, who); break;
    case 2: use_or_end(w, who); break;
    default: say_grant(w, who); break;
    }
}

/* --- the same as before? --- */

/* What is not in force, but stands there. */
static size_t sum_up(const struct rights *rights, struct rights_key who)
{
    const struct strike *strike = NULL;
    const struct grant *grant = NULL;
    size_t sum = 0;

    while ((strike = rights_next_strike(rights, who, strike)))
        sum++;
    while ((grant = rights_next_grant(rights, who, grant)))
        sum = 31 * sum + grant->uses + 7 * grant->max_uses + grant->expires_ms;
    return sum;
}

static void compare(const struct rights *was, const struct rights *is,
                    struct rights_key who, uint64_t now_ms)
{
    static const struct str_list own = { vocabulary, COUNT(vocabulary) };
    struct arena arena;
    struct str_list a, b;

    arena_init(&arena, 1 << 20);
    CHECK_INT(rights_in_force(was, who, own, now_ms, &arena, &a), OK);
    CHECK_INT(rights_in_force(is, who, own, now_ms, &arena, &b), OK);
    CHECK_INT(b.count, a.count);
    for (size_t i = 0; i < a.count && i < b.count; i++)
        CHECK_STR(b.items[i], a.items[i]);
    CHECK_INT(rights_lasts_until(is, who, now_ms), rights_lasts_until(was, who, now_ms));
    CHECK_INT(sum_up(is, who), sum_up(was, who));
    arena_done(&arena);
}

static void restart(struct world *w)
{
    struct table *old[TABLES];
    size_t old_count = w->count;

    memcpy(old, w->tables, sizeof(old));
    w->count = 1 + draw(w, TABLES);
    for (size_t t = 0; t < w->count; t++)
        w->tables[t] = table_new(&w->shelf, t == 0);
    restore(w->tables, w->count, &w->shelf);
    for (size_t t = 0; t < COUNT(topics); t++)
        for (size_t i = 0; i < COUNT(ids); i++)
            compare(home_of(old, old_count, topics[t])->rights,
                    home_of(w->tables, w->count, topics[t])->rights,
                    (struct rights_key){ str_of(topics[t]), str_of(ids[i]) }, w->now_ms);
    for (size_t t = 0; t < old_count; t++)
        table_free(old[t]);
}

TEST(whatever_was_said_holds_after_a_restart_with_any_number_of_tables)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct world *w = xcalloc(1, sizeof(*w));

        w->random = seed * 2654435761u;
        w->now_ms = 1000;
        w->count = TABLES;
        for (size_t t = 0; t < w->count; t++) {
            w->tables[t] = table_new(&w->shelf, t == 0);
            rights_set_keeper(w->tables[t]->rights, &w->tables[t]->keeper);
        }
        for (size_t i = 0; i < 60; i++) {
            change(w);
            if (i % 7 == 0)
                restart(w);
        }
        for (size_t t = 0; t < w->count; t++)
            table_free(w->tables[t]);
        free(w);
    }
}

/* --- single cases --- */

#define BOT(topic) ((struct rights_key){ S(topic), S("bot") })

static enum err bring_grant(struct rights *rights, struct rights_key who, struct str id,
                            uint64_t order)
{
    static const struct str items[] = { S("chat"), S("x/y") };

    return rights_restore_grant(
        rights, who,
        &(struct grant_terms){ .id = id, .capabilities = { items, 2 }, .order = order },
        0);
}

static enum err bring_strike(struct rights *rights, struct rights_key who,
                             struct str capability, uint64_t order)
{
    return rights_restore_strike(
        rights, who,
        &(struct strike_terms){ .capabilities = { &capability, 1 }, .order = order });
}

TEST(what_cannot_have_been_kept_is_refused)
{
    struct rights *rights = rights_new();
    static const struct str two[] = { S("chat"), S("x/y") };

    CHECK_INT(bring_grant(rights, BOT("a"), S("g"), 5), OK);
    CHECK_INT(bring_grant(rights, BOT("a"), S("g"), 6), ERR_CONFLICT);
    CHECK_INT(bring_grant(rights, BOT("a"), S("h"), 5), ERR_INVALID);
    CHECK_INT(rights_restore_grant(rights, BOT("a"),
                                   &(struct grant_terms){ .id = S("i"), .order = 9 }, 0),
              ERR_INVALID);
    CHECK_INT(bring_strike(rights, BOT("a"), S("{\"kind\":1}"), 7), ERR_INVALID);
    CHECK_INT(bring_strike(rights, BOT("a"), S("chat"), 7), OK);
    CHECK_INT(bring_strike(rights, BOT("a"), S("x/y"), 7), ERR_INVALID);
    CHECK_INT(rights_restore_strike(
                  rights, BOT("a"),
                  &(struct strike_terms){ .capabilities = { two, 2 }, .order = 9 }),
              ERR_INVALID);
    rights_free(rights);
}

TEST(a_record_takes_back_no_more_grants_than_it_may_have)
{
    struct rights *rights = rights_new();
    char id[16];

    for (size_t i = 1; i <= RIGHTS_MAX_GRANTS + 1; i++) {
        (void)snprintf(id, sizeof(id), "g%zu", i);
        CHECK_INT(bring_grant(rights, BOT("a"), str_of(id), i),
                  i <= RIGHTS_MAX_GRANTS ? OK : ERR_OVERLOAD);
    }
    rights_free(rights);
}

TEST(a_strike_for_all_topics_reaches_those_that_had_not_heard_of_it)
{
    struct shelf shelf = {};
    struct table *table = table_new(&shelf, true);
    struct rights *rights = table->rights;

    CHECK_INT(bring_grant(rights, BOT("a"), S("before"), 5), OK);
    CHECK_INT(bring_strike(rights, BOT(""), S("chat"), 6), OK);
    CHECK_INT(bring_grant(rights, BOT("a"), S("after"), 7), OK);
    rights_set_keeper(rights, &table->keeper);
    CHECK_INT(rights_restored(rights, 3), 7);
    CHECK_INT(rights_find(rights, BOT("a"), S("before"))->capabilities.count, 1);
    CHECK_INT(rights_find(rights, BOT("a"), S("after"))->capabilities.count, 2);
    CHECK_INT(shelf.count, 1); /* and that is kept */
    CHECK_INT(shelf.items[0].count, 1);
    table_free(table);
}

TEST(what_comes_next_stands_behind_all_that_was_restored)
{
    struct rights *rights = rights_new();

    CHECK_INT(bring_grant(rights, BOT("a"), S("g"), 1ull << 50), OK);
    (void)rights_restored(rights, 1ull << 51);
    CHECK(rights_reserve(rights, 1, 1) > 1ull << 51);
    rights_free(rights);
}

TEST(the_end_of_a_table_ends_nothing_that_is_kept)
{
    struct shelf shelf = {};
    struct table *table = table_new(&shelf, true);
    static const struct str items[] = { S("chat") };

    rights_set_keeper(table->rights, &table->keeper);
    CHECK_INT(
        rights_grant(table->rights, BOT("a"),
                     &(struct grant_terms){ .id = S("g"), .capabilities = { items, 1 } }),
        OK);
    table_free(table);
    CHECK_INT(shelf.count, 1);
}

TEST(restored_grants_expire_the_next_first)
{
    static const uint64_t times[] = { 300, 100, 0, 200 };
    static const struct str items[] = { S("chat") };
    struct rights *rights = rights_new();
    char id[16];

    for (size_t i = 0; i < COUNT(times); i++) {
        (void)snprintf(id, sizeof(id), "g%zu", i);
        CHECK_INT(
            rights_restore_grant(rights, BOT("a"),
                                 &(struct grant_terms){ .id = str_of(id),
                                                        .capabilities = { items, 1 },
                                                        .order = i + 1,
                                                        .expires_ms = times[i] },
                                 0),
            OK);
    }
    (void)rights_restored(rights, 0);
    for (uint64_t ms = 100; ms <= 300; ms += 100) {
        CHECK_INT(rights_next_expiry(rights), ms);
        rights_end(rights, rights_expired(rights, ms));
    }
    CHECK_INT(rights_next_expiry(rights), UINT64_MAX);
    rights_free(rights);
}
