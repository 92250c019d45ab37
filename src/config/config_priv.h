/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside config/: the YAML text becomes a tree of nodes (tree.c), which is read into
 * structs by tables of options (option.c, read.c), which also drive what is printed
 * (print.c). The depth of every recursion is that of the tables, never that of the input.
 */
#pragma once

#include "config/overlay.h"

enum {
    CONFIG_DEPTH_MAX = 12, /* a capability in a token has up to eight of them */
    CONFIG_KEY_MAX = 256,
    CONFIG_SHOWN = 72,
    CONFIG_WARNINGS = 16
};

enum node_kind { NODE_TEXT, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    bool is_plain; /* a text without quotes */
    bool is_null;  /* nothing, `~` or `null`, without quotes */
    struct config_mark mark;
    struct str text;
    struct str key; /* inside a map */
    struct config_mark key_mark;
    struct node *first, *last;
    struct node *next;
    struct node *parent;
    size_t count;
};

struct reader {
    struct config *config;
    const char *base_dir;
    struct config_problem *problem;
    struct arena nodes;
    struct str warnings[CONFIG_WARNINGS]; /* more are not kept */
    struct config_mark warning_marks[CONFIG_WARNINGS];
    size_t warning_count;
};

/* The tree of a text, in reader->nodes; an empty text gives an empty map. */
enum err tree_parse(struct reader *reader, struct str text, const struct node **ret);

/* The member of a map, or NULL; also NULL if `map` is NULL. */
const struct node *node_find(const struct node *map, struct str key);
void node_append(struct node *parent, struct node *node);

/* The node as JSON on one line. Texts without quotes are what JSON takes them for: null,
 * true, false, a number; all others are strings. */
void node_put_json(const struct node *node, struct buf *out);

/* The same, telling where in the file each key and each value stands. */
struct node_watcher {
    void (*at)(void *user, size_t offset, struct config_mark mark);
    void *user;
};
void node_put_json_watched(const struct node *node, struct buf *out,
                           const struct node_watcher *watcher);

/* In quotes, for YAML and JSON alike: texts have no control characters. */
void quoted_put(struct str text, struct buf *out);

/* Foreign text for a message: in quotes, cut to fit. */
struct shown {
    char text[CONFIG_SHOWN];
};
struct shown show(struct str s);
#define SHOWN(s) show(s).text

/* What an option is and how it is stored. */
enum option_kind {
    OPTION_COUNT,     /* size_t */
    OPTION_SIZE,      /* size_t, bytes */
    OPTION_DURATION,  /* uint64_t, milliseconds */
    OPTION_RATE,      /* uint64_t, per second */
    OPTION_BYTE_RATE, /* uint64_t, bytes per second */
    OPTION_BOOL,      /* bool */
    OPTION_SWITCH,    /* enum config_switch */
    OPTION_CHOICE,    /* an enum; its values are positions in `choices` */
    OPTION_TEXT,      /* struct str */
    OPTION_SECRET,    /* struct str, never shown */
    OPTION_PATH,      /* struct str */
    OPTION_PATHS,     /* struct config_strs */
    OPTION_TEXTS,     /* struct config_strs */
    OPTION_RIGHTS,    /* the same; mappings are kept as JSON */
    OPTION_TIME,      /* uint64_t, wall clock in milliseconds */
    OPTION_OBJECT,    /* struct str: a mapping, kept as JSON */
    OPTION_PAIRS,     /* struct config_pairs; plain values are never shown */
    OPTION_SECTION,   /* a struct */
    OPTION_LIST,      /* { items, count } of structs */
    OPTION_MAP,       /* the same, by name */
};

struct schema;

struct option {
    const char *name;
    size_t offset;
    const char *preset;
    const char *min, *max;
    const char *word;           /* stands for 0 */
    const char *const *choices; /* ends with NULL */
    const struct schema *schema;
    size_t mark;     /* where the place of the value is kept; 0: nowhere */
    size_t unless;   /* a text; when it is set this option is not printed; 0: none */
    size_t template; /* OPTION_MAP: the struct that entries start from; 0: none */
    const char *help;
    enum option_kind kind;
    bool is_required;
    bool needs_restart;
};

/* Structs in a list or map begin with `struct config_mark mark; struct str name;`. */
struct schema {
    const char *noun;
    size_t size;
    const struct option *options;
    size_t count;
    /* What a table cannot say. */
    enum err (*check)(struct reader *reader, const struct node *node, void *object);
};

/* Rows of the tables. */
#define ROW(type, member, sort) \
    .name = #member, .kind = (sort), .offset = offsetof(type, member)
#define ROW_MS(type, member) \
    .name = #member, .kind = OPTION_DURATION, .offset = offsetof(type, member##_ms)
#define SCHEMA(type, table, title, checker)                        \
    {                                                              \
        .noun = (title), .size = sizeof(type), .options = (table), \
        .count = COUNT(table), .check = (checker)                  \
    }

extern const struct schema config_schema;
/* option_servers.c */
extern const struct schema server_schema, mcp_file_schema, package_schema;
/* option_directory.c */
extern const struct schema directory_schema, identity_schema;
extern const struct schema mcp_schema;    /* option_mcp.c */
extern const struct schema policy_schema; /* option_policy.c */

/* Fills the reader's config from the tree. */
enum err read_config(struct reader *reader, const struct node *root);

/* What the tables cannot say (check.c). */
enum err check_tls(struct reader *reader, const struct node *node, void *object);
enum err check_audit(struct reader *reader, const struct node *node, void *object);
enum err check_token(struct reader *reader, const struct node *node, void *object);
enum err check_jwt(struct reader *reader, const struct node *node, void *object);
enum err check_provider(struct reader *reader, const struct node *node, void *object);
enum err check_anonymous(struct reader *reader, const struct node *node, void *object);
enum err check_server(struct reader *reader, const struct node *node, void *object);
enum err check_config(struct reader *reader, const struct node *root, void *object);

/* A path of the file, absolute: relative ones start at its folder. */
enum err resolve_path(struct reader *reader, const struct node *node, struct str path,
                      struct str *ret);

/* The option whose name is nearest to an unknown key, or NULL. */
const char *suggest(const struct schema *schema, struct str key);

/* Numbers with units. ERR_INVALID. */
enum err number_parse(enum option_kind kind, struct str text, uint64_t *ret);
void number_put(enum option_kind kind, uint64_t value, struct buf *out);

/* "a size such as 512KiB" */
const char *option_noun(enum option_kind kind);

/* A value as it stands behind its key (print.c). */
void option_put_value(struct buf *out, const struct option *option, const void *field);

/* Nothing was given and there is no default. */
bool option_is_unset(const struct option *option, const void *object);

/* Before the tree is read: what was set at run time takes its place in it. */
enum err overlay_put(struct reader *reader, const struct node **root,
                     const struct config_overlay *overlay);

static inline void *option_field(const struct option *option, void *object)
{
    return (char *)object + option->offset;
}

static inline const void *option_value(const struct option *option, const void *object)
{
    return (const char *)object + option->offset;
}
