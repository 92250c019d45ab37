/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant's handle from inside. Who does what:
 *
 *     moot.c      life: steps, states                    wire.h, occupant.h
 *     options.c   … and what it begins with
 *     tell.c      what happens, to the handlers
 *     view.c      … as they see it
 *     request.c   saying, asking, deciding               ask.h
 *     offers.c    what is offered to MCP clients         mcp/catalogue.h
 *     serve.c     requests of others; call.c, answer.c: what they are answered
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
struct wire_settings;
struct catalogue;
struct json;
struct ask_ops;
struct roster_entry;

enum {
    HANDLE_WHY = 512,
    HANDLE_PREFIX = 16,     /* of random text that our ids begin with */
    HANDLE_LEAVE_MS = 5000, /* for what was sent last to be judged */
    HANDLE_GATEWAY_BYTES =
        64 << 20,              /* a gateway that takes larger envelopes is not believed */
    HANDLE_ROSTER_BYTES = 256, /* of a welcome, for each participant */
    HANDLE_TREE_FACTOR = 96,   /* bytes of a tree for each byte of its text */
    HANDLE_MAX_BYTES = 1 << 30, /* of limits, so that nothing overflows */
    HANDLE_MAX_COUNT = 10'000'000,
};

enum leaving {
    LEAVING_NOT,
    LEAVING_WANTED,
    LEAVING_FENCED, /* waits until what was sent is judged */
    LEAVING_CLOSING,
};

/* What may be asked of a handle that is const is written here. */
struct desk {
    struct arena given;   /* to a handler, until it returns; else until the next step */
    struct arena scratch; /* inside one function */
    char last[HANDLE_WHY];
};

struct moot {
    struct seat seat;
    struct wire *wire; /* NULL: the options were wrong */
    struct occupant *occupant;
    struct catalogue *catalogue;
    struct desk *desk;

    struct moot_handlers handlers;
    void *user;
    struct moot_limits limits;
    char *after; /* "": from now on */

    enum moot_state state;
    char why[HANDLE_WHY];
    char id[256 + 1];

    enum leaving leaving;
    uint64_t leave_ms; /* when it closes, whatever was judged */

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
enum moot_err handle_fail(struct moot *m, enum err err, const char *why);
struct moment handle_now(void);

/* The welcome has come. */
void handle_joined(struct moot *m);

extern const struct occupant_ops tell_ops; /* tell.c */

/* --- options.c ------------------------------------------------------------------------
 */

/* NULL, or what is wrong with them besides what the wire says. */
const char *options_fault(const struct moot_options *options);
struct moot_limits options_limits(const struct moot_limits *given);
struct wire_settings options_wire(const struct moot *m,
                                  const struct moot_options *options);
struct occupant *options_occupant(struct moot *m, const struct moot_options *options);

/* How long a message may be that is received from a gateway which takes envelopes of
 * `gateway_bytes`; 0: that is not known. */
size_t options_message_bytes(const struct moot *m, size_t gateway_bytes);

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
