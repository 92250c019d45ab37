/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/ws_options.h"

#include "base/cleanup.h"
#include "gateway/entrance.h"
#include "gateway/room.h"
#include "gateway/upgrade.h"

/* The number of one of the words, or the default; ERR_BAD_REQUEST for any other. */
static enum err read_choice(struct exchange *x, struct str name, struct str_list words,
                            size_t *ret)
{
    struct str value;
    enum err err = exchange_param(x, name, &value);

    if (err || !value.ptr)
        return err;
    for (size_t i = 0; i < words.count; i++)
        if (str_eq(value, words.items[i])) {
            *ret = i;
            return OK;
        }
    return ERR_BAD_REQUEST;
}

/* By the query, else by the first subprotocol that is known. Where both speak, they must
 * not contradict each other. */
static enum err read_dialect(struct exchange *x, struct ws_options *ret,
                             const char **ret_why)
{
    struct str known[DIALECT_COUNT];
    struct str_list all = { known, DIALECT_COUNT };
    struct str value;
    size_t offered;

    for (size_t i = 0; i < DIALECT_COUNT; i++)
        known[i] = dialect_subprotocol((enum dialect)i);
    *ret_why = DIALECT_HELP;
    if (entrance_dialect(x, &ret->dialect) || exchange_param(x, S("dialect"), &value))
        return ERR_BAD_REQUEST;
    offered = upgrade_choose(&x->request, all);
    if (offered == all.count)
        return OK;
    if (!value.ptr)
        ret->dialect = (enum dialect)offered;
    *ret_why = "`dialect` and Sec-WebSocket-Protocol contradict each other.";
    if (upgrade_choose(&x->request, (struct str_list){ &known[ret->dialect], 1 }))
        return ERR_BAD_REQUEST;
    ret->subprotocol = known[ret->dialect];
    return OK;
}

enum err ws_options_read(struct exchange *x, struct ws_options *ret, const char **ret_why)
{
    static const struct str routings[2] = { S("all"), S("directed") };
    static const struct str switches[2] = { S("off"), S("on") };
    size_t routing = ROUTE_ALL;
    size_t presence = PRESENCE_EACH;
    size_t echo = 1;

    *ret_why = "`routing` is all or directed.";
    if (read_choice(x, S("routing"), (struct str_list){ routings, 2 }, &routing))
        return ERR_BAD_REQUEST;
    *ret_why = "`presence` is each, batch or off.";
    if (read_choice(x, S("presence"),
                    (struct str_list){ presence_names, COUNT(presence_names) },
                    &presence))
        return ERR_BAD_REQUEST;
    *ret_why = "`echo` is on or off.";
    if (read_choice(x, S("echo"), (struct str_list){ switches, 2 }, &echo))
        return ERR_BAD_REQUEST;
    *ret = (struct ws_options){ .routing = (enum routing)routing,
                                .presence = (enum presence_mode)presence,
                                .wants_echo = echo };
    *ret_why = "`after` is the id of an envelope, once.";
    if (exchange_param(x, S("after"), &ret->after) || ret->after.len > ENVELOPE_MAX_ID)
        return ERR_BAD_REQUEST;
    return read_dialect(x, ret, ret_why);
}
