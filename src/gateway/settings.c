/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/settings.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "gateway/record_rules.h"
#include "gateway/server_list.h"
#include "gateway/settings_priv.h"
#include "net/tls.h"
#include "policy/capability.h"
#include "policy/pattern.h"
#include "policy/rulings.h"

enum {
    MAX_PROPOSALS = 10'000,
    MAX_PROPOSALS_EACH = 1000,
    MAX_PROPOSAL_BYTES = 16 << 20, /* of the open ones of a topic, and of a proposer: */
    MAX_PROPOSAL_BYTES_EACH = 4 << 20,
    MAX_REQUESTS = 10'000,
    DAY_MS = 24 * 3600 * 1000,
    ARENA_BYTES = 64 << 20,
    NAMES_BYTES = 4096,
    OUR_IDENTITIES = 2, /* besides those of tokens */
};

static struct str_list list_of(const struct config_strs *strs)
{
    return (struct str_list){ strs->items, strs->count };
}

bool settings_profile(const struct settings *settings, struct str name,
                      struct profile *ret)
{
    const struct config *config = settings->config;
    const struct profile *built_in;

    for (size_t i = 0; i < config->profiles.count; i++) {
        const struct config_profile *own = &config->profiles.items[i];

        if (!str_eq(own->name, name))
            continue;
        *ret = (struct profile){ .name = own->name,
                                 .capabilities = list_of(&own->capabilities),
                                 .is_admin = own->admin == CONFIG_ON };
        (void)participant_type_parse(own->type, &ret->type);
        return true;
    }
    built_in = profile_find(name);
    if (built_in)
        *ret = *built_in;
    return built_in != NULL;
}

static enum err check_capabilities(const struct config *config,
                                   const struct config_strs *capabilities,
                                   struct config_problem *problem)
{
    for (size_t i = 0; i < capabilities->count; i++) {
        const char *why = "";

        if (!capset_check((struct str_list){ &capabilities->items[i], 1 }, NULL, &why))
            continue;
        if (capability_text_is_object(capabilities->items[i]))
            return config_fail(config, capabilities->marks[i], problem, "capability: %s",
                               why);
        return config_fail(config, capabilities->marks[i], problem,
                           "capability \"" STR_FMT "\": %s",
                           STR_ARG(capabilities->items[i]), why);
    }
    return OK;
}

static enum err check_profiles(const struct config *config,
                               struct config_problem *problem)
{
    for (size_t i = 0; i < config->profiles.count; i++) {
        enum err err =
            check_capabilities(config, &config->profiles.items[i].capabilities, problem);

        if (err)
            return err;
    }
    return OK;
}

void settings_put_profiles(const struct settings *settings, struct buf *out)
{
    const struct profile *profile = profile_next(NULL);

    buf_put(out, profile->name);
    while ((profile = profile_next(profile)))
        buf_putf(out, ", " STR_FMT, STR_ARG(profile->name));
    for (size_t i = 0; settings && i < settings->config->profiles.count; i++)
        buf_putf(out, ", " STR_FMT, STR_ARG(settings->config->profiles.items[i].name));
}

enum err settings_no_profile(const struct settings *settings, struct config_mark mark,
                             struct str name, struct config_problem *problem)
{
    CLEANUP(buf_done) struct buf known;

    buf_init(&known, NAMES_BYTES);
    settings_put_profiles(settings, &known);
    return config_fail(settings->config, mark, problem,
                       "there is no profile \"" STR_FMT "\"; there are: %s",
                       STR_ARG(name), buf_cstr(&known));
}

/* What a token entry stands for, its profile resolved. */
static enum err template_of(const struct settings *settings,
                            const struct config_token *token, struct identity *ret,
                            struct config_problem *problem)
{
    struct profile profile = {};

    if (token->profile.len && !settings_profile(settings, token->profile, &profile))
        return settings_no_profile(settings, token->profile_mark, token->profile,
                                   problem);
    *ret = (struct identity){
        .id = token->id,
        .token_name = token->name.len ? token->name : token->id,
        .topics = list_of(&token->topics),
        .capabilities =
            token->profile.len ? profile.capabilities : list_of(&token->capabilities),
        .profile = token->profile,
        .type = profile.type,
        .source = FROM_CONFIG,
        .is_admin =
            token->admin == CONFIG_UNSET ? profile.is_admin : token->admin == CONFIG_ON,
        .created_ms = clock_wall_ms(),
        .expires_ms = token->expires_ms,
    };
    (void)participant_type_parse(token->type, &ret->type);
    crypto_sha256(token->token, ret->token_hash);
    return OK;
}

static enum err add_token(struct settings *settings, const struct config_token *token,
                          struct config_problem *problem)
{
    struct identity template;
    const char *why = "";
    enum err err = template_of(settings, token, &template, problem);

    if (!err)
        err = check_capabilities(settings->config, &token->capabilities, problem);
    if (err)
        return err;
    if (identity_check(&template, &why))
        return config_fail(settings->config, token->mark, problem, "%s", why);
    for (size_t i = 0; i < settings->identity_count; i++)
        if (crypto_equal(settings->identities[i]->token_hash, template.token_hash,
                         SHA256_BYTES))
            return config_fail(settings->config, token->mark, problem,
                               "the same token was given before");
    settings->identities[settings->identity_count++] = identity_new(&template);
    return OK;
}

static enum err add_tokens(struct settings *settings, struct config_problem *problem)
{
    const struct config *config = settings->config;

    settings->identities =
        xcalloc(config->tokens.count + OUR_IDENTITIES, sizeof(struct identity *));
    for (size_t i = 0; i < config->tokens.count; i++) {
        enum err err = add_token(settings, &config->tokens.items[i], problem);

        if (err)
            return err;
    }
    return OK;
}

static enum err add_own(struct settings *settings, struct identity *template,
                        struct config_mark mark, struct config_problem *problem)
{
    const char *why = "";

    template->created_ms = clock_wall_ms();
    identity_hash_unopened(template->token_name, template->token_hash);
    if (identity_check(template, &why))
        return config_fail(settings->config, mark, problem, "%s", why);
    settings->identities[settings->identity_count++] = identity_new(template);
    return OK;
}

static enum err add_anonymous(struct settings *settings, struct config_problem *problem)
{
    const struct config_anonymous *said = &settings->config->mcp.anonymous;
    struct profile profile = {};
    enum err err;

    if (said->id.len == 0)
        return OK;
    if (!settings_profile(settings, said->profile, &profile))
        return settings_no_profile(settings, said->profile_mark, said->profile, problem);
    if (profile.is_admin)
        return config_fail(settings->config, said->profile_mark, problem,
                           "whoever comes without a token is no administrator");
    err = add_own(settings,
                  &(struct identity){ .id = said->id,
                                      .token_name = S("mcp:anonymous"),
                                      .topics = list_of(&said->topics),
                                      .capabilities = profile.capabilities,
                                      .profile = said->profile,
                                      .type = profile.type,
                                      .source = FROM_CONFIG },
                  said->mark, problem);
    if (!err)
        settings->anonymous = settings->identities[settings->identity_count - 1];
    return err;
}

/* Who asks participants what they offer; in every topic that is used by MCP. */
static enum err add_concierge(struct settings *settings, struct config_problem *problem)
{
    static const struct str everywhere[] = { S("*") };
    static const struct str asks[] = { S("mcp/request:initialize"),
                                       S("mcp/request:*/list") };
    enum err err = add_own(settings,
                           &(struct identity){ .id = settings->config->mcp.id,
                                               .token_name = S("mcp:concierge"),
                                               .topics = { everywhere, 1 },
                                               .capabilities = { asks, COUNT(asks) },
                                               .type = TYPE_SERVICE,
                                               .source = FROM_SERVER },
                           settings->config->mcp.id_mark, problem);

    if (!err)
        settings->concierge = settings->identities[settings->identity_count - 1];
    return err;
}

static enum err lay_out_mcp(struct settings *settings, struct config_problem *problem)
{
    const struct config_mcp *mcp = &settings->config->mcp;
    enum err err;

    if (!mcp->open)
        return OK;
    if (mcp->topic.len && !topic_name_is_valid(mcp->topic))
        return config_fail(settings->config, mcp->topic_mark, problem,
                           "a topic cannot be called \"" STR_FMT "\"",
                           STR_ARG(mcp->topic));
    err = add_anonymous(settings, problem);
    return err ? err : add_concierge(settings, problem);
}

static enum err lay_out_jwt(struct settings *settings, struct config_problem *problem)
{
    const struct config_jwt *said = &settings->config->identity.jwt;
    struct jwt_settings *jwt = &settings->jwt;
    struct identity probe;
    const char *why = "";

    if (said->secret.len == 0)
        return OK;
    if (!settings_profile(settings, said->profile, &jwt->profile))
        return settings_no_profile(settings, said->profile_mark, said->profile, problem);
    if (jwt->profile.is_admin)
        return config_fail(settings->config, said->profile_mark, problem,
                           "whoever comes with a JWT is no administrator");
    jwt->terms = (struct jwt_terms){ .secret = said->secret,
                                     .audience = said->audience,
                                     .issuer = said->issuer };
    jwt->topics = list_of(&said->topics);
    probe = (struct identity){ .id = S("anybody"), .topics = jwt->topics };
    if (identity_check(&probe, &why))
        return config_fail(settings->config, said->mark, problem, "%s", why);
    return OK;
}

/* The profile of teams is one that there is. */
static enum err check_team_profile(const struct settings *settings,
                                   struct config_problem *problem)
{
    const struct config_directory *said = &settings->config->directory;
    struct profile profile;

    if (!settings_profile(settings, said->team_profile, &profile))
        return settings_no_profile(settings, said->team_profile_mark, said->team_profile,
                                   problem);
    return OK;
}

bool settings_jwt_equal(const struct settings *a, const struct settings *b)
{
    return str_eq_secret(a->jwt.terms.secret, b->jwt.terms.secret) &&
           str_eq(a->jwt.terms.audience, b->jwt.terms.audience) &&
           str_eq(a->jwt.terms.issuer, b->jwt.terms.issuer) &&
           str_eq(a->jwt.profile.name, b->jwt.profile.name) &&
           a->jwt.profile.type == b->jwt.profile.type &&
           str_list_eq(a->jwt.profile.capabilities, b->jwt.profile.capabilities) &&
           str_list_eq(a->jwt.topics, b->jwt.topics);
}

/* So that whatever may be sent can be proposed. */
static size_t at_least(size_t preset, uint64_t needed)
{
    return needed > preset ? (size_t)needed : preset;
}

static void lay_out_room(const struct config *config, const struct config_topic *topic,
                         struct room_settings *ret)
{
    const struct config_limits *limits = &config->limits;

    *ret = (struct room_settings){
        .name = topic->name,
        .access = (enum topic_access)topic->access,
        .topic = {
            .duplicate = (enum duplicate)topic->duplicate,
            .ring_messages = topic->ring_messages,
            .ring_bytes = topic->ring_bytes,
            .outbox_soft = limits->outbox_soft,
            .outbox_hard = limits->outbox,
            .max_members = topic->max_members,
            .max_members_each = limits->connections_per_participant,
            .announces_violations = topic->announce_violations,
        },
        .rules = {
            .is_strict = topic->validation == CONFIG_VALIDATION_STRICT,
            .loop_guard = topic->loop_guard,
        },
        .ledger = {
            .mode = (enum proposal_mode)topic->proposals,
            .approvals = { .quorum = topic->quorum },
            .expiry_ms = topic->proposal_expiry_ms,
            .max_expiry_ms = DAY_MS,
            .max_proposals = MAX_PROPOSALS,
            .max_each = MAX_PROPOSALS_EACH,
            .max_bytes = at_least(MAX_PROPOSAL_BYTES, limits->envelope),
            .max_each_bytes = at_least(MAX_PROPOSAL_BYTES_EACH, limits->envelope),
            .max_requests = MAX_REQUESTS,
        },
        .audit = (enum audit_mode)topic->audit,
        .presence_delay_ms = topic->presence_delay_ms,
        .takes_dotted = topic->dialects == CONFIG_DIALECTS_BOTH,
        .may_self_approve = topic->self_approve,
    };
}

static enum err lay_out_approval(const struct settings *settings,
                                 const struct config_approval *said,
                                 struct approval_rule *ret,
                                 struct config_problem *problem)
{
    CLEANUP(buf_done) struct buf text;
    struct profile profile;
    const char *why = "";

    buf_init(&text, (size_t)2 * PATTERN_MAX_BYTES);
    buf_put(&text, S("mcp/proposal:"));
    buf_put(&text, said->kind);
    if (said->kind.len == 0)
        return config_fail(settings->config, said->kind_mark, problem,
                           "kind must not be empty");
    if (pattern_new(buf_str(&text), &ret->kind, &why))
        return config_fail(settings->config, said->kind_mark, problem,
                           "kind \"" STR_FMT "\": %s", STR_ARG(said->kind), why);
    ret->quorum = said->quorum;
    ret->profiles = list_of(&said->profiles);
    for (size_t i = 0; i < said->profiles.count; i++)
        if (!settings_profile(settings, said->profiles.items[i], &profile))
            return settings_no_profile(settings, said->profiles.marks[i],
                                       said->profiles.items[i], problem);
    return OK;
}

/* Those of a named topic may be those of all: each has its own copy. */
static enum err lay_out_approvals(const struct settings *settings,
                                  const struct config_topic *topic,
                                  struct approval_terms *ret,
                                  struct config_problem *problem)
{
    struct approval_rule *rules = xcalloc(topic->approvals.count, sizeof(*rules));
    enum err err = OK;

    ret->rules = rules;
    for (size_t i = 0; i < topic->approvals.count && !err; i++) {
        err = lay_out_approval(settings, &topic->approvals.items[i], &rules[i], problem);
        ret->count++;
    }
    return err;
}

static void free_approvals(struct approval_terms *terms)
{
    for (size_t i = 0; i < terms->count; i++)
        pattern_free(terms->rules[i].kind);
    free((void *)(uintptr_t)terms->rules); /* drops const */
}

static enum err lay_out_rooms(struct settings *settings, struct config_problem *problem)
{
    const struct config *config = settings->config;
    enum err err;

    lay_out_room(config, &config->topics.defaults, &settings->rooms);
    err = lay_out_approvals(settings, &config->topics.defaults,
                            &settings->rooms.ledger.approvals, problem);
    if (err)
        return err;
    settings->named_count = config->topics.named.count;
    settings->named_rooms =
        xcalloc(settings->named_count, sizeof(*settings->named_rooms));
    for (size_t i = 0; i < settings->named_count; i++) {
        const struct config_topic *topic = &config->topics.named.items[i];

        if (!topic_name_is_valid(topic->name))
            return config_fail(
                config, topic->mark, problem,
                "a topic name is 1 to 128 characters of A-Z a-z 0-9 . _ ~ - "
                "and does not begin with a dot");
        lay_out_room(config, topic, &settings->named_rooms[i]);
        err = lay_out_approvals(settings, topic,
                                &settings->named_rooms[i].ledger.approvals, problem);
        if (err)
            return err;
    }
    return OK;
}

/* A small rate over a short time rounds to nothing; a bucket holds one at least. */
static struct rate rate_of(uint64_t per_second, uint64_t burst_ms)
{
    uint64_t burst = per_second * burst_ms / 1000;

    return (struct rate){ per_second, burst ? burst : 1 };
}

static void lay_out_limits(struct settings *settings)
{
    const struct config_limits *limits = &settings->config->limits;

    settings->admit = (struct admit_limits){
        .depth = limits->depth,
        .messages = rate_of(limits->rate_messages, limits->burst_ms),
        .bytes = rate_of(limits->rate_bytes, limits->burst_ms),
        .rate_strikes = limits->rate_strikes,
    };
    settings->http =
        (struct http_limits){ .head_bytes = limits->head, .target_bytes = limits->uri };
    settings->ws = (struct ws_shared){ .message_bytes = limits->envelope,
                                       .fragments = limits->fragments,
                                       .refuses_binary = true };
}

/* What a client may rely on here: docs/PROTOCOL.md, section 7. */
static const struct str features[] = {
    S("replay"),     S("routing"),     S("echo"),       S("presence"),   S("proposals"),
    S("tickets"),    S("dialects"),    S("validation"), S("conditions"), S("grants"),
    S("moderation"), S("invitations"), S("loop_guard"), S("approvals"),  S("policy"),
    S("rules"),      S("directory"), /* the last: where it is open */
};

/* The part of the welcome that is the same for everybody. */
static void write_about(struct settings *settings)
{
    const struct config_limits *limits = &settings->config->limits;
    struct json_writer w;
    struct buf out;

    buf_init(&out, 4096);
    json_write_init(&w, &out);
    json_put_str(&w, S("server"), S("moot/" MOOT_VERSION));
    json_key(&w, S("limits"));
    json_object_open(&w);
    json_put_uint(&w, S("envelope_bytes"), limits->envelope);
    json_put_uint(&w, S("outbox_bytes"), limits->outbox);
    json_put_uint(&w, S("depth"), limits->depth);
    json_put_uint(&w, S("messages_per_second"), limits->rate_messages);
    json_put_uint(&w, S("bytes_per_second"), limits->rate_bytes);
    json_object_close(&w);
    json_put_strs(
        &w, S("features"),
        (struct str_list){ features, COUNT(features) -
                                         (settings->config->directory.open ? 0 : 1) });
    settings->about = arena_str(&settings->arena, buf_str(&out));
    buf_done(&out);
}

static enum err load_tls(struct settings *settings, struct config_problem *problem)
{
    const struct config_tls *tls = &settings->config->tls;
    CLEANUP(xfreep) char *why = NULL;

    if (tls->certificate.len == 0)
        return OK;
    if (tls_new(tls->certificate.ptr, tls->key.ptr, &settings->tls, &why))
        return config_fail(settings->config, (struct config_mark){}, problem, "tls: %s",
                           why ? why : "cannot be used");
    return OK;
}

static enum err add_servers(struct settings *settings, struct config_problem *problem)
{
    const struct config_servers *servers = &settings->config->servers;
    enum err err = server_list_read(settings->config, &settings->servers, problem);

    for (size_t i = 0; !err && i < servers->count; i++)
        if (!settings_room(settings, servers->items[i].topic))
            err = config_fail(settings->config, servers->items[i].topic_mark, problem,
                              "topics are closed, and \"" STR_FMT "\" is not named",
                              STR_ARG(servers->items[i].topic));
    return err;
}

/* What was said must be right; what npm and pip are told is judged when it is needed. */
static enum err find_registries(struct settings *settings, struct config_problem *problem)
{
    const struct config_packages *said = &settings->config->packages;
    const struct {
        struct config_mark mark;
        const char *name, *why;
    } faults[] = {
        { said->npm_registry_mark, "npm_registry",
          said->npm_registry.len ? registry_url_fault(said->npm_registry) : NULL },
        { said->pypi_index_mark, "pypi_index",
          said->pypi_index.len ? registry_url_fault(said->pypi_index) : NULL },
        { said->ca_mark, "ca", said->ca.len ? registry_ca_fault(said->ca.ptr) : NULL },
    };

    for (size_t i = 0; i < COUNT(faults); i++)
        if (faults[i].why)
            return config_fail(settings->config, faults[i].mark, problem, "%s: %s",
                               faults[i].name, faults[i].why);
    registries_find(
        &(struct registry_words){ said->npm_registry, said->pypi_index, said->ca },
        &settings->arena, &settings->registries);
    return OK;
}

enum err settings_new(struct config *config, struct settings **ret,
                      struct config_problem *problem)
{
    struct settings *settings = xcalloc(1, sizeof(*settings));
    enum err err;

    atomic_init(&settings->refs, 1);
    settings->config = config;
    arena_init(&settings->arena, ARENA_BYTES);
    lay_out_limits(settings);
    write_about(settings);
    err = check_profiles(config, problem);
    if (!err)
        err = lay_out_rooms(settings, problem);
    if (!err)
        err = settings_lay_out_policy(settings, problem);
    if (!err)
        err = add_tokens(settings, problem);
    if (!err)
        err = lay_out_jwt(settings, problem);
    if (!err)
        err = settings_lay_out_provider(settings, problem);
    if (!err)
        err = check_team_profile(settings, problem);
    if (!err)
        err = lay_out_mcp(settings, problem);
    if (!err)
        err = record_rules_check(config, problem);
    if (!err)
        err = load_tls(settings, problem);
    if (!err)
        err = export_targets_read(config, &settings->arena, &settings->exports, problem);
    if (!err)
        err = add_servers(settings, problem);
    if (!err)
        err = find_registries(settings, problem);
    if (err) {
        settings->config = NULL; /* stays the caller's */
        settings_unref(settings);
        return err;
    }
    *ret = settings;
    return OK;
}

struct settings *settings_ref(struct settings *settings)
{
    atomic_fetch_add_explicit(&settings->refs, 1, memory_order_relaxed);
    return settings;
}

void settings_unref(struct settings *settings)
{
    if (!settings ||
        atomic_fetch_sub_explicit(&settings->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < settings->identity_count; i++)
        identity_unref(settings->identities[i]);
    free(settings->identities);
    free_approvals(&settings->rooms.ledger.approvals);
    for (size_t i = 0; i < settings->named_count; i++)
        free_approvals(&settings->named_rooms[i].ledger.approvals);
    free(settings->named_rooms);
    rulings_free(settings->rulings);
    server_list_unref(settings->servers);
    if (settings->tls)
        tls_unref(settings->tls);
    arena_done(&settings->arena);
    if (settings->config)
        config_free(settings->config);
    free(settings);
}

const struct room_settings *settings_room(const struct settings *settings,
                                          struct str topic)
{
    for (size_t i = 0; i < settings->named_count; i++)
        if (str_eq(settings->named_rooms[i].name, topic))
            return &settings->named_rooms[i];
    return settings->config->topics.open ? &settings->rooms : NULL;
}

bool settings_record(const struct settings *settings, enum audit_mode mode)
{
    for (size_t i = 0; i < settings->named_count; i++)
        if (settings->named_rooms[i].audit >= mode)
            return true;
    return settings->config->topics.open && settings->rooms.audit >= mode;
}

enum err room_settings_admit(const struct room_settings *settings, struct str topic,
                             const struct identity *identity)
{
    /* Before the topic is looked at: whatever there is behind this name. */
    if (!identity_may_enter(identity, topic))
        return ERR_FORBIDDEN;
    if (!settings)
        return ERR_NOT_FOUND;
    if (settings->access == TOPIC_PUBLIC || identity->is_admin ||
        identity_names_topic(identity, topic))
        return OK;
    return settings->access == TOPIC_PRIVATE ? ERR_NOT_FOUND : ERR_FORBIDDEN;
}
