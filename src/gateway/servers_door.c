/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /admin/servers: what there is, and what people do with it. Whatever concerns one server
 * is answered by its worker (SERVER_IN_PATH); adding and removing starts on the first, so
 * that both have one order.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/room.h"
#include "gateway/server_uids.h"
#include "gateway/servers_priv.h"

enum { ANSWER_BYTES = 64 << 20, SMALL_BYTES = 4096 };

static const char no_uid[] = "There is no uid left that a further server could become: "
                             "give it one by `uid`, or remove servers.";

struct server *server_asked_for(struct exchange *x)
{
    struct server *server = server_find(x->worker->servers, x->params[0]);

    if (server)
        x->topic = arena_str(&x->arena, server->spec->topic);
    if (server && server->stage == STAGE_SEATED)
        return server;
    if (server || servers_find_wanted(x->worker->servers, x->params[0]))
        exchange_fail(x, ERR_UNAVAILABLE, "That server is coming or going just now.");
    else
        exchange_fail(x, ERR_NOT_FOUND, "There is no such server.");
    return NULL;
}

/* --- looking --- */

static void put_server(const struct server *server, struct buf *out)
{
    static const struct str stages[] = {
        [STAGE_LOADING] = S("loading"), [STAGE_LEAVING] = S("leaving")
    };
    struct json_writer w;

    if (server->stage == STAGE_SEATED) {
        bridge_put_json(server->bridge, out);
        return;
    }
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("name"), server->spec->name);
    json_put_str(&w, S("topic"), server->spec->topic);
    json_put_str(&w, S("id"), server->spec->id);
    json_put_str(&w, S("state"), stages[server->stage]);
    if (server_spec_lacks_uid(server->spec))
        json_put_str(&w, S("why"), S("there is no uid left for it: give it one"));
    json_object_close(&w);
}

struct listing_call {
    struct gather gather;
    struct exchange *x;
};

static void visit_list(struct gather *gather [[maybe_unused]], struct gather_part *part)
{
    const struct server *server;

    LIST_FOREACH(server, &part->worker->servers->all, link) {
        if (part->out.len)
            buf_putc(&part->out, ',');
        put_server(server, &part->out);
    }
}

static void answer_list(struct gather *gather)
{
    struct listing_call *call = CONTAINER_OF(gather, struct listing_call, gather);
    struct buf out;

    if (exchange_resume(call->x)) {
        buf_init(&out, ANSWER_BYTES);
        buf_put(&out, S("{\"servers\":["));
        gather_join(gather, &out);
        buf_put(&out, S("]}"));
        exchange_json(call->x, 200, &out);
        buf_done(&out);
    }
    gather_done(gather);
    free(call);
}

void admin_servers_list(struct exchange *x)
{
    struct listing_call *call = xcalloc(1, sizeof(*call));

    call->x = x;
    call->gather.visit = visit_list;
    call->gather.done = answer_list;
    exchange_suspend(x);
    gather_start(&call->gather, x->worker);
}

/* One that lacks a uid is looked at to see that. */
static struct server *server_looked_at(struct exchange *x)
{
    struct server *server = server_find(x->worker->servers, x->params[0]);

    return server && server_spec_lacks_uid(server->spec) ? server : server_asked_for(x);
}

void admin_server_get(struct exchange *x)
{
    struct server *server = server_looked_at(x);
    struct buf out;

    if (!server)
        return;
    buf_init(&out, ANSWER_BYTES);
    buf_put(&out, S("{\"server\":"));
    put_server(server, &out);
    buf_put(&out, S(",\"settings\":"));
    server_spec_write(server->spec, &out);
    buf_putc(&out, '}');
    exchange_json(x, 200, &out);
    buf_done(&out);
}

/* Whom a confined command of that name becomes, or would become. */
void admin_server_uid(struct exchange *x)
{
    uid_t uid = geteuid();
    struct json_writer w;
    struct buf out;

    if (!uid)
        uid = server_uids_next(gateway_uids(x->worker->gateway), x->params[0]);
    if (!uid) {
        exchange_fail(x, ERR_OVERLOAD, "%s", no_uid);
        return;
    }
    buf_init(&out, SMALL_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_uint(&w, S("uid"), uid);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

void admin_server_tools(struct exchange *x)
{
    struct server *server = server_asked_for(x);
    struct buf out;

    if (!server)
        return;
    buf_init(&out, ANSWER_BYTES);
    listing_put_json(bridge_listing(server->bridge), &out);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

/* --- start, stop, restart --- */

static void answer_act(struct exchange *x, struct server *server, const char *verb)
{
    struct buf out;

    log_info("server.act", "act=%s name=%s by=%s", verb, LOG_TEXT(server->spec->name),
             LOG_TEXT(x->identity->id));
    buf_init(&out, ANSWER_BYTES);
    buf_put(&out, S("{\"server\":"));
    put_server(server, &out);
    buf_putc(&out, '}');
    exchange_json(x, 202, &out);
    buf_done(&out);
}

void admin_server_start(struct exchange *x)
{
    struct server *server = server_asked_for(x);

    if (!server)
        return;
    supervisor_start(bridge_supervisor(server->bridge));
    answer_act(x, server, "start");
}

void admin_server_stop(struct exchange *x)
{
    struct server *server = server_asked_for(x);

    if (!server)
        return;
    supervisor_stop(bridge_supervisor(server->bridge), "an administrator stopped it");
    answer_act(x, server, "stop");
}

void admin_server_restart(struct exchange *x)
{
    struct server *server = server_asked_for(x);

    if (!server)
        return;
    supervisor_restart(bridge_supervisor(server->bridge));
    answer_act(x, server, "restart");
}

/* --- approving --- */

/* {"name":"…","type":"tool"}, or {"all":true}; with the digest of what was seen. */
struct approval {
    struct str name;
    struct str type;
    struct str digest;
    bool all;
};

#define F(member, need) JSON_FIELD(struct approval, member, need)
static const struct json_field approval_fields[] = {
    F(name, JSON_OPTIONAL),
    F(type, JSON_OPTIONAL),
    F(digest, JSON_OPTIONAL),
    F(all, JSON_OPTIONAL),
};
#undef F

static const struct str type_names[OFFER_TYPES] = {
    [OFFER_TOOL] = S("tool"),
    [OFFER_PROMPT] = S("prompt"),
    [OFFER_RESOURCE] = S("resource"),
    [OFFER_TEMPLATE] = S("template"),
};

static bool parse_type(struct str name, enum offer_type *ret)
{
    *ret = OFFER_TOOL;
    if (!name.len)
        return true;
    for (size_t i = 0; i < OFFER_TYPES; i++)
        if (str_eq(type_names[i], name)) {
            *ret = (enum offer_type)i;
            return true;
        }
    return false;
}

/* A server may change what it offers while somebody reads it. `listed` NULL: all of it.
 */
static bool was_seen(const struct listing *listing, const struct listed *listed,
                     struct str digest)
{
    CLEANUP(buf_done) struct buf now;

    buf_init(&now, (size_t)2 * SHA256_BYTES);
    if (!digest.len)
        return true;
    listing_put_digest(listing, listed, &now);
    return str_eq(buf_str(&now), digest);
}

static enum err approve(struct exchange *x, struct server *server,
                        const struct approval *approval)
{
    struct listing *listing = bridge_listing(server->bridge);
    uint64_t wall_ms = loop_wall_ms(x->worker->loop);
    const struct listed *listed;
    enum offer_type type;
    enum err err = OK;

    if (!approval->all) {
        if (!approval->name.len || !parse_type(approval->type, &type))
            return ERR_INVALID;
        listed = listing_find(listing, type, approval->name);
        if (listed && !was_seen(listing, listed, approval->digest))
            return ERR_CONFLICT;
        return listing_approve(listing, type, approval->name, x->identity->id, wall_ms);
    }
    if (!was_seen(listing, NULL, approval->digest))
        return ERR_CONFLICT;
    for (size_t i = 0; !err && i < OFFER_TYPES; i++)
        err =
            listing_approve(listing, (enum offer_type)i, S(""), x->identity->id, wall_ms);
    return err;
}

void admin_server_pins(struct exchange *x)
{
    struct server *server = server_asked_for(x);
    struct approval approval = {};
    const struct json *root;
    enum err err;

    if (!server)
        return;
    err = json_parse(x->body, &x->arena, &root, NULL);
    if (!err)
        err = json_read(root, approval_fields, COUNT(approval_fields), &x->arena,
                        &approval, NULL);
    if (!err)
        err = approve(x, server, &approval);
    if (err == ERR_NOT_FOUND) {
        exchange_fail(x, err, "That server offers nothing of that name.");
        return;
    }
    if (err == ERR_CONFLICT) {
        exchange_fail(x, err,
                      "The server offers something else by now than you saw. "
                      "Look at it again.");
        return;
    }
    if (err) {
        exchange_fail(x, ERR_BAD_REQUEST,
                      "Name what is approved: {\"name\":…,\"type\":\"tool\"}, where type "
                      "is tool, prompt, resource or template; or {\"all\":true}.");
        return;
    }
    bridge_listing_changed(server->bridge);
    admin_server_tools(x);
}

/* --- adding and removing, while it runs --- */

/* Another list on its way to all workers, and to the disk. */
struct change {
    struct gather gather;
    struct exchange *x;
    struct server_list *list;
    struct str name; /* in the exchange's arena, which is there until it is answered */
    int status;
};

static void visit_change(struct gather *gather, struct gather_part *part)
{
    const struct change *change = CONTAINER_OF(gather, struct change, gather);

    servers_set_added(part->worker->servers, change->list);
}

static void answer_name(struct exchange *x, int status, struct str name)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, SMALL_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("name"), name);
    json_object_close(&w);
    exchange_json(x, status, &out);
    buf_done(&out);
}

static void answer_change(struct gather *gather)
{
    struct change *change = CONTAINER_OF(gather, struct change, gather);
    struct exchange *x = change->x;

    if (exchange_resume(x)) {
        if (gather->err)
            exchange_fail(x, gather->err, "%s", recorder_problem);
        else
            answer_name(x, change->status, change->name);
    }
    gather_done(gather);
    server_list_unref(change->list);
    free(change);
}

/* Takes the list. */
static void change_start(struct exchange *x, struct server_list *list, struct str name,
                         int status)
{
    struct change *change = xcalloc(1, sizeof(*change));

    change->gather.visit = visit_change;
    change->gather.done = answer_change;
    change->gather.is_lasting = true;
    change->x = x;
    change->list = server_list_ref(list);
    change->name = name;
    change->status = status;
    gateway_set_added(x->worker->gateway, list);
    exchange_suspend(x);
    gather_start(&change->gather, x->worker);
}

/* False if that already answered. */
static bool may_change(struct exchange *x)
{
    if (recorder_is_able(x->worker))
        return true;
    exchange_fail(x, ERR_UNAVAILABLE, "%s", recorder_problem);
    return false;
}

/* Adds it to a copy of the list; NULL if that already answered. */
static struct server_list *list_with(struct exchange *x, struct server_spec *spec)
{
    const struct settings *settings = x->worker->settings;
    struct server_list *list;
    char *why = NULL;
    enum err err;

    x->topic = arena_str(&x->arena, spec->topic);
    if (server_list_find(settings->servers, spec->name)) {
        exchange_fail(x, ERR_CONFLICT, "A server of that name is in the configuration.");
        return NULL;
    }
    if (!settings_room(settings, spec->topic)) {
        exchange_fail(x, ERR_NOT_FOUND, "There is no such topic.");
        return NULL;
    }
    if (server_spec_lacks_uid(spec) &&
        !server_uids_next(gateway_uids(x->worker->gateway), spec->name)) {
        exchange_fail(x, ERR_OVERLOAD, "%s", no_uid);
        return NULL;
    }
    list = server_list_without(gateway_added(x->worker->gateway), S(""));
    err = server_list_add(list, spec, (struct str_list){}, &why);
    if (err) {
        exchange_fail(x, err == ERR_INVALID ? ERR_BAD_REQUEST : err, "%s", why);
        server_list_unref(list);
        list = NULL;
    }
    free(why);
    return list;
}

/* A token, which may be stolen out of a browser, adds nothing that runs, reaches or reads
 * something of this machine: that takes somebody who may use its socket. What a name
 * leads to is known when it is connected to, each time. */
static bool may_add(struct exchange *x, struct server_spec *spec)
{
    bool is_trusted = exchange_peer(x)->is_trusted;
    const char *why = is_trusted ? NULL : server_spec_uses_machine(spec);

    spec->is_public |= !is_trusted;
    if (why)
        exchange_fail(
            x, ERR_FORBIDDEN,
            "A token adds servers behind https:// alone; %s. That is done on the "
            "machine of the gateway, with `moot run`.",
            why);
    return !why;
}

void admin_servers_add(struct exchange *x)
{
    struct server_spec *spec = NULL;
    struct server_list *list;
    char *why = NULL;

    if (!may_change(x))
        return;
    if (server_spec_read(x->body, &spec, &why)) {
        exchange_fail(x, ERR_BAD_REQUEST, "%s", why ? why : "That is no server.");
        free(why);
        return;
    }
    list = may_add(x, spec) ? list_with(x, spec) : NULL;
    if (list) {
        log_info("server.added", "name=%s topic=%s by=%s", LOG_TEXT(spec->name),
                 LOG_TEXT(spec->topic), LOG_TEXT(x->identity->id));
        server_keep_added(x->worker, spec);
        change_start(x, list, arena_str(&x->arena, spec->name), 201);
        server_list_unref(list);
    }
    server_spec_unref(spec);
}

void admin_servers_remove(struct exchange *x)
{
    struct str name = x->params[0];
    const struct server_list *added = gateway_added(x->worker->gateway);
    const struct wanted_server *found = server_list_find(added, name);
    struct server_list *list;

    if (!found && server_list_find(x->worker->settings->servers, name)) {
        exchange_fail(x, ERR_CONFLICT,
                      "That server stands in the configuration; remove it there and "
                      "reload.");
        return;
    }
    if (!found) {
        exchange_fail(x, ERR_NOT_FOUND, "There is no such server.");
        return;
    }
    if (!may_change(x))
        return;
    x->topic = arena_str(&x->arena, found->spec->topic);
    log_info("server.removed", "name=%s by=%s", LOG_TEXT(name),
             LOG_TEXT(x->identity->id));
    list = server_list_without(added, name);
    server_forget(x->worker, name);
    change_start(x, list, name, 200);
    server_list_unref(list);
}
