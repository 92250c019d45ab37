/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server asks back while it works on our call, and who answers it:
 *
 *     elicitation/create   the person at the terminal: a form, field by field, or an
 *                          address to open; without a terminal it is declined
 *     sampling/…           declined: there is no model here
 *     roots/list           the folders of --root, or none
 *
 * Only the participant that was called is answered, and only about that call. What it
 * writes is shown as its own words and made plain; nothing is opened or sent before the
 * person says so. One question is asked after the other. While one is open, the time of
 * the call does not run.
 */
#pragma once

#include <stdbool.h>

#include "cli/cli.h"
#include "cli/session.h"

struct interview;

/* Takes over requests to this session's participant and, while it asks, standard input:
 * interview_input() is for the plan's on_input. `roots` is borrowed. */
struct interview *interview_new(struct session *session, const struct cli_list *roots);
void interview_free(struct interview *q); /* its session may have ended; NULL */

/* Whose questions about which call; borrowed. */
void interview_about(struct interview *q, const char *participant, const char *call_id);

void interview_input(struct interview *q);
bool interview_is_open(const struct interview *q);

/* The call has ended: what is open is nobody's question any more. */
void interview_end(struct interview *q);

/* --root PATH or file:///…: CLI_USAGE, with a complaint, where it is neither. */
int interview_check_roots(const struct cli_list *roots);
