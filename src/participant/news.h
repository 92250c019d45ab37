/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gateway says in its payloads: the welcome, presence, refusals and gaps. They
 * are read as spans of the text, so a room of any size costs nothing but the walk; what
 * had to be unescaped is in the arena.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/scan.h"
#include "participant/occupant.h"
#include "participant/roster.h"
#include "policy/capset.h"

struct welcome {
    struct roster_note you;
    struct json_span participants; /* arrays, or text.ptr NULL, like the next two */
    struct json_span proposals;
    struct json_span grants;
    uint64_t envelope_bytes; /* 0: it does not say */
};

/* These: ERR_MALFORMED_ENVELOPE with *ret_field, static, where something is missing or
 * not what it should be; ERR_TOO_LARGE: too many escapes. */
enum err news_welcome(struct json_span payload, struct arena *arena, struct welcome *ret,
                      struct str *ret_field);
enum err news_refused(struct json_span payload, struct arena *arena, struct refused *ret,
                      struct str *ret_field);
enum err news_gap(struct json_span payload, uint64_t *ret_missed, struct str *ret_field);

/* The participants that a welcome lists, or the changes that presence tells of: one, or a
 * batch of them. */
struct news_walk {
    struct json_scan scan;
    struct json_span one; /* text.ptr NULL: a list */
    bool joins;           /* all of them, but for a batch */
    bool is_batch;        /* each says itself whether it joins or leaves */
    bool is_over;
    uint64_t bad; /* elements that were left out: they could not be read */
};

void news_walk_list(struct news_walk *walk, struct json_span participants);
enum err news_walk_presence(struct news_walk *walk, struct json_span payload,
                            struct str *ret_field);

/* The next one, in the arena, which it resets; false at the end. `*ret_joins` (may be
 * NULL): joins or leaves. */
bool news_next(struct news_walk *walk, struct arena *arena, struct roster_note *ret,
               bool *ret_joins);

/* What the welcome allows us: patterns, objects, and what was granted for a number of
 * times. What is no capability here is left out. ERR_TOO_LARGE: more than the arena. */
enum err news_capabilities(const struct welcome *welcome, struct arena *arena,
                           struct str_list *ret);
