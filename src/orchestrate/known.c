/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "orchestrate/overlap.h"
#include "rules/listing.h"

enum {
    TREE_BYTES = 256 << 20,
    RULE_BYTES = 4 << 20, /* of one that is kept by itself */
    TEXT_BYTES = 1 << 20,
};
static const uint64_t declined_ms = RULEBOOK_DECLINED_DAYS * 86'400'000ull;

void known_init(struct known *known, const struct known_listener *listener)
{
    *known = (struct known){ .has_automation = true, .listener = *listener };
    arena_init(&known->arena, TREE_BYTES);
}

void known_done(struct known *known)
{
    for (size_t i = 0; i < known->unwanted_count; i++)
        arena_done(&known->unwanted[i].arena);
    free(known->unwanted);
    arena_done(&known->arena);
    *known = (struct known){};
}

struct known_rule *known_find(const struct known *known, struct str id)
{
    for (size_t i = 0; i < known->count; i++)
        if (str_eq(known->items[i].rule.id, id))
            return &known->items[i];
    return NULL;
}

/* --- what is not wanted --- */

/* A copy by itself, by way of its text. */
static enum err copy_rule(const struct rule *rule, struct arena *arena, struct rule *ret)
{
    CLEANUP(buf_done) struct buf text;
    const struct json *root;
    struct json_writer w;
    struct str kept;
    enum err err;

    buf_init(&text, TEXT_BYTES);
    json_write_init(&w, &text);
    rule_write(&w, rule);
    kept = arena_str(arena, buf_str(&text));
    if (text.is_full || !kept.ptr)
        return ERR_TOO_BIG;
    err = json_parse(kept, arena, &root, NULL);
    return err ? err : rule_read(root, kept, arena, ret, NULL);
}

static void drop_unwanted(struct known *known, size_t at)
{
    arena_done(&known->unwanted[at].arena);
    known->unwanted_count--;
    memmove(&known->unwanted[at], &known->unwanted[at + 1],
            (known->unwanted_count - at) * sizeof(*known->unwanted));
}

void known_add_unwanted(struct known *known, const struct rule *rule, uint64_t at_ms)
{
    struct unwanted one = { .at_ms = at_ms };

    arena_init(&one.arena, RULE_BYTES);
    if (copy_rule(rule, &one.arena, &one.rule)) {
        arena_done(&one.arena);
        return;
    }
    if (!known->unwanted)
        known->unwanted = xcalloc(KNOWN_UNWANTED, sizeof(*known->unwanted));
    if (known->unwanted_count == KNOWN_UNWANTED)
        drop_unwanted(known, 0);
    known->unwanted[known->unwanted_count++] = one;
}

/* What nobody answered until it expired makes room in a full book: that was no one's
 * no. */
static void take_away(struct known *known, const struct rule *rule, uint64_t at_ms)
{
    if (rule->state == RULE_SUGGESTED && !rule_is_current(rule, at_ms))
        return;
    known_add_unwanted(known, rule, at_ms);
    known->listener.unwanted(known->listener.user, rule);
}

/* --- reading the book --- */

static struct known_rule take_over(const struct listed_rule *listed)
{
    return (struct known_rule){
        .rule = listed->rule,
        .uses = listed->uses,
        .used_this_hour = listed->used_this_hour,
        .changed_ms = listed->changed_ms,
        .reason = listed->reason,
    };
}

static enum err read_book(struct str text, struct known *fresh)
{
    struct listing list = {};
    enum err err;

    if (text.len > KNOWN_TEXT)
        return ERR_TOO_BIG;
    err = listing_read(text, &fresh->arena, &list, NULL);
    if (err)
        return err;
    if (list.count > RULEBOOK_RULES)
        return ERR_INVALID;
    fresh->has_automation = list.has_automation;
    fresh->items = arena_alloc(&fresh->arena, (list.count + 1) * sizeof(*fresh->items));
    if (!fresh->items)
        return ERR_TOO_BIG;
    for (; fresh->count < list.count; fresh->count++)
        fresh->items[fresh->count] = take_over(&list.items[fresh->count]);
    return OK;
}

enum err known_read(struct known *known, struct str text, uint64_t now_ms)
{
    struct known fresh = { .unwanted = known->unwanted,
                           .unwanted_count = known->unwanted_count,
                           .listener = known->listener,
                           .is_read = true };
    enum err err;

    arena_init(&fresh.arena, TREE_BYTES);
    err = read_book(text, &fresh);
    if (err) {
        arena_done(&fresh.arena);
        return err == ERR_TOO_BIG ? err : ERR_INVALID;
    }
    for (size_t i = 0; i < known->count; i++) {
        struct known_rule *now = known_find(&fresh, known->items[i].rule.id);

        if (now)
            now->rest_ms = known->items[i].rest_ms;
        else
            take_away(&fresh, &known->items[i].rule, now_ms);
    }
    arena_done(&known->arena);
    *known = fresh;
    return OK;
}

/* --- hearing of it --- */

static void remove_rule(struct known *known, struct known_rule *one, uint64_t at_ms)
{
    size_t at = (size_t)(one - known->items);

    take_away(known, &one->rule, at_ms);
    known->count--;
    memmove(one, one + 1, (known->count - at) * sizeof(*one));
}

bool known_hear(struct known *known, const struct known_news *news)
{
    struct known_rule *one = known_find(known, news->id);
    enum rule_state state;

    if (!one)
        return false;
    if (str_eq(news->state, S("removed"))) {
        remove_rule(known, one, news->at_ms);
        return true;
    }
    if (rule_state_parse(news->state, &state)) {
        one->rule.state = RULE_DISABLED; /* whatever it means, it does not act */
        return false;
    }
    if (state == RULE_ACTIVE || state == RULE_SHADOW)
        return false; /* budget, expiry: the book says it */
    one->rule.state = state;
    one->changed_ms = news->at_ms;
    one->reason = arena_str(&known->arena, news->reason);
    return true;
}

/* --- what may be suggested --- */

static bool is_about_the_same(const struct rule *a, const struct rule *b)
{
    return str_eq(a->proposer, b->proposer) && str_eq(a->method, b->method) &&
           str_eq(a->tool, b->tool) &&
           (str_eq(a->to, b->to) || str_eq(a->to, S("*")) || str_eq(b->to, S("*")));
}

/* The same, or with something in common. */
static bool is_akin(const struct rule *a, const struct rule *b)
{
    return is_about_the_same(a, b) &&
           (str_eq(a->id, b->id) || shapes_may_overlap(a->arguments, b->arguments));
}

/* There is something in this rule that is not in the one that is there. */
static bool adds_to(const struct known_rule *one, const struct rule *rule)
{
    return is_about_the_same(&one->rule, rule) && !str_eq(one->rule.id, rule->id) &&
           !shape_is_within(rule->arguments, one->rule.arguments);
}

static const char *objection_in_force(const struct known_rule *one,
                                      const struct rule *rule, uint64_t now_ms)
{
    if (!rule_is_current(&one->rule, now_ms) && !str_eq(one->rule.id, rule->id))
        return NULL;
    return adds_to(one, rule) ? NULL : "there is such a rule already";
}

static const char *objection_of(const struct known_rule *one, const struct rule *rule,
                                uint64_t now_ms)
{
    switch (one->rule.state) {
    case RULE_SUGGESTED: return "such a rule is suggested already";
    case RULE_SHADOW:
    case RULE_ACTIVE: return objection_in_force(one, rule, now_ms);
    case RULE_SUSPENDED: return "such a rule is suspended";
    case RULE_DISABLED: return "such a rule is disabled";
    case RULE_DECLINED:
        if (str_starts(one->reason, S("narrowed to ")))
            return "people made something narrower of it";
        return one->changed_ms + declined_ms > now_ms ? "people declined it" : NULL;
    case RULE_STATE_COUNT: break;
    }
    return NULL;
}

const char *known_objection(const struct known *known, const struct rule *rule,
                            uint64_t now_ms)
{
    const char *why = NULL;

    for (size_t i = 0; i < known->count && !why; i++)
        if (is_akin(&known->items[i].rule, rule))
            why = objection_of(&known->items[i], rule, now_ms);
    for (size_t i = 0; i < known->unwanted_count && !why; i++)
        if (known->unwanted[i].at_ms + declined_ms > now_ms &&
            is_akin(&known->unwanted[i].rule, rule))
            why = "people took such a rule away";
    return why;
}

const struct known_rule *known_narrower(const struct known *known,
                                        const struct rule *rule, uint64_t now_ms)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct known_rule *one = &known->items[i];

        if ((one->rule.state == RULE_ACTIVE || one->rule.state == RULE_SHADOW) &&
            rule_is_current(&one->rule, now_ms) && is_akin(&one->rule, rule) &&
            adds_to(one, rule))
            return one;
    }
    return NULL;
}

bool known_is_awake(const struct known_rule *one, uint64_t now_ms)
{
    return (one->rule.state == RULE_ACTIVE || one->rule.state == RULE_SHADOW) &&
           rule_is_current(&one->rule, now_ms) && one->rest_ms <= now_ms;
}
