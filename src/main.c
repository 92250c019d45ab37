/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments, start, stop; nothing else. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return cli_run(argc, argv);
}
