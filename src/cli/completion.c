/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot completion: scripts for shells. They are small, and ask the program itself what
 * could follow (`moot completion for …`), so that they know every command and option of
 * the table, and the topics, participants, proposals and resources of the server that
 * runs.
 *
 * What the program answers is one line that says of which sort it is, "words", "files" or
 * "dirs", then a line for each word, with a tab and what it means. Names that came from
 * others are offered only if no shell could take them for anything but a name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/mcp_clients.h"
#include "directory/resource.h"
#include "json/json.h"
#include "rules/rule.h"

enum { ARENA_BYTES = 64 << 20, PATH_BYTES = 4096 };

/* --- scripts --- */

static const char bash[] =
    "# Completion of moot for bash. In ~/.bashrc: source <(moot completion bash)\n"
    "_moot()\n"
    "{\n"
    "    local word sort full cur=${COMP_WORDS[COMP_CWORD]} is_glued=\n"
    "    local -a words=() lines=()\n"
    "\n"
    "    # Readline cuts words at = and :, the program wants them whole.\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
    "        if [[ ${#words[@]} -gt 0 && ( $is_glued || $word == [=:]* ) ]]; then\n"
    "            words[-1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "        [[ $word == [=:]* ]] && is_glued=1 || is_glued=\n"
    "    done\n"
    "    [[ $cur == [=:]* ]] && cur=\n"
    "    full=${words[-1]}\n"
    "    COMPREPLY=()\n"
    "    mapfile -t lines < <(\"$1\" completion for -- \"${words[@]}\" 2>/dev/null)\n"
    "    sort=${lines[0]-}\n"
    "    case $sort in\n"
    "    files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "    dirs) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "    words)\n"
    "        for word in \"${lines[@]:1}\"; do\n"
    "            word=${word%%$'\\t'*}\n"
    "            COMPREPLY+=(\"${word#\"${full%\"$cur\"}\"}\")\n"
    "        done\n"
    "        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
    "        ;;\n"
    "    esac\n"
    "    return 0\n"
    "}\n"
    "complete -F _moot moot\n";

static const char zsh[] =
    "#compdef moot\n"
    "# Completion of moot for zsh. In ~/.zshrc, behind compinit: source <(moot completion zsh)\n"
    "_moot()\n"
    "{\n"
    "    local line sort\n"
    "    local -a lines words_of_it\n"
    "\n"
    "    lines=(\"${(@f)$(${(Q)words[1]} completion for -- \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "    sort=${lines[1]-}\n"
    "    case $sort in\n"
    "    files) compset -P '--*='; _files ;;\n"
    "    dirs) compset -P '--*='; _files -/ ;;\n"
    "    words)\n"
    "        for line in \"${(@)lines[2,-1]}\"; do\n"
    "            words_of_it+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "        done\n"
    "        _describe moot words_of_it\n"
    "        ;;\n"
    "    esac\n"
    "}\n"
    "compdef _moot moot\n";

static const char fish[] =
    "# Completion of moot for fish. In ~/.config/fish/config.fish:\n"
    "#     moot completion fish | source\n"
    "function __moot_complete\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    set -l lines ($words[1] completion for -- $words[2..-1] 2>/dev/null)\n"
    "    switch \"$lines[1]\"\n"
    "        case files\n"
    "            __fish_complete_path $words[-1]\n"
    "        case dirs\n"
    "            __fish_complete_directories $words[-1]\n"
    "        case words\n"
    "            printf '%s\\n' $lines[2..-1]\n"
    "    end\n"
    "end\n"
    "complete -c moot -e\n"
    "complete -c moot -f -a '(__moot_complete)'\n";

/* --- what was typed so far --- */

/* A command line that ends in the word to be completed. */
struct typing {
    char **words;
    int count;
    const struct cli_command *command;
    const struct cli_option *pending; /* its value is what is typed */
    const char *arguments[3];         /* the first few */
    size_t argument_count;
    bool options_end;
    const char *topic, *data, *server, *token_file, *ca; /* the options of these names */
};

static struct str current(const struct typing *t)
{
    return str_of(t->words[t->count - 1]);
}

static void note_value(struct typing *t, const struct cli_option *option,
                       const char *value)
{
    if (strcmp(option->name, "--topic") == 0)
        t->topic = value;
    else if (strcmp(option->name, "--data") == 0)
        t->data = value;
    else if (strcmp(option->name, "--server") == 0)
        t->server = value;
    else if (strcmp(option->name, "--token-file") == 0)
        t->token_file = value;
    else if (strcmp(option->name, "--ca") == 0)
        t->ca = value;
}

static void note_option(struct typing *t, const char *word)
{
    const char *equals = strchr(word, '=');
    struct str name = { word, equals ? (size_t)(equals - word) : strlen(word) };
    const struct cli_option *option = cli_find_option(t->command, name);

    if (!option || !option->argument)
        return;
    if (equals)
        note_value(t, option, equals + 1);
    else
        t->pending = option;
}

/* All words between the command and the last one. */
static void read_words(struct typing *t, int from)
{
    for (int i = from; i < t->count - 1; i++) {
        const char *word = t->words[i];

        if (t->pending) {
            note_value(t, t->pending, word);
            t->pending = NULL;
        } else if (!t->options_end && strcmp(word, "--") == 0) {
            t->options_end = true;
        } else if (!t->options_end && word[0] == '-' && word[1]) {
            note_option(t, word);
        } else {
            if (t->argument_count < COUNT(t->arguments))
                t->arguments[t->argument_count] = word;
            t->argument_count++;
        }
    }
}

/* --- answers --- */

static void say_sort(const char *sort)
{
    printf("%s\n", sort);
}

static void offer(const struct typing *t, struct str word, const char *meaning)
{
    if (str_starts(word, current(t)))
        printf(STR_FMT "\t%s\n", STR_ARG(word), meaning);
}

/* Is it nothing but a name, whatever reads it? */
static bool is_tame(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!strchr(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@+/-",
                name.ptr[i]) ||
            !name.ptr[i])
            return false;
    return name.len > 0 && name.ptr[0] != '-';
}

/* What a server knows by name. */
static const struct source {
    const char *word; /* in a usage, or the argument of an option */
    const char *path; /* whole, or below /topics/TOPIC */
    bool is_in_topic;
    struct str list, part, key; /* part: "", or the member of an item that has the key */
} sources[] = {
    { "TOPIC", "/topics", false, S("topics"), S(""), S("name") },
    { "PARTICIPANT", "/participants", true, S("participants"), S(""), S("id") },
    { "PROPOSAL", "/proposals", true, S("proposals"), S(""), S("id") },
    { "RULE", "/rules", true, S("rules"), S(""), S("id") },
    { "RESOURCE", "/admin/resources?limit=100", false, S("resources"), S("resource"),
      S("id") },
    { "TEAM", "/teams", false, S("teams"), S(""), S("team_id") },
};

/* `prefix` is what stands before the value in the same word: "--topic=". */
static void offer_names(const struct typing *t, struct str prefix, struct str body,
                        const struct source *source)
{
    const struct json *root, *items;
    struct arena arena;
    struct buf word;

    arena_init(&arena, ARENA_BYTES);
    buf_init(&word, PATH_BYTES);
    items = json_parse(body, &arena, &root, NULL) ? NULL : json_find(root, source->list);
    if (items && items->type == JSON_ARRAY)
        JSON_FOREACH(item, items) {
            const struct json *about =
                source->part.len ? json_find(item, source->part) : item;
            const struct json *name = json_find(about, source->key);

            if (!name || name->type != JSON_STRING || !is_tame(name->text))
                continue;
            buf_clear(&word);
            buf_put(&word, prefix);
            buf_put(&word, name->text);
            offer(t, buf_str(&word), "");
        }
    buf_done(&word);
    arena_done(&arena);
}

static const char *topic_of(const struct typing *t)
{
    const char *from_env = getenv("MOOT_TOPIC");

    if (t->topic)
        return t->topic;
    if (from_env && *from_env)
        return from_env;
    return t->argument_count ? t->arguments[0] : NULL;
}

/* What the server answers to a GET; false: nothing that helps. The caller frees it. */
static bool get(const struct typing *t, struct str path, struct cli_answer *ret)
{
    const char *from_env = getenv("MOOT_SERVER");
    struct cli_server server = { .url = t->server,
                                 .token_file = t->token_file,
                                 .ca = t->ca };
    struct buf data;
    enum err err;

    if (!server.url && !t->data && from_env && *from_env)
        server.url = from_env;
    buf_init(&data, PATH_BYTES);
    cli_data_directory(t->data, S(""), &data);
    server.data = buf_cstr(&data);
    err = cli_call(&server, "GET", path, S(""), ret);
    buf_done(&data);
    return err == OK && ret->status < 400;
}

/* Asking about a topic would make it, so only those are asked about that are there. */
static bool is_topic(const struct typing *t, struct str name)
{
    struct cli_answer answer = {};
    const struct json *root;
    struct arena arena;
    bool is_there = false;

    arena_init(&arena, ARENA_BYTES);
    if (get(t, S("/topics"), &answer) &&
        json_parse(buf_str(&answer.body), &arena, &root, NULL) == OK &&
        json_find(root, S("topics")))
        JSON_FOREACH(topic, json_find(root, S("topics"))) {
            const struct json *found = json_find(topic, S("name"));

            is_there = is_there || (found && str_eq(found->text, name));
        }
    arena_done(&arena);
    buf_done(&answer.body);
    return is_there;
}

static void ask(const struct typing *t, const struct source *source, struct str prefix)
{
    struct str topic = str_of(topic_of(t));
    struct cli_answer answer = {};
    struct buf path;

    if (source->is_in_topic && !is_topic(t, topic))
        return;
    buf_init(&path, PATH_BYTES);
    if (source->is_in_topic) {
        buf_put(&path, S("/topics/"));
        cli_put_segment(&path, topic);
    }
    buf_put(&path, str_of(source->path));
    if (get(t, buf_str(&path), &answer))
        offer_names(t, prefix, buf_str(&answer.body), source);
    buf_done(&answer.body);
    buf_done(&path);
}

/* The alternatives of "bash|zsh|fish". */
static void offer_alternatives(const struct typing *t, struct str words)
{
    while (words.ptr)
        offer(t, str_cut(&words, '|'), "");
}

/* A word of a usage that is typed as it is: "brake". */
static bool is_literal(struct str name)
{
    return name.len > 0 && name.ptr[0] >= 'a' && name.ptr[0] <= 'z';
}

static void offer_clients(const struct typing *t)
{
    const struct mcp_client *client = NULL;

    while ((client = mcp_client_next(client)) != NULL)
        offer(t, client->name, client->title.ptr);
}

static void offer_states(const struct typing *t)
{
    for (int i = 0; i < RULE_STATE_COUNT; i++)
        offer(t, rule_state_name((enum rule_state)i), "");
}

/* "name=" and so on. */
static void offer_fields(const struct typing *t)
{
    static const struct str fields[] = {
#define X(field) S(#field "="),
        RESOURCE_FIELDS(X)
#undef X
            S("currency="),
        S("per="),
    };

    for (size_t i = 0; i < COUNT(fields); i++)
        if (!str_eq(fields[i], S("id=")) && !str_eq(fields[i], S("updated_at=")))
            offer(t, fields[i], "");
}

/* A value of this name: FILE, TOPIC, CLIENT, "a|b" … */
static void complete_value(const struct typing *t, struct str name, struct str prefix)
{
    if (str_eq(name, S("FILE"))) {
        say_sort("files");
        return;
    }
    if (str_eq(name, S("DIR"))) {
        say_sort("dirs");
        return;
    }
    say_sort("words");
    if (str_find(name, '|', 0) < name.len || is_literal(name))
        offer_alternatives(t, name);
    if (str_eq(name, S("CLIENT")))
        offer_clients(t);
    if (str_eq(name, S("STATE")))
        offer_states(t);
    if (str_eq(name, S("FIELD=VALUE")))
        offer_fields(t);
    for (size_t i = 0; i < COUNT(sources); i++)
        if (str_eq(name, str_of(sources[i].word)))
            ask(t, &sources[i], prefix);
}

static bool is_given(const struct typing *t, const struct cli_option *option)
{
    for (int i = 0; i < t->count - 1; i++)
        if (str_eq(str_of(t->words[i]), str_of(option->name)))
            return option->type != CLI_LIST;
    return false;
}

static void complete_option(const struct typing *t)
{
    struct str word = current(t);
    size_t equals = str_find(word, '=', 0);
    const struct cli_option *option =
        cli_find_option(t->command, str_slice(word, 0, equals));

    if (equals < word.len) {
        if (option && option->argument)
            complete_value(t, str_of(option->argument), str_slice(word, 0, equals + 1));
        return;
    }
    say_sort("words");
    for (size_t i = 0; i < t->command->option_count; i++)
        if (!is_given(t, &t->command->options[i]))
            offer(t, str_of(t->command->options[i].name), t->command->options[i].help);
    offer(t, S("--help"), "what this command does");
}

/* The name of argument number `at` in a usage: "TOPIC [PARTICIPANT] TOOL [OPTIONS]". One
 * that ends with dots is all the rest. */
static struct str argument_name(const struct cli_command *command, size_t at)
{
    struct str rest = str_of(command->usage);

    while (rest.ptr) {
        struct str word = str_cut(&rest, ' ');

        if (str_starts(word, S("[")) && str_ends(word, S("]")))
            word = str_slice(word, 1, word.len - 1);
        if (str_starts(word, S("-")) || str_starts(word, S("(")) ||
            str_eq(word, S("OPTIONS")))
            break;
        if (str_ends(word, S("..."))) /* and so on */
            return str_slice(word, 0, word.len - 3);
        if (at-- == 0)
            return word;
    }
    return S("");
}

static void complete_argument(const struct typing *t)
{
    const char *from_env = getenv("MOOT_TOPIC");
    size_t at = t->argument_count;

    if (t->command->takes_topic && (t->topic || (from_env && *from_env)))
        at++;
    complete_value(t, argument_name(t->command, at), S(""));
}

/* The first words of all commands, once each, as those of a family stand together; or the
 * second ones of a family. */
static void offer_command(const struct typing *t, const struct cli_command *command,
                          struct str *last)
{
    struct str rest = str_of(command->name);
    struct str first = str_cut(&rest, ' ');

    if (t->count == 1 && !str_eq(first, *last))
        offer(t, first, rest.ptr ? "" : command->summary);
    if (t->count == 2 && rest.ptr && str_eq(first, str_of(t->words[0])))
        offer(t, rest, command->summary);
    *last = first;
}

static void complete_command(const struct typing *t)
{
    struct str last = S("");

    say_sort("words");
    for (size_t i = 0; i < cli_group_count; i++)
        for (size_t k = 0; k < cli_groups[i].count; k++)
            offer_command(t, cli_groups[i].commands[k], &last);
    if (t->count == 1) {
        offer(t, S("--help"), "all commands");
        offer(t, S("--version"), "the version and the protocols it speaks");
    }
}

static int complete(char **words, size_t count)
{
    char nothing[] = "";
    char *empty[] = { nothing };
    struct typing t = { .words = count ? words : empty, .count = count ? (int)count : 1 };
    int used = 0;

    t.command = cli_find(t.count - 1, t.words, &used);
    if (!t.command) {
        complete_command(&t);
        return CLI_OK;
    }
    read_words(&t, used);
    if (t.pending)
        complete_value(&t, str_of(t.pending->argument), S(""));
    else if (!t.options_end && str_starts(current(&t), S("-")))
        complete_option(&t);
    else
        complete_argument(&t);
    return CLI_OK;
}

static int completion(void *fields [[maybe_unused]], char **arguments, size_t count)
{
    static const struct {
        const char *name, *script;
    } shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

    if (strcmp(arguments[0], "for") == 0)
        return complete(arguments + 1, count - 1);
    for (size_t i = 0; count == 1 && i < COUNT(shells); i++)
        if (strcmp(arguments[0], shells[i].name) == 0) {
            fputs(shells[i].script, stdout);
            return CLI_OK;
        }
    return cli_fail("there are scripts for bash, zsh and fish"), CLI_USAGE;
}

const struct cli_command cli_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .summary = "print a script that completes words in your shell",
    .more = "  source <(moot completion bash)        in ~/.bashrc\n"
            "  source <(moot completion zsh)         in ~/.zshrc, behind compinit\n"
            "  moot completion fish | source         in ~/.config/fish/config.fish\n",
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = completion,
};
