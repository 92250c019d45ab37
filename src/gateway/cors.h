/* SPDX-License-Identifier: Apache-2.0 */
/* What pages of other, allowed origins are told (CORS). */
#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "gateway/exchange.h"

/* Header lines of any answer; nothing unless the origin is another and allowed. */
void cors_write(const struct exchange *x, struct buf *out);

/* Besides, of the answer to OPTIONS: which methods (`allow`) and headers may be sent. */
void cors_write_options(const struct exchange *x, struct str allow, struct buf *out);
