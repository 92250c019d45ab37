/* SPDX-License-Identifier: Apache-2.0 */
/* `policy` of the configuration, compiled. */
#include "base/cleanup.h"
#include "gateway/settings_priv.h"
#include "policy/rulings.h"

static const enum ruling rulings_by_outcome[] = {
    [CONFIG_OUTCOME_ALLOW] = RULING_ALLOW,
    [CONFIG_OUTCOME_DENY] = RULING_DENY,
    [CONFIG_OUTCOME_ASK] = RULING_ASK,
};

static struct str_list list_of(const struct config_strs *strs)
{
    return (struct str_list){ strs->items, strs->count };
}

static enum err read_types(const struct config *config, const struct config_strs *types,
                           unsigned *ret, struct config_problem *problem)
{
    for (size_t i = 0; types->items && i < types->count; i++) {
        enum participant_type type;

        if (!participant_type_parse(types->items[i], &type))
            return config_fail(config, types->marks[i], problem,
                               "policy: types must be of agent, human and service, not "
                               "\"" STR_FMT "\"",
                               STR_ARG(types->items[i]));
        *ret |= 1U << type;
    }
    return OK;
}

static enum err read_row(const struct config *config,
                         const struct config_policy_row *said, struct ruling_row *ret,
                         struct config_problem *problem)
{
    *ret = (struct ruling_row){
        .ruling = rulings_by_outcome[said->outcome],
        .kind = said->kind,
        .payload = said->payload,
        .topics = list_of(&said->topics),
        .from = list_of(&said->from),
        .message = said->message,
    };
    /* A list that was emptied is not one that was never there. */
    if ((said->topics.items && !said->topics.count) ||
        (said->from.items && !said->from.count) ||
        (said->types.items && !said->types.count))
        return config_fail(config, said->mark, problem,
                           "policy: an empty list fits nobody; leave it out for all");
    return read_types(config, &said->types, &ret->types, problem);
}

enum err settings_lay_out_policy(struct settings *settings,
                                 struct config_problem *problem)
{
    const struct config *config = settings->config;
    const struct config_policy *policy = &config->policy;
    struct ruling_row rows[RULINGS_MAX];
    struct ruling_problem wrong;

    if (policy->count > RULINGS_MAX)
        return config_fail(config, policy->items[RULINGS_MAX].mark, problem,
                           "policy: at most %d rows", RULINGS_MAX);
    for (size_t i = 0; i < policy->count; i++) {
        enum err err = read_row(config, &policy->items[i], &rows[i], problem);

        if (err)
            return err;
    }
    if (rulings_new(rows, policy->count, &settings->rulings, &wrong))
        return config_fail(config, policy->items[wrong.row].mark, problem,
                           "policy: %s: %s", wrong.field, wrong.why);
    return OK;
}
