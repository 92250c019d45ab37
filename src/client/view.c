/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what the occupant knows to what a user of the library sees: texts that end with
 * NUL, in the arena of the present handler. It is large enough for all that an envelope
 * can hold; should it ever be full, a text is empty.
 */
#include "client/moot_priv.h"
#include "participant/keep.h"
#include "participant/proposals.h"
#include "participant/roster.h"

static size_t count_nuls(struct str text)
{
    size_t count = 0;

    for (size_t at = str_find(text, '\0', 0); at < text.len;
         at = str_find(text, '\0', at + 1))
        count++;
    return count;
}

char *view_copy(struct arena *arena, struct str text)
{
    size_t nuls = count_nuls(text);
    char *copy = arena_alloc(arena, text.len + nuls * 2 + 1);
    char *at = copy;

    if (!copy)
        return NULL;
    while (nuls--) {
        size_t len = str_find(text, '\0', 0);

        (void)keep_str(&at, str_slice(text, 0, len));
        (void)keep_str(&at, S("\xef\xbf\xbd"));
        text = str_slice(text, len + 1, text.len);
    }
    (void)keep_str(&at, text);
    return copy;
}

const char *view_text(struct arena *arena, struct str text)
{
    const char *copy = view_copy(arena, text);

    return copy ? copy : "";
}

const char *view_text_or_null(struct arena *arena, struct str text)
{
    return text.ptr && text.len ? view_text(arena, text) : NULL;
}

static const char *const *view_texts(struct arena *arena, const struct str *texts,
                                     size_t *count)
{
    const char **list = arena_alloc(arena, *count * sizeof(*list));

    if (!list)
        *count = 0;
    for (size_t i = 0; i < *count; i++)
        list[i] = view_text(arena, texts[i]);
    return list;
}

void view_message(struct arena *arena, const struct heard *heard,
                  struct moot_message *ret)
{
    const struct envelope *env = &heard->env;

    *ret = (struct moot_message){
        .id = view_text(arena, env->id),
        .from = view_text(arena, env->from),
        .kind = view_text(arena, env->kind.text),
        .ts = view_text_or_null(arena, env->ts),
        .correlation_id = view_text_or_null(arena, env->correlation_id),
        .to_count = env->to_count,
        .payload = view_str(env->payload.text),
        .text = view_str(env->text),
        .is_replay = heard->is_replay,
        .is_mine = heard->is_mine,
    };
    ret->to = view_texts(arena, env->to, &ret->to_count);
}

void view_participant(const struct roster_entry *entry, struct moot_participant *ret)
{
    *ret = (struct moot_participant){
        .id = entry->id.ptr,
        .type = entry->type.ptr,
        .capabilities = view_str(entry->capabilities),
    };
}

static enum moot_proposal_state view_state(enum proposed_state state)
{
    switch (state) {
    case PROPOSED_OPEN: return MOOT_OPEN;
    case PROPOSED_FULFILLED: return MOOT_FULFILLED;
    case PROPOSED_REJECTED: return MOOT_REJECTED;
    case PROPOSED_WITHDRAWN: return MOOT_WITHDRAWN;
    case PROPOSED_EXPIRED: return MOOT_EXPIRED;
    }
    return MOOT_EXPIRED;
}

void view_proposal(struct arena *arena, const struct proposed *proposed,
                   struct moot_proposal *ret)
{
    *ret = (struct moot_proposal){
        .id = view_text(arena, proposed->id),
        .proposer = view_text(arena, proposed->proposer),
        .owner = view_text_or_null(arena, proposed->owner),
        .method = view_text(arena, proposed->method),
        .name = view_text_or_null(arena, proposed->name),
        .to_count = proposed->to_count,
        .params = view_str(arena_str(arena, proposed->params)),
        .reason = view_text_or_null(arena, proposed->reason),
        .by = view_text_or_null(arena, proposed->by),
        .created_ms = proposed->created_ms,
        .expires_ms = proposed->expires_ms,
        .state = view_state(proposed->state),
        .is_mine = proposed->is_mine,
        .needed = proposed->needed,
        .given = proposed->given,
        .approver_count = proposed->approver_count,
        .authorization_id = view_text_or_null(arena, proposed->authorization_id),
        .asked = view_text_or_null(arena, proposed->asked),
    };
    ret->to = view_texts(arena, proposed->to, &ret->to_count);
    ret->approvers = view_texts(arena, proposed->approvers, &ret->approver_count);
}
