/* SPDX-License-Identifier: Apache-2.0 */
/* moot version */
#include <stdio.h>

#include "cli/cli.h"
#include "envelope/dialect.h"

static int version(void *fields [[maybe_unused]], char **arguments [[maybe_unused]],
                   size_t count [[maybe_unused]])
{
    printf("moot %s (MCPx v0.1 and its dotted draft: " STR_FMT ", " STR_FMT ")\n",
           MOOT_VERSION, STR_ARG(dialect_protocol(DIALECT_SLASH)),
           STR_ARG(dialect_protocol(DIALECT_DOTTED)));
    return CLI_OK;
}

const struct cli_command cli_version = {
    .name = "version",
    .usage = "",
    .summary = "print the version and the protocols it speaks",
    .run = version,
};
