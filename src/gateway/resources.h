/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the directory's administration share. */
#pragma once

#include "directory/sheet.h"
#include "gateway/exchange.h"

enum { RESOURCE_NEW_ID = 18 };

/* "r-" and 16 hex digits, with a NUL behind them, for one that came without. */
struct str resource_draw_id(char out[static RESOURCE_NEW_ID + 1]);

/* Answers what is wrong with a resource or with a question: a sentence, and the field. */
void resource_fail(struct exchange *x, const struct resource_problem *problem);

/* Which rows the client wants, or sends; false: none that is known. */
bool resources_accepted(const struct exchange *x, enum sheet_format *ret);

/* All of them, in pieces. */
void resources_export(struct exchange *x, enum sheet_format format);
