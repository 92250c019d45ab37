/* SPDX-License-Identifier: Apache-2.0 */
/* moot version */
#include <stdio.h>

#include "cli/cli.h"

static int version(void *fields [[maybe_unused]], char **arguments [[maybe_unused]],
                   size_t count [[maybe_unused]])
{
    printf("moot %s (MCPx v0.1)\n", MOOT_VERSION);
    return CLI_OK;
}

const struct cli_command cli_version = {
    .name = "version",
    .usage = "",
    .summary = "print the version and the protocol it speaks",
    .run = version,
};
