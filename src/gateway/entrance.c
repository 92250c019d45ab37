/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/entrance.h"

#include "gateway/auth.h"

enum err entrance_dialect(struct exchange *x, enum dialect *ret)
{
    struct str name;
    enum err err = exchange_param(x, S("dialect"), &name);

    *ret = DIALECT_SLASH;
    if (err || !name.ptr)
        return err;
    return dialect_parse(name, ret) ? OK : ERR_BAD_REQUEST;
}

static enum err find_room(const struct exchange *x, enum entrance how,
                          struct live_room **ret)
{
    struct worker *worker = x->worker;
    enum err err;

    if (how == ENTER_TO_STAY && worker->is_draining)
        return ERR_UNAVAILABLE;
    err = room_admit(worker, x->topic, x->identity);
    if (!err)
        err = room_open(worker, x->topic, ret);
    if (!err)
        err = room_may_enter(worker, *ret, x->identity);
    if (!err && how == ENTER_TO_STAY)
        err = topic_may_join(&(*ret)->room.topic, x->identity->id);
    return err;
}

void entrance_refuse(struct exchange *x, enum err err)
{
    switch (err) {
    case ERR_NOT_FOUND: exchange_fail(x, err, "There is no such topic."); break;
    case ERR_CONFLICT:
        exchange_fail(x, err, "You are already connected to this topic.");
        break;
    case ERR_FORBIDDEN: exchange_fail(x, err, "You may not enter this topic."); break;
    case ERR_UNAVAILABLE: exchange_fail(x, err, "The server is stopping."); break;
    default: exchange_fail(x, err, "There are too many topics or members."); break;
    }
}

struct live_room *entrance_room(struct exchange *x, enum entrance how,
                                enum dialect dialect)
{
    struct live_room *room = NULL;
    enum err err = find_room(x, how, &room);

    if (err)
        entrance_refuse(x, err);
    else if (dialect == DIALECT_SLASH || room->settings->takes_dotted)
        return room;
    else
        exchange_fail(x, ERR_FORBIDDEN, "This topic is open to dialect=slash only.");
    return NULL;
}

struct live_room *entrance_visit(struct exchange *x, enum dialect *ret)
{
    if (entrance_dialect(x, ret)) {
        exchange_fail(x, ERR_BAD_REQUEST, DIALECT_HELP);
        return NULL;
    }
    return entrance_room(x, ENTER_TO_VISIT, *ret);
}

bool entrance_shows_past(const struct identity *identity, struct capset *set)
{
    return identity->is_admin || capset_may(set, S("mcp/approve")) == VERDICT_ALLOW;
}

bool entrance_may_look_back(struct exchange *x)
{
    struct worker *worker = x->worker;

    if (entrance_shows_past(x->identity,
                            holdings_find(&worker->holdings, x->topic, x->identity,
                                          loop_wall_ms(worker->loop))))
        return true;
    exchange_fail(x, ERR_FORBIDDEN, "That is for those who may approve here.");
    return false;
}

bool entrance_may_still_look_back(struct exchange *x)
{
    const char *why;
    enum err err = auth_again(x, &why);

    if (err) {
        exchange_fail(x, err, "%s", why);
        return false;
    }
    return entrance_room(x, ENTER_TO_VISIT, DIALECT_SLASH) && entrance_may_look_back(x);
}
