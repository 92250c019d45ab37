/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/server_keeping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/gateway.h"
#include "gateway/server_list.h"
#include "gateway/server_uids.h"

enum { KEPT_BYTES = 16 << 20, SPEC_BYTES = 4 << 20 };

static const enum store_section sections[SERVER_KEPT] = {
    [KEPT_SERVER] = STORE_UPSTREAM,
    [KEPT_CATALOGUE] = STORE_CATALOGUE,
    [KEPT_SECRET] = STORE_SECRET,
};

struct kept_servers *kept_servers_new(void)
{
    return xcalloc(1, sizeof(struct kept_servers));
}

void kept_servers_free(struct kept_servers *kept)
{
    if (!kept)
        return;
    for (size_t i = 0; i < kept->count; i++) {
        server_spec_unref(kept->items[i].spec);
        for (size_t k = 0; k < SERVER_KEPT; k++)
            buf_done(&kept->items[i].texts[k]);
    }
    free(kept->items);
    free(kept);
}

void kept_servers_add(struct kept_servers *kept, struct server_spec *spec)
{
    struct kept_server *item;

    kept->items = xrealloc(kept->items, (kept->count + 1) * sizeof(*kept->items));
    item = &kept->items[kept->count++];
    *item = (struct kept_server){ .spec = server_spec_ref(spec) };
    for (size_t k = 0; k < SERVER_KEPT; k++)
        buf_init(&item->texts[k], KEPT_BYTES);
}

static struct kept_server *find(struct kept_servers *kept, struct str name)
{
    for (size_t i = 0; i < kept->count; i++)
        if (str_eq(kept->items[i].spec->name, name))
            return &kept->items[i];
    return NULL;
}

const struct kept_server *kept_servers_find(const struct kept_servers *kept,
                                            struct str name)
{
    for (size_t i = 0; i < kept->count; i++)
        if (str_eq(kept->items[i].spec->name, name))
            return &kept->items[i];
    return NULL;
}

/* --- on the store's thread --- */

struct filling {
    struct kept_servers *kept;
    size_t what;
};

static void on_item(void *user, const struct store_item *item)
{
    const struct filling *filling = user;
    struct kept_server *server = find(filling->kept, item->key);

    if (server)
        buf_put(&server->texts[filling->what], item->value);
}

static void work(struct store_job *job, struct store *store)
{
    struct kept_servers *kept = CONTAINER_OF(job, struct kept_servers, job);

    for (size_t k = 0; !kept->err && k < SERVER_KEPT; k++)
        kept->err =
            store_item_each(store, sections[k], on_item, &(struct filling){ kept, k });
}

static void done(struct store_job *job)
{
    struct kept_servers *kept = CONTAINER_OF(job, struct kept_servers, job);

    kept->on_done(kept);
}

void kept_servers_read(struct kept_servers *kept, struct worker *worker)
{
    kept->job = (struct store_job){ .loop = worker->loop, .work = work, .done = done };
    recorder_hand_over(worker); /* it is read as it was last */
    store_submit(gateway_store(worker->gateway), &kept->job);
}

/* --- keeping --- */

void server_keep(struct worker *worker, struct str name, size_t what, struct str json)
{
    (void)recorder_put(
        worker,
        &(struct store_item){ .section = sections[what], .key = name, .value = json });
}

void server_keep_added(struct worker *worker, const struct server_spec *spec)
{
    struct buf json;

    buf_init(&json, SPEC_BYTES);
    server_spec_write(spec, &json);
    (void)recorder_put(worker, &(struct store_item){ .section = STORE_SERVER,
                                                     .key = spec->name,
                                                     .value = buf_str(&json) });
    buf_done(&json);
}

static void drop_uid(struct worker *worker, struct str name)
{
    (void)recorder_remove(worker,
                          &(struct store_item){ .section = STORE_UID, .key = name });
    server_uids_drop(gateway_uids(worker->gateway), name);
}

/* A number may be somebody's who has gone: he has had it long enough. */
static uid_t take_uid(struct worker *worker, struct str name)
{
    struct server_uids *uids = gateway_uids(worker->gateway);
    uid_t uid = server_uids_take(uids, name);
    char *resting = NULL;

    if (uid || !server_uids_resting(uids).len)
        return uid;
    resting = str_dup(server_uids_resting(uids));
    drop_uid(worker, str_of(resting));
    free(resting);
    return server_uids_take(uids, name);
}

void server_give_uid(struct worker *worker, struct server_spec *spec)
{
    struct server_uids *uids = gateway_uids(worker->gateway);
    bool is_new = !server_uids_find(uids, spec->name);
    char text[16];

    if (!server_spec_lacks_uid(spec)) {
        server_uids_unwant(uids, spec->name);
        return;
    }
    spec->permit.uid = take_uid(worker, spec->name);
    spec->permit.gid = (gid_t)spec->permit.uid;
    if (!spec->permit.uid)
        log_error("server.no_uid", "name=%s reason=\"all %d are taken\"",
                  LOG_TEXT(spec->name), UID_COUNT);
    if (!is_new || !spec->permit.uid)
        return;
    (void)snprintf(text, sizeof(text), "%u", spec->permit.uid);
    (void)recorder_put(worker, &(struct store_item){ .section = STORE_UID,
                                                     .key = spec->name,
                                                     .value = str_of(text) });
}

void server_forget(struct worker *worker, struct str name)
{
    static const enum store_section all[] = { STORE_SERVER, STORE_UPSTREAM,
                                              STORE_CATALOGUE, STORE_SECRET };

    for (size_t i = 0; i < COUNT(all); i++)
        (void)recorder_remove(worker,
                              &(struct store_item){ .section = all[i], .key = name });
    if (!server_list_find(worker->settings->servers, name) &&
        server_uids_forget(gateway_uids(worker->gateway), name))
        drop_uid(worker, name);
}

/* --- what has ended --- */

struct ending {
    struct loop_mail mail;
    struct worker *first;
    struct str name; /* behind the struct */
};

static void on_ended(struct loop_mail *mail)
{
    struct ending *ending = CONTAINER_OF(mail, struct ending, mail);

    if (server_uids_ended(gateway_uids(ending->first->gateway), ending->name))
        drop_uid(ending->first, ending->name);
    free(ending);
}

void server_has_ended(struct worker *worker, struct str name)
{
    struct ending *ending = xcalloc(1, sizeof(*ending) + name.len);

    memcpy(ending + 1, name.ptr, name.len);
    ending->name = (struct str){ (const char *)(ending + 1), name.len };
    ending->first = gateway_worker(worker->gateway, 0);
    ending->mail.deliver = on_ended;
    loop_post(ending->first->loop, &ending->mail);
}
