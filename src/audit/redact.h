/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that the record must not hold: their value is replaced by
 * "hmac-sha256:HEX" under a key of the installation, so that equal values can be
 * recognised by who has the key, and nothing be read by who has not. What is hashed is
 * what a string says; of everything else, the JSON as it stood there.
 *
 * A path names members from the envelope down, with dots: payload.params.arguments.token;
 * * stands for any member or element of one level, ** for any number of levels, none as
 * well. Any other name may be written as a string of JSON: payload."a.b".
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "json/json.h"

struct audit_redactor;

enum { AUDIT_MAX_PATHS = 256, AUDIT_PATH_BYTES = 1024, AUDIT_PATH_STEPS = 64 };

/* ERR_INVALID: *ret_bad is the path at fault, *ret_why (static) says what is wrong. No
 * paths give a redactor that changes nothing. */
enum err audit_redactor_new(struct str_list paths, struct str key,
                            struct audit_redactor **ret, struct str *ret_bad,
                            const char **ret_why);
void audit_redactor_free(struct audit_redactor *redactor);
bool audit_redactor_is_empty(const struct audit_redactor *redactor);

/* The body as it may be recorded, in one line: behind what is in `out`, which has room
 * for it. A text that is no JSON, or nested too deeply, becomes a string of it; where
 * something must be redacted and cannot be found in such a text, the string says only
 * that. No body (ptr NULL) stays none. */
void audit_redact(const struct audit_redactor *redactor, struct str body,
                  struct buf *out);
