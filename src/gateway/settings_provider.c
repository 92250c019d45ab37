/* SPDX-License-Identifier: Apache-2.0 */
/* `identity.provider` of the configuration, checked and laid out. */
#include "gateway/settings_priv.h"
#include "oauth/document.h"
#include "oauth/uri.h"

#define FAIL(settings, ...) \
    config_fail((settings)->config, (settings)->provider.said->mark, problem, __VA_ARGS__)

/* https, or this very machine; `issuer` and `origin` have no query and no fragment. */
static bool is_safe_address(struct str text, struct uri *ret)
{
    return !uri_parse(text, ret) && (ret->is_secure || uri_is_loopback(ret)) &&
           !ret->query.ptr && !ret->has_fragment;
}

static enum err check_addresses(const struct settings *settings,
                                struct config_problem *problem)
{
    const struct config_provider *said = settings->provider.said;
    struct uri uri;

    if (!is_safe_address(said->issuer, &uri))
        return FAIL(settings,
                    "issuer \"" STR_FMT "\" must be https://HOST[/PATH], or http on this "
                    "machine",
                    STR_ARG(said->issuer));
    if (said->origin.len && (!is_safe_address(said->origin, &uri) || uri.path.len))
        return FAIL(settings,
                    "origin \"" STR_FMT
                    "\" must be https://HOST, or http on this machine",
                    STR_ARG(said->origin));
    if (!scopes_are_valid(said->scopes) || !scopes_have(said->scopes, S("openid")))
        return FAIL(settings, "scopes must be separated by spaces, and openid be one");
    return OK;
}

/* A profile without the role of an administrator goes to whom it likes; one with it must
 * be given by a claim. */
static enum err lay_out_profile(struct settings *settings, struct config_problem *problem)
{
    struct provider_settings *provider = &settings->provider;
    const struct config_provider *said = provider->said;

    if (said->profile.len == 0)
        return OK;
    if (!settings_profile(settings, said->profile, &provider->profile))
        return settings_no_profile(settings, said->profile_mark, said->profile, problem);
    if (provider->profile.is_admin)
        return config_fail(settings->config, said->profile_mark, problem,
                           "not everybody is an administrator; profiles say who is");
    return OK;
}

static enum err lay_out_profiles(struct settings *settings,
                                 struct config_problem *problem)
{
    struct provider_settings *provider = &settings->provider;
    size_t count = provider->said->profiles.count;
    struct claimed_profile *profiles =
        arena_alloc(&settings->arena, (count + 1) * sizeof(*profiles));

    if (!profiles)
        return FAIL(settings, "there are too many profiles");
    for (size_t i = 0; i < count; i++) {
        const struct config_provider_profile *row = &provider->said->profiles.items[i];

        profiles[i] = (struct claimed_profile){ .value = row->value };
        if (!settings_profile(settings, row->profile, &profiles[i].profile))
            return settings_no_profile(settings, row->mark, row->profile, problem);
    }
    provider->profiles = profiles;
    provider->profile_count = count;
    return OK;
}

static enum err lay_out_topics(struct settings *settings, struct config_problem *problem)
{
    const struct config_strs *said = &settings->provider.said->topics;
    struct identity probe = { .id = S("anybody"),
                              .topics = { said->items, said->count } };
    const char *why = "";

    if (identity_check(&probe, &why))
        return FAIL(settings, "%s", why);
    settings->provider.topics = probe.topics;
    return OK;
}

enum err settings_lay_out_provider(struct settings *settings,
                                   struct config_problem *problem)
{
    const struct config_provider *said = &settings->config->identity.provider;
    struct uri issuer;
    enum err err;

    if (said->issuer.len == 0)
        return OK;
    settings->provider.said = said;
    err = check_addresses(settings, problem);
    if (!err)
        err = lay_out_profile(settings, problem);
    if (!err)
        err = lay_out_profiles(settings, problem);
    if (!err)
        err = lay_out_topics(settings, problem);
    if (err)
        return err;
    settings->provider.title = said->title;
    if (said->title.len == 0 && !uri_parse(said->issuer, &issuer))
        settings->provider.title = issuer.host;
    return OK;
}

static bool profiles_equal(const struct profile *a, const struct profile *b)
{
    return str_eq(a->name, b->name) && a->type == b->type && a->is_admin == b->is_admin &&
           str_list_eq(a->capabilities, b->capabilities);
}

static bool says_the_same(const struct config_provider *a,
                          const struct config_provider *b)
{
    return str_eq(a->issuer, b->issuer) && str_eq(a->client_id, b->client_id) &&
           str_eq_secret(a->client_secret, b->client_secret) &&
           str_eq(a->scopes, b->scopes) && str_eq(a->origin, b->origin) &&
           str_eq(a->audience, b->audience) && a->session_ms == b->session_ms &&
           str_eq(a->claims.id, b->claims.id) &&
           str_eq(a->claims.profile, b->claims.profile) &&
           str_eq(a->claims.topics, b->claims.topics) &&
           str_eq(a->claims.type, b->claims.type);
}

bool settings_provider_equal(const struct settings *a, const struct settings *b)
{
    const struct provider_settings *one = &a->provider, *other = &b->provider;

    if (!one->said || !other->said)
        return one->said == other->said;
    if (!says_the_same(one->said, other->said) ||
        !profiles_equal(&one->profile, &other->profile) ||
        !str_list_eq(one->topics, other->topics) ||
        one->profile_count != other->profile_count)
        return false;
    for (size_t i = 0; i < one->profile_count; i++)
        if (!str_eq(one->profiles[i].value, other->profiles[i].value) ||
            !profiles_equal(&one->profiles[i].profile, &other->profiles[i].profile))
            return false;
    return true;
}
