/* SPDX-License-Identifier: Apache-2.0 */
/* The levels that confine: what each adds to a plan, and how it is carried out. */
#pragma once

#include "sandbox/filter.h"
#include "sandbox/sandbox_priv.h"

/* ERR_NOT_FOUND, ERR_FORBIDDEN. */
enum err strict_plan(struct planning *planning);
enum err basic_plan(struct planning *planning);

/* Replaces this process by bubblewrap, which runs the command; returns why it could not.
 */
const char *strict_run(const struct sandbox_plan *plan);

/* Gives up all that the plan does not permit, for this process and what it becomes; the
 * privileges of root are gone before. NULL, or why it could not. */
const char *basic_confine(const struct sandbox_plan *plan);

/* A network of its own for this process, with a listener that the command reaches by
 * localhost. -1 and errno. */
int network_make(void);
enum { NETWORK_PROXY_PORT = 3128 };
#define PROXY_URL "http://127.0.0.1:3128"

/* Where Landlock is there: its version, else 0. */
int landlock_version(void);

/* For exec; never freed, for what replaces the process. */
char **enter_words(const struct str *words, size_t count);

/* The last before exec: this process may hold more already than the command may. */
bool enter_limits(const struct sandbox_plan *plan);

struct filter_rules plan_rules(const struct sandbox_plan *plan);
