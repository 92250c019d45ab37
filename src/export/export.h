/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as others want them: syslog messages and OpenTelemetry logs. Whatever a record
 * says, the result is well-formed; texts come from participants and are hostile.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "audit/chain.h"
#include "audit/record.h"
#include "base/buf.h"
#include "base/str.h"

/* Who speaks, the same in every message. */
struct export_origin {
    struct str host;
    struct str installation; /* see audit/chain.h */
    uint64_t process;
};

/* How much a record matters, in the terms of both. */
enum export_severity { EXPORT_INFO, EXPORT_NOTICE, EXPORT_WARNING, EXPORT_ERROR };
enum export_severity export_severity(const struct audit_record *record);

/*
 * One message of RFC 5424, without framing:
 *
 *     <110>1 2026-11-15T18:00:00.000Z host moot 4711 envelope [moot@32473 seq="1"
 *     topic="room" participant="ann" kind="chat" id="1" verdict="allowed" by="chat"
 *     body_bytes="99" hash="…"] {"protocol":…}
 *
 * in one line, facility 13 (log audit). Members that are empty are left out; long ones
 * end with an ellipsis. The body stands there if all of it fits into `max` bytes.
 */
enum { EXPORT_SYSLOG_MIN = 2048 }; /* `max` is not less */
void export_syslog_record(const struct export_origin *origin,
                          const struct audit_record *record, size_t max, struct buf *out);

/* The head of the chain, to be kept where nobody who tampers with the record can change
 * it: … moot 4711 head [moot@32473 seq="1" hash="…"] */
void export_syslog_head(const struct export_origin *origin, const struct audit_head *head,
                        uint64_t now_ms, struct buf *out);

/*
 * The body of a POST to an OTLP/HTTP collector: ExportLogsServiceRequest in JSON. Begin,
 * any number of records, end. Bodies beyond EXPORT_OTLP_BODY are left out; the whole of
 * a record is never longer than EXPORT_OTLP_RECORD.
 */
enum { EXPORT_OTLP_BODY = 256 << 10, EXPORT_OTLP_RECORD = 2 << 20 };
void export_otlp_begin(const struct export_origin *origin, struct buf *out);
void export_otlp_record(const struct audit_record *record, uint64_t now_ms,
                        struct buf *out);
void export_otlp_end(struct buf *out);

/* How many records an answer of 2xx says were not taken (partialSuccess); 0 where it says
 * nothing that can be understood. */
uint64_t export_otlp_rejected(struct str answer);
