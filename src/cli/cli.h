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

/* Exit codes. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

struct cli_option {
    const char *name;     /* "--listen" */
    const char *argument; /* "ADDRESS", or NULL for a switch */
    const char *help;
    size_t offset; /* of a const char * or a bool in the command's options struct */
};

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
};

/* Finds the command, reads its options, runs it. Returns the exit code. */
int cli_run(int argc, char **argv);

/* A complaint: "moot: …" on stderr. Returns CLI_FAILED. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

extern const struct cli_command cli_serve;
extern const struct cli_command cli_token_create;
extern const struct cli_command cli_token_list;
extern const struct cli_command cli_token_revoke;
extern const struct cli_command cli_config_check;
extern const struct cli_command cli_config_print;
extern const struct cli_command cli_config_options;
extern const struct cli_command cli_explain;
extern const struct cli_command cli_bench;
extern const struct cli_command cli_version;

/* The data directory: --data, else the configuration's, else $MOOT_DATA, else
 * $XDG_STATE_HOME/moot, else ~/.local/state/moot. */
void cli_data_directory(const char *given, struct str configured, struct buf *out);
