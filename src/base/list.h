/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A doubly linked list whose links stand inside the objects. The head is a link that
 * points at itself when the list is empty.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct link {
    struct link *prev;
    struct link *next;
};

static inline void list_init(struct link *head)
{
    head->prev = head;
    head->next = head;
}

static inline bool list_is_empty(const struct link *head)
{
    return head->next == head;
}

/* True while the object stands in some list. A zeroed link does not. */
static inline bool link_is_set(const struct link *link)
{
    return link->next != NULL;
}

/* At the end; given a link inside a list instead of its head, before that one. */
static inline void list_append(struct link *head, struct link *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

/* Removing what stands in no list is harmless. */
static inline void list_remove(struct link *link)
{
    if (!link_is_set(link))
        return;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->prev = NULL;
    link->next = NULL;
}

/* Moves everything to the end of `to`; `from` is empty afterwards. */
static inline void list_splice(struct link *to, struct link *from)
{
    if (list_is_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    list_init(from);
}

#define LIST_FIRST(head, type, member) \
    (list_is_empty(head) ? NULL : CONTAINER_OF((head)->next, type, member))

/* Walks the list; the current object may be removed meanwhile, no other. */
#define LIST_FOREACH(var, head, member)                                              \
    for (struct link *_at = (head)->next, *_next = _at->next;                        \
         _at != (head) && ((var) = CONTAINER_OF(_at, typeof(*(var)), member), true); \
         _at = _next, _next = _at->next)
