/* SPDX-License-Identifier: Apache-2.0 */
#include "directory_suite.h"
#include "postgres_stage.h"

static char url[POSTGRES_SERVER_URL];

const unsigned suite_questions = 20;

void suite_init(struct stage *stage)
{
    stage_init(stage);
    fresh_database(url);
    stage->setup.url = str_of(url);
}

void suite_done(struct stage *stage)
{
    CHECK(access(stage_path(stage, "directory.db"), F_OK) != 0);
    stage_done(stage);
}
