/* SPDX-License-Identifier: Apache-2.0 */
#include "base/xalloc.h"
#include "postgres_stage.h"
#include "store_stage.h"

static char url[POSTGRES_SERVER_URL];

static void suite_init(struct stage *stage)
{
    stage_init(stage);
    fresh_database(url);
    stage->setup.url = str_of(url);
}

static void suite_done(struct stage *stage)
{
    stage_done(stage);
}

/* The engine keeps it as it writes. */
static void suite_index(const struct stage *)
{
}

#include "search_suite.c"
