/* SPDX-License-Identifier: Apache-2.0 */
/* What the configuration says about bodies in the record: which fields are redacted, and
 * how long they are kept. */
#pragma once

#include "base/str.h"
#include "config/config.h"
#include "store/record.h"

/* ERR_INVALID with `problem` filled: a path of audit.redact that means nothing. */
enum err record_rules_check(const struct config *config, struct config_problem *problem);

/* Of a configuration that was checked; for store_set_audit(). */
struct store_audit *record_rules_new(const struct config *config, struct str key);
