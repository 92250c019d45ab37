/* SPDX-License-Identifier: Apache-2.0 */
/* The command line without a process: what it prints is caught in files in memory. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "harness.h"

enum { WORDS = 12, OUTPUT = 16384 };

struct run {
    int code;
    char out[OUTPUT], err[OUTPUT];
};

static int divert(FILE *stream, int *ret_old)
{
    int caught = memfd_create("caught", MFD_CLOEXEC);

    (void)fflush(stream);
    *ret_old = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0);
    CHECK(caught >= 0 && *ret_old >= 0);
    CHECK(dup2(caught, fileno(stream)) >= 0);
    return caught;
}

static void restore(FILE *stream, int old, int caught, char text[static OUTPUT])
{
    ssize_t len;

    (void)fflush(stream);
    CHECK(dup2(old, fileno(stream)) >= 0);
    len = pread(caught, text, OUTPUT - 1, 0);
    text[len > 0 ? len : 0] = '\0';
    (void)close(old);
    (void)close(caught);
}

/* Runs "moot" with the words of a line. */
static void run(struct run *run, const char *line)
{
    char text[256] = "moot ";
    char *argv[WORDS] = { text };
    int argc = 1, old_out, old_err, out, err;

    (void)snprintf(text + 5, sizeof(text) - 5, "%s", line);
    for (char *at = text + 4; *at && argc < WORDS; at++)
        if (*at == ' ') {
            *at = '\0';
            if (at[1])
                argv[argc++] = at + 1;
        }
    out = divert(stdout, &old_out);
    err = divert(stderr, &old_err);
    run->code = cli_run(argc, argv);
    restore(stderr, old_err, err, run->err);
    restore(stdout, old_out, out, run->out);
}

#define VERSION \
    "moot " MOOT_VERSION " (MCPx v0.1 and its dotted draft: mcpx/v0.1, mcpx/draft)\n"
#define OVERVIEW \
    "Moot is a room server for people, agents and tools.\n\nUsage: moot COMMAND"
#define TOKENS "Usage: moot token COMMAND [OPTIONS]\n\nCommands:\n  token create"

TEST(words_lead_to_a_command_or_to_help)
{
    /* clang-format off */
    static const struct { const char *line; int code; const char *out, *err; } cases[] = {
        { "version",                 CLI_OK,    VERSION,  "" },
        { "--version",               CLI_OK,    VERSION,  "" },
        { "--version whatever",      CLI_OK,    VERSION,  "" },
        { "version --",              CLI_OK,    VERSION,  "" },
        { "--help",                  CLI_OK,    OVERVIEW, "" },
        { "-h",                      CLI_OK,    OVERVIEW, "" },
        { "help",                    CLI_OK,    OVERVIEW, "" },
        { "",                        CLI_USAGE, "",       OVERVIEW },
        { "nosuch",                  CLI_USAGE, "",       "moot: there is no command \"nosuch\"\n\n" OVERVIEW },
        { "token",                   CLI_USAGE, "",       TOKENS },
        { "token nosuch",            CLI_USAGE, "",       "moot: there is no command \"token nosuch\"\n\n" TOKENS },
        { "token --help",            CLI_OK,    TOKENS,   "" },
        { "version --help",          CLI_OK,    "print the version and the protocols it speaks\n\nUsage: moot version\n", "" },
        { "token revoke -h",         CLI_OK,    "make a token worthless and close its connections\n\nUsage: moot token revoke NAME\n\nOptions:\n", "" },
        { "config options",          CLI_OK,    "",       "" },
    };
    /* clang-format on */
    static struct run r;

    FOR_EACH_CASE(c, cases) {
        run(&r, c->line);
        CHECK_INT(r.code, c->code);
        CHECK(str_starts(str_of(r.out), str_of(c->out)));
        CHECK(str_starts(str_of(r.err), str_of(c->err)));
        CHECK_INT(*r.err != '\0', *c->err != '\0'); /* either says nothing or this */
    }
}

#define TRY(name) "\nTry `moot " name " --help`.\n"

TEST(options_are_read_or_refused_with_the_word_at_fault)
{
    /* clang-format off */
    static const struct { const char *line; int code; const char *err; } cases[] = {
        { "explain chat --profile proposer",           CLI_OK,     "" },
        { "explain --profile proposer chat",           CLI_OK,     "" },
        { "explain chat --profile=proposer",           CLI_OK,     "" },
        { "explain chat --profile=full --profile proposer", CLI_OK, "" },
        { "explain mcp/request:x --profile=proposer",  CLI_FAILED, "" },
        { "explain chat --json --capabilities chat",   CLI_OK,     "" },
        { "explain chat --capabilities=a=b,chat",      CLI_OK,     "" },
        { "explain --profile proposer -- chat",        CLI_OK,     "" },
        { "explain chat -- --json",                    CLI_FAILED, "" },
        { "explain chat -- --help",                    CLI_FAILED, "" },
        { "explain chat --profile nosuch",             CLI_USAGE,  "moot: there is no profile \"nosuch\"; there are:\n" },
        { "explain chat",                              CLI_USAGE,  "moot: say with --capabilities, --profile or --as what is held\n" },
        { "explain chat --profil proposer",            CLI_USAGE,  "moot explain: there is no option \"--profil\"" TRY("explain") },
        { "explain chat --profiles=proposer",          CLI_USAGE,  "moot explain: there is no option \"--profiles=proposer\"" TRY("explain") },
        { "explain chat -x",                           CLI_USAGE,  "moot explain: there is no option \"-x\"\nWhat is no option goes behind --." TRY("explain") },
        { "explain chat --profile",                    CLI_USAGE,  "moot explain: a value is missing after \"--profile\"" TRY("explain") },
        { "explain chat --json=yes",                   CLI_USAGE,  "moot explain: this option takes no value: \"--json=yes\"" TRY("explain") },
        { "explain --json",                            CLI_USAGE,  "moot: name a kind, or an envelope with --envelope\n" },
        { "version now",                               CLI_USAGE,  "moot version: this is one word too many: \"now\"" TRY("version") },
        { "version -",                                 CLI_USAGE,  "moot version: this is one word too many: \"-\"" TRY("version") },
        { "config check",                              CLI_USAGE,  "moot config check: something is missing; it needs \"FILE\"" TRY("config check") },
        { "config print a b",                          CLI_USAGE,  "moot config print: this is one word too many: \"b\"" TRY("config print") },
        { "config check /nowhere/moot.yaml",           CLI_FAILED, "moot: /nowhere/moot.yaml: " },
        { "tail x --kind a --kind {b",                 CLI_USAGE,  "moot: --kind \"{b\": " },
        { "tail x --kind {a --kind b",                 CLI_USAGE,  "moot: --kind \"{a\": " },
    };
    /* clang-format on */
    static struct run r;

    FOR_EACH_CASE(c, cases) {
        run(&r, c->line);
        CHECK_INT(r.code, c->code);
        if (*c->err)
            CHECK_STR(str_slice(str_of(r.err), 0, strlen(c->err)), str_of(c->err));
        else
            CHECK_STR(str_of(r.err), S(""));
    }
}

TEST(the_topic_is_an_argument_an_option_or_a_variable)
{
    /* clang-format off */
    static const struct { const char *variable, *line, *err; } cases[] = {
        { "",  "tail --count 0",              "moot tail: something is missing; it needs \"TOPIC [OPTIONS]\"" },
        { "",  "tail t --count 0",            "moot: --count takes" },
        { "",  "tail --topic t --count 0",    "moot: --count takes" },
        { "v", "tail --count 0",              "moot: --count takes" },
        { "v", "tail --count 0 --topic=t",    "moot: --count takes" },
        { "",  "tail t u --count 0",          "moot tail: this is one word too many: \"u\"" },
        { "",  "tail t --topic t --count 0",  "moot tail: this is one word too many: \"t\"" },
        { "v", "tail t --count 0",            "moot tail: this is one word too many: \"t\"" },
        { "",  "approve t",                   "moot approve: something is missing" },
        { "v", "approve",                     "moot approve: something is missing" },
        { "v", "approve t u",                 "moot approve: this is one word too many: \"u\"" },
    };
    /* clang-format on */
    static struct run r;

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(setenv("MOOT_TOPIC", c->variable, 1), 0);
        run(&r, c->line);
        CHECK_INT(r.code, CLI_USAGE);
        CHECK_STR(str_slice(str_of(r.err), 0, strlen(c->err)), str_of(c->err));
    }
    CHECK_INT(unsetenv("MOOT_TOPIC"), 0);
}

TEST(the_data_directory_is_the_first_that_someone_names)
{
    /* clang-format off */
    static const struct { const char *given; struct str configured; const char *data, *state, *home; struct str want; } cases[] = {
        { "g",  S("c"), "d",  "s",  "h",  S("g") },
        { NULL, S("c"), "d",  "s",  "h",  S("c") },
        { NULL, S(""),  "d",  "s",  "h",  S("d") },
        { NULL, S(""),  "",   "s",  "h",  S("s/moot") },
        { NULL, S(""),  NULL, "",   "h",  S("h/.local/state/moot") },
        { NULL, S(""),  NULL, NULL, "",   S("./.local/state/moot") },
        { NULL, S(""),  NULL, NULL, NULL, S("./.local/state/moot") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        const char *names[] = { "MOOT_DATA", "XDG_STATE_HOME", "HOME" };
        const char *values[] = { c->data, c->state, c->home };
        struct buf out;

        for (size_t i = 0; i < 3; i++)
            CHECK_INT(values[i] ? setenv(names[i], values[i], 1) : unsetenv(names[i]), 0);
        buf_init(&out, 256);
        cli_data_directory(c->given, c->configured, &out);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}
