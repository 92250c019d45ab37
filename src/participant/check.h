/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a text that was received what it pretends to be (MCPx v0.1, 8.2)? The gateway may
 * check little of it (`validation: lazy`), so whoever acts upon it checks all of it:
 *
 *     text ─► JSON and envelope ─► who may send which kind ─► kind ─► payload ─► heard
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "participant/occupant.h"

/*
 * OK: `ret` is filled but for what depends on the listener (is_replay, is_mine,
 * names_me); it borrows from the text and from the arena. Else it holds the text and,
 * where it could be read, `env.from`; `ret_field` is the field concerned or "", static or
 * borrowed.
 *
 * ERR_UTF8, ERR_MALFORMED_ENVELOPE, ERR_UNSUPPORTED_PROTOCOL, ERR_TOO_LARGE (too many
 * escapes), ERR_RESERVED_NAMESPACE, ERR_MALFORMED_KIND, ERR_MISSING_CORRELATION,
 * ERR_KIND_PAYLOAD_MISMATCH.
 */
enum err check_text(struct str text, size_t max_depth, struct arena *scratch,
                    struct heard *ret, struct str *ret_field);
