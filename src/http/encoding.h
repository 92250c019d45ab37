/* SPDX-License-Identifier: Apache-2.0 */
/* Which content codings a client takes (RFC 9110 12.5.3). */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "http/request.h"

/* True if Accept-Encoding names the coding and does not weigh it with nothing. "*" is not
 * taken for it: whoever wants a coding says so. */
bool http_accepts_encoding(const struct http_request *req, struct str coding);
