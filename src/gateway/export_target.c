/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/export_target.h"

#include <sys/un.h>

#include "base/cleanup.h"
#include "net/resolve.h"

enum {
    SYSLOG_PORT = 514,
    URL_MAX = 2048,
    SOCKET_BYTES = sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
    FIELDS_OF_OURS = 1, /* Content-Type */
};

static const struct {
    struct str prefix;
    enum syslog_transport transport;
} transports[] = {
    { S("unix:"), SYSLOG_UNIX },
    { S("udp://"), SYSLOG_UDP },
    { S("tcp://"), SYSLOG_TCP },
};

static bool is_printable(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false;
    return true;
}

/* HOST, HOST:PORT, [IPV6] or [IPV6]:PORT; NULL: fine. */
static const char *read_place(struct str text, struct str *ret_host, uint16_t *ret_port)
{
    bool is_bracketed = text.len && text.ptr[0] == '[';
    size_t end = str_find(text, is_bracketed ? ']' : ':', 0);
    struct str rest = str_slice(text, end + is_bracketed, text.len);
    uint64_t port = SYSLOG_PORT;

    *ret_host = str_slice(text, is_bracketed, end);
    if (ret_host->len == 0 || ret_host->len >= RESOLVE_HOST || !is_printable(text) ||
        str_find(*ret_host, '/', 0) < ret_host->len)
        return "names no host";
    if (is_bracketed && end == text.len)
        return "has no ] behind the address";
    if (rest.len &&
        (rest.ptr[0] != ':' ||
         str_to_u64(str_slice(rest, 1, rest.len), UINT16_MAX, &port) || !port))
        return "has no port from 1 to 65535 behind the host";
    *ret_port = (uint16_t)port;
    return NULL;
}

static const char *read_syslog(struct str text, struct arena *arena,
                               struct syslog_target *ret)
{
    for (size_t i = 0; i < COUNT(transports); i++) {
        struct str rest = str_slice(text, transports[i].prefix.len, text.len);
        struct str host = rest;
        const char *why = NULL;

        if (!str_starts(text, transports[i].prefix))
            continue;
        ret->transport = transports[i].transport;
        if (ret->transport != SYSLOG_UNIX)
            why = read_place(rest, &host, &ret->port);
        else if (rest.len == 0 || rest.ptr[0] != '/' || rest.len > SOCKET_BYTES)
            why = "is not the full path of a socket";
        ret->host = arena_str(arena, host).ptr;
        return why;
    }
    return "begins with none of udp://, tcp://, unix:/";
}

static const char *check_url(struct str url)
{
    struct str rest = str_slice(url, S("http://").len, url.len);
    size_t end;

    if (str_starts(url, S("https://")))
        rest = str_slice(url, S("https://").len, url.len);
    else if (!str_starts(url, S("http://")))
        return "begins with neither http:// nor https://";
    if (!is_printable(url) || url.len > URL_MAX)
        return "is not a URL";
    end = str_find(rest, '/', 0);
    if (end == 0 || rest.ptr[0] == ':')
        return "names no host";
    if (str_find(rest, '@', 0) < end)
        return "holds a name or password; these belong into otlp_headers_file";
    if (str_find(rest, '#', 0) < rest.len)
        return "has a fragment";
    return NULL;
}

static void add_fields(const struct config_strs *own, struct arena *arena,
                       struct otlp_target *ret)
{
    ret->fields =
        arena_alloc(arena, (own->count + FIELDS_OF_OURS) * sizeof(*ret->fields));
    ret->fields[ret->field_count++] = "Content-Type: application/json";
    for (size_t i = 0; i < own->count; i++)
        ret->fields[ret->field_count++] =
            own->items[i].ptr; /* terminated, in its arena */
}

enum err export_targets_read(const struct config *config, struct arena *arena,
                             struct export_targets *ret, struct config_problem *problem)
{
    const struct config_audit *audit = &config->audit;
    struct export_targets targets = {};
    const char *why = NULL;

    if (audit->syslog.len)
        why = read_syslog(audit->syslog, arena, &targets.syslog);
    if (why)
        return config_fail(config, audit->syslog_mark, problem,
                           "audit.syslog \"" STR_FMT "\" %s", STR_ARG(audit->syslog),
                           why);
    if (audit->otlp.len)
        why = check_url(audit->otlp);
    if (why) /* which may hold a password, and is not shown */
        return config_fail(config, audit->otlp_mark, problem, "audit.otlp %s", why);
    if (audit->otlp.len) {
        targets.otlp.url = arena_str(arena, audit->otlp).ptr;
        add_fields(&audit->otlp_headers, arena, &targets.otlp);
    }
    *ret = targets;
    return OK;
}

bool syslog_target_equals(const struct syslog_target *a, const struct syslog_target *b)
{
    return a->transport == b->transport && a->port == b->port &&
           str_eq(str_of(a->host), str_of(b->host));
}

bool otlp_target_equals(const struct otlp_target *a, const struct otlp_target *b)
{
    if (a->field_count != b->field_count || !str_eq(str_of(a->url), str_of(b->url)))
        return false;
    for (size_t i = 0; i < a->field_count; i++)
        if (!str_eq(str_of(a->fields[i]), str_of(b->fields[i])))
            return false;
    return true;
}
