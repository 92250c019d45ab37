/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record of what happened: an envelope that was admitted or refused, a connection, a
 * grant, an administrative act. Records stand in one chain per installation (chain.h).
 *
 * The body is JSON in one line: the envelope in slash spelling with its fields redacted,
 * or what an act consisted of; a text that is no JSON stands there as a string. Retention
 * may remove it: its length and hash stay, and with them the chain.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "crypto/crypto.h"

/* Their place is their number in the canonical form: new ones come at the end. */
/* clang-format off */
#define AUDIT_EVENTS(X)                                                              \
    X(ENVELOPE,   "envelope")   /* admitted; kind, id and correlation are its own */ \
    X(REFUSAL,    "refusal")    /* not admitted; the verdict says why */             \
    X(PRESENCE,   "presence")   /* kind: join or leave, as the room hears of it */   \
    X(CONNECT,    "connect")    /* kind: how (websocket, server, mcp, agent) */      \
    X(DISCONNECT, "disconnect") /* kind: why */                                      \
    X(GRANT,      "grant")      /* kind: grant, revoke, used_up, expired */             \
    X(ADMIN,      "admin")      /* kind: what was done, as token.create */           \
    X(CONFIG,     "config")     /* kind: load, reload */                             \
    X(SERVER,     "server")     /* kind: start, stop */                              \
    X(DROP,       "drop")       /* records that found no place; the body counts */   \
    X(RETENTION,  "retention")  /* bodies that were removed; the body says which */
/* clang-format on */

enum audit_event {
#define X(name, text) AUDIT_##name,
    AUDIT_EVENTS(X)
#undef X
        AUDIT_EVENT_COUNT
};

/* Its texts, in the order of the canonical form, and what they are called in lines. */
/* clang-format off */
#define AUDIT_TEXTS(X)               \
    X(topic,       "topic")          \
    X(participant, "participant")    \
    X(kind,        "kind")           \
    X(id,          "id")             \
    X(correlation, "correlation_id") \
    X(verdict,     "verdict")        \
    X(by,          "by")
/* clang-format on */

enum audit_text {
#define X(member, name) AUDIT_TEXT_##member,
    AUDIT_TEXTS(X)
#undef X
        AUDIT_TEXT_COUNT
};

/* The end of the year 9999, in milliseconds: no record is of a later time. */
#define AUDIT_MAX_TIME UINT64_C(253402300799999)

/* The texts are UTF-8: what is not could not be exported as it was hashed. */
struct audit_record {
    uint64_t seq;   /* 1, 2, … without a gap */
    uint64_t at_ms; /* wall clock; never earlier than that of the record before */
    enum audit_event event;
    struct str topic;       /* "": none */
    struct str participant; /* who did it; "": the gateway */
    struct str kind;
    struct str id;          /* the envelope's; "": none */
    struct str correlation; /* its correlation_id; "": none */
    struct str verdict; /* "allowed", or the wire name of the error; "": no judgement */
    struct str by;      /* the capability, grant or rule that decided; "": none */
    struct str body;    /* ptr NULL: there was none, or it has been removed */
    size_t body_bytes;  /* as it was recorded; 0: there was none */
    uint8_t body_hash[SHA256_BYTES]; /* zeros where there was none */
    uint8_t hash[SHA256_BYTES];      /* see chain.h */
};

static inline bool audit_body_is_removed(const struct audit_record *record)
{
    return record->body_bytes && !record->body.ptr;
}

struct str audit_text_name(enum audit_text which);
struct str *audit_text(struct audit_record *record, enum audit_text which);
struct str audit_text_of(const struct audit_record *record, enum audit_text which);

struct str audit_event_name(enum audit_event event);

/* ERR_NOT_FOUND */
enum err audit_event_parse(struct str name, enum audit_event *ret);
