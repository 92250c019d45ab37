/* SPDX-License-Identifier: Apache-2.0 */
/* Behind audit_source.h: what each kind of source does. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "cli/audit_source.h"

typedef bool audit_on_record(void *user, const struct audit_record *record);

struct audit_source_ops {
    enum err (*records)(struct audit_source *source, const struct audit_query *query,
                        audit_on_record *on_record, void *user);
    enum err (*all)(struct audit_source *source, const struct audit_sink *sink);
    enum err (*head)(struct audit_source *source, struct audit_head *ret);
    void (*progress)(struct audit_source *source, uint64_t *ret_done,
                     uint64_t *ret_total);
    void (*close)(struct audit_source *source);
};

struct audit_source {
    const struct audit_source_ops *ops;
    struct buf name;
    struct buf problem;
};

void audit_source_init(struct audit_source *source, const struct audit_source_ops *ops,
                       const char *name);

/* Keeps what went wrong, and gives back `err`. */
enum err audit_source_note(struct audit_source *source, enum err err, const char *format,
                           ...) __attribute__((format(printf, 3, 4)));

/* The server, by its local socket or URL. *ret stays NULL where none runs. */
int audit_server_open(const struct cli_server *server, struct audit_source **ret);

/* A file that no database is; "-" is standard input. */
int audit_lines_open(const char *path, struct audit_source **ret);

/* --- lines out of bytes --- */

enum { AUDIT_LINE_MAX = 256 << 20 };

/* Cuts what comes into lines, reads each, and hands it to the sink. */
struct audit_cutter {
    const struct audit_sink *sink;
    struct buf rest; /* a line that has not ended */
    struct arena arena;
    uint64_t lines;
    bool has_enough;  /* the sink said so */
    const char *what; /* is wrong with the line `lines`; static */
};

void audit_cutter_init(struct audit_cutter *cutter, const struct audit_sink *sink);
void audit_cutter_done(struct audit_cutter *cutter);

/* ERR_INVALID: `what` says what is wrong. */
enum err audit_cutter_take(struct audit_cutter *cutter, struct str bytes);
enum err audit_cutter_end(struct audit_cutter *cutter);
