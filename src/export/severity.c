/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

static const enum export_severity severities[AUDIT_EVENT_COUNT] = {
    [AUDIT_ENVELOPE] = EXPORT_INFO,    [AUDIT_REFUSAL] = EXPORT_WARNING,
    [AUDIT_PRESENCE] = EXPORT_INFO,    [AUDIT_CONNECT] = EXPORT_INFO,
    [AUDIT_DISCONNECT] = EXPORT_INFO,  [AUDIT_GRANT] = EXPORT_NOTICE,
    [AUDIT_ADMIN] = EXPORT_NOTICE,     [AUDIT_CONFIG] = EXPORT_NOTICE,
    [AUDIT_SERVER] = EXPORT_NOTICE,    [AUDIT_DROP] = EXPORT_ERROR,
    [AUDIT_RETENTION] = EXPORT_NOTICE,
};

enum export_severity export_severity(const struct audit_record *record)
{
    return severities[record->event];
}
