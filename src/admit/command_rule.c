/* SPDX-License-Identifier: Apache-2.0 */
/* What is to become of a rule: a whole rule, or the name of one and a few words. Whether
 * it may be so says the book. */
#include "admit/command_priv.h"
#include "base/cleanup.h"

static const struct str field_rule = S("payload.rule");

/* What the rules' own reader found wrong, in words that outlast it. */
static enum err not_such(const struct command_reading *r, struct str field, enum err err,
                         const struct rule_problem *wrong)
{
    struct str what;

    what = arena_str(r->arena, str_of(wrong->what));
    if (err == ERR_TOO_BIG || !what.ptr)
        return command_too_much(r->problem);
    (void)command_bad(r->problem, field, what.ptr);
    r->problem->at = wrong->at;
    return ERR_MALFORMED_ENVELOPE;
}

static enum err read_whole(const struct command_reading *r, struct rule_change *ret)
{
    const struct json *object = r->fields->rule;
    struct rule *rule = arena_alloc(r->arena, sizeof(*rule));
    struct rule_problem wrong = {};
    enum err err;

    if (!rule)
        return command_too_much(r->problem);
    err = rule_read_in(r->topic, object, r->env->payload.text, r->arena, rule, &wrong);
    if (err)
        return not_such(r, field_rule, err, &wrong);
    if (!json_find(object, S("budget")))
        rule->budget = 0; /* what that is says the book */
    ret->rule = rule;
    ret->id = rule->id;
    return OK;
}

static enum err read_name(const struct command_reading *r, struct rule_change *ret)
{
    const struct json *name = r->fields->rule;

    if (name->type != JSON_STRING || name->text.len == 0 || name->text.len > RULE_ID)
        return command_bad(r->problem, field_rule,
                           "the id of a rule: a text of 1 to 64 bytes");
    ret->id = arena_str(r->arena, name->text);
    return ret->id.ptr ? OK : command_too_much(r->problem);
}

static enum err read_budget(const struct command_reading *r, uint64_t *ret)
{
    const struct json *budget = r->fields->budget;

    if (!budget || (budget->type == JSON_NUMBER &&
                    str_to_u64(budget->text, RULE_BUDGET, ret) == OK && *ret > 0))
        return OK;
    return command_bad(r->problem, S("payload.budget"),
                       "uses in an hour: a number from 1 to 10000");
}

static enum err read_acceptance(const struct command_reading *r, uint64_t expires_ms,
                                struct rule_change *ret)
{
    struct rule_problem wrong = {};
    enum err err = read_budget(r, &ret->budget);

    if (err)
        return err;
    ret->is_shadow = r->fields->shadow;
    ret->expires_ms = expires_ms;
    if (!r->fields->narrow)
        return OK;
    err = shape_read(r->fields->narrow, r->env->payload.text, r->arena, &ret->narrow,
                     &wrong);
    return err ? not_such(r, S("payload.narrow"), err, &wrong) : OK;
}

enum err command_read_rule(const struct command_reading *r, uint64_t expires_ms,
                           struct rule_change *ret)
{
    enum err err;

    ret->at_ms = r->wall_ms;
    ret->by = arena_str(r->arena, r->env->from);
    if (!ret->by.ptr)
        return command_too_much(r->problem);
    if (ret->verb == RULE_SUGGEST || ret->verb == RULE_ADD)
        return read_whole(r, ret);
    err = read_name(r, ret);
    return err || ret->verb != RULE_ACCEPT ? err : read_acceptance(r, expires_ms, ret);
}
