/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ready permits for servers that many people run: which of their arguments are folders,
 * which hosts they call, which variables they need. A table; what the operator says comes
 * on top.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "sandbox/sandbox.h"

struct sandbox_profile {
    struct str name;    /* "filesystem" */
    struct str package; /* "@modelcontextprotocol/server-filesystem"; "": none */
    enum sandbox_network network;
    const struct str *hosts;     /* ends with "" */
    const struct str *variables; /* that it needs, ends with "" */
    bool writes_arguments;       /* its further arguments are folders, to write */
    struct str home_variable;    /* names a file in its own folder: MEMORY_FILE_PATH */
};

const struct sandbox_profile *sandbox_profile_find(struct str name);
const struct sandbox_profile *sandbox_profile_next(const struct sandbox_profile *after);

/* Of a command that runs a known package, or NULL. */
const struct sandbox_profile *
sandbox_profile_guess(const struct sandbox_command *command);
