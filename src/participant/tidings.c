/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gateway itself says about proposals. It knows better than we do: what was
 * heard before may have been a decision that did not count, and expiry is ours to guess.
 */
#include "participant/calls.h"
#include "participant/occupant_priv.h"
#include "participant/pick.h"
#include "participant/proposals_table.h"

/* clang-format off */
static const struct str states[] = {
    [PROPOSED_OPEN]      = S("open"),
    [PROPOSED_FULFILLED] = S("fulfilled"),
    [PROPOSED_REJECTED]  = S("rejected"),
    [PROPOSED_WITHDRAWN] = S("withdrawn"),
    [PROPOSED_EXPIRED]   = S("expired"),
};
/* clang-format on */

static bool read_state(struct str name, enum proposed_state *ret)
{
    for (size_t i = 0; i < COUNT(states); i++)
        if (str_eq(name, states[i])) {
            *ret = (enum proposed_state)i;
            return true;
        }
    return false;
}

static bool read_number(struct json_span span, uint32_t *ret)
{
    uint64_t value;

    if (!pick_is(span, JSON_NUMBER) || str_to_u64(span.text, UINT32_MAX, &value))
        return false;
    *ret = (uint32_t)value;
    return true;
}

bool approvals_read(struct json_span approvals, uint32_t *ret_needed, uint32_t *ret_given)
{
    struct json_span needed = {};
    struct json_span given = {};

    return pick_is(approvals, JSON_OBJECT) &&
           PICK(approvals, { S("needed"), &needed }, { S("given"), &given }) &&
           read_number(needed, ret_needed) && read_number(given, ret_given);
}

static enum err malformed(struct str field, struct str *ret_field)
{
    *ret_field = field;
    return ERR_MALFORMED_ENVELOPE;
}

enum err tidings_read(struct json_span payload, struct arena *arena, struct tidings *ret,
                      struct str *ret_field)
{
    struct json_span id = {};
    struct json_span state = {};
    struct json_span by = {};
    struct json_span reason = {};
    struct json_span approvals = {};

    *ret = (struct tidings){};
    if (!PICK(payload, { S("proposal"), &id }, { S("state"), &state }, { S("by"), &by },
              { S("reason"), &reason }, { S("approvals"), &approvals }))
        return malformed(S("payload"), ret_field);
    ret->id = pick_text(id, arena);
    ret->by = pick_text(by, arena);
    ret->reason = pick_text(reason, arena);
    if (ret->id.len == 0)
        return malformed(S("payload.proposal"), ret_field);
    if (!read_state(pick_text(state, arena), &ret->state))
        return malformed(S("payload.state"), ret_field);
    if (pick_is_there(approvals) && !approvals_read(approvals, &ret->needed, &ret->given))
        return malformed(S("payload.approvals"), ret_field);
    ret->approvals = approvals;
    return OK;
}

void proposals_take(struct occupant *o, const struct tidings *tidings)
{
    struct entry *entry = proposals_find(o->proposals, tidings->id);
    struct ruling ruling = { .state = tidings->state,
                             .by = tidings->by,
                             .reason = tidings->reason };
    struct proposed *p;
    bool is_new;

    if (!entry || entry->proposed.owner.len)
        return;
    p = &entry->proposed;
    is_new = tidings->needed && proposals_count(entry, tidings->needed, tidings->given);
    approvals_name(entry, tidings->approvals, &o->scratch);
    if (tidings->state == PROPOSED_OPEN) {
        if (is_new && p->state == PROPOSED_OPEN) {
            proposals_tell_later(o, entry);
            calls_counted(o, tidings->id);
        }
    } else if (p->state == tidings->state && str_eq(p->by, tidings->by)) {
        proposals_confirm(entry);
    } else {
        proposals_close(o, entry, &ruling);
    }
    proposals_tell(o);
}
