/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table. One row is parser, default, bounds, `moot config print` and manual.
 */
#include "base/cleanup.h"
#include "config/config_priv.h"

/* Numbers are stored through uint64_t, whatever the member is called. */
_Static_assert(sizeof(size_t) == sizeof(uint64_t));
_Static_assert(sizeof(enum config_switch) == sizeof(int));

static const char *const log_levels[] = { "error", "warn", "info", "debug", NULL };
static const char *const off_on[] = { "off", "on", NULL };
static const char *const accesses[] = { "public", "restricted", "private", NULL };
static const char *const duplicates[] = { "share", "replace", "refuse", NULL };
static const char *const proposal_modes[] = { "free", "once", "exact", NULL };
static const char *const validations[] = { "lazy", "strict", NULL };
static const char *const dialects[] = { "both", "slash", NULL };
static const char *const audit_modes[] = { "off", "async", "required", NULL };
static const char *const participant_types[] = { "human", "agent", "service", NULL };

/* clang-format off */
#define T(member, sort) ROW(struct config_tls, member, sort)
static const struct option tls_options[] = {
    { T(certificate, OPTION_PATH), .help = "certificate chain, PEM" },
    { T(key,         OPTION_PATH), .help = "private key, PEM" },
};
#undef T

#define T(member, sort) ROW(struct config_approval, member, sort)
static const struct option approval_options[] = {
    { T(kind,     OPTION_TEXT),  .is_required = true, .mark = offsetof(struct config_approval, kind_mark), .help = "which proposals: a pattern over METHOD or METHOD:NAME, as in capabilities, such as tools/call:deploy_*" },
    { T(quorum,   OPTION_COUNT), .preset = "1", .min = "1", .max = "16", .help = "how many must approve; who fulfils counts as one if he may send mcp/approve" },
    { T(profiles, OPTION_TEXTS),                                         .help = "profiles of which an approver must have one; anybody's when not given" },
};
#undef T
static const struct schema approval_schema = SCHEMA(struct config_approval, approval_options, "approvals", NULL);

#define T(member, sort) ROW(struct config_topic, member, sort)
static const struct option topic_options[] = {
    { T(access,              OPTION_CHOICE), .preset = "public", .choices = accesses,                .help = "who may enter: every token whose topics cover it; only those that name it in full, and administrators; or likewise, and for all others it does not exist" },
    { T(duplicate,           OPTION_CHOICE), .preset = "share", .choices = duplicates,               .help = "several connections of one id: all take part, the newest replaces the others, or the newest is refused" },
    { T(proposals,           OPTION_CHOICE), .preset = "once",  .choices = proposal_modes,           .help = "what fulfils a proposal: as often as anybody likes; once, and not by the proposer; or likewise, with exactly the arguments that were proposed" },
    { T(quorum,              OPTION_COUNT),  .preset = "1",     .min = "1", .max = "16",             .help = "how many must approve a proposal before it may be fulfilled; who fulfils it counts as one if he may send mcp/approve" },
    { T(approvals,           OPTION_LIST),   .schema = &approval_schema,                             .help = "what some proposals need instead; the first that matches counts" },
    { T(validation,          OPTION_CHOICE), .preset = "lazy",  .choices = validations,              .help = "whether payloads must say what their kinds say; lazy does not look" },
    { T(dialects,            OPTION_CHOICE), .preset = "both",  .choices = dialects,                 .help = "spellings of kinds that members may use; slash keeps dotted members out" },
    { T(ring_messages,       OPTION_COUNT),  .preset = "1000",  .min = "0", .max = "1000000",        .help = "envelopes kept in memory for those who reconnect" },
    { T(ring_bytes,          OPTION_SIZE),   .preset = "4MiB",  .min = "0", .max = "1GiB",           .help = "bytes kept in memory for those who reconnect" },
    { ROW_MS(struct config_topic, proposal_expiry), .preset = "5m",   .min = "1s", .max = "24h",     .help = "how long a proposal stays open" },
    { ROW_MS(struct config_topic, presence_delay),  .preset = "50ms", .min = "0",  .max = "1s",      .help = "how long joins and leaves are collected" },
    { T(max_members,         OPTION_COUNT),  .preset = "10000", .min = "1", .max = "1000000",        .help = "members at a time" },
    { T(announce_violations, OPTION_BOOL),   .preset = "off",   .choices = off_on,                   .help = "tell the topic about envelopes that their senders may not send" },
    { T(self_approve,        OPTION_BOOL),   .preset = "off",   .choices = off_on,                   .help = "who comes by MCP and may only propose a call is asked himself whether it is to be made, where his client can ask him; others may decide as well" },
    { T(loop_guard,          OPTION_COUNT),  .preset = "200",   .min = "1", .max = "1000000000", .word = "off", .help = "envelopes of agents in a row, without a human speaking, before agents' requests are refused; what they address to services alone does not count" },
    { T(audit,               OPTION_CHOICE), .preset = "async", .choices = audit_modes,              .help = "what is recorded: nothing; everything, without anybody waiting for it; or everything, and nothing is delivered that is not on disk" },
    { ROW_MS(struct config_topic, audit_age), .preset = "0",    .min = "0", .max = "876000h",        .help = "how long the record keeps bodies: what envelopes and events say; 0 is for ever" },
    { T(audit_bytes,         OPTION_SIZE),   .preset = "0",     .min = "0", .max = "1048576GiB",     .help = "how many bytes of bodies the record keeps, of each named topic and of all others together; 0 is all" },
};
#undef T
static const struct schema topic_schema = SCHEMA(struct config_topic, topic_options, "topic", NULL);

#define T(member, sort) ROW(struct config_topics, member, sort)
static const struct option topics_options[] = {
    { T(open,     OPTION_BOOL),    .preset = "true",                                   .help = "topics come into being when someone enters; false: only the named ones exist" },
    { T(max,      OPTION_COUNT),   .preset = "100000", .min = "1", .max = "10000000",  .help = "topics at a time" },
    { T(defaults, OPTION_SECTION), .schema = &topic_schema,                            .help = "settings of every topic" },
    { T(named,    OPTION_MAP),     .schema = &topic_schema, .template = offsetof(struct config_topics, defaults),
                                                                                       .help = "topics with settings of their own, by name; a list of names will do" },
};
#undef T

#define T(member, sort) ROW(struct config_token, member, sort)
static const struct option token_options[] = {
    { T(name,         OPTION_TEXT),   .help = "public name, for lists and revoking" },
    { T(token,        OPTION_SECRET), .unless = offsetof(struct config_token, token_file), .help = "the secret itself" },
    { T(token_file,   OPTION_PATH),   .help = "file that holds the secret, instead of token" },
    { T(id,           OPTION_TEXT),   .is_required = true, .mark = offsetof(struct config_token, id_mark), .help = "participant id" },
    { T(topics,       OPTION_TEXTS),  .preset = "*",                    .help = "topics it may enter; * at the end stands for anything" },
    { T(capabilities, OPTION_RIGHTS),                                   .help = "patterns over the kinds it may send; a mapping of kind and payload looks into the payload as well" },
    { T(profile,      OPTION_TEXT),   .mark = offsetof(struct config_token, profile_mark), .help = "name of a set of capabilities, instead of capabilities" },
    { T(type,         OPTION_TEXT),   .choices = participant_types,     .help = "what stands behind it; the profile's when not given" },
    { T(admin,        OPTION_SWITCH),                                   .help = "may use /admin; the profile's when not given" },
    { .name = "expires_at", .kind = OPTION_TIME, .offset = offsetof(struct config_token, expires_ms), .help = "when it becomes void, RFC 3339" },
};
#undef T

#define T(member, sort) ROW(struct config_profile, member, sort)
static const struct option profile_options[] = {
    { T(capabilities, OPTION_RIGHTS), .is_required = true,          .help = "patterns over the kinds its holders may send; mappings as in tokens" },
    { T(type,         OPTION_TEXT),   .choices = participant_types, .help = "what stands behind its holders" },
    { T(admin,        OPTION_SWITCH),                               .help = "its holders may use /admin" },
};
#undef T

#define T(member, sort) ROW(struct config_limits, member, sort)
#define MS(member)      ROW_MS(struct config_limits, member)
static const struct option limits_options[] = {
    { T(envelope,      OPTION_SIZE),      .preset = "1MiB",     .min = "1KiB",  .max = "64MiB",      .help = "largest envelope accepted" },
    { T(outbox,        OPTION_SIZE),      .preset = "2MiB",     .min = "2KiB",  .max = "1GiB",       .help = "bytes that may wait for one member before it is closed; at least twice the envelope" },
    { T(outbox_soft,   OPTION_SIZE),      .preset = "auto",     .min = "1KiB",  .max = "1GiB", .word = "auto", .help = "bytes that may wait before the member is warned; auto is half of outbox" },
    { T(depth,         OPTION_COUNT),     .preset = "128",      .min = "1",     .max = "1024",       .help = "nesting of an envelope" },
    { T(rate_messages, OPTION_RATE),      .preset = "1000/s",   .min = "0",     .max = "1000000000/s", .help = "envelopes per participant and second; 0 is unlimited" },
    { T(rate_bytes,    OPTION_BYTE_RATE), .preset = "16MiB/s",  .min = "0",     .max = "1024GiB/s",  .help = "bytes per participant and second; 0 is unlimited" },
    { MS(burst),                          .preset = "2s",       .min = "100ms", .max = "1m",         .help = "how much of a rate can be saved up; one envelope always fits" },
    { T(rate_strikes,  OPTION_COUNT),     .preset = "1000",     .min = "1",     .max = "1000000000", .help = "envelopes refused for their rate within 10 s before the connection is closed" },
    { T(connections,   OPTION_COUNT),     .preset = "50000",    .min = "1",     .max = "10000000",   .help = "connections at a time" },
    { T(connections_per_participant, OPTION_COUNT), .preset = "10000", .min = "1", .max = "1000000",    .help = "connections of one participant at a time" },
    { T(head,          OPTION_SIZE),      .preset = "16KiB",    .min = "1KiB",  .max = "1MiB",       .help = "largest request head; at least the uri" },
    { T(body,          OPTION_SIZE),      .preset = "2MiB",     .min = "1KiB",  .max = "1GiB",       .help = "largest request body; at least the envelope" },
    { T(uri,           OPTION_SIZE),      .preset = "8KiB",     .min = "256",   .max = "1MiB",       .help = "longest request target" },
    { T(fragments,     OPTION_COUNT),     .preset = "1024",     .min = "1",     .max = "1000000",    .help = "frames that may make up one envelope" },
    { MS(head_timeout),                   .preset = "10s",      .min = "100ms", .max = "10m",        .help = "time for a request head, TLS included" },
    { MS(body_timeout),                   .preset = "30s",      .min = "100ms", .max = "1h",         .help = "time for a request body" },
    { MS(keepalive_timeout),              .preset = "75s",      .min = "100ms", .max = "1h",         .help = "silence between two requests" },
    { MS(ping_interval),                  .preset = "30s",      .min = "0",     .max = "1h",         .help = "silence before a ping; 0 is never" },
    { MS(pong_timeout),                   .preset = "10s",      .min = "100ms", .max = "1h",         .help = "time for the answer to a ping" },
    { MS(stall_timeout),                  .preset = "10s",      .min = "100ms", .max = "1h",         .help = "time without progress before a slow reader is closed" },
    { MS(wait_max),                       .preset = "60s",      .min = "0",     .max = "1h",         .help = "longest wait of a long poll" },
    { T(tickets,       OPTION_COUNT),     .preset = "10000",    .min = "1",     .max = "1000000",    .help = "unused tickets at a time" },
    { T(login_failures, OPTION_COUNT),    .preset = "100",      .min = "0",     .max = "1000000",    .help = "wrong tokens per address and minute; 0 is unlimited" },
    { MS(kick_bar),                       .preset = "60s",      .min = "0",     .max = "24h",        .help = "how long who was kicked stays out" },
    { MS(drain_timeout),                  .preset = "4s",       .min = "0",     .max = "10m",        .help = "time for farewells when the gateway stops" },
};
#undef MS
#undef T

#define T(member, sort) ROW(struct config_audit, member, sort)
static const struct option audit_options[] = {
    { T(redact,            OPTION_TEXTS),                                                 .help = "fields recorded only as a keyed hash, as payload.params.arguments.password; * is any member, ** any number of levels" },
    { T(queue,             OPTION_SIZE), .preset = "64MiB", .min = "1MiB", .max = "16GiB", .help = "records that may wait for the disk before those of async topics are dropped" },
    { T(syslog,            OPTION_TEXT), .mark = offsetof(struct config_audit, syslog_mark), .help = "where records are sent as well: udp://HOST:PORT, tcp://HOST:PORT or unix:PATH" },
    { T(otlp,              OPTION_TEXT), .mark = offsetof(struct config_audit, otlp_mark), .help = "the same as OpenTelemetry logs: http://HOST:4318/v1/logs" },
    { T(otlp_headers_file, OPTION_PATH),                                                  .help = "file with header lines for that, such as an authorization" },
};
#undef T

static const struct schema tls_schema     = SCHEMA(struct config_tls,     tls_options,     "tls",     check_tls);
static const struct schema topics_schema  = SCHEMA(struct config_topics,  topics_options,  "topics",  NULL);
static const struct schema token_schema   = SCHEMA(struct config_token,   token_options,   "token",   check_token);
static const struct schema profile_schema = SCHEMA(struct config_profile, profile_options, "profile", NULL);
static const struct schema limits_schema  = SCHEMA(struct config_limits,  limits_options,  "limits",  NULL);
static const struct schema audit_schema   = SCHEMA(struct config_audit,   audit_options,   "audit",   check_audit);

#define T(member, sort) ROW(struct config, member, sort)
static const struct option options[] = {
    { T(listen,      OPTION_TEXTS),   .preset = "127.0.0.1:8420", .needs_restart = true, .help = "addresses to accept connections on: HOST:PORT, [IPV6]:PORT or unix:PATH" },
    { T(data,        OPTION_PATH),    .needs_restart = true,                          .help = "folder for what survives a restart; otherwise $MOOT_DATA, $XDG_STATE_HOME/moot or ~/.local/state/moot" },
    { T(store,       OPTION_SECRET),  .needs_restart = true,                          .help = "postgresql://… (a password belongs into a passfile); files in data when not given" },
    { T(workers,     OPTION_COUNT),   .preset = "auto", .min = "1", .max = "64", .word = "auto", .needs_restart = true, .help = "threads that serve connections; auto is one per core" },
    { T(log,         OPTION_CHOICE),  .preset = "info", .choices = log_levels,        .help = "what is worth a line on standard error" },
    { T(tls,         OPTION_SECTION), .schema = &tls_schema,                          .help = "encryption; plain when not given" },
    { T(hosts,       OPTION_TEXTS),                                                   .help = "names by which clients may call this gateway, besides localhost and the address it listens on" },
    { T(origins,     OPTION_TEXTS),                                                   .help = "origins of foreign web pages that may connect" },
    { T(topics,      OPTION_SECTION), .schema = &topics_schema,                       .help = "rooms" },
    { T(profiles,    OPTION_MAP),     .schema = &profile_schema,                      .help = "named sets of capabilities, besides the built-in ones" },
    { T(tokens,      OPTION_LIST),    .schema = &token_schema,                        .help = "who may connect, besides the tokens in the store" },
    { T(policy,      OPTION_LIST),    .schema = &policy_schema,                       .help = "rows beyond capabilities, of which the first that fits decides; they only narrow what capabilities allow" },
    { T(limits,      OPTION_SECTION), .schema = &limits_schema,                       .help = "what one client may ask of the gateway" },
    { T(audit,       OPTION_SECTION), .schema = &audit_schema,                        .help = "the record, whatever the topic" },
    { T(servers,     OPTION_MAP),     .schema = &server_schema,                       .help = "MCP servers that sit in topics, by name" },
    { T(mcp_servers, OPTION_LIST),    .schema = &mcp_file_schema,                     .help = "files of other programs with mcpServers, whose servers sit in a topic as well" },
    { T(packages,    OPTION_SECTION), .schema = &package_schema,                      .help = "where packages of servers, of npx and uvx, are installed from" },
    { T(mcp,         OPTION_SECTION), .schema = &mcp_schema,                          .help = "topics as MCP servers: /mcp/TOPIC, for any MCP client" },
    { T(directory,   OPTION_SECTION), .schema = &directory_schema,                    .help = "people and agents that can be found, and /agents, by which agents do" },
    { T(identity,    OPTION_SECTION), .schema = &identity_schema,                     .help = "credentials that others issue" },
    { T(compression, OPTION_BOOL),    .preset = "on", .choices = off_on,              .help = "permessage-deflate for those who offer it" },
    { T(compression_min, OPTION_SIZE), .preset = "512", .min = "0", .max = "64MiB",   .help = "smallest envelope worth compressing" },
};
#undef T
/* clang-format on */

const struct schema config_schema = SCHEMA(struct config, options, "file", check_config);
