/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/server_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/input.h"
#include "json/json.h"
#include "sandbox/profile.h"

enum {
    DAY_MS = 24 * 3600 * 1000,
    INSTANCES = 16,
    PATH_BYTES = 4096,
    GATE_FILE = 64 << 10
};

/* A spec that is being made; the first complaint counts. */
struct making {
    struct server_spec *spec;
    int code;
};

static void complain(struct making *m, const char *option, const char *value,
                     const char *what)
{
    if (!m->code)
        (void)cli_fail("%s %s: %s", option, value, what);
    m->code = CLI_USAGE;
}

static struct str copy(struct making *m, const char *text)
{
    return arena_str(&m->spec->arena, str_of(text));
}

/* --- words --- */

struct word {
    const char *name;
    int value;
};

#define READ_WORD(m, option, given, words, field) \
    (field) =                                     \
        (typeof(field))read_word(m, option, given, words, COUNT(words), (int)(field))

static int read_word(struct making *m, const char *option, const char *given,
                     const struct word *words, size_t count, int usual)
{
    CLEANUP(buf_done) struct buf known = {};

    if (!given)
        return usual;
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i].name, given) == 0)
            return words[i].value;
    buf_init(&known, PATH_BYTES);
    buf_put(&known, S("there is"));
    for (size_t i = 0; i < count; i++)
        buf_putf(&known, "%s %s", i ? "," : "", words[i].name);
    complain(m, option, given, buf_cstr(&known));
    return usual;
}

/* clang-format off */
static const struct word levels[]   = { { "strict", SANDBOX_STRICT }, { "basic", SANDBOX_BASIC }, { "off", SANDBOX_OFF } };
static const struct word networks[] = { { "none", NETWORK_NONE }, { "loopback", NETWORK_LOOPBACK }, { "hosts", NETWORK_HOSTS },
                                        { "any", NETWORK_ANY } };
static const struct word modes[]    = { { "shared", SERVER_SHARED }, { "per-caller", SERVER_PER_CALLER },
                                        { "pooled", SERVER_POOLED } };
static const struct word eras[]     = { { "auto", ERA_UNKNOWN }, { "legacy", ERA_LEGACY }, { "modern", ERA_MODERN } };
static const struct word pins[]     = { { "hold", PIN_HOLD }, { "warn", PIN_WARN }, { "off", PIN_OFF } };
static const struct word gates[]    = { { "always-allow", GATE_ALWAYS_ALLOW }, { "always-prompt", GATE_ALWAYS_PROMPT },
                                        { "selective", GATE_SELECTIVE }, { "delegated", GATE_DELEGATED } };
/* clang-format on */

static uint64_t read_number(struct making *m, const char *option, const char *given,
                            uint64_t max, uint64_t usual)
{
    uint64_t number = usual;

    if (given && (str_to_u64(str_of(given), max, &number) || number == 0))
        complain(m, option, given, "a number from 1 on is expected");
    return number;
}

static uint64_t read_time(struct making *m, const char *option, const char *given,
                          uint64_t usual)
{
    uint64_t ms = usual;

    if (given && (!cli_read_duration(str_of(given), &ms) || ms > DAY_MS))
        complain(m, option, given, "a time is 30s, 5m or 2h, and at most a day");
    return ms;
}

/* --- lists --- */

static const struct str *copy_list(struct making *m, const struct cli_list *list)
{
    struct str *texts = arena_alloc(&m->spec->arena, (list->count + 1) * sizeof(*texts));

    for (size_t i = 0; i < list->count; i++)
        texts[i] = copy(m, list->items[i]);
    return texts;
}

/* What is there today, by its real name: a link is what it leads to now. */
static const struct str *read_paths(struct making *m, const char *option,
                                    const struct cli_list *list)
{
    struct str *paths = arena_alloc(&m->spec->arena, (list->count + 1) * sizeof(*paths));

    for (size_t i = 0; i < list->count; i++) {
        CLEANUP(xfreep) char *whole = realpath(list->items[i], NULL);

        if (!whole)
            complain(m, option, list->items[i], strerror(errno));
        else
            paths[i] = copy(m, whole);
    }
    return paths;
}

static enum secret_source source_of(const char **from)
{
    if (strncmp(*from, "file:", 5) == 0) {
        *from += 5;
        return SECRET_FILE;
    }
    if (strncmp(*from, "env:", 4) == 0) {
        *from += 4;
        return SECRET_ENVIRONMENT;
    }
    return SECRET_PLAIN;
}

enum plain_is { PLAIN_ALWAYS, PLAIN_ALLOWED, PLAIN_REFUSED };

static void read_variable(struct making *m, const char *option, const char *pair,
                          enum plain_is plain, struct server_variable *ret)
{
    const char *equals = strchr(pair, '=');
    const char *from = equals ? equals + 1 : "";

    if (!equals) {
        complain(m, option, pair, "NAME=VALUE is expected");
        return;
    }
    ret->name = arena_str(&m->spec->arena, (struct str){ pair, (size_t)(equals - pair) });
    ret->source = plain == PLAIN_ALWAYS ? SECRET_PLAIN : source_of(&from);
    if (plain == PLAIN_REFUSED && ret->source == SECRET_PLAIN)
        complain(m, option, "…",
                 "secrets come from file:PATH or env:NAME, never from arguments");
    ret->from = copy(m, from);
}

static const struct server_variable *read_variables(struct making *m,
                                                    const struct server_options *o)
{
    size_t count = o->env.count + o->secrets.count;
    struct server_variable *all =
        arena_alloc(&m->spec->arena, (count + 1) * sizeof(*all));

    for (size_t i = 0; i < o->env.count; i++)
        read_variable(m, "--env", o->env.items[i], PLAIN_ALWAYS, &all[i]);
    for (size_t i = 0; i < o->secrets.count; i++)
        read_variable(m, "--secret", o->secrets.items[i], PLAIN_REFUSED,
                      &all[o->env.count + i]);
    m->spec->variable_count = count;
    return all;
}

static const struct server_variable *read_headers(struct making *m,
                                                  const struct server_options *o)
{
    struct server_variable *all =
        arena_alloc(&m->spec->arena, (o->headers.count + 1) * sizeof(*all));

    for (size_t i = 0; i < o->headers.count; i++)
        read_variable(m, "--header", o->headers.items[i], PLAIN_ALLOWED, &all[i]);
    m->spec->header_count = o->headers.count;
    return all;
}

/* --- the whole --- */

static void read_permit(struct making *m, const struct server_options *o)
{
    struct permit *permit = &m->spec->permit;

    READ_WORD(m, "--sandbox", o->sandbox, levels, permit->level);
    if (permit->level == SANDBOX_OFF)
        permit->network = NETWORK_ANY;
    else if (o->hosts.count)
        permit->network = NETWORK_HOSTS;
    READ_WORD(m, "--network", o->network, networks, permit->network);
    permit->read = read_paths(m, "--read", &o->read);
    permit->read_count = o->read.count;
    permit->write = read_paths(m, "--write", &o->write);
    permit->write_count = o->write.count;
    permit->hosts = copy_list(m, &o->hosts);
    permit->host_count = o->hosts.count;
    permit->memory = (size_t)read_number(m, "--memory", o->memory, 1 << 20, 0) << 20;
    permit->processes = (size_t)read_number(m, "--processes", o->processes, 100'000, 0);
}

static void read_manner(struct making *m, const struct server_options *o)
{
    struct server_spec *spec = m->spec;

    READ_WORD(m, "--mode", o->mode, modes, spec->mode);
    READ_WORD(m, "--era", o->era, eras, spec->era);
    READ_WORD(m, "--pin", o->pin, pins, spec->pin);
    spec->instances = (size_t)read_number(m, "--instances", o->instances, 1000,
                                          spec->mode == SERVER_SHARED ? 0 : INSTANCES);
    spec->idle_ms = read_time(m, "--idle", o->idle, spec->idle_ms);
    spec->call_ms = read_time(m, "--timeout", o->timeout, spec->call_ms);
    spec->starts_now = o->start;
}

/* Owned by nobody but the spec: all is copied. */
static void read_gate_file(struct making *m, const char *path)
{
    struct server_spec *spec = m->spec;
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf text;
    CLEANUP(xfreep) char *why = NULL;
    const struct json *root;

    buf_init(&text, GATE_FILE);
    arena_init(&arena, (size_t)GATE_FILE * 96);
    if (cli_read_file(path, &text))
        m->code = CLI_USAGE;
    else if (json_parse(buf_str(&text), &arena, &root, NULL))
        complain(m, "--authorization", path, "it is no JSON");
    else if (gate_terms_read(root, &spec->arena, &spec->gate, &why))
        complain(m, "--authorization", path, why ? why : "it is too large");
    if (!spec->gate.timeout_ms)
        spec->gate.timeout_ms = GATE_TIMEOUT_MS;
}

static void read_gate(struct making *m, const struct server_options *o)
{
    struct gate_terms *gate = &m->spec->gate;

    if (o->authorization)
        read_gate_file(m, o->authorization);
    if (o->delegate) {
        gate->delegate = copy(m, o->delegate);
        if (gate->mode == GATE_ALWAYS_ALLOW && !o->authorize)
            gate->mode = GATE_DELEGATED;
    }
    READ_WORD(m, "--authorize", o->authorize, gates, gate->mode);
}

static void read_command(struct making *m, const struct server_options *o, char **words,
                         size_t count)
{
    struct cli_list all = { .count = count };
    const char *folders[] = { o->folder };
    struct cli_list folder = { folders, COUNT(folders) };

    all.items = xcalloc(count + 1, sizeof(*all.items));
    for (size_t i = 0; i < count; i++)
        all.items[i] = words[i];
    m->spec->command.words = copy_list(m, &all);
    m->spec->command.count = count;
    if (o->folder)
        m->spec->command.folder = read_paths(m, "--folder", &folder)[0];
    free(all.items);
}

static int check(struct making *m)
{
    CLEANUP(xfreep) char *fault = m->code ? NULL : server_spec_fault(m->spec);

    if (fault) {
        (void)cli_fail("%s", fault);
        m->code = CLI_USAGE;
    }
    return m->code;
}

/* Servers have homes beside each other; each is made when the server starts. */
int server_options_settle(struct server_spec *spec, const char *data)
{
    CLEANUP(xfreep) char *whole = NULL;
    CLEANUP(buf_done) struct buf path;

    buf_init(&path, PATH_BYTES);
    (void)mkdir(data, 0700);
    whole = realpath(data, NULL);
    if (!whole)
        return cli_fail("%s: %s", data, strerror(errno));
    buf_putf(&path, "%s/servers", whole);
    if (mkdir(buf_cstr(&path), 0711) && errno != EEXIST)
        return cli_fail("%s: %s", buf_cstr(&path), strerror(errno));
    buf_putf(&path, "/" STR_FMT, STR_ARG(spec->name));
    spec->permit.home = arena_str(&spec->arena, buf_str(&path));
    return CLI_OK;
}

int server_options_read(const struct server_options *options, const char *topic,
                        char **words, size_t count, struct server_spec **ret)
{
    struct making m = {};

    if (!options->as) {
        (void)cli_fail("--as NAME is missing: whom the server is in the topic");
        return CLI_USAGE;
    }
    if (!count && !options->url) {
        (void)cli_fail("there is no command: it comes last, behind --; or --url URL");
        return CLI_USAGE;
    }
    m.spec = server_spec_new(str_of(options->as));
    m.spec->topic = copy(&m, topic);
    m.spec->url = copy(&m, options->url ? options->url : "");
    m.spec->profile = copy(&m, options->profile ? options->profile : "");
    read_command(&m, options, words, count);
    read_permit(&m, options);
    read_manner(&m, options);
    read_gate(&m, options);
    m.spec->variables = read_variables(&m, options);
    m.spec->headers = read_headers(&m, options);
    m.spec->roots = copy_list(&m, &options->roots);
    m.spec->root_count = options->roots.count;
    if (check(&m))
        server_spec_unref(m.spec);
    else
        *ret = m.spec;
    return m.code;
}
