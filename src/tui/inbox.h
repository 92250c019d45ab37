/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits for a decision: proposals and calls to be authorized, as a list in which one
 * is chosen. The list is a reader's: what is decided, withdrawn or expires while he looks
 * stays where it is and says so, what is new comes at the end, and nothing but his own
 * keys moves the choice. So the one that is shown is the one that is decided.
 *
 * A verdict is bound to one item as it was when he saw it: inbox_check() says whether it
 * still holds.
 */
#pragma once

#include <moot.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/str.h"

enum {
    INBOX_ITEMS = 2048,
    INBOX_CLOSED = 64, /* of those that are over, while the inbox is looked at */
};

struct inbox_item {
    struct link link;
    char *id, *proposer, *owner, *method, *name, *reason, *by;
    char **to;
    size_t to_count;
    char *params; /* JSON; "" where they are not known */
    uint64_t created_ms, expires_ms;
    enum moot_proposal_state state;
    bool is_mine;
    bool is_decided;  /* by us, and the room has not heard of it yet */
    unsigned version; /* grows when what would be called changes */
};

struct inbox {
    struct link items; /* the oldest first */
    size_t count, open_count;
    struct inbox_item *chosen; /* NULL: the list is empty */
    size_t scroll;             /* lines of the chosen one that are above the screen */
};

void inbox_init(struct inbox *inbox);
void inbox_done(struct inbox *inbox);

enum inbox_news { INBOX_NOTHING, INBOX_NEW, INBOX_OVER, INBOX_CHANGED };

/* A proposal as the library knows it now. INBOX_NEW: it is open and was not known. What
 * is over and was not known is not entered. */
enum inbox_news inbox_update(struct inbox *inbox, const struct moot_proposal *p);

/* Something that we said was refused: nothing counts as decided. */
void inbox_reopen(struct inbox *inbox);

/* Removes what is over: when the reader comes or has left. The choice goes to the next
 * open one, if it was over. */
void inbox_tidy(struct inbox *inbox);

/* By so many, down or up; false: it is the last or the first. */
bool inbox_move(struct inbox *inbox, int by);
bool inbox_choose(struct inbox *inbox, struct str id);
struct inbox_item *inbox_find(const struct inbox *inbox, struct str id);

/* NULL at the end; starts with NULL. */
struct inbox_item *inbox_next(const struct inbox *inbox, const struct inbox_item *item);

/* --- deciding --- */

enum verdict_type { VERDICT_NONE, VERDICT_RUN, VERDICT_REJECT, VERDICT_WITHDRAW };

struct verdict {
    enum verdict_type type;
    char *id;
    unsigned version;
    char *params; /* edited; NULL: as proposed */
    char *to;     /* where the proposal names nobody; else NULL */
};

/* About the item that is chosen. ERR_NOT_FOUND: there is none; ERR_PROPOSAL_STATE: it
 * cannot be decided so, and *ret_why says why. */
enum err verdict_begin(struct verdict *v, const struct inbox *inbox,
                       enum verdict_type type, uint64_t now_ms, const char **ret_why);
void verdict_done(struct verdict *v);

/* OK: the item is as it was when the verdict began. `p` is what the library knows of it
 * now, NULL: nothing. */
enum err verdict_check(const struct verdict *v, const struct inbox *inbox,
                       const struct moot_proposal *p, uint64_t now_ms,
                       const char **ret_why);

/* "4:51", "2 h 3 min", "expired" */
void inbox_put_left(struct buf *out, uint64_t expires_ms, uint64_t now_ms);

/* "open", "withdrawn", "rejected" */
struct str inbox_state_word(enum moot_proposal_state state);
