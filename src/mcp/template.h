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

/* Whether a server could take the URI for one of this template, whatever level of RFC
 * 6570 it is of and however its server reads it: for refusing, so in doubt it could. A
 * {name} or {.name} is any text without a slash, all other expressions are any text;
 * between them letters are alike in both cases and with % or without. */
bool template_may_match(struct str template, struct str uri);
