/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy and brake as they are for one sender in one topic, for whoever wants to know
 * why: `moot explain`. Admission asks the same rulings, and never comes here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "policy/rulings.h"

struct regime {
    const struct rulings *rulings; /* the rows that concern the sender; NULL: none */
    const size_t *numbers;         /* of these rows in the configuration, from 1 */
    enum participant_type type;
    bool has_brake;
};

/* Is there anything to ask? `regime` may be NULL. */
bool regime_governs(const struct regime *regime);

/* What capabilities allow, and is judged now. payload.text.ptr NULL: not known. */
struct regime_case {
    const struct kind *kind;
    struct json_span payload;
    struct arena *arena;
};

/* Appends a sentence. True: it passes. */
bool regime_explain(const struct regime *regime, const struct regime_case *about,
                    struct buf *out);

/* A proposal that none of these capabilities allows: may it be sent, because the request
 * itself may but for the regime, which asks for a proposal? */
bool regime_lets_propose(const struct regime *regime, const struct regime_case *about,
                         struct str_list capabilities);
