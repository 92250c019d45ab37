/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an envelope says, told to a person: a title ("calls read_file → files") and a body
 * (the arguments, the answer, a chat). Everything that came from outside is made plain
 * here and cut where it is long; what was cut is still in the envelope (/raw).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

enum tell_type {
    TELL_CHAT,
    TELL_CALL, /* a request that is answered */
    TELL_ANSWER,
    TELL_PROPOSAL,
    TELL_DECISION, /* approve, reject, withdraw, and what is said of authorizations */
    TELL_PROGRESS, /* of a call: `about` names it */
    TELL_SYSTEM,   /* the gateway */
    TELL_OTHER,
};

/* How an answer leaves the call that it answers. */
enum tell_outcome { TELL_FINE, TELL_FAILED, TELL_DENIED, TELL_PROVISIONAL };

enum { TELL_NAME_COLUMNS = 48, TELL_TITLE_BYTES = 2048, TELL_BODY_BYTES = 16 << 10 };

struct telling {
    enum tell_type type;
    enum tell_outcome outcome; /* TELL_ANSWER */
    struct buf title;
    struct buf body;
    struct buf about; /* TELL_PROGRESS: the progressToken */
    bool is_cut;
};

/* An envelope that was checked. */
struct tell_envelope {
    struct str kind;
    struct str payload; /* a JSON object */
    const struct str *to;
    size_t to_count;
    struct str text; /* the whole of it: of a replay it says whose it was; may be empty */
};

void tell_init(struct telling *t);
void tell_done(struct telling *t);

/* Into a telling that is empty. */
void tell(struct telling *t, const struct tell_envelope *envelope);

/* A name on one line, cut where it is very long. */
void tell_put_name(struct buf *out, struct str name);

/* Several of them; the first few, and how many more. */
void tell_put_names(struct buf *out, const struct str *names, size_t count);

/* "read_file", or "resources/read file:///x" where it is no tool. */
void tell_put_call(struct buf *out, struct str method, struct str name);
