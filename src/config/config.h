/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a gateway. One table of options (option.c) yields the reader of the
 * YAML file, the defaults, `moot config print`, the help text and the manual.
 *
 * A `struct config` is immutable and owns everything it points to. Texts end with a NUL
 * that is not counted. Paths are absolute or relative to the folder of the file that
 * names them, and absolute after config_load().
 *
 * What the file means beyond its form (patterns, profile names, addresses) is checked by
 * those who know; they report with config_fail(), which is why the structs carry marks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "config/directory.h"
#include "config/mark.h"
#include "config/mcp_door.h"
#include "config/policy.h"
#include "config/servers.h"
#include "config/topics.h"

enum { CONFIG_FILE_MAX = 1 << 20, CONFIG_NAME_MAX = 128 };

enum config_switch { CONFIG_UNSET, CONFIG_OFF, CONFIG_ON };

struct config_tls {
    struct str certificate; /* both or none; "" is none */
    struct str key;
};

struct config_token {
    struct config_mark mark;
    struct str name;       /* "" when not given */
    struct str token;      /* the secret, wherever it came from */
    struct str token_file; /* "" when the secret stands in the configuration */
    struct str id;
    struct str profile; /* "" when capabilities were given */
    struct config_mark profile_mark;
    struct config_mark id_mark;
    struct config_strs topics;
    struct config_strs capabilities;
    struct str type; /* "human", "agent", "service", or "" for what the profile says */
    enum config_switch admin; /* CONFIG_UNSET: what the profile says */
    uint64_t expires_ms;      /* wall clock; 0: never */
};

struct config_profile {
    struct config_mark mark;
    struct str name;
    struct config_strs capabilities;
    struct str type; /* "" when not given */
    enum config_switch admin;
};

struct config_limits {
    size_t envelope; /* bytes */
    size_t outbox;   /* bytes, at least 2 × envelope */
    size_t outbox_soft;
    size_t depth;
    uint64_t rate_messages; /* per second; 0: unlimited */
    uint64_t rate_bytes;    /* per second; 0: unlimited */
    uint64_t burst_ms;      /* how much of a rate may be saved up */
    size_t rate_strikes;    /* refusals within 10 s before 4029 */
    size_t connections;
    size_t connections_per_participant;
    size_t head; /* bytes */
    size_t body; /* bytes, at least envelope */
    size_t uri;  /* bytes */
    size_t fragments;
    uint64_t head_timeout_ms;
    uint64_t body_timeout_ms;
    uint64_t keepalive_timeout_ms;
    uint64_t ping_interval_ms; /* 0: no pings */
    uint64_t pong_timeout_ms;
    uint64_t stall_timeout_ms;
    uint64_t wait_max_ms;
    size_t tickets;
    size_t login_failures; /* per address and minute; 0: unlimited */
    uint64_t kick_bar_ms;
    uint64_t drain_timeout_ms;
};

/* How the record is kept, whatever the topic. */
struct config_audit {
    struct config_strs redact;
    size_t queue; /* bytes */
    struct str syslog;
    struct config_mark syslog_mark;
    struct str otlp;
    struct config_mark otlp_mark;
    struct str otlp_headers_file;
    struct config_strs otlp_headers; /* its lines, "Name: value" */
};

struct config {
    struct config_strs listen;
    struct str data;  /* "": the command line decides */
    struct str store; /* "": SQLite in `data` */
    size_t workers;   /* 0: one per core */
    enum log_level log;
    struct config_tls tls;
    struct config_strs hosts;
    struct config_strs origins;
    struct config_topics topics;
    struct {
        const struct config_token *items;
        size_t count;
    } tokens;
    struct {
        const struct config_profile *items;
        size_t count;
    } profiles;
    struct config_policy policy;
    struct config_limits limits;
    struct config_audit audit;
    struct config_servers servers;
    struct config_mcp_files mcp_servers;
    struct config_packages packages;
    struct config_mcp mcp;
    struct config_directory directory;
    struct config_identity identity;
    bool compression;
    size_t compression_min; /* bytes */

    struct str file;             /* as given, for messages */
    struct config_strs warnings; /* to be logged; with their places */
    struct arena arena;          /* all of the above */
};

struct config_problem {
    char file[256];
    struct config_mark mark; /* line 0: the file as a whole */
    char message[256];
};

/* Reads a file. ERR_INVALID, ERR_TOO_BIG, ERR_NOT_FOUND, ERR_IO; `problem` says more. */
enum err config_load(const char *path, struct config **ret,
                     struct config_problem *problem);

/* Reads a text; `name` is used in messages. Relative paths start at `base_dir`; when that
 * is NULL they stay as they are and token_file is refused. */
enum err config_parse(struct str text, const char *name, const char *base_dir,
                      struct config **ret, struct config_problem *problem);

/* What an empty file gives. */
struct config *config_default(void);
void config_free(struct config *config);

/* The settings of a topic: its own, else the defaults. Borrowed. */
const struct config_topic *config_topic_find(const struct config *config,
                                             struct str name);

/* The first option that differs and that a running gateway cannot change, or NULL. */
const char *config_needs_restart(const struct config *running, const struct config *next);

/* Fills `problem` and returns ERR_INVALID; for those who check the meaning. */
enum err config_fail(const struct config *config, struct config_mark mark,
                     struct config_problem *problem, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* moot.yaml:7:3: unknown key "limitz" (did you mean "limits"?) */
void config_problem_put(const struct config_problem *problem, struct buf *out);

/* The settings in force as YAML, with the help as comments. Tokens appear as "***". */
void config_print(const struct config *config, struct buf *out);

/* All options, with types, defaults and bounds: as text, and as a section in roff. */
void config_help(struct buf *out);
void config_man(struct buf *out);
