/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/question.h"
#include "proxy/target.h"
#include "sandbox/profile.h"

enum { SPEC_BYTES = 1 << 20 };

/* --- one spec --- */

struct server_spec *server_spec_new(struct str name)
{
    struct server_spec *spec = xmalloc(sizeof(*spec));

    *spec = (struct server_spec){
        .refs = 1,
        .mode = SERVER_SHARED,
        .pin = PIN_HOLD,
        .gate = { .timeout_ms = GATE_TIMEOUT_MS },
        .idle_ms = 600'000,
        .call_ms = 60'000,
        .open_ms = 30'000,
        .backoff_min_ms = 500,
        .backoff_max_ms = 60'000,
        .max_waiting = 256,
        .max_message = 4 << 20,
        .max_log = 256 << 10,
    };
    arena_init(&spec->arena, SPEC_BYTES);
    spec->name = arena_str(&spec->arena, name);
    spec->id = spec->name;
    return spec;
}

struct server_spec *server_spec_ref(struct server_spec *spec)
{
    atomic_fetch_add_explicit(&spec->refs, 1, memory_order_relaxed);
    return spec;
}

void server_spec_unref(struct server_spec *spec)
{
    if (!spec || atomic_fetch_sub_explicit(&spec->refs, 1, memory_order_acq_rel) != 1)
        return;
    arena_done(&spec->arena);
    free(spec);
}

/* --- what is wrong with one --- */

static char *fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *fault(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return xstrdup(text);
}

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* It is a folder's name, a word of commands and a part of paths. */
static bool is_name(struct str name)
{
    if (name.len < 1 || name.len > SERVER_NAME_MAX || name.ptr[0] == '.' ||
        name.ptr[0] == '-')
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(name.ptr[i]) && !is_digit(name.ptr[i]) &&
            !strchr("_.-", name.ptr[i]))
            return false;
    return true;
}

static bool is_variable_name(struct str name)
{
    if (name.len < 1 || name.len > SERVER_NAME_MAX || is_digit(name.ptr[0]))
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(name.ptr[i]) && !is_digit(name.ptr[i]) && name.ptr[i] != '_')
            return false;
    return true;
}

/* RFC 9110 5.6.2: a token. */
static bool is_field_name(struct str name)
{
    if (name.len < 1 || name.len > SERVER_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(name.ptr[i]) && !is_digit(name.ptr[i]) &&
            (name.ptr[i] == '\0' || !strchr("!#$%&'*+-.^_`|~", name.ptr[i])))
            return false;
    return true;
}

static bool has_line_end(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\n' || text.ptr[i] == '\r' || text.ptr[i] == '\0')
            return true;
    return false;
}

static bool has_nul(struct str text)
{
    return text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL;
}

static char *variables_fault(const struct server_spec *spec)
{
    for (size_t i = 0; i < spec->variable_count; i++) {
        const struct server_variable *v = &spec->variables[i];

        if (!is_variable_name(v->name))
            return fault("\"" STR_FMT "\" is no name of a variable", STR_ARG(v->name));
        if (has_nul(v->from))
            return fault("the variable " STR_FMT " has a zero byte", STR_ARG(v->name));
        if (v->source != SECRET_PLAIN && v->from.len == 0)
            return fault("the secret " STR_FMT " does not say where it is",
                         STR_ARG(v->name));
    }
    return NULL;
}

static char *headers_fault(const struct server_spec *spec)
{
    for (size_t i = 0; i < spec->header_count; i++) {
        const struct server_variable *h = &spec->headers[i];

        if (!is_field_name(h->name))
            return fault("\"" STR_FMT "\" is no name of a header", STR_ARG(h->name));
        if (has_line_end(h->from) || has_line_end(h->before))
            return fault("the header " STR_FMT " has a line end", STR_ARG(h->name));
    }
    return NULL;
}

static char *paths_fault(const char *what, const struct str *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!str_starts(paths[i], S("/")) || has_nul(paths[i]))
            return fault("%s: \"" STR_FMT "\" is no absolute path", what,
                         STR_ARG(paths[i]));
    return NULL;
}

bool server_spec_lacks_uid(const struct server_spec *spec)
{
    return geteuid() == 0 && !spec->permit.uid && !spec->url.len &&
           spec->permit.level != SANDBOX_OFF;
}

const char *server_spec_uses_machine(const struct server_spec *spec)
{
    if (!spec->url.len)
        return "it is a program";
    if (!str_starts(spec->url, S("https://")))
        return "its url is not https";
    for (size_t i = 0; i < spec->header_count; i++)
        if (spec->headers[i].source != SECRET_PLAIN)
            return "a header of it is from a file or a variable of the gateway";
    if (spec->oauth.client_secret_file.len > 0)
        return "it has a secret from a file of the gateway";
    return NULL;
}

static char *network_fault(const struct permit *permit)
{
    if (permit->level == SANDBOX_OFF && permit->network != NETWORK_ANY)
        return fault("without a sandbox the network cannot be limited: network: any");
    if (permit->level != SANDBOX_OFF && permit->network == NETWORK_ANY)
        return fault("network: any needs sandbox: off");
    if (permit->level == SANDBOX_BASIC && permit->network != NETWORK_NONE)
        return fault("sandbox: basic has network: none alone");
    if (permit->network == NETWORK_HOSTS && permit->host_count == 0)
        return fault("network: hosts without any in hosts");
    if (permit->network != NETWORK_HOSTS && permit->host_count > 0)
        return fault("hosts need network: hosts");
    for (size_t i = 0; i < permit->host_count; i++) {
        const char *why = proxy_host_fault(permit->hosts[i]);

        if (why)
            return fault("the host \"" STR_FMT "\": %s",
                         STR_ARG(str_slice(permit->hosts[i], 0, 80)), why);
    }
    return NULL;
}

static char *profile_fault(struct str name)
{
    CLEANUP(buf_done) struct buf known;
    const struct sandbox_profile *profile = NULL;

    buf_init(&known, 512);
    if (name.len == 0 || sandbox_profile_find(name))
        return NULL;
    while ((profile = sandbox_profile_next(profile)))
        buf_putf(&known, "%s " STR_FMT, known.len ? "," : "", STR_ARG(profile->name));
    return fault("there is no profile \"" STR_FMT "\"; there are:%s",
                 STR_ARG(str_slice(name, 0, 80)), buf_cstr(&known));
}

static char *command_fault(const struct server_spec *spec)
{
    const struct sandbox_command *command = &spec->command;
    char *why = NULL;

    if (command->words[0].len == 0)
        return fault("the command is empty");
    for (size_t i = 0; i < command->count; i++)
        if (has_nul(command->words[i]))
            return fault("there is a zero byte in the command");
    if (spec->header_count > 0)
        return fault("headers are for a url, not for a command");
    if (command->folder.len > 0)
        why = paths_fault("folder", &command->folder, 1);
    if (!why)
        why = paths_fault("read", spec->permit.read, spec->permit.read_count);
    if (!why)
        why = paths_fault("write", spec->permit.write, spec->permit.write_count);
    if (!why)
        why = network_fault(&spec->permit);
    if (!why)
        why = profile_fault(spec->profile);
    return why ? why : variables_fault(spec);
}

static char *url_fault(const struct server_spec *spec)
{
    struct str url = spec->url;
    bool has_scheme = str_starts(url, S("http://")) || str_starts(url, S("https://"));

    if (!has_scheme || url.len > SERVER_URL_MAX || has_line_end(url))
        return fault("url begins with http:// or https:// and is one line");
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] == 0x7f || url.ptr[i] == '@')
            return fault("url has no spaces, control characters or passwords (@)");
    if (spec->variable_count > 0)
        return fault("variables are for a command, not for a url");
    return headers_fault(spec);
}

static char *gate_fault(const struct server_spec *spec)
{
    char *why = gate_terms_fault(&spec->gate);

    if (!why && str_eq(spec->gate.delegate, spec->id))
        return fault("authorization: a server does not decide on calls of its own");
    return why;
}

char *server_spec_fault(const struct server_spec *spec)
{
    char *why;

    if (!is_name(spec->name))
        return fault("the name of a server has 1 to %d letters, digits, _ . -",
                     SERVER_NAME_MAX);
    if (spec->topic.len == 0 || spec->id.len == 0)
        return fault("a server needs a topic");
    if ((spec->url.len > 0) == (spec->command.count > 0))
        return fault("a server has either a command or a url");
    if (spec->mode != SERVER_SHARED &&
        (spec->instances < 1 || spec->instances > SERVER_INSTANCES_MAX))
        return fault("instances are 1 to %d", SERVER_INSTANCES_MAX);
    why = spec->url.len > 0 ? url_fault(spec) : command_fault(spec);
    if (!why)
        why = gate_fault(spec);
    if (why)
        return why;
    for (size_t i = 0; i < spec->root_count; i++) {
        const char *what = question_root_fault(spec->roots[i]);

        if (what)
            return fault("a root %s", what);
    }
    return NULL;
}
