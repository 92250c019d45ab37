/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every error of the program, said once: its code, the name it has on the wire
 * (system/error and problem details) and the HTTP status that goes with it.
 *
 * A function that can fail returns `enum err` and nothing else; results leave by a
 * last parameter named `ret`, untouched on failure.
 */
#pragma once

#include <stdbool.h>

/* clang-format off */
#define ERR_LIST(X) \
    X(OK,                        "ok",                    200) \
    /* what admission answers to an envelope */                \
    X(ERR_MALFORMED_ENVELOPE,    "malformed_envelope",    400) \
    X(ERR_MALFORMED_KIND,        "malformed_kind",        400) \
    X(ERR_DUPLICATE_ID,          "duplicate_id",          409) \
    X(ERR_UNSUPPORTED_PROTOCOL,  "unsupported_protocol",  400) \
    X(ERR_RESERVED_NAMESPACE,    "reserved_namespace",    403) \
    X(ERR_FROM_MISMATCH,         "from_mismatch",         403) \
    X(ERR_CAPABILITY_VIOLATION,  "capability_violation",  403) \
    X(ERR_KIND_PAYLOAD_MISMATCH, "kind_payload_mismatch", 422) \
    X(ERR_MISSING_CORRELATION,   "missing_correlation",   400) \
    X(ERR_PROPOSAL_STATE,        "proposal_state",        409) \
    X(ERR_ARGUMENT_MISMATCH,     "argument_mismatch",     409) \
    X(ERR_RULE_STATE,            "rule_state",            409) \
    X(ERR_TOO_LARGE,             "too_large",             413) \
    X(ERR_RATE_LIMITED,          "rate_limited",          429) \
    X(ERR_SLOW_CONSUMER,         "slow_consumer",         503) \
    X(ERR_PAUSED,                "paused",                403) \
    X(ERR_LOOP_GUARD,            "loop_guard",            403) \
    X(ERR_UNAVAILABLE,           "unavailable",           503) \
    /* what the doors answer to a request */                   \
    X(ERR_BAD_REQUEST,           "bad_request",           400) \
    X(ERR_UNAUTHORIZED,          "unauthorized",          401) \
    X(ERR_FORBIDDEN,             "forbidden",             403) \
    X(ERR_NOT_FOUND,             "not_found",             404) \
    X(ERR_METHOD,                "method_not_allowed",    405) \
    X(ERR_TIMEOUT,               "timeout",               408) \
    X(ERR_CONFLICT,              "conflict",              409) \
    X(ERR_LENGTH_REQUIRED,       "length_required",       411) \
    X(ERR_URI_TOO_LONG,          "uri_too_long",          414) \
    X(ERR_MEDIA_TYPE,            "unsupported_media_type", 415) \
    X(ERR_EXPECTATION,           "expectation_failed",    417) \
    X(ERR_MISDIRECTED,           "misdirected_request",   421) \
    X(ERR_UPGRADE_REQUIRED,      "upgrade_required",      426) \
    X(ERR_THROTTLED,             "too_many_attempts",     429) \
    X(ERR_HEAD_TOO_LARGE,        "head_too_large",        431) \
    X(ERR_INTERNAL,              "internal_error",        500) \
    X(ERR_NOT_IMPLEMENTED,       "not_implemented",       501) \
    X(ERR_OVERLOAD,              "overload",              503) \
    X(ERR_HTTP_VERSION,          "http_version_not_supported", 505) \
    /* what the lower layers answer to the upper ones */       \
    X(ERR_INVALID,               "invalid",               400) \
    X(ERR_UTF8,                  "invalid_utf8",          400) \
    X(ERR_TOO_BIG,               "too_big",               413) \
    X(ERR_TOO_DEEP,              "too_deep",              400) \
    X(ERR_AGAIN,                 "again",                 503) \
    X(ERR_CLOSED,                "closed",                503) \
    X(ERR_IO,                    "io_error",              500)

#define ERR_ENUM(code, name, status) code,
enum [[nodiscard]] err { ERR_LIST(ERR_ENUM) };
#undef ERR_ENUM
/* clang-format on */

/* What participants are counted for: they tried what they may not. */
enum { ERR_VIOLATIONS = 4 };
extern const enum err err_violations[ERR_VIOLATIONS];
bool err_is_violation(enum err err);

/* The name of an error on the wire, for example "capability_violation". */
const char *err_name(enum err err);

/* The HTTP status that carries this error. */
int err_status(enum err err);
