/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where packages are installed from: what the settings name, else what npm and pip are
 * told by the variables and files of whoever runs this, else the public registries. One
 * that somebody named may have a private address; the public ones may not.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

enum { REGISTRY_HOSTS = 2, REGISTRY_URL_MAX = 2048 };

struct registry {
    struct str url;
    struct str hosts[REGISTRY_HOSTS]; /* HOST:PORT; "": no more */
    struct str from;                  /* who named it: "~/.npmrc"; "": nobody */
    const char *fault;                /* it cannot be used, and why; NULL: it can */
};

struct registries {
    struct registry npm, pypi;
    struct str ca; /* a file of certificates to trust; "": those of the machine */
};

/* What the settings say; "": nothing. */
struct registry_words {
    struct str npm, pypi, ca;
};

/* What is wrong with the URL of a registry, a sentence; NULL: nothing. */
const char *registry_url_fault(struct str url);

/* The same of a file of certificates: whoever installs is another user than root. */
const char *registry_ca_fault(const char *path);

/* Reads variables and small files. What it found lives in the arena, as does nothing of
 * `said`; that is taken as it stands, without a fault. */
void registries_find(const struct registry_words *said, struct arena *arena,
                     struct registries *ret);
