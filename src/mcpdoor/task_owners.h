/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a task is. Its id says nothing of who made it, and goes to clients as it stands;
 * where there are several owners in a topic, whoever looks after a task is to reach the
 * one that has it. So it is noted, for each participant, and longer than that one is
 * here: modern clients come and go between two looks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "json/scan.h"

enum {
    TASK_OWNERS = 4096,     /* notes, of all */
    TASK_OWNERS_EACH = 256, /* … of one participant: its oldest go first */
    TASK_OWNERS_ID = 256,   /* bytes of an id that is noted */
};

struct task_owners {
    struct map notes;  /* by participant and task */
    struct link order; /* the oldest first */
    bool (*is_here)(void *user, struct str owner);
    void *user;
};

/* `is_here`: might that owner still have its tasks? */
void task_owners_init(struct task_owners *owners,
                      bool (*is_here)(void *user, struct str owner), void *user);
void task_owners_done(struct task_owners *owners);

/* What `owner` answered to a call of `participant`: where it is a task, of either era, it
 * is noted. False: it has the id of another's, who is here; that one keeps it, or an
 * owner could take away the tasks of others. */
[[nodiscard]] bool task_owners_note(struct task_owners *owners, struct str participant,
                                    struct str owner, struct json_span result);

/* "": it is not known. Valid until the next note. */
struct str task_owners_find(const struct task_owners *owners, struct str participant,
                            struct str task);
