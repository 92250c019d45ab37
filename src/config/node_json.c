/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes as JSON, for what is handed on as it was written. */
#include "config/config_priv.h"

void quoted_put(struct str text, struct buf *out)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"' || text.ptr[i] == '\\')
            buf_putc(out, '\\');
        buf_putc(out, text.ptr[i]);
    }
    buf_putc(out, '"');
}

/* Takes digits off the front; false if there are none. */
static bool take_digits(struct str *text)
{
    size_t count = 0;

    while (count < text->len && text->ptr[count] >= '0' && text->ptr[count] <= '9')
        count++;
    *text = str_slice(*text, count, text->len);
    return count > 0;
}

static bool take_one_of(struct str *text, struct str bytes)
{
    if (text->len == 0 || str_find(bytes, text->ptr[0], 0) == bytes.len)
        return false;
    *text = str_slice(*text, 1, text->len);
    return true;
}

/* RFC 8259 6 */
static bool is_number(struct str text)
{
    (void)take_one_of(&text, S("-"));
    if (!take_one_of(&text, S("0")) && !take_digits(&text))
        return false;
    if (take_one_of(&text, S(".")) && !take_digits(&text))
        return false;
    if (take_one_of(&text, S("eE"))) {
        (void)take_one_of(&text, S("+-"));
        if (!take_digits(&text))
            return false;
    }
    return text.len == 0;
}

static void put_text(const struct node *node, struct buf *out)
{
    struct str text = node->text;

    if (node->is_null)
        buf_put(out, S("null"));
    else if (node->is_plain &&
             (str_eq(text, S("true")) || str_eq(text, S("false")) || is_number(text)))
        buf_put(out, text);
    else
        quoted_put(text, out);
}

static void put_opening(const struct node *node, struct buf *out)
{
    switch (node->kind) {
    case NODE_TEXT: put_text(node, out); break;
    case NODE_LIST: buf_putc(out, '['); break;
    case NODE_MAP: buf_putc(out, '{'); break;
    }
}

static void put_closing(const struct node *node, struct buf *out)
{
    switch (node->kind) {
    case NODE_TEXT: break;
    case NODE_LIST: buf_putc(out, ']'); break;
    case NODE_MAP: buf_putc(out, '}'); break;
    }
}

/* Where things stand, for who wants to know; out->len is where in the JSON. */
static void tell(const struct node_watcher *watcher, const struct buf *out,
                 struct config_mark mark)
{
    if (watcher)
        watcher->at(watcher->user, out->len, mark);
}

void node_put_json(const struct node *node, struct buf *out)
{
    node_put_json_watched(node, out, NULL);
}

void node_put_json_watched(const struct node *node, struct buf *out,
                           const struct node_watcher *watcher)
{
    const struct node *at = node;

    for (;;) {
        if (at != node && at->parent->kind == NODE_MAP) {
            tell(watcher, out, at->key_mark);
            quoted_put(at->key, out);
            buf_putc(out, ':');
        }
        tell(watcher, out, at->mark);
        put_opening(at, out);
        if (at->first) {
            at = at->first;
            continue;
        }
        put_closing(at, out);
        for (; at != node && !at->next; put_closing(at, out))
            at = at->parent;
        if (at == node)
            return;
        buf_putc(out, ',');
        at = at->next;
    }
}
