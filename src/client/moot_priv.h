/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant's handle from inside. Who does what:
 *
 *     moot.c      life: options, steps, states           wire.h, occupant.h
 *     tell.c      what happens, to the handlers
 *     view.c      … as they see it
 *     request.c   saying, asking, deciding               ask.h
 *     offers.c    what is offered to MCP clients         mcp/catalogue.h
 *     serve.c     requests of others, and their answers
 *     json.c      reading JSON
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/str.h"
#include "moot.h"
#include "participant/occupant.h"
#include "participant/seat.h"

struct wire;
struct catalogue;
struct json;
struct ask_ops;
struct roster_entry;

enum {
    MOOT_WHY_BYTES = 512,
    MOOT_PREFIX_BYTES = 16, /* of random text that our ids begin with */
    MOOT_LEAVE_MS = 5000,   /* for what was sent last to be judged */
    MOOT_GATEWAY_BYTES =
        64 << 20,             /* a gateway that takes larger envelopes is not believed */
    MOOT_ROSTER_BYTES = 256,  /* of a welcome, for each participant */
    MOOT_TREE_FACTOR = 96,    /* bytes of a tree for each byte of its text */
    MOOT_MAX_BYTES = 1 << 30, /* of limits, so that nothing overflows */
    MOOT_MAX_COUNT = 10'000'000,
};

/* What may be asked of a handle that is const is written here. */
struct moot_desk {
    struct arena given;   /* to a handler, until it returns; else until the next step */
    struct arena scratch; /* inside one function */
    char last[MOOT_WHY_BYTES];
};

struct moot {
    struct seat seat;
    struct wire *wire; /* NULL: the options were wrong */
    struct occupant *occupant;
    struct catalogue *catalogue;
    struct moot_desk *desk;

    struct moot_handlers handlers;
    void *user;
    struct moot_limits limits;
    char *after; /* "": from now on */

    enum moot_state state;
    char why[MOOT_WHY_BYTES];
    char id[256 + 1];

    bool is_leaving;
    bool has_said_goodbye; /* the fence behind everything is on its way */
    uint64_t leave_ms;     /* … and until then */

    volatile sig_atomic_t is_stopped;
    volatile sig_atomic_t wake_fd; /* -1 before the first moot_run() */

    struct link tickets; /* what was asked and has not ended */

    /* Serving. */
    struct link calls;
    size_t call_count;
    size_t call_bytes;
    moot_serve *others;
    void *others_user;
    unsigned changed; /* bits of enum offer_type: the room is to be told */
};

/* Says why and returns the error of moot.h; OK stays OK. `why` may be NULL. */
enum moot_err moot_fail(struct moot *m, enum err err, const char *why);
struct moment moot_now(void);

/* The welcome has come. */
void moot_joined(struct moot *m);

extern const struct occupant_ops tell_ops; /* tell.c */

/* --- view.c ---------------------------------------------------------------------------
 */

/* A terminated copy; a NUL inside becomes U+FFFD. NULL: the arena is full. */
char *view_copy(struct arena *arena, struct str text);
/* The same, "" where it does not fit. */
const char *view_text(struct arena *arena, struct str text);
/* The same, NULL where there is none. */
const char *view_text_or_null(struct arena *arena, struct str text);

static inline struct moot_str view_str(struct str text)
{
    return (struct moot_str){ text.ptr, text.len };
}

void view_message(struct arena *arena, const struct heard *heard,
                  struct moot_message *ret);
/* Borrows from the entry. */
void view_participant(const struct roster_entry *entry, struct moot_participant *ret);
void view_proposal(struct arena *arena, const struct proposed *proposed,
                   struct moot_proposal *ret);

/* --- request.c ------------------------------------------------------------------------
 */

void tickets_free(struct moot *m);

/* --- serve.c --------------------------------------------------------------------------
 */

void serve_request(struct moot *m, const struct heard *heard, const struct str *reply_to,
                   size_t reply_count);
void serve_cancelled(struct moot *m, struct str request_id, struct str from);
void serve_free(struct moot *m);

/* --- offers.c -------------------------------------------------------------------------
 */

struct catalogue *offers_new(const struct moot_options *options);

/* What a tool, resource or prompt was registered with. */
struct offered {
    moot_serve *serve;
    void *user;
};

/* Tells the room what has changed, once it can be told. */
bool offers_are_changed(const struct moot *m);
void offers_tell(struct moot *m);

/* --- json.c ---------------------------------------------------------------------------
 */

/* Parses a copy of the text. ERR_INVALID, ERR_TOO_BIG; *ret_what, static, says what was
 * wrong. `scratch` is used from where it stands, and may be reset afterwards. */
enum err json_view_text(struct str text, struct arena *scratch, struct arena *arena,
                        const struct moot_json **ret, const char **ret_what);
