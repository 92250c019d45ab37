/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML to a tree, with libyaml's events. Of YAML we take mappings, lists and texts; what
 * makes a file mean something else than it seems to (anchors, aliases, tags, merge keys,
 * several documents) is refused, as are control characters and keys given twice.
 */
#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "config/config_priv.h"

struct tree {
    struct reader *reader;
    struct node *root;
    struct node *open; /* the innermost collection that has not ended */
    size_t depth;
    size_t documents;
    bool has_key; /* the next node is the value of: */
    struct str key;
    struct config_mark key_mark;
};

struct shown show(struct str s)
{
    struct shown shown;
    size_t room = sizeof(shown.text) - 6; /* two quotes, an ellipsis, NUL */
    size_t len = s.len;
    char *end = shown.text;

    if (len > room) {
        len = room;
        while (len && ((unsigned char)s.ptr[len] & 0xc0) == 0x80)
            len--; /* not inside a character */
    }
    *end++ = '"';
    end = mempcpy(end, s.ptr ? s.ptr : "", len);
    if (len < s.len)
        end = mempcpy(end, "...", 3);
    *end++ = '"';
    *end = '\0';
    return shown;
}

const struct node *node_find(const struct node *map, struct str key)
{
    for (const struct node *at = map ? map->first : NULL; at; at = at->next)
        if (str_eq(at->key, key))
            return at;
    return NULL;
}

static struct config_mark mark_of(const yaml_mark_t *mark)
{
    return (struct config_mark){ (uint32_t)mark->line + 1, (uint32_t)mark->column + 1 };
}

/* True before a character that cannot be shown on one line: C0, DEL, C1, the separators
 * U+2028 and U+2029, and what YAML has no plain form for. The text is valid UTF-8. */
static bool is_control(struct str s)
{
    static const struct str separators[] = {
        { "\xe2\x80\xa8", 3 }, { "\xe2\x80\xa9", 3 }, { "\xef\xbb\xbf", 3 },
        { "\xef\xbf\xbe", 3 }, { "\xef\xbf\xbf", 3 },
    };
    unsigned char c = (unsigned char)s.ptr[0];

    if (c < ' ' || c == 0x7f)
        return true;
    if (c == 0xc2)
        return (unsigned char)s.ptr[1] < 0xa0;
    for (size_t i = 0; i < COUNT(separators); i++)
        if (str_starts(s, separators[i]))
            return true;
    return false;
}

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (is_control(str_slice(s, i, s.len)))
            return true;
    return false;
}

static enum err fail_too_large(struct tree *tree, struct config_mark mark)
{
    (void)config_fail(tree->reader->config, mark, tree->reader->problem,
                      "the file is too large");
    return ERR_TOO_BIG;
}

void node_append(struct node *parent, struct node *node)
{
    node->parent = parent;
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    parent->count++;
}

static enum err add_node(struct tree *tree, const struct node *template,
                         struct node **ret)
{
    struct node *node = arena_alloc(&tree->reader->nodes, sizeof(*node));
    struct node *parent = tree->open;

    if (!node)
        return fail_too_large(tree, template->mark);
    *node = *template;
    node->key = tree->key;
    node->key_mark = tree->key_mark;
    tree->has_key = false;
    tree->key = (struct str){};
    if (ret)
        *ret = node;
    if (!parent) {
        tree->root = node;
        return OK;
    }
    node_append(parent, node);
    return OK;
}

static enum err take_key(struct tree *tree, struct str text, struct config_mark mark)
{
    struct reader *reader = tree->reader;

    if (text.len > CONFIG_KEY_MAX)
        return config_fail(reader->config, mark, reader->problem,
                           "a key may have at most %d bytes", CONFIG_KEY_MAX);
    if (str_eq(text, S("<<")))
        return config_fail(reader->config, mark, reader->problem,
                           "merge keys are not supported");
    tree->has_key = true;
    tree->key = text;
    tree->key_mark = mark;
    return OK;
}

static bool is_null(const yaml_event_t *event, struct str text)
{
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    return text.len == 0 || str_eq(text, S("~")) || str_eq(text, S("null"));
}

static enum err on_scalar(struct tree *tree, const yaml_event_t *event)
{
    struct str text = { (const char *)event->data.scalar.value,
                        event->data.scalar.length };
    struct config_mark mark = mark_of(&event->start_mark);
    struct reader *reader = tree->reader;

    if (has_control(text))
        return config_fail(reader->config, mark, reader->problem,
                           "a text may not contain line breaks or control characters");
    text = arena_str(&reader->config->arena, text);
    if (!text.ptr)
        return fail_too_large(tree, mark);
    if (tree->open && tree->open->kind == NODE_MAP && !tree->has_key)
        return take_key(tree, text, mark);
    return add_node(
        tree,
        &(struct node){ .kind = NODE_TEXT,
                        .is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
                        .is_null = is_null(event, text),
                        .text = text,
                        .mark = mark },
        NULL);
}

static enum err on_open(struct tree *tree, const yaml_event_t *event, enum node_kind kind)
{
    struct config_mark mark = mark_of(&event->start_mark);
    struct reader *reader = tree->reader;

    if (tree->open && tree->open->kind == NODE_MAP && !tree->has_key)
        return config_fail(reader->config, mark, reader->problem, "a key must be a text");
    if (++tree->depth > CONFIG_DEPTH_MAX)
        return config_fail(reader->config, mark, reader->problem, "nested too deep");
    return add_node(tree, &(struct node){ .kind = kind, .mark = mark }, &tree->open);
}

static enum err check_keys(struct tree *tree, const struct node *map)
{
    struct reader *reader = tree->reader;
    enum err err = OK;
    struct map seen;

    map_init(&seen);
    for (struct node *at = map->first; at && !err; at = at->next) {
        const struct node *other = map_find(&seen, at->key);

        if (other)
            err = config_fail(reader->config, at->key_mark, reader->problem,
                              "duplicate key %s (first in line %u)", SHOWN(at->key),
                              other->key_mark.line);
        map_set(&seen, at->key, at);
    }
    map_done(&seen);
    return err;
}

static enum err on_close(struct tree *tree)
{
    struct node *node = tree->open;

    assert(node); /* libyaml closes only what it opened */
    tree->open = node->parent;
    tree->depth--;
    return node->kind == NODE_MAP ? check_keys(tree, node) : OK;
}

/* Anchors, aliases and tags, wherever an event carries them. */
static const char *find_extra(const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;

    if (event->type == YAML_ALIAS_EVENT) {
        anchor = event->data.alias.anchor;
    } else if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        return "anchors and aliases are not supported";
    return tag ? "tags are not supported" : NULL;
}

static enum err on_document(struct tree *tree, const yaml_event_t *event)
{
    struct reader *reader = tree->reader;

    if (tree->documents++)
        return config_fail(reader->config, mark_of(&event->start_mark), reader->problem,
                           "a second document is not supported");
    return OK;
}

static enum err on_event(struct tree *tree, const yaml_event_t *event)
{
    const char *extra = find_extra(event);

    if (extra)
        return config_fail(tree->reader->config, mark_of(&event->start_mark),
                           tree->reader->problem, "%s", extra);
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT: return on_document(tree, event);
    case YAML_SCALAR_EVENT: return on_scalar(tree, event);
    case YAML_SEQUENCE_START_EVENT: return on_open(tree, event, NODE_LIST);
    case YAML_MAPPING_START_EVENT: return on_open(tree, event, NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return on_close(tree);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_ALIAS_EVENT: break;
    }
    return OK;
}

/* libyaml gives bytes it cannot decode by their offset only. */
static struct config_mark mark_at(struct str text, size_t offset)
{
    struct config_mark mark = { 1, 1 };

    for (size_t i = 0; i < offset && i < text.len; i++) {
        if (text.ptr[i] == '\n')
            mark = (struct config_mark){ mark.line + 1, 1 };
        else if (((unsigned char)text.ptr[i] & 0xc0) != 0x80)
            mark.column++;
    }
    return mark;
}

static enum err fail_yaml(struct tree *tree, const yaml_parser_t *parser, struct str text)
{
    struct reader *reader = tree->reader;
    const char *what = parser->problem ? parser->problem : "cannot be read";

    if (parser->error == YAML_READER_ERROR)
        return config_fail(reader->config, mark_at(text, parser->problem_offset),
                           reader->problem, "not valid YAML: %s", what);
    return config_fail(reader->config, mark_of(&parser->problem_mark), reader->problem,
                       "not valid YAML: %s%s%s", what, parser->context ? ", " : "",
                       parser->context ? parser->context : "");
}

static enum err run(struct tree *tree, yaml_parser_t *parser, struct str text)
{
    bool is_over = false;
    enum err err = OK;

    while (!err && !is_over) {
        yaml_event_t event;

        if (!yaml_parser_parse(parser, &event))
            return fail_yaml(tree, parser, text);
        is_over = event.type == YAML_STREAM_END_EVENT;
        err = on_event(tree, &event);
        yaml_event_delete(&event);
    }
    return err;
}

enum err tree_parse(struct reader *reader, struct str text, const struct node **ret)
{
    static const struct node empty = { .kind = NODE_MAP, .mark = { 1, 1 } };
    struct tree tree = { .reader = reader };
    yaml_parser_t parser;
    enum err err;

    if (!yaml_parser_initialize(&parser))
        return ERR_INTERNAL;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        &parser, (const unsigned char *)(text.ptr ? text.ptr : ""), text.len);
    err = run(&tree, &parser, text);
    yaml_parser_delete(&parser);
    if (err)
        return err;
    *ret = tree.root && !tree.root->is_null ? tree.root : &empty;
    return OK;
}
