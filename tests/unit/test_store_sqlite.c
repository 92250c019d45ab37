/* SPDX-License-Identifier: Apache-2.0 */
#include "store_suite.h"

void suite_init(struct stage *stage)
{
    stage_init(stage);
}

void suite_done(struct stage *stage)
{
    stage_done(stage);
}
