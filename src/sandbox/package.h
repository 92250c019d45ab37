/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that fetch what they run (npx, uvx): which package they mean, how it is
 * installed beforehand, and what is run then, without network.
 *
 *     npx -y @scope/name@1.2.3 ARGS   ─►   install   ─►   node CACHE/…/bin.js ARGS
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "sandbox/registry.h"
#include "sandbox/sandbox.h"

enum package_source { PACKAGE_NPM, PACKAGE_PYPI };

struct package {
    enum package_source source;
    struct str name, version; /* "": whatever is newest, pinned when it is installed */
    struct str program;       /* of several that it has; "": the only one */
    size_t used;              /* words of the command that say this */
};

/* False: the command runs what is there. */
bool package_of(const struct sandbox_command *command, struct package *ret);

/* Where it comes from. */
const struct registry *package_registry(const struct package *package,
                                        const struct registries *registries);

/* The command that installs it into the folder, scripts off, and its permit: the registry
 * alone, no variables of the server's. All in the arena. */
void package_install(const struct package *package, struct str folder,
                     const struct registries *registries, struct arena *arena,
                     struct sandbox_command *ret_command, struct permit *ret_permit);

/* What runs it from the folder, without the arguments (the words of the command from
 * `used` on), and what is pinned: "name@version integrity". It reads the folder.
 * ERR_NOT_FOUND, ERR_CONFLICT: it is not what was pinned ("": nothing was). */
enum err package_command(const struct package *package, struct str folder,
                         struct str pinned, struct arena *arena,
                         struct sandbox_command *ret, struct str *ret_pin,
                         const char **ret_why);
