/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a topic, for whoever may read it. They are changed in the room alone. */
#include "gateway/doors.h"
#include "gateway/entrance.h"
#include "gateway/rulebooks.h"

enum err rules_read_state(struct exchange *x, struct str *ret)
{
    enum rule_state wanted;
    struct str state;

    if (exchange_param(x, S("state"), &state) ||
        (state.ptr && rule_state_parse(state, &wanted))) {
        exchange_fail(x, ERR_BAD_REQUEST,
                      "`state` is suggested, shadow, active, suspended, disabled or "
                      "declined; at most once.");
        return ERR_BAD_REQUEST;
    }
    *ret = state.ptr ? rule_state_name(wanted) : state;
    return OK;
}

void rules_list(struct exchange *x)
{
    enum dialect dialect;
    struct live_room *room = entrance_visit(x, &dialect);
    struct json_writer w;
    struct str state;
    struct buf out;

    if (!room || rules_read_state(x, &state))
        return;
    buf_init(&out, SIZE_MAX / 2);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("automation"), room->room.has_automation ? S("on") : S("off"));
    rulebooks_show(room->room.rulebook, loop_wall_ms(room->worker->loop), state, &w);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}
