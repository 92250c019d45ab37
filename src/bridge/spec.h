/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said about one MCP server that sits in a topic: where it is, what it may touch,
 * how it is kept running. Immutable and shared by reference; owns its texts. Made from
 * the gateway's configuration, the arguments of `moot bridge` and `moot run`, or the
 * `mcpServers` of other programs.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "bridge/gate_terms.h"
#include "bridge/pins.h"
#include "mcp/session.h"
#include "sandbox/sandbox.h"

enum {
    SERVER_NAME_MAX = 64,
    SERVER_URL_MAX = 2048,
    SERVER_INSTANCES_MAX = 64,
    SERVER_SPECS_MAX = 256, /* in one file of another program */
};

enum server_mode { SERVER_SHARED, SERVER_PER_CALLER, SERVER_POOLED };

/* Where the value of a variable or header comes from. */
enum secret_source { SECRET_PLAIN, SECRET_FILE, SECRET_ENVIRONMENT };
struct server_variable {
    struct str name;
    enum secret_source source;
    struct str from;   /* the value, the path, or the name of a variable of ours */
    struct str before; /* what stands before a value from elsewhere: "Bearer ", or "" */
};

struct server_oauth {
    struct str client_id, client_secret_file, metadata_url, scopes; /* each may be "" */
};

struct server_spec {
    atomic_uint refs;
    struct str name; /* in lists, the store and the log */
    struct str topic;
    struct str id;  /* the participant's */
    struct str url; /* "": a command */
    bool is_public; /* that is reached at public addresses alone */
    struct sandbox_command command;
    const struct server_variable *variables, *headers;
    size_t variable_count, header_count;
    struct server_oauth oauth;
    struct permit permit;    /* without variables: those are read when it starts */
    struct str profile;      /* a ready permit (sandbox/profile.h), or "" */
    const struct str *roots; /* file:// URIs; NULL: the paths of the permit */
    size_t root_count;
    enum server_mode mode;
    size_t instances; /* pooled: so many; per caller: at most; shared: nothing */
    enum mcp_era era;
    enum pin_mode pin;
    struct gate_terms gate; /* who authorizes calls */
    bool starts_now;        /* not with the first call */
    uint64_t idle_ms;       /* without a call before it is stopped; 0: never */
    uint64_t call_ms;       /* of one call, until progress begins it anew */
    uint64_t open_ms;
    uint64_t backoff_min_ms, backoff_max_ms;
    size_t max_waiting; /* calls that wait for it to start, and that are under way */
    size_t max_message; /* bytes */
    size_t max_log;     /* bytes of its standard error that are kept */
    struct arena arena;
};

/* With all defaults, the id being the name; to be filled in, with texts in its arena,
 * before it is shared. */
struct server_spec *server_spec_new(struct str name);
struct server_spec *server_spec_ref(struct server_spec *spec);
void server_spec_unref(struct server_spec *spec);

/* Does nothing differ that needs the server to be started again? */
bool server_spec_is_same(const struct server_spec *a, const struct server_spec *b);

/* Started by root, a confined command becomes somebody else: is it not said who? */
bool server_spec_lacks_uid(const struct server_spec *spec);

/* NULL, or what of it takes more than a token to add it: it runs, reaches or reads
 * something of this machine. */
const char *server_spec_uses_machine(const struct server_spec *spec);

/* NULL, or what is wrong with it (owned by the caller). */
char *server_spec_fault(const struct server_spec *spec);

/* As `moot run` sends it and the store keeps it; secrets by their source alone. */
void server_spec_write(const struct server_spec *spec, struct buf *out);
enum err server_spec_read(struct str json, struct server_spec **ret, char **ret_why);

/* The `mcpServers` of a JSON file as Claude, Cursor and others write it (`servers` of VS
 * Code too): calls on_spec for each that is not switched off, when all are good; who
 * wants to keep one takes a reference. What is not understood is ERR_INVALID with a
 * reason, owned by the caller. */
enum err server_specs_read(struct str json, struct str topic,
                           void (*on_spec)(void *user, struct server_spec *spec),
                           void *user, char **ret_why);
