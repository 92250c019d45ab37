/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/task_owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/message.h"
#include "participant/keep.h"
#include "participant/pick.h"

/* Behind the struct: participant, a byte that stands in no id, task; then the owner. */
struct note {
    struct link link;
    struct str key, participant, owner;
};

void task_owners_init(struct task_owners *owners,
                      bool (*is_here)(void *user, struct str owner), void *user)
{
    owners->is_here = is_here;
    owners->user = user;
    map_init(&owners->notes);
    list_init(&owners->order);
}

static void drop(struct task_owners *owners, struct note *note)
{
    map_remove(&owners->notes, note->key);
    list_remove(&note->link);
    free(note);
}

void task_owners_done(struct task_owners *owners)
{
    struct note *note;

    LIST_FOREACH(note, &owners->order, link)
        drop(owners, note);
    map_done(&owners->notes);
}

static struct note *find(const struct task_owners *owners, struct str participant,
                         struct str task)
{
    CLEANUP(buf_done) struct buf key;

    buf_init(&key, participant.len + task.len + 1);
    buf_put(&key, participant);
    buf_putc(&key, '\0');
    buf_put(&key, task);
    return map_find(&owners->notes, buf_str(&key));
}

static void make_room(struct task_owners *owners, struct str participant)
{
    struct note *note, *oldest = NULL;
    size_t count = 0;

    LIST_FOREACH(note, &owners->order, link) {
        if (!str_eq(note->participant, participant))
            continue;
        oldest = oldest ? oldest : note;
        count++;
    }
    if (count < TASK_OWNERS_EACH)
        oldest = owners->notes.count < TASK_OWNERS
                     ? NULL
                     : LIST_FIRST(&owners->order, struct note, link);
    if (oldest)
        drop(owners, oldest);
}

static void add(struct task_owners *owners, struct str participant, struct str owner,
                struct str task)
{
    struct note *note =
        xcalloc(1, sizeof(*note) + participant.len + 1 + task.len + owner.len);
    char *at = (char *)(note + 1);

    note->key = (struct str){ at, participant.len + 1 + task.len };
    note->participant = keep_str(&at, participant);
    *at++ = '\0';
    (void)keep_str(&at, task);
    note->owner = keep_str(&at, owner);
    list_append(&owners->order, &note->link);
    map_set(&owners->notes, note->key, note);
}

/* Legacy: { task: { taskId, … } }; modern: { resultType: "task", taskId, … }. */
static struct json_span id_in(struct json_span result)
{
    static const struct str legacy[] = { S("task"), S("taskId") };
    struct json_span type = {}, id = {};

    if (!pick_is(result, JSON_OBJECT) ||
        !PICK(result, { S("resultType"), &type }, { S("taskId"), &id }))
        return (struct json_span){};
    if (pick_is(type, JSON_STRING) && json_string_is(type, S("task")))
        return id;
    return mcp_message_find(result, legacy, COUNT(legacy));
}

bool task_owners_note(struct task_owners *owners, struct str participant,
                      struct str owner, struct json_span result)
{
    struct json_span id = id_in(result);
    struct note *note;

    if (!pick_is(id, JSON_STRING) || id.has_escape || !id.text.len ||
        id.text.len > TASK_OWNERS_ID)
        return true;
    note = find(owners, participant, id.text);
    if (note && str_eq(note->owner, owner))
        return true;
    if (note && owners->is_here(owners->user, note->owner))
        return false;
    if (note)
        drop(owners, note);
    make_room(owners, participant);
    add(owners, participant, owner, id.text);
    return true;
}

struct str task_owners_find(const struct task_owners *owners, struct str participant,
                            struct str task)
{
    const struct note *note = find(owners, participant, task);

    return note ? note->owner : S("");
}
