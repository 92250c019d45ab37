/* SPDX-License-Identifier: Apache-2.0 */
/* What settings are laid out by, file by file. */
#pragma once

#include "gateway/settings.h"

/* settings_policy.c: ERR_INVALID with `problem` filled. */
enum err settings_lay_out_policy(struct settings *settings,
                                 struct config_problem *problem);

/* settings_provider.c: likewise. */
enum err settings_lay_out_provider(struct settings *settings,
                                   struct config_problem *problem);

/* settings.c: that there is no such profile, and which there are. */
enum err settings_no_profile(const struct settings *settings, struct config_mark mark,
                             struct str name, struct config_problem *problem);
