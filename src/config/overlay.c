/* SPDX-License-Identifier: Apache-2.0 */
#include "config/overlay.h"

#include "base/cleanup.h"
#include "config/config_priv.h"

enum { NAME_BYTES = 256, DEPTH = 4 };

/* Nothing here lets anybody in, gives rights, or could lock administrators out: bounds
 * and paces, which may be as wide as in the file. */
static const struct str live[] = {
    S("log"),
    S("topics.max"),
    S("topics.defaults.ring_messages"),
    S("topics.defaults.ring_bytes"),
    S("topics.defaults.proposal_expiry"),
    S("topics.defaults.presence_delay"),
    S("topics.defaults.max_members"),
    S("topics.defaults.announce_violations"),
    S("topics.defaults.loop_guard"),
    S("limits.rate_messages"),
    S("limits.rate_bytes"),
    S("limits.burst"),
    S("limits.rate_strikes"),
    S("limits.connections_per_participant"),
    S("limits.keepalive_timeout"),
    S("limits.ping_interval"),
    S("limits.pong_timeout"),
    S("limits.stall_timeout"),
    S("limits.wait_max"),
    S("limits.kick_bar"),
    S("limits.drain_timeout"),
    S("compression"),
    S("compression_min"),
};
_Static_assert(COUNT(live) <= CONFIG_OVERLAY_MAX);

bool config_is_live(struct str name)
{
    for (size_t i = 0; i < COUNT(live); i++)
        if (str_eq(live[i], name))
            return true;
    return false;
}

/* --- laying over --- */

static struct node *find(struct node *map, struct str key)
{
    for (struct node *at = map->first; at; at = at->next)
        if (str_eq(at->key, key))
            return at;
    return NULL;
}

static struct node *add(struct reader *reader, struct node *map, struct str key)
{
    struct node *node = arena_alloc(&reader->nodes, sizeof(*node));

    if (!node)
        return NULL;
    *node = (struct node){ .key = key, .mark = map->mark };
    node_append(map, node);
    return node;
}

static struct node *find_or_add(struct reader *reader, struct node *map, struct str key)
{
    struct node *node = find(map, key);

    return node ? node : add(reader, map, key);
}

/* What is no map in the file is told by whoever reads it. */
static enum err lay_over(struct reader *reader, struct node *root,
                         const struct config_setting *setting)
{
    struct str rest = setting->name;
    struct node *at = root;

    while (rest.len) {
        if (at->kind == NODE_TEXT && (at->is_null || !at->text.ptr))
            *at = (struct node){ .kind = NODE_MAP,
                                 .key = at->key,
                                 .mark = at->mark,
                                 .key_mark = at->key_mark,
                                 .parent = at->parent,
                                 .next = at->next };
        if (at->kind != NODE_MAP)
            return OK;
        at = find_or_add(reader, at, str_cut(&rest, '.'));
        if (!at)
            return ERR_TOO_BIG;
    }
    *at = (struct node){ .kind = NODE_TEXT,
                         .is_plain = true,
                         .text = setting->value,
                         .key = at->key,
                         .mark = {},
                         .key_mark = at->key_mark,
                         .parent = at->parent,
                         .next = at->next };
    return OK;
}

enum err overlay_put(struct reader *reader, const struct node **root,
                     const struct config_overlay *overlay)
{
    struct node *top = arena_alloc(&reader->nodes, sizeof(*top));

    if (!top)
        return ERR_TOO_BIG;
    *top = **root; /* that of an empty file is a constant */
    for (size_t i = 0; i < overlay->count; i++) {
        const struct config_setting *setting = &overlay->items[i];
        enum err err;

        if (!config_is_live(setting->name))
            return config_fail(reader->config, (struct config_mark){}, reader->problem,
                               "%s cannot be set while the server runs",
                               SHOWN(setting->name));
        err = lay_over(reader, top, setting);
        if (err)
            return err;
    }
    *root = top;
    return OK;
}

/* --- showing --- */

struct walk {
    void (*on_item)(void *user, const struct config_item *item);
    void *user;
    struct buf name, value, preset;
};

static const char *type_of(enum option_kind kind)
{
    static const char *const names[] = {
        [OPTION_COUNT] = "count",         [OPTION_SIZE] = "size",
        [OPTION_DURATION] = "duration",   [OPTION_RATE] = "rate",
        [OPTION_BYTE_RATE] = "byte_rate", [OPTION_BOOL] = "switch",
        [OPTION_CHOICE] = "choice",       [OPTION_TEXT] = "text",
        [OPTION_PATH] = "path",           [OPTION_PATHS] = "paths",
        [OPTION_TEXTS] = "texts",         [OPTION_MAP] = NULL,
    };

    return names[kind];
}

static bool is_list(const struct option *option)
{
    return option->kind == OPTION_TEXTS || option->kind == OPTION_PATHS;
}

/* Without the quotes that the file needs. */
static void put_plain(struct buf *out, const struct option *option, const void *object)
{
    const void *field = option_value(option, object);

    buf_clear(out);
    if (option->kind == OPTION_TEXT || option->kind == OPTION_PATH)
        buf_put(out, *(const struct str *)field);
    else
        option_put_value(out, option, field);
}

static void show_option(struct walk *walk, const struct option *option,
                        const void *object, const void *defaults)
{
    put_plain(&walk->value, option, object);
    put_plain(&walk->preset, option, defaults);
    walk->on_item(walk->user,
                  &(struct config_item){
                      .name = buf_str(&walk->name),
                      .type = type_of(option->kind),
                      .preset = option->preset,
                      .min = option->min,
                      .max = option->max,
                      .choices = option->choices,
                      .help = option->help,
                      .value = buf_str(&walk->value),
                      .is_list = is_list(option),
                      .is_given = !option_is_unset(option, object),
                      .is_preset = str_eq(buf_str(&walk->value), buf_str(&walk->preset)),
                      .is_live = config_is_live(buf_str(&walk->name)),
                      .needs_restart = option->needs_restart,
                  });
}

static void show_schema(struct walk *walk, const struct schema *schema,
                        const void *object, const void *defaults, size_t depth)
{
    size_t len = walk->name.len;

    for (size_t i = 0; i < schema->count; i++) {
        const struct option *option = &schema->options[i];

        if (len)
            buf_putc(&walk->name, '.');
        buf_put(&walk->name, str_of(option->name));
        if (option->kind == OPTION_SECTION && depth < DEPTH)
            show_schema(walk, option->schema, option_value(option, object),
                        option_value(option, defaults), depth + 1);
        else if (type_of(option->kind))
            show_option(walk, option, object, defaults);
        walk->name.len = len;
    }
}

void config_each_item(const struct config *config,
                      void (*on_item)(void *user, const struct config_item *item),
                      void *user)
{
    struct config *defaults = config_default();
    struct walk walk = { .on_item = on_item, .user = user };

    buf_init(&walk.name, NAME_BYTES);
    buf_init(&walk.value, CONFIG_FILE_MAX);
    buf_init(&walk.preset, CONFIG_FILE_MAX);
    show_schema(&walk, &config_schema, config, defaults, 0);
    buf_done(&walk.name);
    buf_done(&walk.value);
    buf_done(&walk.preset);
    config_free(defaults);
}
