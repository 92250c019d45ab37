/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings that are made while a gateway runs. They are laid over those of the file, and
 * all of it is read and checked together, as if they stood there. Only some options may
 * be: those that bound or pace what is done, and open no door (overlay.c).
 *
 * And all settings that are one value, or a list of texts, for whoever shows them.
 */
#pragma once

#include "config/config.h"

enum { CONFIG_OVERLAY_MAX = 64, CONFIG_OVERLAY_TEXT = 128 };

struct config_setting {
    struct str name;  /* "limits.rate_messages" */
    struct str value; /* as it would stand in the file: "500/s" */
};

struct config_overlay {
    const struct config_setting *items;
    size_t count;
};

/* May this option be set so? */
bool config_is_live(struct str name);

/* As config_load(); path NULL: nothing but the defaults lies below. Names that are not
 * live are ERR_INVALID. */
enum err config_load_over(const char *path, const struct config_overlay *overlay,
                          struct config **ret, struct config_problem *problem);

/* One option. Texts are static or valid during the call. */
struct config_item {
    struct str name;
    const char *type;   /* "count", "duration", …; static, as the next ones */
    const char *preset; /* NULL: there is none */
    const char *min;    /* NULL: no bound */
    const char *max;
    const char *const *choices; /* ends with NULL; NULL: there are none */
    const char *help;
    struct str value; /* as it would stand in the file; a list is JSON as well */
    bool is_list;     /* of texts */
    bool is_given;    /* else value means nothing */
    bool is_preset;   /* the value is what it is where nothing is said */
    bool is_live;
    bool needs_restart;
};

/* In the order of the table. Secrets, and what is more than a value, are left out. */
void config_each_item(const struct config *config,
                      void (*on_item)(void *user, const struct config_item *item),
                      void *user);
