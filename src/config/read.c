/* SPDX-License-Identifier: Apache-2.0 */
/* From the tree to the structs, by the option tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "config/config_priv.h"

/* As every { items, count } member is laid out. */
struct items {
    const void *items;
    size_t count;
};

/* How every struct in a list or map begins. */
struct entry {
    struct config_mark mark;
    struct str name;
};
_Static_assert(offsetof(struct config_topic, name) == offsetof(struct entry, name));
_Static_assert(offsetof(struct config_token, name) == offsetof(struct entry, name));
_Static_assert(offsetof(struct config_profile, name) == offsetof(struct entry, name));
_Static_assert(offsetof(struct config_server, name) == offsetof(struct entry, name));
_Static_assert(offsetof(struct config_policy_row, name) == offsetof(struct entry, name));
_Static_assert(offsetof(struct config_gate_rule, name) == offsetof(struct entry, name));
_Static_assert(offsetof(struct config_mcp_file, name) == offsetof(struct entry, name));

#define FAIL(reader, where, ...) \
    config_fail((reader)->config, (where), (reader)->problem, __VA_ARGS__)

static enum err read_mapping(struct reader *reader, const struct schema *schema,
                             const struct node *node, void *object);

/* Memory of the config; NULL above its maximum, and then *ret_err says so. */
static void *take(struct reader *reader, const struct node *node, size_t size,
                  enum err *ret_err)
{
    void *memory = arena_alloc(&reader->config->arena, size);

    if (!memory) {
        (void)FAIL(reader, node->mark, "the file is too large");
        *ret_err = ERR_TOO_BIG;
    }
    return memory;
}

static enum err fail_expected(struct reader *reader, const struct option *option,
                              const struct node *node)
{
    if (node->kind == NODE_TEXT && !node->is_null && option->kind != OPTION_SECRET)
        return FAIL(reader, node->mark, "%s must be %s, not %s", option->name,
                    option_noun(option->kind), SHOWN(node->text));
    return FAIL(reader, node->mark, "%s must be %s", option->name,
                option_noun(option->kind));
}

static bool is_text(const struct node *node)
{
    return node->kind == NODE_TEXT && !node->is_null;
}

static enum err check_bounds(struct reader *reader, const struct option *option,
                             const struct node *node, uint64_t value)
{
    uint64_t min = 0;
    uint64_t max = UINT64_MAX;

    if (option->min)
        (void)number_parse(option->kind, str_of(option->min), &min);
    if (option->max)
        (void)number_parse(option->kind, str_of(option->max), &max);
    if (value >= min && value <= max)
        return OK;
    return FAIL(reader, node->mark, "%s must be between %s and %s, not %s", option->name,
                option->min, option->max, SHOWN(node->text));
}

static enum err read_number(struct reader *reader, const struct option *option,
                            const struct node *node, void *field)
{
    uint64_t value = 0;
    enum err err = OK;

    if (!is_text(node))
        return fail_expected(reader, option, node);
    if (!option->word || !str_eq(node->text, str_of(option->word))) {
        if (number_parse(option->kind, node->text, &value))
            return fail_expected(reader, option, node);
        err = check_bounds(reader, option, node, value);
    }
    if (err)
        return err;
    *(uint64_t *)field = value;
    return OK;
}

/* The position of a word, or -1. */
static int find_choice(const char *const *choices, struct str word)
{
    for (int i = 0; choices[i]; i++)
        if (str_eq(word, str_of(choices[i])))
            return i;
    return -1;
}

static enum err fail_choice(struct reader *reader, const struct option *option,
                            const struct node *node)
{
    char list[128] = "";
    size_t len = 0;

    if (!is_text(node))
        return fail_expected(reader, option, node);
    for (size_t i = 0; option->choices[i] && len < sizeof(list); i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
                                option->choices[i]);
    return FAIL(reader, node->mark, "%s must be one of %s, not %s", option->name, list,
                SHOWN(node->text));
}

static enum err read_choice(struct reader *reader, const struct option *option,
                            const struct node *node, void *field)
{
    int choice = is_text(node) ? find_choice(option->choices, node->text) : -1;

    if (choice < 0)
        return fail_choice(reader, option, node);
    *(int *)field = choice;
    return OK;
}

/* 0 or 1, or -1 for anything else. Some options take on and off as well. */
static int parse_bool(const struct option *option, const struct node *node)
{
    static const char *const false_true[] = { "false", "true", NULL };
    int choice = is_text(node) ? find_choice(false_true, node->text) : -1;

    if (choice < 0 && is_text(node) && option->choices)
        choice = find_choice(option->choices, node->text);
    return choice;
}

static enum err read_bool(struct reader *reader, const struct option *option,
                          const struct node *node, void *field)
{
    int choice = parse_bool(option, node);

    if (choice < 0 && option->choices)
        return fail_choice(reader, option, node);
    if (choice < 0)
        return fail_expected(reader, option, node);
    *(bool *)field = choice;
    return OK;
}

static enum err read_switch(struct reader *reader, const struct option *option,
                            const struct node *node, void *field)
{
    int choice = parse_bool(option, node);

    if (choice < 0)
        return fail_expected(reader, option, node);
    *(enum config_switch *)field = choice ? CONFIG_ON : CONFIG_OFF;
    return OK;
}

static enum err read_text(struct reader *reader, const struct option *option,
                          const struct node *node, void *field)
{
    if (!is_text(node))
        return fail_expected(reader, option, node);
    if (node->text.len == 0)
        return FAIL(reader, node->mark, "%s must not be empty", option->name);
    if (option->choices && find_choice(option->choices, node->text) < 0)
        return fail_choice(reader, option, node);
    *(struct str *)field = node->text;
    return OK;
}

enum err resolve_path(struct reader *reader, const struct node *node, struct str path,
                      struct str *ret)
{
    enum err err = OK;
    size_t size;
    char *full;

    while (str_starts(path, S("./")))
        path = str_slice(path, 2, path.len);
    if (path.len == 0)
        path = S(".");
    if (path.ptr[0] != '/' && reader->base_dir) {
        size = strlen(reader->base_dir) + 1 + path.len + 1;
        full = take(reader, node, size, &err);
        if (!full)
            return err;
        (void)snprintf(full, size, "%s/" STR_FMT, reader->base_dir, STR_ARG(path));
        path = str_of(full);
    }
    *ret = path;
    return OK;
}

static enum err read_path(struct reader *reader, const struct option *option,
                          const struct node *node, void *field)
{
    struct str path = {};
    enum err err = read_text(reader, option, node, &path);

    return err ? err : resolve_path(reader, node, path, field);
}

static enum err read_time(struct reader *reader, const struct option *option,
                          const struct node *node, void *field)
{
    if (!is_text(node) || clock_parse(node->text, field))
        return fail_expected(reader, option, node);
    return OK;
}

/* A mapping among texts, as JSON. */
static enum err read_json(struct reader *reader, const struct node *node, struct str *ret)
{
    struct buf out;

    buf_init(&out, CONFIG_FILE_MAX);
    node_put_json(node, &out);
    *ret = arena_str(&reader->config->arena, buf_str(&out));
    buf_done(&out);
    if (ret->ptr)
        return OK;
    (void)FAIL(reader, node->mark, "the file is too large");
    return ERR_TOO_BIG;
}

static enum err read_object(struct reader *reader, const struct option *option,
                            const struct node *node, void *field)
{
    if (node->kind != NODE_MAP)
        return fail_expected(reader, option, node);
    return read_json(reader, node, field);
}

static enum err read_item(struct reader *reader, const struct option *option,
                          const struct node *node, struct str *ret)
{
    bool has_mappings = option->kind == OPTION_RIGHTS;

    if (has_mappings && node->kind == NODE_MAP)
        return read_json(reader, node, ret);
    if (!is_text(node))
        return fail_expected(reader, option, node);
    if (node->text.len == 0)
        return FAIL(reader, node->mark, "%s must not contain empty texts", option->name);
    if (has_mappings && str_starts(node->text, S("{")))
        return FAIL(reader, node->mark, "%s: a mapping is written without quotes",
                    option->name);
    if (option->kind == OPTION_PATHS)
        return resolve_path(reader, node, node->text, ret);
    *ret = node->text;
    return OK;
}

/* A list of texts; a single text will do. */
static enum err read_texts(struct reader *reader, const struct option *option,
                           const struct node *node, void *field)
{
    const struct node *first = node->kind == NODE_LIST ? node->first : node;
    size_t count = node->kind == NODE_LIST ? node->count : 1;
    struct config_mark *marks;
    struct str *items;
    enum err err = OK;
    size_t i = 0;

    if (node->kind == NODE_MAP)
        return fail_expected(reader, option, node);
    items = take(reader, node, count * sizeof(*items), &err);
    marks = items ? take(reader, node, count * sizeof(*marks), &err) : NULL;
    if (!marks)
        return err;
    for (const struct node *at = first; i < count; at = at->next, i++) {
        err = read_item(reader, option, at, &items[i]);
        if (err)
            return err;
        marks[i] = at->mark;
    }
    *(struct config_strs *)field = (struct config_strs){ items, count, marks };
    return OK;
}

/* NAME: VALUE, in the order of the file. */
static enum err read_pairs(struct reader *reader, const struct option *option,
                           const struct node *node, void *field)
{
    enum err err = OK;
    struct config_pair *at;

    if (node->kind != NODE_MAP)
        return fail_expected(reader, option, node);
    at = take(reader, node, node->count * sizeof(*at), &err);
    if (!at)
        return err;
    *(struct config_pairs *)field = (struct config_pairs){ at, node->count };
    for (const struct node *item = node->first; item; item = item->next, at++) {
        if (!is_text(item) || item->key.len == 0)
            return FAIL(reader, item->mark, "%s: the value of %s must be a text",
                        option->name, SHOWN(item->key));
        if (str_eq(item->text, S("***"))) /* as config_print() writes it */
            return FAIL(reader, item->mark, "%s: the value of %s was left out",
                        option->name, SHOWN(item->key));
        *at = (struct config_pair){ item->key_mark, item->key, item->text };
    }
    return OK;
}

static enum err set_defaults(struct reader *reader, const struct schema *schema,
                             void *object);

static enum err read_section(struct reader *reader, const struct option *option,
                             const struct node *node, void *field)
{
    return read_mapping(reader, option->schema, node, field);
}

static enum err read_list(struct reader *reader, const struct option *option,
                          const struct node *node, void *field)
{
    const struct schema *schema = option->schema;
    enum err err = OK;
    char *at;

    if (node->kind != NODE_LIST)
        return fail_expected(reader, option, node);
    at = take(reader, node, node->count * schema->size, &err);
    if (!at)
        return err;
    *(struct items *)field = (struct items){ at, node->count };
    for (const struct node *item = node->first; item; item = item->next) {
        ((struct entry *)at)->mark = item->mark;
        err = set_defaults(reader, schema, at);
        if (!err)
            err = read_mapping(reader, schema, item, at);
        if (err)
            return err;
        at += schema->size;
    }
    return OK;
}

static int compare_entries(const void *a, const void *b)
{
    return str_cmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* One entry of a map: NAME: { settings }, or a bare name in a list of names. */
static enum err read_entry(struct reader *reader, const struct option *option,
                           const struct node *node, struct entry *entry)
{
    bool is_bare = node->parent->kind == NODE_LIST;

    if (is_bare && (!is_text(node) || node->text.len == 0))
        return FAIL(reader, node->mark, "%s must be a mapping or a list of names",
                    option->name);
    if (!is_bare && node->key.len == 0)
        return FAIL(reader, node->key_mark, "a name in %s must not be empty",
                    option->name);
    entry->name = is_bare ? node->text : node->key;
    entry->mark = is_bare ? node->mark : node->key_mark;
    if (entry->name.len > CONFIG_NAME_MAX)
        return FAIL(reader, entry->mark, "a name in %s has at most %d bytes",
                    option->name, CONFIG_NAME_MAX);
    if (str_eq(entry->name, S("<<"))) /* could not be printed as the key of a mapping */
        return FAIL(reader, entry->mark, "merge keys are not supported");
    if (is_bare || (node->is_null && option->template))
        return OK;
    return read_mapping(reader, option->schema, node, entry);
}

static struct config_mark later(struct config_mark a, struct config_mark b)
{
    bool is_a = a.line != b.line ? a.line > b.line : a.column > b.column;

    return is_a ? a : b;
}

/* Entries are kept in the order of their names, for config_topic_find(). */
static enum err sort_entries(struct reader *reader, const struct option *option,
                             char *items, size_t count)
{
    size_t size = option->schema->size;

    qsort(items, count, size, compare_entries);
    for (size_t i = 1; i < count; i++) {
        const struct entry *a = (const struct entry *)(items + (i - 1) * size);
        const struct entry *b = (const struct entry *)(items + i * size);

        if (str_eq(a->name, b->name))
            return FAIL(reader, later(a->mark, b->mark), "%s is named twice in %s",
                        SHOWN(b->name), option->name);
    }
    return OK;
}

static enum err read_map(struct reader *reader, const struct option *option,
                         const struct node *node, void *field)
{
    const char *template = (char *)field - option->offset + option->template;
    const struct schema *schema = option->schema;
    enum err err = OK;
    char *items, *at;

    if (node->kind == NODE_TEXT || (node->kind == NODE_LIST && !option->template))
        return fail_expected(reader, option, node);
    items = at = take(reader, node, node->count * schema->size, &err);
    if (!items)
        return err;
    for (const struct node *item = node->first; item; item = item->next) {
        if (option->template)
            memcpy(at, template, schema->size);
        else
            err = set_defaults(reader, schema, at);
        if (!err)
            err = read_entry(reader, option, item, (struct entry *)at);
        if (err)
            return err;
        at += schema->size;
    }
    *(struct items *)field = (struct items){ items, node->count };
    return sort_entries(reader, option, items, node->count);
}

typedef enum err read_fn(struct reader *reader, const struct option *option,
                         const struct node *node, void *field);

/* clang-format off */
static read_fn *const read_fns[] = {
    [OPTION_COUNT]     = read_number,
    [OPTION_SIZE]      = read_number,
    [OPTION_DURATION]  = read_number,
    [OPTION_RATE]      = read_number,
    [OPTION_BYTE_RATE] = read_number,
    [OPTION_BOOL]      = read_bool,
    [OPTION_SWITCH]    = read_switch,
    [OPTION_CHOICE]    = read_choice,
    [OPTION_TEXT]      = read_text,
    [OPTION_SECRET]    = read_text,
    [OPTION_PATH]      = read_path,
    [OPTION_PATHS]     = read_texts,
    [OPTION_TEXTS]     = read_texts,
    [OPTION_RIGHTS]    = read_texts,
    [OPTION_TIME]      = read_time,
    [OPTION_OBJECT]    = read_object,
    [OPTION_PAIRS]     = read_pairs,
    [OPTION_SECTION]   = read_section,
    [OPTION_LIST]      = read_list,
    [OPTION_MAP]       = read_map,
};
/* clang-format on */

/* Sections whose content is commented out are null; that is no reason to refuse. */
static bool is_absent(const struct option *option, const struct node *node)
{
    bool is_collection = option->kind == OPTION_TEXTS || option->kind == OPTION_PATHS ||
                         option->kind == OPTION_RIGHTS || option->kind >= OPTION_PAIRS;

    return !node || (node->is_null && is_collection);
}

static enum err set_default(struct reader *reader, const struct option *option,
                            void *object)
{
    struct node node = { .kind = NODE_TEXT };

    if (option->kind == OPTION_SECTION)
        return set_defaults(reader, option->schema, option_field(option, object));
    if (!option->preset)
        return OK;
    node.text = str_of(option->preset);
    return read_fns[option->kind](reader, option, &node, option_field(option, object));
}

static enum err set_defaults(struct reader *reader, const struct schema *schema,
                             void *object)
{
    enum err err = OK;

    for (size_t i = 0; i < schema->count && !err; i++)
        err = set_default(reader, &schema->options[i], object);
    return err;
}

static const struct option *find_option(const struct schema *schema, struct str name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (str_eq(name, str_of(schema->options[i].name)))
            return &schema->options[i];
    return NULL;
}

static enum err fail_unknown(struct reader *reader, const struct schema *schema,
                             const struct node *node)
{
    const char *near = suggest(schema, node->key);

    if (!near)
        return FAIL(reader, node->key_mark, "unknown key %s", SHOWN(node->key));
    return FAIL(reader, node->key_mark, "unknown key %s (did you mean \"%s\"?)",
                SHOWN(node->key), near);
}

static enum err read_option(struct reader *reader, const struct option *option,
                            const struct node *node, void *object)
{
    if (option->mark)
        *(struct config_mark *)((char *)object + option->mark) = node->mark;
    return read_fns[option->kind](reader, option, node, option_field(option, object));
}

static enum err read_mapping(struct reader *reader, const struct schema *schema,
                             const struct node *node, void *object)
{
    enum err err = OK;

    if (node->kind != NODE_MAP)
        return FAIL(reader, node->mark, "%s must be a mapping", schema->noun);
    for (const struct node *at = node->first; at; at = at->next)
        if (!find_option(schema, at->key))
            return fail_unknown(reader, schema, at);
    for (size_t i = 0; i < schema->count && !err; i++) {
        const struct option *option = &schema->options[i];
        const struct node *at = node_find(node, str_of(option->name));

        if (!is_absent(option, at))
            err = read_option(reader, option, at, object);
        else if (option->is_required)
            err = FAIL(reader, node->mark, "%s needs \"%s\"", schema->noun, option->name);
    }
    if (err || !schema->check)
        return err;
    return schema->check(reader, node, object);
}

enum err read_config(struct reader *reader, const struct node *root)
{
    enum err err = set_defaults(reader, &config_schema, reader->config);

    if (err)
        return err;
    return read_mapping(reader, &config_schema, root, reader->config);
}
