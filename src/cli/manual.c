/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `moot manual`: the manual page, moot(1), made from the tables that are the parser and
 * the help. It is mdoc(7).
 */
#include <stdio.h>

#include "cli/cli.h"

enum { WIDTH = 72 };

/* Backslashes are for the formatter, and a plain hyphen becomes a typographic one. */
static void put_escaped(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\\')
            (void)fputs("\\e", stdout);
        else if (text.ptr[i] == '-')
            (void)fputs("\\-", stdout);
        else
            (void)putchar(text.ptr[i]);
    }
}

/* A line that begins so would be a request. */
static void put_line_start(struct str text)
{
    if (text.len && (text.ptr[0] == '.' || text.ptr[0] == '\''))
        (void)fputs("\\&", stdout);
}

static bool ends_sentence(struct str word)
{
    return str_ends(word, S(".")) || str_ends(word, S("!")) || str_ends(word, S("?"));
}

/* Words, filled; a sentence begins on a line of its own, as the formatter likes it. */
static void put_text(struct str text)
{
    size_t column = 0;

    while (text.ptr) {
        struct str word = str_cut(&text, ' ');

        if (!word.len)
            continue;
        if (column)
            (void)putchar(' ');
        else
            put_line_start(word);
        put_escaped(word);
        column += word.len + 1;
        if (ends_sentence(word) || column > WIDTH) {
            (void)putchar('\n');
            column = 0;
        }
    }
    if (column)
        (void)putchar('\n');
}

static bool is_verbatim(struct str line)
{
    return str_starts(line, S(" "));
}

/* Paragraphs as --help prints them: what is indented is an example, and stays so. */
static void put_paragraphs(struct str more)
{
    bool in_verbatim = false;
    bool is_first = true;

    while (more.len) {
        struct str line = str_cut(&more, '\n');

        if (in_verbatim && !is_verbatim(line)) {
            (void)fputs(".Ed\n", stdout);
            in_verbatim = false;
        }
        if (is_verbatim(line) && !in_verbatim) {
            (void)fputs(".Bd -literal -offset indent\n", stdout);
            in_verbatim = true;
        }
        if (in_verbatim) {
            put_line_start(str_trim(line));
            put_escaped(str_slice(line, 2, line.len));
            (void)putchar('\n');
        } else if (line.len) {
            if (is_first)
                (void)fputs(".Pp\n", stdout);
            put_text(line);
        }
        is_first = !line.len;
    }
    if (in_verbatim)
        (void)fputs(".Ed\n", stdout);
}

static void put_option(const struct cli_option *option)
{
    printf(".It Fl ");
    put_escaped(str_of(option->name + 1)); /* Fl gives the first one */
    if (option->argument)
        printf(" Ar %s", option->argument);
    (void)putchar('\n');
    put_text(str_of(option->help));
}

static void put_command(const struct cli_command *command)
{
    printf(".It Xo\n.Ic %s", command->name);
    if (*command->usage)
        printf("\n.Li \"");
    put_escaped(str_of(command->usage));
    printf("%s\n.Xc\n", *command->usage ? "\"" : "");
    put_text(str_of(command->summary));
    if (command->option_count)
        printf(".Pp\n.Bl -tag -width \"--capabilities\" -compact\n");
    for (size_t i = 0; i < command->option_count; i++)
        put_option(&command->options[i]);
    if (command->option_count)
        printf(".El\n");
    if (command->more)
        put_paragraphs(str_of(command->more));
}

static void put_commands(void)
{
    for (size_t i = 0; i < cli_group_count; i++) {
        printf(".Ss %s\n.Bl -tag -width Ds\n", cli_groups[i].title);
        for (size_t k = 0; k < cli_groups[i].count; k++)
            put_command(cli_groups[i].commands[k]);
        printf(".El\n");
    }
}

static const char before[] =
    ".\\\" SPDX-License-Identifier: Apache-2.0\n"
    ".\\\" Made by `moot manual`.\n"
    ".Dd November 15, 2026\n"
    ".Dt MOOT 1\n"
    ".Os\n"
    ".Sh NAME\n"
    ".Nm moot\n"
    ".Nd rooms for people, agents and tools\n"
    ".Sh SYNOPSIS\n"
    ".Nm\n"
    ".Ar COMMAND\n"
    ".Op Ar OPTIONS\n"
    ".Nm\n"
    ".Ar COMMAND\n"
    ".Fl -help\n"
    ".Sh DESCRIPTION\n"
    "Moot is a room server: people, agents and tools meet in\n"
    ".Em topics ,\n"
    "talk, call each other's tools, and see what everybody does.\n"
    "An agent that may not act proposes, and somebody who may act decides.\n"
    "It speaks MCPx v0.1.\n"
    ".Pp\n"
    "Values of options may follow after a space or\n"
    ".Sq = .\n"
    "What follows\n"
    ".Fl -\n"
    "is no option.\n"
    ".Sh COMMANDS\n";

static const char after[] =
    ".Sh ENVIRONMENT\n"
    ".Bl -tag -width MOOT_SERVER\n"
    ".It Ev MOOT_DATA\n"
    "The data directory.\n"
    "Without it\n"
    ".Pa $XDG_STATE_HOME/moot\n"
    "or\n"
    ".Pa ~/.local/state/moot .\n"
    ".It Ev MOOT_SERVER\n"
    "The server that commands which take part in a topic connect to.\n"
    ".It Ev MOOT_TOPIC\n"
    "The topic of commands that take part in one.\n"
    "The argument\n"
    ".Ar TOPIC\n"
    "is then left out, as with\n"
    ".Fl -topic .\n"
    ".It Ev MOOT_TOKEN\n"
    "The token, where no\n"
    ".Fl -token-file\n"
    "is given.\n"
    "It is never taken from the command line.\n"
    ".It Ev NO_COLOR\n"
    "No colours, where it is set and not empty.\n"
    ".El\n"
    ".Sh FILES\n"
    "In the data directory:\n"
    ".Bl -tag -width admin.token -compact\n"
    ".It Pa moot.sock\n"
    "the local socket of the running server\n"
    ".It Pa admin.token , human.token\n"
    "the first two tokens\n"
    ".It Pa moot.db\n"
    "all tokens, as hashes, and the state of topics\n"
    ".It Pa audit.db\n"
    "the record; beside it search.db, which can be made anew\n"
    ".It Pa audit.pub\n"
    "the public key of the record\n"
    ".El\n"
    ".Sh EXIT STATUS\n"
    ".Bl -tag -width Ds -compact\n"
    ".It 0\n"
    "success\n"
    ".It 1\n"
    "it failed: no connection, or something on this machine\n"
    ".It 2\n"
    "the command line is wrong\n"
    ".It 3\n"
    "the tool, or whoever was asked, says that it failed\n"
    ".It 4\n"
    "refused: not allowed, rejected, denied or withdrawn\n"
    ".It 5\n"
    "nobody answered or decided in time\n"
    ".El\n"
    ".Sh SEE ALSO\n"
    ".Xr libmoot 3\n";

static int manual(void *fields [[maybe_unused]], char **arguments [[maybe_unused]],
                  size_t count [[maybe_unused]])
{
    (void)fputs(before, stdout);
    put_commands();
    (void)fputs(after, stdout);
    return fflush(stdout) ? CLI_FAILED : CLI_OK;
}

const struct cli_command cli_manual = {
    .name = "manual",
    .usage = "",
    .summary = "print this manual page, for man(1)",
    .more = "  moot manual | man -l -\n",
    .run = manual,
};
