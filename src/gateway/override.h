/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities that were changed at run time (POST
 * /admin/participants/{id}/capabilities): they replace what the identity's credential
 * says, for one topic or for all, and last until the server ends. Each worker has its own
 * copy of the table.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "json/json.h"

/* topic "" stands for all topics. Copies the list. */
void override_set(struct map *overrides, struct str topic, struct str id,
                  struct str_list capabilities);

/* The list in force: that of the topic, else that for all topics; NULL: none. */
const struct str_list *override_find(const struct map *overrides, struct str topic,
                                     struct str id);

/* Forgets what was changed for single topics, after a change for all of them. */
void override_clear_topics(struct map *overrides, struct str id);

/* Forgets all that was changed for the participant. */
void override_forget(struct map *overrides, struct str id);

void overrides_done(struct map *overrides);
