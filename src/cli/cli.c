/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/cell.h"
#include "spawn/spawn.h"

/* clang-format off */
static const struct cli_command *const partaking[] = {
    &cli_join,
    &cli_tail, &cli_chat, &cli_send,
    &cli_who, &cli_tools, &cli_call_tool,
    &cli_propose, &cli_proposals, &cli_approve, &cli_reject, &cli_withdraw,
    &cli_authorizations,
    &cli_mcp,
};

static const struct cli_command *const recorded[] = {
    &cli_audit_search, &cli_audit_thread, &cli_audit_stats,
    &cli_audit_export, &cli_audit_verify, &cli_audit_head, &cli_audit_retention,
    &cli_audit_replay,
};

static const struct cli_command *const ruling[] = {
    &cli_rules_list, &cli_rules_show, &cli_rules_explain,
    &cli_rules_accept, &cli_rules_decline,
    &cli_rules_enable, &cli_rules_disable, &cli_rules_remove,
    &cli_rules_export, &cli_rules_import, &cli_rules_suggest,
    &cli_rules_learn, &cli_rules_test, &cli_rules_check,
    &cli_orchestrate,
};

static const struct cli_command *const directing[] = {
    &cli_resource_search, &cli_resource_list, &cli_resource_show,
    &cli_resource_set, &cli_resource_remove,
    &cli_resource_import, &cli_resource_export,
    &cli_team_create, &cli_team_list, &cli_team_show,
    &cli_team_add, &cli_team_remove, &cli_team_rename, &cli_team_dissolve,
    &cli_team_accept, &cli_team_decline,
};

static const struct cli_command *const seating[] = {
    &cli_bridge, &cli_run_server,
    &cli_ps, &cli_logs, &cli_stop, &cli_restart, &cli_sign_in,
};

static const struct cli_command *const running[] = {
    &cli_serve, &cli_link,
    &cli_token_create, &cli_token_list, &cli_token_revoke,
    &cli_topic_list, &cli_topic_show, &cli_topic_set,
    &cli_config_check, &cli_config_print, &cli_config_options,
    &cli_explain,
    &cli_bench,
    &cli_manual,
    &cli_completion,
    &cli_version,
};

const struct cli_group cli_groups[] = {
    { "Take part in a topic", partaking, COUNT(partaking) },
    { "Seat MCP servers", seating, COUNT(seating) },
    { "Keep the directory", directing, COUNT(directing) },
    { "Read the record", recorded, COUNT(recorded) },
    { "Agree in advance", ruling, COUNT(ruling) },
    { "Run and administer", running, COUNT(running) },
};
/* clang-format on */

const size_t cli_group_count = COUNT(cli_groups);

/* The next command of all groups: start with zeros; NULL at the end. */
struct walk {
    size_t group, at;
};

static const struct cli_command *next_command(struct walk *walk)
{
    while (walk->group < COUNT(cli_groups) && walk->at == cli_groups[walk->group].count)
        *walk = (struct walk){ .group = walk->group + 1 };
    if (walk->group == COUNT(cli_groups))
        return NULL;
    return cli_groups[walk->group].commands[walk->at++];
}

int cli_fail(const char *format, ...)
{
    va_list args;

    fputs("moot: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return CLI_FAILED;
}

void cli_data_directory(const char *given, struct str configured, struct buf *out)
{
    const char *from_env = getenv("MOOT_DATA");
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    if (given)
        buf_put(out, str_of(given));
    else if (configured.len)
        buf_put(out, configured);
    else if (from_env && *from_env)
        buf_put(out, str_of(from_env));
    else if (state && *state)
        buf_putf(out, "%s/moot", state);
    else
        buf_putf(out, "%s/.local/state/moot", home && *home ? home : ".");
}

/* --- help --- */

/* What all commands that take part have in common. */
static const char partaking_who[] =
    "Without --server the local server is asked, as the person of its human.token\n"
    "unless another token is given.\n";
static const char partaking_exit[] =
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 the tool reports an error,\n"
    "4 refused, rejected or denied, 5 too late.\n";

/* A terminal is at least so wide. */
enum { HELP_COLUMNS = 80, HELP_NAMES = 16, LINE_BYTES = 4096 };

/* "  --option VALUE   what it says", which goes on below itself. */
static void print_row(FILE *to, int width, const char *left, const char *text)
{
    struct buf out;

    buf_init(&out, LINE_BYTES);
    buf_putf(&out, "  %-*s ", width, left);
    cell_put_wrapped(&out, str_of(text), (size_t)width + 3, HELP_COLUMNS);
    fprintf(to, "%s\n", buf_cstr(&out));
    buf_done(&out);
}

static void print_overview(FILE *to)
{
    fputs("Moot is a room server for people, agents and tools.\n\n"
          "Usage: moot COMMAND [OPTIONS]\n",
          to);
    for (size_t i = 0; i < COUNT(cli_groups); i++) {
        fprintf(to, "\n%s:\n", cli_groups[i].title);
        for (size_t k = 0; k < cli_groups[i].count; k++)
            print_row(to, HELP_NAMES, cli_groups[i].commands[k]->name,
                      cli_groups[i].commands[k]->summary);
    }
    fputs("\n`moot COMMAND --help` says more about a command.\n", to);
}

/* How much room the options need. */
static int options_width(const struct cli_command *command)
{
    size_t width = 22;

    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->options[i];
        size_t len =
            strlen(option->name) + 1 + (option->argument ? strlen(option->argument) : 0);

        width = len > width ? len : width;
    }
    return (int)width;
}

static void print_usage(const struct cli_command *command)
{
    struct buf plain, out;

    buf_init(&plain, LINE_BYTES);
    buf_init(&out, LINE_BYTES);
    buf_putf(&plain, "moot %s %s", command->name, command->usage);
    buf_put(&out, S("Usage: "));
    cell_put_wrapped(&out, str_trim(buf_str(&plain)), out.len, HELP_COLUMNS);
    puts(buf_cstr(&out));
    buf_done(&out);
    buf_done(&plain);
}

static void print_help(const struct cli_command *command)
{
    int width = options_width(command);

    printf("%s\n\n", command->summary);
    print_usage(command);
    if (command->option_count)
        printf("\nOptions:\n");
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->options[i];
        char left[64];

        (void)snprintf(left, sizeof(left), "%s %s", option->name,
                       option->argument ? option->argument : "");
        print_row(stdout, width, left, option->help);
    }
    if (command->more)
        printf("\n%s", command->more);
    if (command->takes_topic && cli_find_option(command, S("--server")))
        printf("\n%s%s", command->makes_token ? "" : partaking_who, partaking_exit);
}

/* `hint` is a sentence, or NULL. */
static int complain(const struct cli_command *command, const char *what, const char *word,
                    const char *hint)
{
    fprintf(stderr, "moot %s: %s \"%s\"\n", command->name, what, word);
    if (hint)
        fprintf(stderr, "%s\n", hint);
    fprintf(stderr, "Try `moot %s --help`.\n", command->name);
    return CLI_USAGE;
}

/* --- finding the command --- */

/* How many arguments the command's name takes up, or 0 if it is not this one. */
static int name_length(const struct cli_command *command, int argc, char **argv)
{
    struct str rest = str_of(command->name);
    int used = 0;

    while (rest.ptr) {
        struct str word = str_cut(&rest, ' ');

        if (used >= argc || !str_eq(str_of(argv[used]), word))
            return 0;
        used++;
    }
    return used;
}

const struct cli_command *cli_find(int count, char **words, int *ret_used)
{
    struct walk walk = {};

    for (const struct cli_command *command = next_command(&walk); command;
         command = next_command(&walk)) {
        *ret_used = name_length(command, count, words);
        if (*ret_used)
            return command;
    }
    return NULL;
}

/* `moot token` alone, or with a word that makes no command: those that begin so. */
static bool print_family(FILE *to, struct str word, const char *unknown)
{
    struct walk walk = {};
    bool is_family = false;

    for (const struct cli_command *command = next_command(&walk); command;
         command = next_command(&walk)) {
        struct str name = str_of(command->name);

        if (!str_eq(str_cut(&name, ' '), word) || !name.ptr)
            continue;
        if (!is_family && unknown)
            fprintf(to, "moot: there is no command \"" STR_FMT " %s\"\n\n", STR_ARG(word),
                    unknown);
        if (!is_family)
            fprintf(to, "Usage: moot " STR_FMT " COMMAND [OPTIONS]\n\nCommands:\n",
                    STR_ARG(word));
        is_family = true;
        print_row(to, HELP_NAMES, command->name, command->summary);
    }
    return is_family;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int without_command(int argc, char **argv)
{
    bool wants_help = argc > 1 && (is_help(argv[1]) || strcmp(argv[1], "help") == 0);

    if (wants_help) {
        print_overview(stdout);
        return CLI_OK;
    }
    if (argc > 2 && is_help(argv[2]) && print_family(stdout, str_of(argv[1]), NULL))
        return CLI_OK;
    if (argc > 1 && print_family(stderr, str_of(argv[1]), argc > 2 ? argv[2] : NULL))
        return CLI_USAGE;
    if (argc > 1)
        fprintf(stderr, "moot: there is no command \"%s\"\n\n", argv[1]);
    print_overview(stderr);
    return CLI_USAGE;
}

/* --- reading options --- */

struct reading {
    const struct cli_command *command;
    char **words;
    int count;
    int at;
    char *fields; /* the command's options struct */
    char **arguments;
    size_t argument_count;
    bool names_topic; /* somewhere else than in the first argument */
};

const struct cli_option *cli_find_option(const struct cli_command *command,
                                         struct str name)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (str_eq(str_of(command->options[i].name), name))
            return &command->options[i];
    return NULL;
}

static void append(const struct reading *r, struct cli_list *list, const char *value)
{
    if (!list->items) /* there cannot be more than words */
        list->items = xcalloc((size_t)r->count, sizeof(*list->items));
    list->items[list->count++] = value;
}

static void store(const struct reading *r, const struct cli_option *option,
                  const char *value)
{
    char *field = r->fields + option->offset;
    bool is_on = true;

    switch (option->type) {
    case CLI_SWITCH: memcpy(field, &is_on, sizeof(is_on)); break;
    case CLI_TEXT: memcpy(field, &value, sizeof(value)); break;
    case CLI_LIST: append(r, (struct cli_list *)(void *)field, value); break;
    }
}

static void free_lists(const struct reading *r)
{
    for (size_t i = 0; i < r->command->option_count; i++) {
        const struct cli_option *option = &r->command->options[i];

        if (option->type == CLI_LIST)
            free(((struct cli_list *)(void *)(r->fields + option->offset))->items);
    }
}

/* "--name value", "--name=value" or a switch. */
static int read_option(struct reading *r)
{
    const char *word = r->words[r->at];
    const char *equals = strchr(word, '=');
    struct str name = { word, equals ? (size_t)(equals - word) : strlen(word) };
    const struct cli_option *option = cli_find_option(r->command, name);
    const char *value = equals ? equals + 1 : NULL;

    if (!option)
        return complain(r->command, "there is no option", word,
                        word[1] == '-' ? NULL : "What is no option goes behind --.");
    if (!option->argument) {
        if (value)
            return complain(r->command, "this option takes no value:", word, NULL);
        store(r, option, NULL);
        return CLI_OK;
    }
    if (!value && r->at + 1 < r->count)
        value = r->words[++r->at];
    if (!value)
        return complain(r->command, "a value is missing after", word, NULL);
    store(r, option, value);
    return CLI_OK;
}

/* The topic of a command that takes one: it becomes the value of --topic. */
static int take_topic(struct reading *r)
{
    const struct cli_option *option = cli_find_option(r->command, S("--topic"));
    const char *topic, *from_env = getenv("MOOT_TOPIC");

    assert(option && option->type == CLI_TEXT);
    memcpy(&topic, r->fields + option->offset, sizeof(topic));
    if (!topic && from_env && *from_env)
        topic = from_env;
    r->names_topic = topic;
    if (!topic && r->argument_count) {
        topic = r->arguments[0];
        r->arguments++;
        r->argument_count--;
    }
    if (!topic && r->command->is_topic_optional)
        return CLI_OK;
    if (!topic)
        return complain(r->command, "something is missing; it needs", r->command->usage,
                        NULL);
    store(r, option, topic);
    return CLI_OK;
}

static int check_arguments(struct reading *r)
{
    int code = r->command->takes_topic ? take_topic(r) : CLI_OK;

    if (code)
        return code;
    if (r->argument_count < r->command->min_arguments)
        return complain(r->command, "something is missing; it needs", r->command->usage,
                        NULL);
    if (r->argument_count > r->command->max_arguments)
        return complain(
            r->command,
            "this is one word too many:", r->arguments[r->command->max_arguments],
            r->names_topic ? "--topic or $MOOT_TOPIC names the topic already." : NULL);
    return CLI_OK;
}

static int read_words(struct reading *r)
{
    bool options_end = false;

    for (; r->at < r->count; r->at++) {
        char *word = r->words[r->at];
        int code;

        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
            continue;
        }
        if (options_end || word[0] != '-' || word[1] == '\0') {
            r->arguments[r->argument_count++] = word;
            continue;
        }
        code = read_option(r);
        if (code)
            return code;
    }
    return check_arguments(r);
}

static bool asks_for_help(char **words, int count)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (is_help(words[i]))
            return true;
    return false;
}

static int run(struct reading *r)
{
    int code;

    if (asks_for_help(r->words, r->count)) {
        print_help(r->command);
        return CLI_OK;
    }
    code = read_words(r);
    if (code == CLI_OK)
        code = r->command->run(r->fields, r->arguments, r->argument_count);
    return code;
}

/* What is opened first must not become standard output. A closed one is held by a file
 * that fails in its direction, so whoever uses it is told. */
static void hold_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* What was to be printed and could not be is a failure; a reader that has had enough is
 * none. */
static int end_output(int code)
{
    bool is_lost;

    errno = 0;
    is_lost = fflush(stdout) != 0 || ferror(stdout);
    if (!is_lost || code != CLI_OK || errno == EPIPE)
        return code;
    return cli_fail("standard output: %s",
                    errno ? strerror(errno) : "not all of it could be written");
}

static int run_command(int argc, char **argv)
{
    const struct cli_command *command;
    char **arguments;
    int used = 0;
    int code;

    command = cli_find(argc - 1, argv + 1, &used);
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        command = &cli_version;
    if (!command)
        return without_command(argc, argv);
    arguments = xcalloc((size_t)argc, sizeof(*arguments));

    struct reading r = { .command = command,
                         .words = argv + 1 + used,
                         .count = used ? argc - 1 - used : 0, /* 0: --version */
                         .fields = xcalloc(1, command->options_size),
                         .arguments = arguments };

    code = run(&r);
    free_lists(&r);
    free(r.fields);
    free(arguments);
    return code;
}

int cli_run(int argc, char **argv)
{
    /* Of nobody's interest who types: what the program runs to start others. */
    if (argc == 2 && strcmp(argv[1], SPAWNER_WORD) == 0)
        return spawner_main(SPAWNER_FD);
    hold_streams();
    return end_output(run_command(argc, argv));
}
