/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_tree.h"

#include <stdlib.h>
#include <string.h>

#include "audit/line.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "cli/audit_look.h"
#include "cli/progress.h"
#include "cli/summary.h"
#include "json/json.h"

enum { ARENA_BYTES = 256 << 20, LINE_BYTES = 64 << 20, TIME_WIDTH = 10, DEEPEST = 16 };
enum { ADDRESSEES = 16, PLAIN_WIDTH = 160 };

/* --- building --- */

void audit_tree_init(struct audit_tree *tree)
{
    *tree = (struct audit_tree){ .first = AUDIT_NO_NODE };
    audit_batch_init(&tree->records);
}

void audit_tree_done(struct audit_tree *tree)
{
    audit_batch_done(&tree->records);
    free(tree->nodes);
}

void audit_tree_add(struct audit_tree *tree, const struct audit_record *record)
{
    audit_batch_add(&tree->records, record);
}

static void hang(struct audit_tree *tree, size_t at, size_t parent, size_t *last_root)
{
    struct audit_node *node = &tree->nodes[at];
    struct audit_node *above = parent == AUDIT_NO_NODE ? NULL : &tree->nodes[parent];
    size_t *first = above ? &above->first : &tree->first;
    size_t *last = above ? &above->last : last_root;

    node->parent = parent;
    node->depth = above ? above->depth + 1 : 0;
    if (*last == AUDIT_NO_NODE)
        *first = at;
    else
        tree->nodes[*last].next = at;
    *last = at;
}

void audit_tree_build(struct audit_tree *tree)
{
    size_t last_root = AUDIT_NO_NODE;
    struct map ids; /* id: its last node so far */
    size_t at = 0;

    map_init(&ids);
    tree->nodes = xcalloc(tree->records.count + 1, sizeof(*tree->nodes));
    while (audit_batch_next(&tree->records, &at, &tree->nodes[tree->count].record)) {
        struct audit_node *node = &tree->nodes[tree->count];
        struct audit_node *above = node->record.correlation.len
                                       ? map_find(&ids, node->record.correlation)
                                       : NULL;

        node->first = node->last = node->next = AUDIT_NO_NODE;
        hang(tree, tree->count, above ? (size_t)(above - tree->nodes) : AUDIT_NO_NODE,
             &last_root);
        if (node->record.id.len)
            map_set(&ids, node->record.id, node);
        tree->count++;
    }
    map_done(&ids);
}

size_t audit_tree_next(const struct audit_tree *tree, size_t at)
{
    if (tree->nodes[at].first != AUDIT_NO_NODE)
        return tree->nodes[at].first;
    while (at != AUDIT_NO_NODE && tree->nodes[at].next == AUDIT_NO_NODE)
        at = tree->nodes[at].parent;
    return at == AUDIT_NO_NODE ? at : tree->nodes[at].next;
}

/* Since the first of all, and since what it refers to. */
static uint64_t since_first(const struct audit_tree *tree, size_t at)
{
    return tree->nodes[at].record.at_ms - tree->nodes[0].record.at_ms;
}

static uint64_t since_parent(const struct audit_tree *tree, size_t at)
{
    const struct audit_node *node = &tree->nodes[at];

    return node->parent == AUDIT_NO_NODE
               ? 0
               : node->record.at_ms - tree->nodes[node->parent].record.at_ms;
}

/* --- for people --- */

/* What stands on the line of one record. */
struct leaf {
    struct buf *out;
    const struct audit_tree *tree;
    const struct audit_tree_look *look;
    const struct audit_record *record;
};

/* The envelope of a body, as whoever was in the room saw it. */
static bool read_envelope(const struct audit_record *r, struct arena *arena,
                          struct moot_message *ret)
{
    const struct json *root = NULL;
    const struct json *to, *payload;
    const char **names;

    if (json_parse(r->body, arena, &root, NULL))
        return false;
    to = json_find(root, S("to"));
    payload = json_find(root, S("payload"));
    names = arena_alloc(arena, ADDRESSEES * sizeof(*names));
    *ret = (struct moot_message){
        .from = arena_str(arena, r->participant).ptr,
        .kind = arena_str(arena, r->kind).ptr,
        .id = arena_str(arena, r->id).ptr,
        .to = names,
    };
    if (!payload || !names || !ret->from || !ret->kind || !ret->id)
        return false;
    ret->payload = (struct moot_str){ payload->raw.ptr, payload->raw.len };
    if (to && to->type == JSON_ARRAY)
        JSON_FOREACH(who, to)
            if (ret->to_count < ADDRESSEES)
                names[ret->to_count++] = arena_str(arena, json_text(who)).ptr;
    return true;
}

static void put_event(struct leaf *leaf)
{
    const struct audit_record *r = leaf->record;

    plain_put(leaf->out, r->participant.len ? r->participant : S("gateway"), PLAIN_LINE);
    buf_put(leaf->out, S("  "));
    if (r->event != AUDIT_ENVELOPE && r->event != AUDIT_REFUSAL) {
        buf_put(leaf->out, audit_event_name(r->event));
        buf_putc(leaf->out, ' ');
    }
    plain_put(leaf->out, r->kind, PLAIN_LINE);
    buf_putc(leaf->out, ' ');
    (void)audit_look_put_body(leaf->out, r, PLAIN_WIDTH);
}

static void put_deed(struct leaf *leaf)
{
    const struct audit_record *r = leaf->record;
    bool is_envelope = r->event == AUDIT_ENVELOPE || r->event == AUDIT_REFUSAL;
    struct moot_message message;
    struct arena arena;

    if (r->verdict.len && !str_eq(r->verdict, S("allowed"))) {
        buf_putf(leaf->out, "%srefused%s ", leaf->look->ink->bad, leaf->look->ink->off);
        plain_put(leaf->out, r->verdict, PLAIN_LINE);
        buf_put(leaf->out, S(": "));
    }
    arena_init(&arena, ARENA_BYTES);
    if (is_envelope && r->body.len && read_envelope(r, &arena, &message))
        summary_put_deed(leaf->out, &message, leaf->look->ink);
    else
        put_event(leaf);
    arena_done(&arena);
}

/* "│  ├─ " of a node: which of those above go on below it. */
static void put_branches(struct leaf *leaf, size_t at)
{
    static const struct {
        const char *on, *off, *fork, *end;
    } sets[] = { { "|  ", "   ", "|- ", "`- " }, { "│  ", "   ", "├─ ", "└─ " } };
    const struct audit_node *nodes = leaf->tree->nodes;
    size_t path[DEEPEST];
    size_t count = 0;
    bool u = leaf->look->is_utf8;

    for (; nodes[at].parent != AUDIT_NO_NODE && count < DEEPEST; at = nodes[at].parent)
        path[count++] = at;
    if (nodes[at].parent != AUDIT_NO_NODE)
        buf_putf(leaf->out, "(%zu) ", nodes[at].depth);
    while (count--) {
        bool goes_on = nodes[path[count]].next != AUDIT_NO_NODE;

        if (count)
            buf_put(leaf->out, str_of(goes_on ? sets[u].on : sets[u].off));
        else
            buf_put(leaf->out, str_of(goes_on ? sets[u].fork : sets[u].end));
    }
}

static void put_since(struct buf *out, uint64_t ms)
{
    struct buf text;

    buf_init(&text, 64);
    buf_putc(&text, '+');
    progress_put_duration(&text, ms);
    for (size_t i = text.len; i < TIME_WIDTH; i++)
        buf_putc(out, ' ');
    buf_put(out, buf_str(&text));
    buf_put(out, S("  "));
    buf_done(&text);
}

/* Why it was allowed, how long it took, and what to ask for next. */
static void put_tail(struct leaf *leaf, size_t at)
{
    const struct audit_record *r = leaf->record;

    buf_putf(leaf->out, "  %s[", leaf->look->ink->dim);
    plain_put(leaf->out, r->id.len ? r->id : S("-"), PLAIN_LINE);
    if (r->by.len) {
        buf_put(leaf->out, S(" by "));
        plain_put(leaf->out, r->by, PLAIN_LINE);
    }
    if (leaf->tree->nodes[at].parent != AUDIT_NO_NODE) {
        buf_put(leaf->out, S(", after "));
        progress_put_duration(leaf->out, since_parent(leaf->tree, at));
    }
    buf_putf(leaf->out, "]%s\n", leaf->look->ink->off);
}

static void put_title(struct buf *out, const struct audit_tree *tree,
                      const struct audit_tree_look *look)
{
    const struct audit_record *first = &tree->nodes[0].record;

    buf_put(out, str_of(look->ink->bold));
    audit_look_put_time(out, first->at_ms);
    if (first->topic.len) {
        buf_put(out, S("  "));
        plain_put(out, first->topic, PLAIN_LINE);
    }
    buf_putf(out, "%s  %zu record%s, ", look->ink->off, tree->count,
             tree->count == 1 ? "" : "s");
    progress_put_duration(out, since_first(tree, tree->count - 1));
    buf_putc(out, '\n');
}

void audit_tree_put(struct buf *out, const struct audit_tree *tree,
                    const struct audit_tree_look *look)
{
    if (tree->count)
        put_title(out, tree, look);
    for (size_t at = tree->first; at != AUDIT_NO_NODE; at = audit_tree_next(tree, at)) {
        struct leaf leaf = { out, tree, look, &tree->nodes[at].record };

        buf_put(out, str_of(look->ink->dim));
        put_since(out, since_first(tree, at));
        put_branches(&leaf, at);
        buf_put(out, str_of(look->ink->off));
        put_deed(&leaf);
        put_tail(&leaf, at);
    }
}

/* --- for programs --- */

static void put_json(struct buf *out, const struct audit_tree *tree, size_t at)
{
    const struct audit_node *node = &tree->nodes[at];
    struct json_writer w;
    struct buf line;

    buf_init(&line, LINE_BYTES);
    audit_record_write(&node->record, &line);
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_uint(&w, S("depth"), node->depth);
    if (node->parent != AUDIT_NO_NODE)
        json_put_uint(&w, S("parent"), tree->nodes[node->parent].record.seq);
    json_put_uint(&w, S("since_first_ms"), since_first(tree, at));
    if (node->parent != AUDIT_NO_NODE)
        json_put_uint(&w, S("since_parent_ms"), since_parent(tree, at));
    json_key(&w, S("record"));
    json_raw(&w, str_slice(buf_str(&line), 0, line.len ? line.len - 1 : 0));
    json_object_close(&w);
    buf_putc(out, '\n');
    buf_done(&line);
}

void audit_tree_put_json(struct buf *out, const struct audit_tree *tree)
{
    for (size_t at = tree->first; at != AUDIT_NO_NODE; at = audit_tree_next(tree, at))
        put_json(out, tree, at);
}
