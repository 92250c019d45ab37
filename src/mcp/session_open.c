/* SPDX-License-Identifier: Apache-2.0 */
/* How a session begins: the era is found out, and legacy servers are initialized. */
#include "base/cleanup.h"
#include "mcp/session_parts.h"

/* MCP.md 2.4: errors that only a modern server knows. */
static const struct str modern_codes[] = { S("-32020"), S("-32021"), S("-32022") };

static void initialize(struct mcp_session *session);
static void discover(struct mcp_session *session);

static bool is_object(struct json_span span)
{
    return span.text.ptr && span.type == JSON_OBJECT;
}

/* --- ready --- */

static void keep_facts(struct mcp_session *session, struct json_span capable,
                       struct json_span server, struct json_span instructions)
{
    struct mcp_session_facts *facts = &session->facts;

    facts->capable = (struct json_span){ .type = JSON_OBJECT, .text = S("{}") };
    facts->server = S("");
    facts->instructions = S("");
    if (is_object(capable))
        facts->capable.text = arena_str(&session->opened, capable.text);
    if (is_object(server))
        facts->server = arena_str(&session->opened, server.text);
    if (instructions.text.ptr && instructions.type == JSON_STRING) {
        instructions.text = arena_str(&session->opened, instructions.text);
        if (json_unescape(instructions, &session->opened, &facts->instructions))
            facts->instructions = S("");
    }
}

static void on_level(struct mcp_session *session, struct call *call,
                     const struct answer *answer)
{
    (void)session;
    (void)call;
    (void)answer;
}

/* A modern server is told with each request. */
void session_say_level(struct mcp_session *session)
{
    struct errand_order order = { .method = S("logging/setLevel"),
                                  .until_ms = session->now_ms + session->settings.open_ms,
                                  .on_answer = on_level };
    struct json_writer w;
    struct errand *errand;

    if (session_is_modern(session) || !session->settings.log_level.len ||
        !is_object(mcp_message_member(session->facts.capable, S("logging"))))
        return;
    buf_clear(&session->params);
    json_write_init(&w, &session->params);
    json_object_open(&w);
    json_put_str(&w, S("level"), session->settings.log_level);
    json_object_close(&w);
    order.params = buf_str(&session->params);
    (void)errand_send(session, &order, &errand);
}

static void become_ready(struct mcp_session *session)
{
    session->stage = STAGE_READY;
    session->probed_ms = UINT64_MAX;
    if (session->discovered)
        errand_drop(session, TAKE(session->discovered));
    session->heard_ms = session->now_ms;
    session->carrier->ops->settled(session->carrier, session->facts.version,
                                   session_is_modern(session));
    if (session->settings.ping_ms)
        mcp_session_wake(session, session->now_ms + session->settings.ping_ms);
    calls_again(session);
    session_say_level(session);
    watch_begin(session);
    session->ops.on_ready(session->user, &session->facts);
}

/* --- legacy --- */

static bool agree(struct mcp_session *session, struct json_span version)
{
    for (size_t i = 1; i < MCP_VERSIONS; i++)
        if (version.text.ptr && version.type == JSON_STRING &&
            json_string_is(version, mcp_versions[i])) {
            session->facts.version = mcp_versions[i];
            return true;
        }
    return false;
}

static enum mcp_end end_of(const struct mishap *mishap)
{
    switch (mishap->type) {
    case MISHAP_FORBIDDEN: return SESSION_FORBIDDEN;
    case MISHAP_TIMEOUT: return SESSION_SILENT;
    case MISHAP_STATUS:
    case MISHAP_FORGOTTEN:
    case MISHAP_BROKEN:
    case MISHAP_TOO_BIG: break;
    }
    return mishap->status == 401 || mishap->status == 403 ? SESSION_FORBIDDEN
                                                          : SESSION_REFUSED;
}

/* LIFE-14: an error may name what is supported. */
static bool offer_another(struct mcp_session *session, struct json_span error)
{
    static const struct str path[] = { S("data"), S("supported") };
    struct json_span supported = mcp_message_find(error, path, COUNT(path));

    if (session->was_reversioned)
        return false;
    session->was_reversioned = true;
    for (size_t i = 1; i < MCP_VERSIONS; i++)
        if (again_lists(supported, mcp_versions[i])) {
            session->settings.newest = mcp_versions[i];
            initialize(session);
            return true;
        }
    return false;
}

static void on_initialized(struct mcp_session *session, struct call *call,
                           const struct answer *answer)
{
    (void)call;
    session->initialized = NULL;
    if (answer->type == ANSWER_MISHAP) {
        mcp_session_end(session, end_of(answer->mishap), answer->mishap->why);
        return;
    }
    if (answer->type == ANSWER_ERROR && offer_another(session, answer->json))
        return;
    if (answer->type == ANSWER_ERROR || !is_object(answer->json)) {
        mcp_session_end(session, SESSION_REFUSED,
                        "initialize was answered with an error");
        return;
    }
    if (!agree(session, mcp_message_member(answer->json, S("protocolVersion")))) {
        mcp_session_end(session, SESSION_REFUSED, "the server speaks another version");
        return;
    }
    keep_facts(session, mcp_message_member(answer->json, S("capabilities")),
               mcp_message_member(answer->json, S("serverInfo")),
               mcp_message_member(answer->json, S("instructions")));
    if (session_say(session, S("notifications/initialized"), S("")))
        mcp_session_end(session, SESSION_ENDED, "it reads nothing");
    else
        become_ready(session);
}

static struct str initialize_params(struct mcp_session *session)
{
    struct json_writer w;

    buf_clear(&session->params);
    json_write_init(&w, &session->params);
    json_object_open(&w);
    json_put_str(&w, S("protocolVersion"), session->settings.newest);
    json_key(&w, S("capabilities"));
    session_put_capabilities(session, &w);
    json_key(&w, S("clientInfo"));
    session_put_client(session, &w);
    json_object_close(&w);
    return buf_str(&session->params);
}

static void initialize(struct mcp_session *session)
{
    struct errand_order order = { .method = S("initialize"),
                                  .until_ms = session->now_ms + session->settings.open_ms,
                                  .on_answer = on_initialized };

    session->stage = STAGE_OPENING;
    session->probed_ms = UINT64_MAX;
    arena_reset(&session->opened);
    session->facts = (struct mcp_session_facts){ .era = ERA_LEGACY };
    order.params = initialize_params(session);
    if (errand_send(session, &order, &session->initialized))
        session_break(session, SESSION_ENDED, "initialize could not be sent");
}

/* --- which era --- */

static bool is_among(struct json_span code)
{
    for (size_t i = 0; i < COUNT(modern_codes); i++)
        if (str_eq(code.text, modern_codes[i]))
            return true;
    return false;
}

/* A server was slow to say that it is modern. */
static void drop_initialize(struct mcp_session *session)
{
    if (session->initialized)
        errand_drop(session, TAKE(session->initialized));
}

static void become_modern(struct mcp_session *session, struct json_span result)
{
    static const struct str server[] = { S("_meta"),
                                         S("io.modelcontextprotocol/serverInfo") };

    drop_initialize(session);
    arena_reset(&session->opened);
    session->facts =
        (struct mcp_session_facts){ .era = ERA_MODERN, .version = mcp_versions[0] };
    keep_facts(session, mcp_message_member(result, S("capabilities")),
               mcp_message_find(result, server, COUNT(server)),
               mcp_message_member(result, S("instructions")));
    become_ready(session);
}

/* Not modern, unless somebody who knows says that it is. */
static void try_legacy(struct mcp_session *session, const char *why)
{
    if (session->settings.era == ERA_MODERN)
        mcp_session_end(session, SESSION_REFUSED, why);
    else if (session->stage == STAGE_PROBING)
        initialize(session);
}

static void on_discover_error(struct mcp_session *session, struct json_span error)
{
    static const struct str supported[] = { S("data"), S("supported") };
    struct json_span code = mcp_message_member(error, S("code"));
    bool is_modern = session->settings.era == ERA_MODERN || is_among(code);
    bool is_version = str_eq(code.text, S("-32022"));

    if (is_version && !again_lists(mcp_message_find(error, supported, COUNT(supported)),
                                   mcp_versions[0]))
        is_modern = false;
    if (is_modern && is_version && !session->was_rediscovered) {
        session->was_rediscovered = true;
        discover(session);
    } else if (is_modern)
        become_modern(session, (struct json_span){});
    else
        try_legacy(session, "the server does not speak 2026-07-28");
}

/* 401, 403 and what fails with the server itself say nothing of its era. */
static void on_discover_mishap(struct mcp_session *session, const struct mishap *mishap)
{
    bool is_verdict = mishap->type == MISHAP_STATUS || mishap->type == MISHAP_FORGOTTEN;

    if (is_verdict && mishap->status >= 400 && mishap->status < 500 &&
        end_of(mishap) != SESSION_FORBIDDEN)
        try_legacy(session, mishap->why);
    else if (session->stage == STAGE_PROBING)
        mcp_session_end(session, end_of(mishap), mishap->why);
}

static void on_discovered(struct mcp_session *session, struct call *call,
                          const struct answer *answer)
{
    (void)call;
    session->discovered = NULL;
    switch (answer->type) {
    case ANSWER_RESULT:
        if (again_lists(mcp_message_member(answer->json, S("supportedVersions")),
                        mcp_versions[0]))
            become_modern(session, answer->json);
        else
            try_legacy(session, "the server does not speak 2026-07-28");
        break;
    case ANSWER_ERROR: on_discover_error(session, answer->json); break;
    case ANSWER_MISHAP: on_discover_mishap(session, answer->mishap); break;
    }
}

/* A slow server may answer when it has long been sent `initialize`, so this errand has no
 * end of its own. */
static void discover(struct mcp_session *session)
{
    struct errand_order order = { .method = S("server/discover"),
                                  .until_ms = UINT64_MAX,
                                  .on_answer = on_discovered };

    drop_initialize(session);
    session->stage = STAGE_PROBING;
    session->facts =
        (struct mcp_session_facts){ .era = ERA_MODERN, .version = mcp_versions[0] };
    session->probed_ms = session->now_ms + (session->settings.era == ERA_MODERN
                                                ? session->settings.open_ms
                                                : session->settings.probe_ms);
    order.params = session_params(session, &(struct params_change){});
    if (errand_send(session, &order, &session->discovered))
        session_break(session, SESSION_ENDED, "server/discover could not be sent");
    mcp_session_wake(session, session->probed_ms);
}

void session_tick_opening(struct mcp_session *session)
{
    if (session->stage != STAGE_PROBING)
        return;
    if (session->now_ms < session->probed_ms)
        mcp_session_wake(session, session->probed_ms);
    else if (session->settings.era == ERA_MODERN)
        mcp_session_end(session, SESSION_SILENT, "no answer to server/discover");
    else
        initialize(session);
}

void session_open(struct mcp_session *session)
{
    if (session->settings.era == ERA_LEGACY)
        initialize(session);
    else
        discover(session);
}

void session_reopen(struct mcp_session *session)
{
    session->carrier->ops->renew(session->carrier);
    initialize(session);
}
