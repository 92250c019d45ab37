/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot bridge: an MCP server as a participant of a topic, as long as this command runs.
 * The same bridge as inside the gateway, on a seat over WebSocket.
 */
#include "bridge/bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/bridge_file.h"
#include "cli/bridge_uid.h"
#include "cli/cli.h"
#include "cli/guest_token.h"
#include "cli/server_options.h"
#include "cli/session.h"
#include "cli/sign_in.h"
#include "cli/wire_seat.h"
#include "fetch/fetch.h"
#include "json/json.h"
#include "net/conn.h"
#include "sandbox/registry.h"
#include "spawn/spawn.h"

enum {
    PATH_BYTES = 4096,
    REGISTRIES_BYTES = 1 << 20,
};

struct bridge_options {
    struct session_options session;
    struct server_options what;
    const char *npm_registry, *pypi_index, *package_ca;
};

/* clang-format off */
static const struct cli_option options[] = {
    CLI_SERVER(struct bridge_options),
    { "--npm-registry", "URL",  "where packages of npx come from; else what npm is set to", CLI_AT(struct bridge_options, npm_registry) },
    { "--pypi-index",   "URL",  "where packages of uvx come from; else what pip is set to", CLI_AT(struct bridge_options, pypi_index) },
    { "--package-ca",   "FILE", "certificates to trust while packages are installed",       CLI_AT(struct bridge_options, package_ca) },
    CLI_PLACE(struct bridge_options),
};
/* clang-format on */

/* A bridge that runs. */
struct running {
    const struct bridge_options *options;
    struct server_spec *spec;
    struct loop *loop;
    struct spawner *spawner;
    struct spawn *spawn;
    struct fetch *fetch;
    struct conn_flusher *flusher; /* of the way out to named hosts */
    struct sign_in_desk *desk;
    char packages[PATH_BYTES];
    struct registries registries;
    const char *data;
    struct bridge *bridge;
    struct wire_seat *seat;
    struct bridge_file file;
    struct loop_fd signals;
    struct log_follower follower;
    struct guest_token token;
    bool was_welcome;
    bool is_leaving;
    int code;
};

/* --- telling --- */

static void on_line(struct log_follower *self [[maybe_unused]], struct str json)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root;

    arena_init(&arena, json.len * 96 + 4096);
    if (json_parse(json, &arena, &root, NULL))
        return;
    fprintf(stderr, "%s" STR_FMT "\n",
            str_eq(json_text(json_find(root, S("by"))), S("moot")) ? "moot: " : "",
            STR_ARG(json_text(json_find(root, S("line")))));
}

static void keep(void *user, enum bridge_kept what, struct str json)
{
    struct running *r = user;

    bridge_file_keep(&r->file, what, json);
}

/* --- ending --- */

static void on_left(void *user)
{
    struct running *r = user;

    if (r->seat)
        wire_seat_leave(r->seat);
    else
        loop_stop(r->loop);
}

static void leave(struct running *r)
{
    if (r->is_leaving)
        loop_stop(r->loop); /* asked twice: at once */
    r->is_leaving = true;
    bridge_leave(r->bridge, on_left, r);
}

static void on_signal(struct loop_fd *self, uint32_t events [[maybe_unused]])
{
    struct running *r = CONTAINER_OF(self, struct running, signals);
    struct signalfd_siginfo got;

    if (read(self->fd, &got, sizeof(got)) != (ssize_t)sizeof(got))
        return;
    leave(r);
}

/* --- the seat, whose end is ours --- */

static void on_begin(void *user, bool resumes)
{
    struct running *r = user;

    if (!r->was_welcome)
        fprintf(stderr, "moot: " STR_FMT " is in %s\n", STR_ARG(r->spec->id),
                r->options->session.topic);
    r->was_welcome = true;
    bridge_seat_ops.on_begin(r->bridge, resumes);
}

static void on_text(void *user, struct str text)
{
    struct running *r = user;

    bridge_seat_ops.on_text(r->bridge, text);
}

static void on_judged(void *user, uint64_t number)
{
    struct running *r = user;

    bridge_seat_ops.on_judged(r->bridge, number);
}

/* The first attempt must succeed; later ones are made as long as it takes. */
static void on_lost(void *user, bool is_final, const char *why)
{
    struct running *r = user;

    bridge_seat_ops.on_lost(r->bridge, is_final, why);
    if (!is_final && r->was_welcome)
        return;
    if (!r->is_leaving)
        r->code = cli_fail("%s", why);
    loop_stop(r->loop);
}

static struct str on_after(void *user)
{
    struct running *r = user;

    return bridge_seat_ops.on_after(r->bridge);
}

static const struct seat_ops seat_ops = {
    .on_begin = on_begin,
    .on_text = on_text,
    .on_judged = on_judged,
    .on_lost = on_lost,
    .on_after = on_after,
};

/* --- beginning --- */

static struct fetch *make_fetch(void *user)
{
    struct running *r = user;
    CLEANUP(xfreep) char *why = NULL;

    if (!r->fetch && fetch_new(r->loop, &r->fetch, &why))
        (void)cli_fail("%s", why ? why : "there is no HTTP client");
    return r->fetch;
}

/* Servers behind a URL may want somebody to sign in. */
static struct credential *make_credential(void *user, const struct server_spec *spec)
{
    struct running *r = user;
    struct fetch *fetch = make_fetch(r);

    if (!r->desk && fetch)
        r->desk = sign_in_desk_new(r->loop, fetch, spec, r->data);
    return r->desk ? sign_in_desk_credential(r->desk) : NULL;
}

static int open_seat(struct running *r, struct session_target *target)
{
    struct wire_settings settings = wire_seat_settings(&r->options->session, target);
    CLEANUP(xfreep) char *why = NULL;

    settings.is_directed = true;
    if (wire_seat_open(r->loop, &settings, &seat_ops, r, &r->seat, &why))
        return cli_fail("%s", why ? why : "the options are wrong");
    return CLI_OK;
}

static void watch_signals(struct running *r)
{
    r->signals = (struct loop_fd){ .fd = session_catch_signals(NULL),
                                   .events = EPOLLIN,
                                   .on_ready = on_signal };
    (void)loop_fd_add(r->loop, &r->signals);
}

static int open_children(struct running *r)
{
    if (r->spec->url.len)
        return CLI_OK;
    if (spawner_open(r->loop, &r->spawner))
        return cli_fail("children cannot be started: %s", strerror(errno));
    r->spawn = spawn_new(r->spawner, r->loop);
    return CLI_OK;
}

static const struct registries *registries_of(void *user)
{
    const struct running *r = user;

    return &r->registries;
}

static void build(struct running *r)
{
    struct bridge_setup setup = {
        .spec = r->spec,
        .means = { .loop = r->loop,
                   .spawn = r->spawn,
                   .fetch = make_fetch,
                   .credential = make_credential,
                   .flusher = r->flusher,
                   .packages = r->packages,
                   .registries = registries_of,
                   .user = r },
        .keep = keep,
        .user = r,
    };

    bridge_file_read(&r->file, setup.kept);
    r->bridge = bridge_new(&setup);
    r->follower.on_line = on_line;
    logbook_follow(bridge_logbook(r->bridge), &r->follower);
}

static int course(struct running *r, struct session_target *target)
{
    int code;

    r->loop = loop_new();
    watch_signals(r);
    code = open_children(r);
    if (code)
        return code;
    r->flusher = conn_flusher_new(r->loop, NULL);
    (void)snprintf(r->packages, sizeof(r->packages), "%s/packages", r->data);
    build(r);
    code = open_seat(r, target);
    if (code)
        return code;
    bridge_sit(r->bridge, wire_seat_of(r->seat));
    loop_run(r->loop);
    return r->code;
}

static void running_done(struct running *r)
{
    bridge_free(r->bridge);
    wire_seat_free(r->seat);
    if (r->spawn)
        spawn_free(r->spawn);
    if (r->spawner)
        spawner_close(r->spawner);
    sign_in_desk_free(r->desk);
    if (r->fetch)
        fetch_free(r->fetch);
    if (r->flusher)
        conn_flusher_free(r->flusher);
    if (r->loop) {
        int fd = r->signals.fd;

        loop_fd_remove(r->loop, &r->signals);
        fd_closep(&fd);
        loop_free(r->loop);
    }
    bridge_file_done(&r->file);
    server_spec_unref(r->spec);
}

/* --- the command --- */

static int enter(struct running *r)
{
    struct guest_order order = { .id = r->spec->id,
                                 .profile = S("bridge"),
                                 .is_server = true };
    struct session_target target;
    int code = guest_token_find(&r->options->session, &order, &target, &r->token);

    if (code == CLI_OK)
        code = course(r, &target);
    running_done(r);
    guest_token_done(&r->token, &target);
    return code;
}

/* What was said must be right. */
static int find_registries(const struct bridge_options *o, struct arena *arena,
                           struct registries *ret)
{
    CLEANUP(xfreep) char *ca = o->package_ca ? realpath(o->package_ca, NULL) : NULL;
    const struct {
        const char *option, *value, *why;
    } faults[] = {
        { "--npm-registry", o->npm_registry,
          o->npm_registry ? registry_url_fault(str_of(o->npm_registry)) : NULL },
        { "--pypi-index", o->pypi_index,
          o->pypi_index ? registry_url_fault(str_of(o->pypi_index)) : NULL },
        { "--package-ca", o->package_ca,
          o->package_ca ? registry_ca_fault(ca ? ca : o->package_ca) : NULL },
    };

    for (size_t i = 0; i < COUNT(faults); i++)
        if (faults[i].why) {
            (void)cli_fail("%s %s: %s", faults[i].option, faults[i].value, faults[i].why);
            return CLI_USAGE;
        }
    registries_find(&(struct registry_words){ str_of(o->npm_registry),
                                              str_of(o->pypi_index), str_of(ca) },
                    arena, ret);
    return CLI_OK;
}

/* Its home, its uid, and whoever runs this knows the command, or sees what it would be.
 */
static int settle(const struct bridge_options *o, struct server_spec *spec,
                  struct buf *data)
{
    int code;

    cli_data_directory(o->session.data, S(""), data);
    code = server_options_settle(spec, buf_cstr(data));
    if (code == CLI_OK)
        code = bridge_uid_settle(spec, buf_cstr(data));
    if (code)
        return code;
    return o->what.explain ? server_options_explain(spec)
                           : server_options_approve(&o->what, spec, buf_cstr(data));
}

static int run_bridge(void *fields, char **words, size_t count)
{
    const struct bridge_options *o = fields;
    struct running r = { .options = o };
    CLEANUP(buf_done) struct buf data;
    CLEANUP(arena_done) struct arena arena;
    int code = server_options_read(&o->what, o->session.topic, words, count, &r.spec);

    buf_init(&data, PATH_BYTES / 2);
    arena_init(&arena, REGISTRIES_BYTES);
    if (code)
        return code;
    code = find_registries(o, &arena, &r.registries);
    if (!code)
        code = settle(o, r.spec, &data);
    if (code || o->what.explain) {
        server_spec_unref(r.spec);
        return code;
    }
    bridge_file_init(&r.file, buf_cstr(&data), r.spec);
    r.data = buf_cstr(&data);
    return enter(&r);
}

const struct cli_command cli_bridge = {
    .name = "bridge",
    .usage = "TOPIC --as NAME [OPTIONS] -- COMMAND …",
    .summary = "seat an MCP server in a topic, as long as this runs",
    .more =
        "The server is started with the first call, in a sandbox that lets it touch\n"
        "nothing but what is permitted, and is started again when it crashes. What it\n"
        "writes to its standard error goes to ours. Without --token-file and --server a\n"
        "token is made at the local server, and revoked at the end.\n\n"
        "  moot bridge lobby --as files --write ~/notes -- npx -y \\\n"
        "      @modelcontextprotocol/server-filesystem ~/notes\n"
        "  moot bridge lobby --as remote --url https://example.org/mcp\n",
    .options = options,
    .option_count = COUNT(options),
    .max_arguments = 256,
    .run = run_bridge,
    .options_size = sizeof(struct bridge_options),
    .takes_topic = true,
    .makes_token = true,
};
