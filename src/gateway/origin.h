/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host and Origin allow-lists, on every route: a page of another site, or a name that was
 * made to point here, gets no answer it could use.
 */
#pragma once

#include "base/err.h"
#include "gateway/exchange.h"

/* ERR_MISDIRECTED for a Host, ERR_FORBIDDEN for an Origin that is not allowed; *ret_why
 * is static text. Sets x->allowed_origin for pages of other, allowed origins. */
enum err origin_check(struct exchange *x, const char **ret_why);

/* Appends where a browser comes back to us, "https://HOST" or, on this machine,
 * "http://127.0.0.1:PORT": `said` by the caller, or "", when it is the page that asks,
 * where the request was sent to, or where we listen. ERR_BAD_REQUEST: *ret_why, static.
 */
enum err origin_for_browser(const struct exchange *x, struct str said, struct buf *out,
                            const char **ret_why);

/* Whoever asks is a program of this machine, or a page that came from here: the address
 * and the name it called are loopback ones, nothing says that a proxy stands between, and
 * no page of another site asks. After origin_check(). */
bool origin_is_this_machine(const struct exchange *x);

/* A browser asks on behalf of a page of another site without naming it, as for an image
 * or a frame: such a page can show a credential, a wrong one, but has no use for it. */
bool origin_is_hidden(const struct exchange *x);
