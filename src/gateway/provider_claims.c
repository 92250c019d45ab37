/* SPDX-License-Identifier: Apache-2.0 */
/* Whom the claims of the identity provider stand for, by the settings. Pure. */
#include "gateway/provider.h"

enum { TOPICS_MAX = 256 };

static enum err refuse(const char **ret_why, const char *why)
{
    *ret_why = why;
    return ERR_FORBIDDEN;
}

/* NULL where no claim is to say it, or it is missing. */
static const struct json *claim_of(const struct json *claims, struct str name)
{
    return name.len ? json_find(claims, name) : NULL;
}

static const struct profile *profile_of(const struct provider_settings *settings,
                                        const struct json *claims)
{
    const struct json *claim = claim_of(claims, settings->said->claims.profile);

    for (size_t i = 0; claim && i < settings->profile_count; i++)
        if (json_says(claim, settings->profiles[i].value))
            return &settings->profiles[i].profile;
    return settings->profile.name.len ? &settings->profile : NULL;
}

/* Whose address it is nobody may have checked. Some write the answer as a text. */
static bool is_verified(const struct json *claims)
{
    const struct json *claim = json_find(claims, S("email_verified"));

    return claim && (claim->type == JSON_TRUE || str_eq(json_text(claim), S("true")));
}

static enum err read_id(const struct provider_settings *settings,
                        const struct json *claims, struct identity *ret,
                        const char **ret_why)
{
    struct str name = settings->said->claims.id;

    ret->id = json_text(json_find(claims, name));
    if (ret->id.len == 0)
        return refuse(ret_why,
                      "The identity provider does not say who this is: the claim "
                      "that is the id is missing.");
    if (str_eq(name, S("email")) && !is_verified(claims))
        return refuse(ret_why,
                      "The identity provider has not verified the address (email).");
    return OK;
}

static enum err read_topics(const struct json *claim, struct arena *arena,
                            struct str_list *ret, const char **ret_why)
{
    static const char unreadable[] =
        "The claim that says the topics is neither a text nor a list of texts.";
    struct str *items;
    size_t count = 0;

    if (claim->type != JSON_STRING && claim->type != JSON_ARRAY)
        return refuse(ret_why, unreadable);
    if (claim->count > TOPICS_MAX)
        return refuse(ret_why, "The claim that says the topics is too long.");
    items = arena_alloc(arena, (claim->count + 1) * sizeof(*items));
    if (!items)
        return refuse(ret_why, "The claim that says the topics is too long.");
    if (claim->type == JSON_STRING)
        items[count++] = claim->text;
    else
        JSON_FOREACH(item, claim) {
            if (item->type != JSON_STRING)
                return refuse(ret_why, unreadable);
            items[count++] = item->text;
        }
    *ret = (struct str_list){ items, count };
    return OK;
}

enum err provider_read_claims(const struct provider_settings *settings,
                              const struct json *claims, struct arena *arena,
                              struct identity *ret, const char **ret_why)
{
    const struct config_claims *names = &settings->said->claims;
    const struct json *topics = claim_of(claims, names->topics);
    const struct json *type = claim_of(claims, names->type);
    const struct profile *profile = profile_of(settings, claims);
    enum err err;

    if (!profile)
        return refuse(ret_why,
                      "The identity provider knows this person, but nothing that "
                      "it says gives a right here.");
    *ret = (struct identity){ .topics = settings->topics,
                              .capabilities = profile->capabilities,
                              .profile = profile->name,
                              .type = profile->type,
                              .is_admin = profile->is_admin };
    err = read_id(settings, claims, ret, ret_why);
    if (!err && topics)
        err = read_topics(topics, arena, &ret->topics, ret_why);
    if (err)
        return err;
    if (type && !participant_type_parse(json_text(type), &ret->type))
        return refuse(ret_why,
                      "The claim that says the type is none of human, agent, service.");
    if (identity_check(ret, ret_why))
        return refuse(ret_why, "What the identity provider says is no participant id, or "
                               "no topic.");
    return OK;
}
