/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An address that somebody else wants a person to open in a browser, shown so that he can
 * judge it: whole, with its host by itself, and with what is odd about it. Pure.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* http or https with a host; nothing in it but what an address may be made of. */
bool page_is_address(struct str url);

/* Lines for a terminal: the address, its host, warnings. */
void page_put(struct buf *out, struct str url);
