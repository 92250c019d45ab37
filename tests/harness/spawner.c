/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test program whose code starts children is run again as its own spawner, as `moot`
 * is: linked into tests that need it.
 */
#include <stdlib.h>
#include <string.h>

#include "spawn/spawn.h"

__attribute__((constructor)) static void serve_as_spawner(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], SPAWNER_WORD) == 0)
        exit(spawner_main(SPAWNER_FD));
}
