/* SPDX-License-Identifier: Apache-2.0 */
#include "store_stage.h"

static void suite_init(struct stage *stage)
{
    stage_init(stage);
}

static void suite_done(struct stage *stage)
{
    stage_done(stage);
}

#include "store_suite.h"
