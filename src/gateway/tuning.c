/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/tuning.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "json/json.h"

enum { ITEM_BYTES = 16 << 10 };

static void tuned_done(struct tuned *tuned)
{
    free(tuned->name);
    free(tuned->value);
    free(tuned->by);
}

void tuning_done(struct tuning *t)
{
    for (size_t i = 0; i < t->count; i++)
        tuned_done(&t->items[i]);
    *t = (struct tuning){};
}

void tuning_copy(struct tuning *to, const struct tuning *from)
{
    *to = (struct tuning){ .count = from->count };
    for (size_t i = 0; i < from->count; i++)
        to->items[i] = (struct tuned){ .name = xstrdup(from->items[i].name),
                                       .value = xstrdup(from->items[i].value),
                                       .by = xstrdup(from->items[i].by),
                                       .at_ms = from->items[i].at_ms };
}

static size_t index_of(const struct tuning *t, struct str name)
{
    size_t i = 0;

    while (i < t->count && !str_eq(str_of(t->items[i].name), name))
        i++;
    return i;
}

const struct tuned *tuning_find(const struct tuning *t, struct str name)
{
    size_t i = index_of(t, name);

    return i < t->count ? &t->items[i] : NULL;
}

void tuning_set(struct tuning *t, const struct config_setting *setting, struct str by,
                uint64_t at_ms)
{
    size_t i = index_of(t, setting->name);

    if (i == CONFIG_OVERLAY_MAX || !config_is_live(setting->name))
        return;
    if (i < t->count)
        tuned_done(&t->items[i]);
    else
        t->count++;
    t->items[i] = (struct tuned){ .name = str_dup(setting->name),
                                  .value = str_dup(setting->value),
                                  .by = str_dup(by),
                                  .at_ms = at_ms };
}

void tuning_remove(struct tuning *t, struct str name)
{
    size_t i = index_of(t, name);

    if (i == t->count)
        return;
    tuned_done(&t->items[i]);
    for (t->count--; i < t->count; i++)
        t->items[i] = t->items[i + 1];
}

struct config_overlay tuning_overlay(const struct tuning *t,
                                     struct config_setting items[CONFIG_OVERLAY_MAX])
{
    for (size_t i = 0; i < t->count; i++)
        items[i] = (struct config_setting){ str_of(t->items[i].name),
                                            str_of(t->items[i].value) };
    return (struct config_overlay){ items, t->count };
}

/* --- keeping --- */

struct kept_tuned {
    struct str value;
    struct str by;
    uint64_t at;
};

void tuned_write(const struct tuned *tuned, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("value"), str_of(tuned->value));
    json_put_str(&w, S("by"), str_of(tuned->by));
    json_put_uint(&w, S("at"), tuned->at_ms);
    json_object_close(&w);
}

static void on_item(void *user, const struct store_item *item)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct kept_tuned, value, JSON_REQUIRED),
        JSON_FIELD(struct kept_tuned, by, JSON_REQUIRED),
        JSON_FIELD(struct kept_tuned, at, JSON_REQUIRED),
    };
    struct kept_tuned kept = {};
    const struct json *root;
    struct arena arena;

    arena_init(&arena, ITEM_BYTES);
    if (config_is_live(item->key) && !json_parse(item->value, &arena, &root, NULL) &&
        !json_read(root, fields, COUNT(fields), &arena, &kept, NULL))
        tuning_set(user, &(struct config_setting){ item->key, kept.value }, kept.by,
                   kept.at);
    else
        log_warn("setting.skip", "name=%s", LOG_TEXT(item->key));
    arena_done(&arena);
}

enum err tuning_restore(struct tuning *t, struct store *store)
{
    return store_item_each(store, STORE_SETTING, on_item, t);
}
