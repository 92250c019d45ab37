/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URI templates of the first level (RFC 6570): text with {names} in it.
 *
 *     file:///logs/{day}.txt    matches    file:///logs/monday.txt
 *
 * A name stands for one or more characters that need no meaning of their own in a URI:
 * letters, digits, - . _ ~ and %XX. So it never crosses a slash.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

/* NULL, or what is wrong with it (static text). Without braces it is no template. */
const char *template_fault(struct str template);

/* Of a template without fault. */
bool template_matches(struct str template, struct str uri);
