/* SPDX-License-Identifier: Apache-2.0 */
#include "approval/approval.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "envelope/kind.h"
#include "policy/pattern.h"

static bool matches(const struct approval_rule *rule, struct str subject)
{
    static const struct str prefix = S("mcp/proposal:");
    struct buf text;
    bool is_match;

    buf_init(&text, SIZE_MAX / 2);
    buf_put(&text, prefix);
    buf_put(&text, subject);
    is_match = pattern_matches(rule->kind, buf_str(&text));
    buf_done(&text);
    return is_match;
}

struct approval_needs approval_needs_of(const struct approval_terms *terms,
                                        struct str subject)
{
    for (size_t i = 0; i < terms->count; i++)
        if (matches(&terms->rules[i], subject))
            return (struct approval_needs){ terms->rules[i].quorum,
                                            terms->rules[i].profiles };
    return (struct approval_needs){ .quorum = terms->quorum ? terms->quorum : 1 };
}

const struct approver *approvals_find(const struct approvals *approvals, struct str id)
{
    for (size_t i = 0; i < approvals->count; i++)
        if (str_eq(approvals->items[i].id, id))
            return &approvals->items[i];
    return NULL;
}

bool approvals_add(struct approvals *approvals, const struct approver *approval)
{
    struct approver kept = *approval;

    if (approvals->count == APPROVALS_MAX || approvals_find(approvals, approval->id))
        return false;
    kept.text = xmalloc(approval->id.len + approval->profile.len + 1);
    memcpy(kept.text, approval->id.ptr, approval->id.len);
    if (approval->profile.len)
        memcpy(kept.text + approval->id.len, approval->profile.ptr,
               approval->profile.len);
    kept.id.ptr = kept.text;
    kept.profile.ptr = kept.text + approval->id.len;
    approvals->items =
        xrealloc(approvals->items, (approvals->count + 1) * sizeof(*approvals->items));
    approvals->items[approvals->count++] = kept;
    return true;
}

void approvals_done(struct approvals *approvals)
{
    for (size_t i = 0; i < approvals->count; i++)
        free(approvals->items[i].text);
    free(approvals->items);
    *approvals = (struct approvals){};
}

bool approval_meets(const struct approval_needs *needs, const struct approver *approval)
{
    for (size_t i = 0; i < needs->profiles.count; i++)
        if (str_eq(needs->profiles.items[i], approval->profile))
            return true;
    return needs->profiles.count == 0;
}

size_t approvals_given(const struct approvals *approvals,
                       const struct approval_needs *needs)
{
    size_t given = 0;

    for (size_t i = 0; i < approvals->count; i++)
        if (approval_meets(needs, &approvals->items[i]))
            given++;
    return given;
}
