/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the directory does on every engine, as tests (directory_suite.c,
 * directory_model.c, directory_labels.c). A program for one engine is linked with them
 * and says how a fresh store comes about (store_suite.h).
 */
#pragma once

#include "store/directory.h"
#include "store_suite.h"

extern const unsigned suite_questions; /* of the model */

struct directory_stage {
    struct stage stage;
    struct store *store;
    struct store_directory *directory;
    struct arena arena; /* of what was read */
    struct directory_page page;
};

void directory_stage_init(struct directory_stage *on);
void directory_stage_done(struct directory_stage *on);

/* A resource from its JSON, in the arena of the stage. */
struct resource resource_of(struct directory_stage *on, struct str json);

void put_json(struct directory_stage *on, struct str json);

/* "id id id"; borrowed until the next call. */
struct str ids_found(struct directory_stage *on, const struct directory_query *query);
