/* SPDX-License-Identifier: Apache-2.0 */
/* What settings are laid out by, file by file. */
#pragma once

#include "gateway/settings.h"

/* settings_policy.c: ERR_INVALID with `problem` filled. */
enum err settings_lay_out_policy(struct settings *settings,
                                 struct config_problem *problem);
