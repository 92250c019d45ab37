/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who in the topic offers which tools: everybody who may answer tools/list is asked, many
 * at a time, page by page. What comes is foreign and bounded.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/session.h"

/* What one participant offers. */
struct shelf {
    struct toolbox *box;
    char *owner, *type;
    struct buf tools; /* JSON objects with a name, separated by commas */
    size_t pages;
    enum { SHELF_ASKED, SHELF_SHOWN, SHELF_SILENT } state;
    char *why; /* SHELF_SILENT: what came instead */
};

struct toolbox {
    struct session *session;
    struct shelf *shelves;
    size_t count, asked, answered;
    uint32_t timeout_ms;
    void (*on_done)(struct toolbox *box); /* everybody has answered, or has not; never
                                           * once the session is ending */
    void *user;
};

/* Asks one participant, or with NULL all that may answer. `box` has its session, timeout
 * and on_done set; the latter is called later, unless the exit code that comes back is
 * another than CLI_OK: then it has been reported. */
int toolbox_ask(struct toolbox *box, const char *participant);
void toolbox_done(struct toolbox *box);

/* Does the shelf have a tool of this name? */
bool shelf_has(const struct shelf *shelf, const char *tool);
