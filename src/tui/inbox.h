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
    uint32_t needed, given; /* approvals; needed 0: not known */
    char *approvers;        /* "ann, bob"; plain */
    char *asked;            /* whose answer counts; NULL: anybody's */
    bool is_mine;
    bool is_approved; /* by us, one of several */
    bool is_for_us;   /* we are asked, or everybody */
    bool is_decided;  /* by us, and the room has not heard of it yet */
    unsigned version; /* grows when what would be called changes */
};

struct inbox {
    struct link items; /* the oldest first */
    size_t count, open_count;
    struct inbox_item *chosen; /* NULL: the list is empty */
    size_t scroll;             /* lines of the chosen one that are above the screen */
    char *me;                  /* our id; NULL: not known yet */
};

void inbox_init(struct inbox *inbox);
void inbox_done(struct inbox *inbox);

enum inbox_news { INBOX_NOTHING, INBOX_NEW, INBOX_OVER, INBOX_CHANGED };

/* Who we are: `me` is kept. */
void inbox_know(struct inbox *inbox, const char *me);

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

enum verdict_type {
    VERDICT_NONE,
    VERDICT_RUN, /* or approve, or allow */
    VERDICT_REJECT,
    VERDICT_WITHDRAW,
    VERDICT_DELEGATE,
};

struct verdict {
    enum verdict_type type;
    char *id;
    unsigned version;
    char *params;      /* edited; NULL: as proposed */
    char *to;          /* where the proposal names nobody; else NULL */
    uint64_t valid_ms; /* of what is allowed: how long, 0: this once */
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

/* Does it wait for us? */
bool inbox_waits(const struct inbox_item *item);

/* Is it run when we say yes? Else ours is one approval of several. `counts`: we may
 * approve. */
bool inbox_is_enough(const struct inbox_item *item, bool counts);

/* "1 of 2 approvals", where several are needed or one was given; else nothing. */
void inbox_put_approvals(struct buf *out, const struct inbox_item *item);

/* "4:51", "2 h 3 min", "expired" */
void inbox_put_left(struct buf *out, uint64_t expires_ms, uint64_t now_ms);

/* "open", "withdrawn", "rejected"; of what a server asks about: "allowed", "denied" */
struct str inbox_state_word(const struct inbox_item *item);
