/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/thread.h"

#include <stdlib.h>

static void add(struct thread *thread, struct str id)
{
    char *copy;

    if (id.len == 0 || map_find(&thread->ids, id) || thread->ids.count >= THREAD_MAX)
        return;
    copy = str_dup(id);
    map_set(&thread->ids, (struct str){ copy, id.len }, copy);
}

void thread_init(struct thread *thread, struct str id)
{
    map_init(&thread->ids);
    add(thread, id);
}

void thread_done(struct thread *thread)
{
    void *id;

    MAP_FOREACH(id, &thread->ids)
        free(id);
    map_done(&thread->ids);
}

bool thread_takes(struct thread *thread, struct str id, struct str correlation_id)
{
    if (!map_find(&thread->ids, id) &&
        (correlation_id.len == 0 || !map_find(&thread->ids, correlation_id)))
        return false;
    add(thread, id);
    add(thread, correlation_id);
    return true;
}
