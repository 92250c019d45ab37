/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/listing.h"

#include "base/cleanup.h"
#include "base/clock.h"

enum { TEXT_BYTES = 64 << 20 };

/* What a file of rules may say; whatever else stands there is the gateway's. */
static bool is_of_rule(struct str key)
{
    static const struct str names[] = {
        S("id"),          S("topic"),       S("state"),      S("proposer"),
        S("method"),      S("tool"),        S("to"),         S("arguments"),
        S("budget"),      S("expires_at"),  S("created_at"), S("created_by"),
        S("accepted_at"), S("accepted_by"), S("evidence"),   S("note"),
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eq(names[i], key))
            return true;
    return false;
}

/* The same list, as a file would have it. */
static void put_rules(struct buf *out, const struct json *list)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("rules"));
    json_array_open(&w);
    JSON_FOREACH(item, list) {
        json_object_open(&w);
        if (item->type == JSON_OBJECT)
            JSON_FOREACH(member, item)
                if (is_of_rule(member->key)) {
                    json_key(&w, member->key);
                    json_raw(&w, member->raw);
                }
        json_object_close(&w);
    }
    json_array_close(&w);
    json_object_close(&w);
}

static uint64_t number_of(const struct json *item, struct str key)
{
    const struct json *value = json_find(item, key);
    uint64_t number = 0;

    if (value && value->type == JSON_NUMBER)
        (void)str_to_u64(value->text, UINT64_MAX, &number);
    return number;
}

static uint64_t time_of(const struct json *item, struct str key)
{
    uint64_t ms = 0;

    (void)clock_parse(json_text(json_find(item, key)), &ms);
    return ms;
}

static struct listed_rule read_one(const struct json *item, const struct rule *rule)
{
    return (struct listed_rule){
        .rule = *rule,
        .raw = item->raw,
        .uses = number_of(item, S("uses")),
        .used_this_hour = number_of(item, S("used_this_hour")),
        .last_use_ms = time_of(item, S("last_use")),
        .changed_ms = time_of(item, S("changed_at")),
        .changed_by = json_text(json_find(item, S("changed_by"))),
        .reason = json_text(json_find(item, S("reason"))),
    };
}

static enum err read_list(const struct json *list, struct arena *arena,
                          struct listing *ret, struct rule_problem *problem)
{
    CLEANUP(buf_done) struct buf text;
    struct rule_list read = {};
    enum err err;

    buf_init(&text, TEXT_BYTES);
    put_rules(&text, list);
    if (text.is_full)
        return ERR_TOO_BIG;
    err = rules_read(buf_str(&text), arena, &read, problem);
    if (err)
        return err;
    ret->items = arena_alloc(arena, (read.count + 1) * sizeof(*ret->items));
    if (!ret->items)
        return ERR_TOO_BIG;
    JSON_FOREACH(item, list) {
        ret->items[ret->count] = read_one(item, &read.items[ret->count]);
        ret->count++;
    }
    return OK;
}

enum err listing_read(struct str body, struct arena *arena, struct listing *ret,
                      struct rule_problem *problem)
{
    struct str kept = arena_str(arena, body);
    const struct json *root, *list;
    struct listing read = {};
    struct str automation;
    enum err err;

    if (!kept.ptr)
        return ERR_TOO_BIG;
    err = json_parse(kept, arena, &root, NULL);
    if (err)
        return err;
    automation = json_text(json_find(root, S("automation")));
    list = json_find(root, S("rules"));
    if (!list || list->type != JSON_ARRAY ||
        (!str_eq(automation, S("on")) && !str_eq(automation, S("off"))))
        return ERR_INVALID;
    read.has_automation = str_eq(automation, S("on"));
    err = read_list(list, arena, &read, problem);
    if (!err)
        *ret = read;
    return err;
}
