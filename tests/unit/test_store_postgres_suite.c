/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres_stage.h"
#include "query_suite.h"
#include "store_suite.h"

static char url[POSTGRES_SERVER_URL];

void suite_init(struct stage *stage)
{
    stage_init(stage);
    fresh_database(url);
    stage->setup.url = str_of(url);
}

void suite_done(struct stage *stage)
{
    CHECK(access(stage_path(stage, "moot.db"), F_OK) != 0);
    CHECK(access(stage_path(stage, "audit.db"), F_OK) != 0);
    stage_done(stage);
}
