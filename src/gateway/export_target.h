/* SPDX-License-Identifier: Apache-2.0 */
/* Where records are sent as well, as the configuration says it (audit.syslog, audit.otlp
 * and what belongs to them). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "config/config.h"

enum syslog_transport { SYSLOG_NOWHERE, SYSLOG_UNIX, SYSLOG_UDP, SYSLOG_TCP };

struct syslog_target {
    enum syslog_transport transport;
    const char *host; /* a name, an address, or the path of a socket */
    uint16_t port;
};

struct otlp_target {
    const char *url; /* NULL: nowhere */
    const char **fields;
    size_t field_count;
};

struct export_targets {
    struct syslog_target syslog;
    struct otlp_target otlp;
};

/* The result lives in the arena. ERR_INVALID with `problem` filled. */
enum err export_targets_read(const struct config *config, struct arena *arena,
                             struct export_targets *ret, struct config_problem *problem);

bool syslog_target_equals(const struct syslog_target *a, const struct syslog_target *b);
bool otlp_target_equals(const struct otlp_target *a, const struct otlp_target *b);
