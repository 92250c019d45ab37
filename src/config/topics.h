/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of rooms: those of all that are not named, and those of single ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "config/mark.h"

enum config_duplicate {
    CONFIG_DUPLICATE_SHARE,
    CONFIG_DUPLICATE_REPLACE,
    CONFIG_DUPLICATE_REFUSE
};
enum config_proposals {
    CONFIG_PROPOSALS_FREE,
    CONFIG_PROPOSALS_ONCE,
    CONFIG_PROPOSALS_EXACT
};
enum config_access {
    CONFIG_ACCESS_PUBLIC,
    CONFIG_ACCESS_RESTRICTED,
    CONFIG_ACCESS_PRIVATE
};
enum config_validation { CONFIG_VALIDATION_LAZY, CONFIG_VALIDATION_STRICT };
enum config_dialects { CONFIG_DIALECTS_BOTH, CONFIG_DIALECTS_SLASH };
enum config_audit_mode { CONFIG_AUDIT_OFF, CONFIG_AUDIT_ASYNC, CONFIG_AUDIT_REQUIRED };

/* Of some of a topic's proposals. */
struct config_approval {
    struct config_mark mark;
    struct str name; /* unused, as in all lists */
    struct str kind; /* a pattern over METHOD[:NAME] */
    struct config_mark kind_mark;
    size_t quorum;
    struct config_strs profiles;
};

struct config_topic {
    struct config_mark mark;
    struct str name; /* "" in the defaults */
    enum config_access access;
    enum config_duplicate duplicate;
    enum config_proposals proposals;
    size_t quorum; /* where none of these matches: */
    struct {
        const struct config_approval *items;
        size_t count;
    } approvals;
    enum config_validation validation;
    enum config_dialects dialects;
    size_t ring_messages;
    size_t ring_bytes;
    uint64_t proposal_expiry_ms;
    uint64_t presence_delay_ms;
    size_t max_members;
    bool announce_violations;
    bool self_approve; /* who calls by MCP may be asked himself */
    size_t loop_guard; /* 0: off */
    enum config_audit_mode audit;
    uint64_t audit_age_ms; /* of bodies in the record; 0: for ever */
    uint64_t audit_bytes;  /* likewise; 0: any number */
};

struct config_topics {
    bool open; /* false: only the named ones exist */
    size_t max;
    struct config_topic defaults;
    struct {
        const struct config_topic *items;
        size_t count;
    } named;
};
