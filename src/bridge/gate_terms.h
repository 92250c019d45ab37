/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls of a server's tools somebody must authorize first (ADR-001). The operator
 * says it in general or by rules, of which the first that fits counts; a tool may ask for
 * more, never for less.
 *
 *     caller, tool, arguments ─► gate_rules_judge ─► allow, prompt, delegate, deny
 *
 * Arguments that can be read in two ways fit a rule that does not allow, and never one
 * that does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

enum gate_mode {
    GATE_ALWAYS_ALLOW,
    GATE_ALWAYS_PROMPT,
    GATE_SELECTIVE,
    GATE_DELEGATED,
};

/* Each is stricter than the one before it. */
enum gate_then {
    GATE_ALLOW,
    GATE_PROMPT,   /* whoever may decides */
    GATE_DELEGATE, /* one participant does */
    GATE_DENY,
};

/* With "always-allow", …; end with "". */
extern const struct str gate_modes[];
extern const struct str gate_thens[];

struct gate_rule {
    struct str tool, caller; /* patterns of values (policy/pattern.h); "": any */
    struct str arguments;    /* conditions (D15), a JSON object; "": none */
    enum gate_then then;
};

enum {
    GATE_RULES_MAX = 64,
    GATE_TIMEOUT_MS = 5 * 60 * 1000, /* where nothing is said */
    GATE_TIMEOUT_MIN_MS = 1000,
    GATE_TIMEOUT_MAX_MS = 24 * 3600 * 1000,
    GATE_MESSAGE = 1000, /* bytes of what a tool says about itself */
};

/* Owns nothing. */
struct gate_terms {
    enum gate_mode mode;
    struct str delegate; /* a participant, or "" */
    uint64_t timeout_ms;
    const struct gate_rule *rules; /* GATE_SELECTIVE */
    size_t rule_count;
};

/* NULL, or what is wrong with them (owned by the caller). */
char *gate_terms_fault(const struct gate_terms *terms);
bool gate_terms_are_same(const struct gate_terms *a, const struct gate_terms *b);

/* {"mode":…,"delegate":…,"timeout_ms":…,"rules":[{"tool":…,"then":…}]}; texts are copied
 * into the arena. ERR_INVALID with *ret_why (owned by the caller). */
void gate_terms_write(const struct gate_terms *terms, struct json_writer *w);
enum err gate_terms_read(const struct json *json, struct arena *arena,
                         struct gate_terms *ret, char **ret_why);

/* --- what a tool says about itself --- */

struct gate_wish {
    bool is_required;
    enum { WISH_PROMPT, WISH_RULES, WISH_DELEGATE } how;
    uint64_t timeout_ms; /* 0: none */
    struct str message;  /* in the arena, or "" */
};

/* The `authorization` of a tool as it is listed; what cannot be read is not there. */
struct gate_wish gate_wish_read(struct str tool, struct arena *arena);

/* --- judging --- */

/* Compiled; NULL where the terms have a fault. */
struct gate_rules *gate_rules_new(const struct gate_terms *terms);
void gate_rules_free(struct gate_rules *rules);

struct gate_question {
    struct str caller, tool;
    struct json_span payload; /* of the request, scanned */
    struct gate_wish wish;
};

struct gate_ruling {
    enum gate_then then;
    uint64_t timeout_ms;
    struct str reason; /* static, or the wish's */
};
struct gate_ruling gate_rules_judge(const struct gate_rules *rules,
                                    const struct gate_question *question,
                                    struct arena *scratch);
