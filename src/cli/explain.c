/* SPDX-License-Identifier: Apache-2.0 */
/* moot explain: which capability allows a kind, or why none does. */
#include "policy/explain.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "policy/capset.h"
#include "policy/profile.h"

struct explain_options {
    const char *capabilities;
    const char *profile;
    bool json;
};

static const struct cli_option options[] = {
    { "--capabilities", "LIST", "patterns: separated by commas, a JSON array, or words",
      offsetof(struct explain_options, capabilities) },
    { "--profile", "NAME", "the capabilities of a built-in profile",
      offsetof(struct explain_options, profile) },
    { "--json", NULL, "answer as JSON", offsetof(struct explain_options, json) },
};

enum { MAX_CAPABILITIES = 1024 };

struct capabilities {
    struct str items[MAX_CAPABILITIES];
    size_t count;
};

static void add(struct capabilities *list, struct str pattern)
{
    if (pattern.len && list->count < MAX_CAPABILITIES)
        list->items[list->count++] = pattern;
}

static int add_json(struct capabilities *list, struct str text, struct arena *arena)
{
    const struct json *root;

    if (json_parse(text, arena, &root, NULL) || root->type != JSON_ARRAY)
        return cli_fail("--capabilities looks like JSON but is no array of strings");
    JSON_FOREACH(item, root) {
        if (item->type != JSON_STRING)
            return cli_fail("--capabilities looks like JSON but is no array of strings");
        add(list, item->text);
    }
    return CLI_OK;
}

static int add_profile(struct capabilities *list, struct str name)
{
    const struct profile *profile = profile_find(name);

    if (!profile) {
        (void)cli_fail("there is no profile \"" STR_FMT "\"; there are:", STR_ARG(name));
        for (profile = profile_next(NULL); profile; profile = profile_next(profile))
            fprintf(stderr, "  " STR_FMT "\n", STR_ARG(profile->name));
        return CLI_USAGE;
    }
    for (size_t i = 0; i < profile->capabilities.count; i++)
        add(list, profile->capabilities.items[i]);
    return CLI_OK;
}

static int collect(const struct explain_options *o, char **words, size_t count,
                   struct arena *arena, struct capabilities *list)
{
    struct str given = str_of(o->capabilities);
    int code = o->profile ? add_profile(list, str_of(o->profile)) : CLI_OK;

    if (code)
        return code;
    if (str_starts(given, S("["))) {
        code = add_json(list, given, arena);
        if (code)
            return code;
    } else {
        while (given.ptr)
            add(list, str_trim(str_cut(&given, ',')));
    }
    for (size_t i = 0; i < count; i++)
        add(list, str_of(words[i]));
    return CLI_OK;
}

static int answer(const struct explain_options *o, struct str kind, struct str_list list)
{
    struct str bad = {};
    const char *why = "";
    struct buf out;
    bool is_allowed;

    if (capset_check(list, &bad, &why))
        return cli_fail("capability \"" STR_FMT "\": %s", STR_ARG(bad), why), CLI_USAGE;
    buf_init(&out, 4 << 20);
    is_allowed = o->json ? policy_explain_json(kind, list, &out)
                         : policy_explain(kind, list, &out);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    if (out.len && out.ptr[out.len - 1] != '\n')
        putchar('\n');
    buf_done(&out);
    return is_allowed ? CLI_OK : CLI_FAILED;
}

static int explain(void *fields, char **arguments, size_t count)
{
    const struct explain_options *o = fields;
    struct capabilities list = {};
    struct arena arena;
    int code;

    if (!o->capabilities && !o->profile && count < 2)
        return cli_fail("say with --capabilities or --profile what is held"), CLI_USAGE;
    arena_init(&arena, 4 << 20);
    code = collect(o, arguments + 1, count - 1, &arena, &list);
    if (!code)
        code =
            answer(o, str_of(arguments[0]), (struct str_list){ list.items, list.count });
    arena_done(&arena);
    return code;
}

const struct cli_command cli_explain = {
    .name = "explain",
    .usage = "KIND (--capabilities LIST | --profile NAME)",
    .summary = "say which capability allows a kind, or why none does",
    .more = "Exits with 0 if the kind is allowed and with 1 if not.\n\n"
            "  moot explain mcp/request:tools/call --capabilities 'mcp/proposal:*,chat'\n"
            "  moot explain chat --profile proposer\n",
    .options = options,
    .option_count = COUNT(options),
    .min_arguments = 1,
    .max_arguments = MAX_CAPABILITIES,
    .run = explain,
    .options_size = sizeof(struct explain_options),
};
