/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that somebody else wants a person to open in a browser, shown so that he can
 * judge them: whole, with the host by itself, and with what is odd about it. Pure.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* http or https with a host; nothing in it but what an address may be made of. */
bool page_is_address(struct str url);

/* Lines for a terminal: the address, its host, warnings. */
void page_put(struct buf *out, struct str url);

/* Words of others, each line marked as theirs, for a terminal that is so wide, or with 0
 * for no terminal. */
void page_put_words(struct buf *out, struct str text, size_t columns);

/* All pages that an error of JSON-RPC (RPC_URL_REQUIRED) wants opened before the call is
 * made again. */
void page_put_required(struct buf *out, struct str error, size_t columns);
