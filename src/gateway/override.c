/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/override.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* The key is the topic, a slash (which no topic name holds), and the id. */
struct override {
    struct str_list list;
    struct str key;
    struct str id;
    struct str items[];
};

enum { KEY_BYTES = 1024 };

static struct str write_key(struct str topic, struct str id, char out[static KEY_BYTES])
{
    assert(topic.len + 1 + id.len <= KEY_BYTES); /* both were checked at the door */
    memcpy(out, topic.ptr, topic.len);
    out[topic.len] = '/';
    memcpy(out + topic.len + 1, id.ptr, id.len);
    return (struct str){ out, topic.len + 1 + id.len };
}

static size_t text_size(struct str_list list)
{
    size_t size = 0;

    for (size_t i = 0; i < list.count; i++)
        size += list.items[i].len;
    return size;
}

static struct str keep(char **at, struct str s)
{
    struct str kept = { memcpy(*at, s.ptr, s.len), s.len };

    *at += s.len;
    return kept;
}

void override_set(struct map *overrides, struct str topic, struct str id,
                  struct str_list capabilities)
{
    char text[KEY_BYTES];
    struct str key = write_key(topic, id, text);
    size_t items = capabilities.count * sizeof(struct str);
    struct override *made =
        xmalloc(sizeof(*made) + items + key.len + text_size(capabilities));
    char *at = (char *)made->items + items;

    made->key = keep(&at, key);
    made->id = str_slice(made->key, topic.len + 1, key.len);
    for (size_t i = 0; i < capabilities.count; i++)
        made->items[i] = keep(&at, capabilities.items[i]);
    made->list = (struct str_list){ made->items, capabilities.count };
    free(map_remove(overrides, key));
    map_set(overrides, made->key, made);
}

const struct str_list *override_find(const struct map *overrides, struct str topic,
                                     struct str id)
{
    char text[KEY_BYTES];
    const struct override *found = map_find(overrides, write_key(topic, id, text));

    if (!found)
        found = map_find(overrides, write_key(S(""), id, text));
    return found ? &found->list : NULL;
}

static struct override *find_topic_override(const struct map *overrides, struct str id)
{
    struct override *found;

    MAP_FOREACH(found, overrides)
        if (str_eq(found->id, id) && found->key.ptr[0] != '/')
            return found;
    return NULL;
}

void override_clear_topics(struct map *overrides, struct str id)
{
    struct override *found;

    while ((found = find_topic_override(overrides, id))) {
        (void)map_remove(overrides, found->key);
        free(found);
    }
}

void override_forget(struct map *overrides, struct str id)
{
    char text[KEY_BYTES];

    override_clear_topics(overrides, id);
    free(map_remove(overrides, write_key(S(""), id, text)));
}

void overrides_done(struct map *overrides)
{
    struct override *found;

    MAP_FOREACH(found, overrides)
        free(found);
    map_done(overrides);
}
