/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of participants: the level of messages that each wants, resources
 * they subscribed to, tasks that are theirs. All of it is bounded, and goes with them but
 * for tasks: whoever comes back may ask for those, as long as they live.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "participant/keep.h"
#include "participant/pick.h"

/* --- guests --- */

struct guest *guest_find(const struct bridge *b, struct str id)
{
    struct guest *guest;

    LIST_FOREACH(guest, &b->guests, link)
        if (str_eq(guest->id, id))
            return guest;
    return NULL;
}

struct guest *guest_get(struct bridge *b, struct str id)
{
    struct guest *guest = guest_find(b, id);
    char *at;

    if (guest || b->guest_count == BRIDGE_GUESTS)
        return guest;
    guest = xcalloc(1, sizeof(*guest) + id.len);
    at = (char *)(guest + 1);
    guest->id = keep_str(&at, id);
    guest->level = -1;
    list_init(&guest->watched);
    list_append(&b->guests, &guest->link);
    b->guest_count++;
    return guest;
}

static void drop_watched(struct bridge *b, struct watched *watched)
{
    list_remove(&watched->link);
    b->watched_count--;
    free(watched);
}

static void drop_guest(struct bridge *b, struct guest *guest)
{
    struct watched *watched;

    LIST_FOREACH(watched, &guest->watched, link)
        drop_watched(b, watched);
    list_remove(&guest->link);
    b->guest_count--;
    free(guest);
}

/* --- subscriptions --- */

static struct watched *find_watched(const struct guest *guest, struct str uri)
{
    struct watched *watched;

    LIST_FOREACH(watched, &guest->watched, link)
        if (str_eq(watched->uri, uri))
            return watched;
    return NULL;
}

bool guest_watches(const struct guest *guest, struct str uri)
{
    return find_watched(guest, uri);
}

static bool is_among(struct str uri, const struct str *uris, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(uris[i], uri))
            return true;
    return false;
}

static size_t collect(const struct guest *guest, struct str *uris, size_t count)
{
    const struct watched *watched;

    LIST_FOREACH(watched, &guest->watched, link)
        if (!is_among(watched->uri, uris, count))
            uris[count++] = watched->uri;
    return count;
}

/* Each has an instance of his own, or all share what all want together. */
static void tell_server(struct bridge *b, const struct guest *one)
{
    bool is_own = b->spec->mode == SERVER_PER_CALLER;
    CLEANUP(xfreep) struct str *uris = xcalloc(b->watched_count + 1, sizeof(*uris));
    const struct guest *guest;
    size_t count = 0;

    LIST_FOREACH(guest, &b->guests, link)
        if (!is_own || guest == one)
            count = collect(guest, uris, count);
    supervisor_watch(b->supervisor, is_own ? one->id : S(""), uris, count);
}

enum err guest_watch(struct bridge *b, struct str id, struct str uri)
{
    struct guest *guest = guest_get(b, id);
    struct watched *watched;
    char *at;

    if (!guest || b->watched_count == BRIDGE_WATCHED)
        return ERR_OVERLOAD;
    if (find_watched(guest, uri))
        return OK;
    watched = xcalloc(1, sizeof(*watched) + uri.len);
    at = (char *)(watched + 1);
    watched->uri = keep_str(&at, uri);
    list_append(&guest->watched, &watched->link);
    b->watched_count++;
    tell_server(b, guest);
    return OK;
}

void guest_unwatch(struct bridge *b, struct str id, struct str uri)
{
    struct guest *guest = guest_find(b, id);
    struct watched *watched = guest ? find_watched(guest, uri) : NULL;

    if (!watched)
        return;
    drop_watched(b, watched);
    tell_server(b, guest);
}

void guests_watch_again(struct bridge *b)
{
    const struct guest *guest;

    if (!b->watched_count)
        return;
    LIST_FOREACH(guest, &b->guests, link) {
        tell_server(b, guest);
        if (b->spec->mode != SERVER_PER_CALLER)
            return;
    }
}

/* --- tasks --- */

static void drop_task(struct bridge *b, struct owned_task *task)
{
    list_remove(&task->link);
    b->task_count--;
    free(task);
}

static void drop_late_tasks(struct bridge *b)
{
    uint64_t now = loop_now_ms(b->means.loop);
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link)
        if (task->until_ms <= now)
            drop_task(b, task);
}

static void make_room(struct bridge *b)
{
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link) {
        if (b->task_count < BRIDGE_TASKS)
            return;
        drop_task(b, task);
    }
}

static struct owned_task *find_task(const struct bridge *b, struct str id)
{
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link)
        if (str_eq(task->id, id))
            return task;
    return NULL;
}

/* Legacy: { task: { taskId, … } }; modern: { resultType: "task", taskId, … }. */
static struct json_span task_of(struct json_span result)
{
    struct json_span task = {};

    if (PICK(result, { S("task"), &task }) && pick_is(task, JSON_OBJECT))
        return task;
    return result;
}

void owned_task_note(struct bridge *b, struct str owner, struct json_span result)
{
    struct json_span span = task_of(result), id = {}, ttl = {};
    uint64_t ms = BRIDGE_TASK_MS;
    struct owned_task *task;
    char *at;

    if (!PICK(span, { S("taskId"), &id }, { S("ttl"), &ttl }) ||
        !pick_is(id, JSON_STRING) || id.has_escape || find_task(b, id.text))
        return;
    if (pick_is(ttl, JSON_NUMBER) && str_to_u64(ttl.text, 24ULL * BRIDGE_TASK_MS, &ms))
        ms = BRIDGE_TASK_MS;
    drop_late_tasks(b);
    make_room(b);
    task = xcalloc(1, sizeof(*task) + id.text.len + owner.len + span.text.len);
    at = (char *)(task + 1);
    task->id = keep_str(&at, id.text);
    task->owner = keep_str(&at, owner);
    task->json = keep_str(&at, span.text);
    task->until_ms = loop_now_ms(b->means.loop) + ms;
    list_append(&b->tasks, &task->link);
    b->task_count++;
}

struct str owned_task_owner(const struct bridge *b, struct str id)
{
    const struct owned_task *task = find_task(b, id);

    return task ? task->owner : S("");
}

bool owned_task_is_of(const struct bridge *b, struct str owner, struct str id)
{
    return id.len && str_eq(owned_task_owner(b, id), owner);
}

void owned_task_put_list(struct bridge *b, struct str owner, struct buf *out)
{
    const struct owned_task *task;
    struct json_writer w;

    drop_late_tasks(b);
    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("tasks"));
    json_array_open(&w);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    LIST_FOREACH(task, &b->tasks, link)
        if (str_eq(task->owner, owner))
            json_raw(&w, task->json);
    json_array_close(&w);
    json_object_close(&w);
}

/* --- leaving --- */

void guest_gone(struct bridge *b, struct str id)
{
    struct guest *guest = guest_find(b, id);
    bool has_watched = guest && !list_is_empty(&guest->watched);

    if (!guest)
        return;
    drop_guest(b, guest);
    if (has_watched && b->spec->mode != SERVER_PER_CALLER)
        tell_server(b, NULL);
}

void guests_free(struct bridge *b)
{
    struct owned_task *task;
    struct guest *guest;

    LIST_FOREACH(task, &b->tasks, link)
        drop_task(b, task);
    LIST_FOREACH(guest, &b->guests, link)
        drop_guest(b, guest);
}
