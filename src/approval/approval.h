/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Approvals of a proposal: how many it needs, of whom, and which it has. A topic has a
 * quorum for all its proposals, and rules for some of them; the first that matches
 * counts. A quorum of one that asks for no profile is no quorum: whoever fulfils it
 * decides.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

enum {
    QUORUM_MAX = 16,
    APPROVALS_MAX = 2 * QUORUM_MAX, /* of one proposal; more are not entered */
    APPROVAL_PROFILE = 1024,        /* bytes of a profile's name, in what is kept */
    APPROVAL_REASON = 1024,         /* bytes of why it was decided; the rest is cut */
};

struct pattern;

struct approval_rule {
    struct pattern *kind; /* over mcp/proposal:METHOD[:NAME] */
    size_t quorum;
    struct str_list profiles; /* of whom one is required; none: anybody's */
};

/* What a topic asks for. */
struct approval_terms {
    size_t quorum; /* where no rule matches; 0 is 1 */
    const struct approval_rule *rules;
    size_t count;
};

/* What one proposal asks for. */
struct approval_needs {
    size_t quorum;
    struct str_list profiles;
};

/* `subject`: METHOD[:NAME], see binding_subject(). */
struct approval_needs approval_needs_of(const struct approval_terms *terms,
                                        struct str subject);

static inline bool approval_is_needed(const struct approval_needs *needs)
{
    return needs->quorum > 1 || needs->profiles.count > 0;
}

/* Who has approved. */
struct approver {
    struct str id; /* both are in `text` */
    struct str profile;
    uint64_t at_ms; /* wall clock */
    bool is_human;
    char *text;
};

struct approvals {
    struct approver *items;
    size_t count;
};

/* Copies the texts. False: there are too many, or this id is among them already. */
bool approvals_add(struct approvals *approvals, const struct approver *approval);
void approvals_done(struct approvals *approvals);
const struct approver *approvals_find(const struct approvals *approvals, struct str id);

/* Would it count? Nobody counts twice. */
bool approval_meets(const struct approval_needs *needs, const struct approver *approval);
size_t approvals_given(const struct approvals *approvals,
                       const struct approval_needs *needs);
