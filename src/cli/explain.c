/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot explain: which capability allows a kind, or why none does; and what would become
 * of a whole envelope. What is held is said on the command line or asked of a running
 * server.
 */
#include "policy/explain.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/input.h"
#include "policy/capability.h"
#include "policy/capset.h"
#include "policy/profile.h"
#include "policy/regime.h"
#include "policy/trial.h"

struct explain_options {
    const char *capabilities;
    const char *profile;
    const char *envelope;
    const char *as;
    const char *topic;
    const char *server;
    const char *token_file;
    const char *ca;
    const char *data;
    bool strict;
    bool json;
};

#define OPT(member) CLI_AT(struct explain_options, member)
static const struct cli_option options[] = {
    { "--capabilities", "LIST", "patterns separated by commas, or a JSON array",
      OPT(capabilities) },
    { "--profile", "NAME", "the capabilities of a built-in profile", OPT(profile) },
    { "--envelope", "FILE",
      "explain this envelope instead of a kind; - is standard input", OPT(envelope) },
    { "--as", "WHO", "as this token (by its name) or participant of a running server",
      OPT(as) },
    { "--topic", "TOPIC", "in this topic (lobby)", OPT(topic) },
    { "--strict", NULL, "as where strict validation is in force", OPT(strict) },
    { "--json", NULL, "answer as JSON", OPT(json) },
    CLI_WHERE(struct explain_options),
};

enum {
    MAX_CAPABILITIES = 1024,
    ARENA_BYTES = 256 << 20,
    ENVELOPE_BYTES = 64 << 20,
};

/* What is held, and the memory of everything. */
struct question {
    struct arena arena;
    struct cli_answer answer; /* of a server; the lists borrow from it */
    struct trial_sender sender;
    struct str items[MAX_CAPABILITIES];
    size_t count;
    struct regime regime;
    struct rulings *rulings; /* of `regime` */
    size_t numbers[RULINGS_MAX];
    struct ruling_row rows[RULINGS_MAX];
};

static void add(struct question *q, struct str text)
{
    if (text.len && q->count < MAX_CAPABILITIES)
        q->items[q->count++] = text;
}

static int read_array(struct question *q, const struct json *array, const char *whose,
                      struct str_list *ret)
{
    const char *why = "too large";

    if (capability_list(array, &q->arena, ret, &why))
        return cli_fail("%s: %s", whose, why), CLI_USAGE;
    return CLI_OK;
}

static int add_array(struct question *q, const struct json *array, const char *whose)
{
    struct str_list read = {};
    int code = read_array(q, array, whose, &read);

    for (size_t i = 0; !code && i < read.count; i++)
        add(q, read.items[i]);
    return code;
}

static int add_list(struct question *q, struct str given)
{
    const struct json *root;

    if (str_starts(given, S("["))) {
        if (json_parse(given, &q->arena, &root, NULL))
            return cli_fail("--capabilities looks like a JSON array but is none"),
                   CLI_USAGE;
        return add_array(q, root, "--capabilities");
    }
    while (given.ptr)
        add(q, str_trim(str_cut(&given, ',')));
    return CLI_OK;
}

static int add_profile(struct question *q, struct str name)
{
    const struct profile *profile = profile_find(name);

    if (!profile) {
        (void)cli_fail("there is no profile \"" STR_FMT "\"; there are:", STR_ARG(name));
        for (profile = profile_next(NULL); profile; profile = profile_next(profile))
            fprintf(stderr, "  " STR_FMT "\n", STR_ARG(profile->name));
        return CLI_USAGE;
    }
    for (size_t i = 0; i < profile->capabilities.count; i++)
        add(q, profile->capabilities.items[i]);
    return CLI_OK;
}

/* --- as someone --- */

#define WHOSE "the server's answer"

static bool read_row(struct question *q, const struct json *row, struct ruling_row *ret)
{
    const struct json *payload = json_find(row, S("payload"));
    uint64_t number = 0;

    *ret = (struct ruling_row){ .kind = json_text(json_find(row, S("kind"))),
                                .payload = payload ? payload->raw : S(""),
                                .message = json_text(json_find(row, S("message"))) };
    if (!json_find(row, S("row")) ||
        str_to_u64(json_find(row, S("row"))->text, UINT32_MAX, &number) ||
        !ruling_parse(json_text(json_find(row, S("outcome"))), &ret->ruling))
        return false;
    q->numbers[ret - q->rows] = (size_t)number;
    return true;
}

/* Policy and brake, as far as they concern whoever it is. */
static int read_regime(struct question *q, const struct json *root)
{
    const struct json *rows = json_find(root, S("policy"));
    struct ruling_problem problem;
    size_t count = 0;

    q->regime.has_brake = str_eq(json_text(json_find(root, S("brake"))), S("on"));
    q->regime.numbers = q->numbers;
    (void)participant_type_parse(json_text(json_find(root, S("type"))), &q->regime.type);
    if (rows)
        JSON_FOREACH(row, rows)
            if (count == RULINGS_MAX || !read_row(q, row, &q->rows[count++]))
                return cli_fail(WHOSE " cannot be read");
    if (rulings_new(q->rows, count, &q->rulings, &problem))
        return cli_fail(WHOSE ": policy: %s: %s", problem.field, problem.why);
    q->regime.rulings = q->rulings;
    q->sender.regime = &q->regime;
    return CLI_OK;
}

static int read_rights(struct question *q)
{
    const struct json *root, *patterns, *objects, *limited, *id, *validation, *paused;
    int code;

    if (q->answer.status >= 400)
        return cli_report(&q->answer);
    if (json_parse(buf_str(&q->answer.body), &q->arena, &root, NULL))
        return cli_fail(WHOSE " cannot be read");
    id = json_find(root, S("participantId"));
    patterns = json_find(root, S("capabilities"));
    objects = json_find(json_find(root, S("moot")), S("capabilities"));
    limited = json_find(root, S("limited"));
    validation = json_find(root, S("validation"));
    paused = json_find(root, S("paused"));
    if (!id || !patterns || !validation || !paused)
        return cli_fail(WHOSE " cannot be read");
    q->sender.id = id->text;
    q->sender.is_strict = q->sender.is_strict || str_eq(validation->text, S("strict"));
    q->sender.is_paused = paused->type == JSON_TRUE;
    code = add_array(q, patterns, WHOSE);
    if (!code && objects)
        code = add_array(q, objects, WHOSE);
    if (!code && limited)
        code = read_array(q, limited, WHOSE, &q->sender.limited);
    return code ? code : read_regime(q, root);
}

static int ask(struct question *q, const struct explain_options *o)
{
    struct buf data, path;
    enum err err;

    buf_init(&data, 4096);
    buf_init(&path, 64 << 10);
    cli_data_directory(o->data, S(""), &data);
    buf_put(&path, S("/admin/participants/"));
    cli_put_segment(&path, str_of(o->as));
    buf_put(&path, S("/rights?topic="));
    cli_put_segment(&path, str_of(o->topic ? o->topic : "lobby"));
    err = cli_call(&(struct cli_server){ .url = o->server,
                                         .token_file = o->token_file,
                                         .ca = o->ca,
                                         .data = buf_cstr(&data) },
                   "GET", buf_str(&path), S(""), &q->answer);
    if (err == ERR_NOT_FOUND)
        (void)cli_fail("no server runs on %s, and --as asks one", buf_cstr(&data));
    buf_done(&path);
    buf_done(&data);
    return err ? CLI_FAILED : read_rights(q);
}

static int add_rights(struct question *q, const struct explain_options *o)
{
    if (str_starts(str_of(o->as), S("moot_")))
        return cli_fail(
                   "--as takes the name of a token or a participant id. A secret does not "
                   "belong on a command line; `moot token list` shows the names"),
               CLI_USAGE;
    return ask(q, o);
}

/* --- the answer --- */

static int read_envelope(const char *path, struct buf *out)
{
    if (cli_read_file(path, out))
        return CLI_USAGE;
    /* What an editor leaves behind the last line is not meant. */
    while (out->len && (out->ptr[out->len - 1] == '\n' || out->ptr[out->len - 1] == '\r'))
        out->len--;
    return CLI_OK;
}

static int print(const struct buf *out, bool is_allowed)
{
    (void)fwrite(out->ptr, 1, out->len, stdout);
    if (out->len && out->ptr[out->len - 1] != '\n')
        putchar('\n');
    return is_allowed ? CLI_OK : CLI_FAILED;
}

static int answer_kind(struct question *q, const struct explain_options *o,
                       struct str kind)
{
    const struct trial_sender *s = &q->sender;
    struct policy_question question = { kind, s->capabilities, s->limited, s->regime };
    struct buf out;
    int code;

    buf_init(&out, 4 << 20);
    code = print(&out, o->json ? policy_explain_json(&question, &out)
                               : policy_explain(&question, &out));
    buf_done(&out);
    return code;
}

static int answer_envelope(struct question *q, const struct explain_options *o)
{
    struct buf text, out;
    enum err err;
    int code;

    buf_init(&text, ENVELOPE_BYTES);
    buf_init(&out, ENVELOPE_BYTES);
    code = read_envelope(o->envelope, &text);
    if (!code) {
        err = o->json ? trial_explain_json(buf_str(&text), &q->sender, &q->arena, &out)
                      : trial_explain(buf_str(&text), &q->sender, &q->arena, &out);
        code = print(&out, !err);
    }
    buf_done(&text);
    buf_done(&out);
    return code;
}

static int collect(struct question *q, const struct explain_options *o, char **words,
                   size_t count)
{
    struct str bad = {};
    const char *why = "";
    int code = o->as ? add_rights(q, o) : CLI_OK;

    if (!code && o->profile)
        code = add_profile(q, str_of(o->profile));
    if (!code)
        code = add_list(q, str_of(o->capabilities));
    if (code)
        return code;
    for (size_t i = 0; i < count; i++)
        add(q, str_of(words[i]));
    q->sender.capabilities = (struct str_list){ q->items, q->count };
    if (capset_check(q->sender.capabilities, &bad, &why))
        return cli_fail("capability \"" STR_FMT "\": %s", STR_ARG(bad), why), CLI_USAGE;
    return CLI_OK;
}

static int explain(void *fields, char **arguments, size_t count)
{
    const struct explain_options *o = fields;
    size_t kinds = o->envelope ? 0 : 1; /* all words behind it are capabilities */
    struct question q = { .sender.is_strict = o->strict };
    int code;

    if (count < kinds)
        return cli_fail("name a kind, or an envelope with --envelope"), CLI_USAGE;
    if (!o->capabilities && !o->profile && !o->as && count == kinds)
        return cli_fail("say with --capabilities, --profile or --as what is held"),
               CLI_USAGE;
    arena_init(&q.arena, ARENA_BYTES);
    code = collect(&q, o, arguments + kinds, count - kinds);
    if (!code)
        code = o->envelope ? answer_envelope(&q, o)
                           : answer_kind(&q, o, str_of(arguments[0]));
    rulings_free(q.rulings);
    buf_done(&q.answer.body);
    arena_done(&q.arena);
    return code;
}

const struct cli_command cli_explain = {
    .name = "explain",
    .usage = "(KIND | --envelope FILE) (--capabilities LIST | --profile NAME | --as WHO)",
    .summary = "say which capability allows a kind or an envelope, or why none does",
    .more =
        "Of an envelope the checks are told in the order in which a server makes them,\n"
        "as far as they depend on nothing but the envelope and what its sender holds.\n"
        "Not judged are rates, the loop guard, a missing correlation_id, a repeated id,\n"
        "the state of proposals and of rules, and the rules of grants, moderation and\n"
        "invitations.\n"
        "With --as also the server's policy is asked, and whether the brake of the topic\n"
        "is on.\n"
        "Exits with 0 if it is allowed and with 1 if not.\n\n"
        "  moot explain mcp/request:tools/call --capabilities 'mcp/proposal:*,chat'\n"
        "  moot explain chat --profile proposer\n"
        "  moot explain --envelope call.json --as reader-1 --topic room\n",
    .options = options,
    .option_count = COUNT(options),
    .max_arguments = MAX_CAPABILITIES,
    .run = explain,
    .options_size = sizeof(struct explain_options),
};
