/* SPDX-License-Identifier: Apache-2.0 */
/* The tools that `moot orchestrate` offers in the room: add_rule, list_rules,
 * remove_rule and get_stats. None of them makes a rule act. */
#pragma once

#include <moot.h>

struct orchestrator;

struct orchestrate_desk {
    struct orchestrator *orchestrator;
    bool is_dry;                  /* nothing is sent */
    void (*on_asked)(void *user); /* something may be due now */
    void *user;
};

/* The desk must outlive the handle. */
enum moot_err orchestrate_tools_add(struct moot *m, struct orchestrate_desk *desk);
