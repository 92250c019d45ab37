/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers with a fraction, as JSON writes them, whatever the locale of the process is: a
 * library does not know what its user has set.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { DECIMAL_TEXT = 32 };

/* ERR_INVALID: no number of JSON's grammar, longer than 512 bytes, or not finite. */
enum err decimal_parse(struct str text, double *ret);

/* The shortest of 15 and 17 digits that reads back the same, with its NUL; "0" where it
 * is not finite, for which JSON has no text. */
struct str decimal_write(double value, char text[static DECIMAL_TEXT]);
