/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A conversation as a tree along correlation_id: a proposal, what was decided about it,
 * the request that fulfils it, its response. Pure.
 *
 * A record hangs below the last one before it that has the id it refers to; where there
 * is none it is a root. So there are no circles, whatever the ids are.
 */
#pragma once

#include "audit/batch.h"
#include "cli/palette.h"

struct audit_node {
    struct audit_record record; /* views into the tree's batch */
    size_t parent;              /* AUDIT_NO_NODE: a root */
    size_t first, last, next;   /* children in their order; the next child of the parent,
                                 * or the next root */
    size_t depth;
};

#define AUDIT_NO_NODE SIZE_MAX

struct audit_tree {
    struct audit_batch records;
    struct audit_node *nodes; /* in the order of seq */
    size_t count;
    size_t first; /* root */
};

/* The records come in the order of seq. */
void audit_tree_init(struct audit_tree *tree);
void audit_tree_add(struct audit_tree *tree, const struct audit_record *record);
void audit_tree_build(struct audit_tree *tree);
void audit_tree_done(struct audit_tree *tree);

/* What follows in the order of printing: below it, beside it, beside one above it. Begin
 * with tree->first. */
size_t audit_tree_next(const struct audit_tree *tree, size_t at);

struct audit_tree_look {
    const struct palette *ink;
    bool is_utf8;
};

/* All of it, for people; and one line of JSON each, for programs. */
void audit_tree_put(struct buf *out, const struct audit_tree *tree,
                    const struct audit_tree_look *look);
void audit_tree_put_json(struct buf *out, const struct audit_tree *tree);
