/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a tool, from the command line:
 *
 *     --arg path=/tmp/x --arg depth=2 --json-args '{"filter":{"size":"10"}}'
 *
 * is {"filter":{"size":"10"},"path":"/tmp/x","depth":2}. A value that is a JSON number,
 * true, false, null, an array or an object is taken as such, all else is text; text that
 * looks like one of them goes through --json-args.
 */
#pragma once

#include "base/buf.h"
#include "cli/cli.h"

/* Writes the object. `json` is the value of --json-args, read already; empty: none. What
 * is wrong has been reported on stderr; CLI_USAGE. */
int cli_arguments(const struct cli_list *pairs, struct str json, struct buf *out);

/* Is this a JSON object? Reports on stderr if not, by the name of the option; the text
 * that comes back is without the white space around. */
int cli_check_object(const char *option, struct str text, struct str *ret);
