/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every engine does, as tests (store_suite.c). A program for one engine is linked
 * with them and says how a fresh store comes about and goes.
 */
#pragma once

#include "store_stage.h"

void suite_init(struct stage *stage); /* with stage->setup filled in */
void suite_done(struct stage *stage);
