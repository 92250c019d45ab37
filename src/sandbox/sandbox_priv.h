/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan is made of: seen by those who make it, explain it and carry it out. */
#pragma once

#include "sandbox/sandbox.h"

enum {
    PLAN_BYTES = 1024 * 1024, /* of one plan: words, variables and paths */
    PLAN_ITEMS = 1024,        /* of each list */
    PLAN_UID = 64'000,        /* what root's children become, where no uid is given */
};

/* What is seen inside, in the order in which it is put there. */
enum place_type {
    PLACE_READ,
    PLACE_WRITE,
    PLACE_LINK, /* `from` is what the link says */
    PLACE_TEXT, /* a file whose content is `from` */
};
struct place {
    enum place_type type;
    struct str from, to;
};

/* How memory and processes are limited. */
enum group_type { GROUP_NONE, GROUP_V1, GROUP_V2 };
enum { GROUP_FOLDERS = 3 };

/* All texts end with a NUL behind them and live in the arena. */
struct sandbox_plan {
    struct arena arena;
    enum sandbox_level level;
    enum sandbox_network network;
    struct str *words; /* the first is the path of the program */
    size_t word_count;
    struct sandbox_variable *variables; /* all of them */
    size_t variable_count;
    struct str *hosts;
    size_t host_count;
    struct place *places;
    size_t place_count;
    struct str folder;
    struct str home; /* to be made; "": none */
    struct str bwrap;
    bool is_root; /* made by root: who enters must be */
    uid_t uid;    /* what it is inside */
    gid_t gid;
    size_t memory, processes, files, file_bytes;
    unsigned cpu_percent;
    enum group_type group;
    struct str group_folders[GROUP_FOLDERS]; /* below which its groups are made */
};

/* Where a plan is made: what was asked for, what follows, and why not. */
struct planning {
    const struct permit *permit;
    const struct sandbox_command *command;
    struct sandbox_plan *plan;
    char *why;
};

/* Says why there is no plan. */
enum err planning_fail(struct planning *planning, enum err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct sandbox_plan *plan_new(void);

/* What $HOME is inside. */
#define PLAN_EMPTY_HOME "/home/server" /* strict, where none is given: in memory */
struct str plan_home(const struct sandbox_plan *plan);

/* Zeroed; a plan is small beside what its arena may hold. */
void *plan_alloc(struct sandbox_plan *plan, size_t count, size_t size);
struct str plan_text(struct sandbox_plan *plan, struct str text);

/* Where a program is, seen from here: absolute, "" if nowhere. */
struct str plan_find_program(struct sandbox_plan *plan, struct str word,
                             struct str folder);

const char *sandbox_level_name(enum sandbox_level level);
const char *sandbox_network_name(enum sandbox_network network);
