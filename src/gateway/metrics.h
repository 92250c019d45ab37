/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of one worker; summed over all of them for GET /metrics (Prometheus text).
 * One row in METRICS_LIST is the counter, its type, its name and its help.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "gateway/pulse.h"

/* clang-format off */
#define METRICS_LIST(X) \
    X(connections_accepted, counter, "moot_connections_accepted_total", "TCP and local connections accepted.") \
    X(connections_refused,  counter, "moot_connections_refused_total",  "Connections turned away because of limits.") \
    X(websockets_opened,    counter, "moot_websockets_opened_total",    "WebSocket handshakes completed.") \
    X(websockets_closed,    counter, "moot_websockets_closed_total",    "WebSocket connections ended, for any reason.") \
    X(requests,             counter, "moot_http_requests_total",        "HTTP requests answered.") \
    X(requests_refused,     counter, "moot_http_requests_refused_total","HTTP requests answered with a status of 400 or more.") \
    X(logins_failed,        counter, "moot_logins_failed_total",        "Tokens and tickets that are unknown or have expired.") \
    X(envelopes_received,   counter, "moot_envelopes_received_total",   "Envelopes that arrived at any door.") \
    X(envelopes_admitted,   counter, "moot_envelopes_admitted_total",   "Envelopes that entered a topic.") \
    X(envelopes_refused,    counter, "moot_envelopes_refused_total",    "Envelopes refused, for any reason.") \
    X(rate_limited,         counter, "moot_rate_limited_total",         "Envelopes refused because they came too fast.") \
    X(loop_guard_trips,     counter, "moot_loop_guard_trips_total",     "Times that agents were held up until a human spoke.") \
    X(slow_consumers,       counter, "moot_slow_consumers_total",       "Connections closed because they read too slowly (4008).") \
    X(bytes_received,       counter, "moot_envelope_bytes_received_total", "Bytes of envelopes that arrived.") \
    X(bytes_sent,           counter, "moot_bytes_sent_total",           "Bytes handed to the network.") \
    X(presence_changes,     counter, "moot_presence_changes_total",     "Joins and leaves announced.") \
    X(presence_flushes,     counter, "moot_presence_flushes_total",     "Times that joins and leaves were announced, one or many.") \
    X(proposals_opened,     counter, "moot_proposals_opened_total",     "Proposals that were made.") \
    X(proposals_fulfilled,  counter, "moot_proposals_fulfilled_total",  "Proposals that were fulfilled.") \
    X(proposals_rejected,   counter, "moot_proposals_rejected_total",   "Proposals that were rejected.") \
    X(proposals_withdrawn,  counter, "moot_proposals_withdrawn_total",  "Proposals that were withdrawn.") \
    X(proposals_expired,    counter, "moot_proposals_expired_total",    "Proposals that nobody decided in time.") \
    X(proposals_open,       gauge,   "moot_proposals_open",             "Proposals that wait for a decision.") \
    X(authorizations_open,  gauge,   "moot_authorizations_open",        "Calls that wait to be authorized, as far as that is known.") \
    X(gaps,                 counter, "moot_replay_gaps_total",          "Reconnects that could not be continued from the ring.") \
    X(unavailable,          counter, "moot_unavailable_total",          "Envelopes refused because they could not be made durable, or tables were full.") \
    X(audit_dropped,        counter, "moot_audit_dropped_total",        "Records of async topics that found the queue full.") \
    X(held_bytes,           gauge,   "moot_held_bytes",                 "Envelopes and presence that wait for the disk.") \
    X(syslog_records,       counter, "moot_export_syslog_records_total",  "Records that a syslog daemon was sent.") \
    X(syslog_rejected,      counter, "moot_export_syslog_rejected_total", "Records that its socket cannot carry.") \
    X(syslog_failures,      counter, "moot_export_syslog_failures_total", "Times that it could not be sent to.") \
    X(syslog_lag,           gauge,   "moot_export_syslog_lag_records",    "Records that it has not been sent yet.") \
    X(otlp_records,         counter, "moot_export_otlp_records_total",    "Records that an OpenTelemetry collector has taken.") \
    X(otlp_rejected,        counter, "moot_export_otlp_rejected_total",   "Records that it did not want.") \
    X(otlp_failures,        counter, "moot_export_otlp_failures_total",   "Times that it could not be sent to.") \
    X(otlp_lag,             gauge,   "moot_export_otlp_lag_records",      "Records that it has not been sent yet.") \
    X(servers,              gauge,   "moot_servers",                    "MCP servers that sit in topics now.") \
    X(servers_ready,        gauge,   "moot_servers_ready",              "MCP servers that run and answer.") \
    X(servers_failing,      gauge,   "moot_servers_failing",            "MCP servers that crashed, or did not start, and are started again.") \
    X(servers_signed_out,   gauge,   "moot_servers_sign_in_needed",     "MCP servers at which somebody must sign in.") \
    X(server_calls,         counter, "moot_server_calls_total",         "Requests that MCP servers were asked.") \
    X(server_errors,        counter, "moot_server_errors_total",        "Requests that ended with an error.") \
    X(server_restarts,      counter, "moot_server_restarts_total",      "Times that an MCP server was started again.") \
    X(server_questions,     counter, "moot_server_questions_total",     "Questions that MCP servers asked participants.") \
    X(mcp_halls,            gauge,   "moot_mcp_topics",                 "Topics that are used by MCP now.") \
    X(mcp_clients,          gauge,   "moot_mcp_clients",                "Credentials that are here by MCP now, in each topic.") \
    X(mcp_sessions,         gauge,   "moot_mcp_sessions",               "Sessions of MCP clients of 2025-11-25 and older.") \
    X(mcp_streams,          gauge,   "moot_mcp_streams",                "Requests and streams of MCP clients under way, or kept to be resumed.") \
    X(mcp_waiting,          gauge,   "moot_mcp_calls_waiting",          "Calls of MCP clients under way, those that wait for a decision included.") \
    X(mcp_requests,         counter, "moot_mcp_requests_total",         "Requests of MCP clients.") \
    X(mcp_calls,            counter, "moot_mcp_calls_total",            "Calls of MCP clients that were made.") \
    X(mcp_proposals,        counter, "moot_mcp_proposals_total",        "Calls of MCP clients that became proposals.") \
    X(mcp_joined,           counter, "moot_mcp_joined_total",           "Calls that joined one that waited already.") \
    X(mcp_refused,          counter, "moot_mcp_refused_total",          "Calls of what is not there for who called.") \
    X(mcp_questions,        counter, "moot_mcp_questions_total",        "Questions that MCP clients were asked.") \
    X(mcp_parked,           counter, "moot_mcp_parked_total",           "Calls that waited for a client to come back with answers.") \
    X(mcp_resumed,          counter, "moot_mcp_resumed_total",          "Streams that were resumed, and sessions of before a restart.") \
    X(agents,               gauge,   "moot_agents",                     "Connections at /agents now.") \
    X(agent_messages,       counter, "moot_agent_messages_total",       "Messages that agents sent.") \
    X(agent_errors,         counter, "moot_agent_errors_total",         "Messages of agents that were answered by an error.") \
    X(agent_events,         counter, "moot_agent_events_total",         "Events that agents were told unasked.") \
    X(topics,               gauge,   "moot_topics",                     "Topics that exist now.") \
    X(members,              gauge,   "moot_members",                    "Members present in topics now.") \
    X(http_connections,     gauge,   "moot_http_connections",           "HTTP connections open now.")
/* clang-format on */

#define METRIC_VIOLATIONS "moot_violations_total"
#define METRIC_OFFENDERS  "moot_participant_violations" /* see offenders.h */

#define METRICS_ERR(code, name, status) +1
enum { METRICS_ERRS = 0 ERR_LIST(METRICS_ERR) };
#undef METRICS_ERR

struct metrics {
#define METRICS_FIELD(field, type, name, help) uint64_t field;
    METRICS_LIST(METRICS_FIELD)
#undef METRICS_FIELD
    uint64_t refused_by[METRICS_ERRS];      /* envelopes, by enum err */
    uint64_t decision_times[PULSE_CLASSES]; /* of proposals, see pulse.h */
};

/* An envelope was admitted (OK) or refused. */
void metrics_count_verdict(struct metrics *metrics, enum err verdict);

/* A proposal was fulfilled or rejected after so long. */
void metrics_count_decision(struct metrics *metrics, uint64_t took_ms);

/* total += part */
void metrics_add(struct metrics *total, const struct metrics *part);

void metrics_write(const struct metrics *metrics, struct buf *out);
