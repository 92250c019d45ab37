/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: one table of commands, one file per command. Each command has a table
 * of its options, which is its parser and its help.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/* Exit codes; what the last three mean is said in session.h. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_TOOL_ERROR = 3,
    CLI_REFUSED = 4,
    CLI_TIMEOUT = 5,
};

/* The values of an option that may be given several times, in their order. */
struct cli_list {
    const char **items;
    size_t count;
};

enum cli_type { CLI_SWITCH, CLI_TEXT, CLI_LIST };

struct cli_option {
    const char *name; /* "--listen" */
    const char
        *argument; /* "ADDRESS", or NULL for a switch; FILE and DIR are completed */
    const char *help;
    size_t offset; /* in the command's options struct, and what stands there: CLI_AT() */
    enum cli_type type;
};

/* The last two of a row: the member of the options struct decides what it takes. */
#define CLI_AT(owner, member) \
    offsetof(owner, member),                                                        \
        _Generic(((owner *)0)->member, bool: CLI_SWITCH, const char *: CLI_TEXT, \
                 struct cli_list: CLI_LIST)

struct cli_command {
    const char *name;    /* "token create" */
    const char *usage;   /* what follows the name */
    const char *summary; /* one line */
    const char *more;    /* paragraphs for --help, or NULL */
    const struct cli_option *options;
    size_t option_count;
    size_t min_arguments, max_arguments; /* besides options */
    int (*run)(void *options, char **arguments, size_t count);
    size_t options_size;
    /* The first argument is a topic and goes into the field of --topic, unless that or
     * $MOOT_TOPIC says it: then the argument is left out. It does not count above. */
    bool takes_topic;
    bool is_topic_optional; /* where none is named, the field stays NULL */
    bool makes_token;       /* without one: guest_token.h. `more` says so */
};

/* All of them, in groups that each have a title. */
struct cli_group {
    const char *title;
    const struct cli_command *const *commands;
    size_t count;
};
extern const struct cli_group cli_groups[];
extern const size_t cli_group_count;

/* The command that the words begin with, and how many of them are its name; or NULL. */
const struct cli_command *cli_find(int count, char **words, int *ret_used);
const struct cli_option *cli_find_option(const struct cli_command *command,
                                         struct str name);

/* Finds the command, reads its options, runs it. Returns the exit code. */
int cli_run(int argc, char **argv);

/* A complaint: "moot: …" on stderr. Returns CLI_FAILED. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

extern const struct cli_command cli_join;
extern const struct cli_command cli_tail;
extern const struct cli_command cli_chat;
extern const struct cli_command cli_send;
extern const struct cli_command cli_who;
extern const struct cli_command cli_tools;
extern const struct cli_command cli_call_tool;
extern const struct cli_command cli_propose;
extern const struct cli_command cli_proposals;
extern const struct cli_command cli_approve;
extern const struct cli_command cli_reject;
extern const struct cli_command cli_withdraw;
extern const struct cli_command cli_authorizations;
extern const struct cli_command cli_completion;
extern const struct cli_command cli_serve;
extern const struct cli_command cli_token_create;
extern const struct cli_command cli_token_list;
extern const struct cli_command cli_token_revoke;
extern const struct cli_command cli_topic_list;
extern const struct cli_command cli_topic_show;
extern const struct cli_command cli_topic_set;
extern const struct cli_command cli_config_check;
extern const struct cli_command cli_config_print;
extern const struct cli_command cli_config_options;
extern const struct cli_command cli_explain;
extern const struct cli_command cli_audit_search;
extern const struct cli_command cli_audit_thread;
extern const struct cli_command cli_audit_export;
extern const struct cli_command cli_audit_verify;
extern const struct cli_command cli_audit_head;
extern const struct cli_command cli_audit_stats;
extern const struct cli_command cli_audit_retention;
extern const struct cli_command cli_audit_replay;
extern const struct cli_command cli_rules_list;
extern const struct cli_command cli_rules_show;
extern const struct cli_command cli_rules_explain;
extern const struct cli_command cli_rules_accept;
extern const struct cli_command cli_rules_decline;
extern const struct cli_command cli_rules_enable;
extern const struct cli_command cli_rules_disable;
extern const struct cli_command cli_rules_remove;
extern const struct cli_command cli_rules_export;
extern const struct cli_command cli_rules_import;
extern const struct cli_command cli_rules_suggest;
extern const struct cli_command cli_rules_learn;
extern const struct cli_command cli_rules_test;
extern const struct cli_command cli_rules_check;
extern const struct cli_command cli_orchestrate;
extern const struct cli_command cli_resource_search;
extern const struct cli_command cli_resource_list;
extern const struct cli_command cli_resource_show;
extern const struct cli_command cli_resource_set;
extern const struct cli_command cli_resource_remove;
extern const struct cli_command cli_resource_import;
extern const struct cli_command cli_resource_export;
extern const struct cli_command cli_team_create;
extern const struct cli_command cli_team_list;
extern const struct cli_command cli_team_show;
extern const struct cli_command cli_team_add;
extern const struct cli_command cli_team_remove;
extern const struct cli_command cli_team_rename;
extern const struct cli_command cli_team_dissolve;
extern const struct cli_command cli_team_accept;
extern const struct cli_command cli_team_decline;
extern const struct cli_command cli_bridge;
extern const struct cli_command cli_mcp;
extern const struct cli_command cli_run_server;
extern const struct cli_command cli_ps;
extern const struct cli_command cli_logs;
extern const struct cli_command cli_stop;
extern const struct cli_command cli_restart;
extern const struct cli_command cli_sign_in;
extern const struct cli_command cli_link;
extern const struct cli_command cli_bench;
extern const struct cli_command cli_manual;
extern const struct cli_command cli_version;

/* The data directory: --data, else the configuration's, else $MOOT_DATA, else
 * $XDG_STATE_HOME/moot, else ~/.local/state/moot. */
void cli_data_directory(const char *given, struct str configured, struct buf *out);
