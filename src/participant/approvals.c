/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has approved a proposal, as the gateway tells: in the welcome, and to the room
 * whenever that changes.
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "participant/keep.h"
#include "participant/occupant_priv.h"
#include "participant/pick.h"
#include "participant/proposals_table.h"

enum { APPROVERS = 64 }; /* known by name */

static size_t read_names(struct json_span list, struct arena *texts,
                         struct str ret[static APPROVERS])
{
    struct json_scan scan;
    struct json_span item;
    size_t count = 0;
    enum err err;

    json_scan_init(&scan, list.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && count < APPROVERS && json_array_next(&scan, &item, &err)) {
        ret[count] = pick_text(item, texts);
        if (ret[count].len && ret[count].len <= KIND_MAX_BYTES &&
            !envelope_has_control(ret[count]))
            count++;
    }
    return count;
}

void approvals_name(struct entry *entry, struct json_span approvals, struct arena *texts)
{
    struct str names[APPROVERS];
    struct json_span by = {};
    struct str *kept;
    size_t count;
    char *at;

    if (!pick_is(approvals, JSON_OBJECT) || !PICK(approvals, { S("by"), &by }) ||
        !pick_is(by, JSON_ARRAY))
        return;
    count = read_names(by, texts, names);
    kept = xmalloc(keep_strs_size(names, count) + 1);
    at = (char *)kept;
    (void)keep_strs(&at, names, count);
    free(entry->approvers);
    entry->approvers = kept;
    entry->proposed.approvers = kept;
    entry->proposed.approver_count = count;
}
