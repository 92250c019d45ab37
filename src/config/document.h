/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML file whose meaning others know, as JSON: they read that with their own tables,
 * and what they complain about is found again in the file. The same YAML as settings:
 * no anchors, tags, keys given twice, nor control characters.
 */
#pragma once

#include "config/config.h"

struct config_place {
    size_t offset; /* in the JSON */
    struct config_mark mark;
};

struct config_document {
    struct buf json; /* on one line */
    struct config_place *places;
    size_t count;
};

/* ERR_INVALID, ERR_TOO_BIG; `problem` says more. */
enum err config_document_read(struct str text, const char *name,
                              struct config_document *ret,
                              struct config_problem *problem);
void config_document_done(struct config_document *document);

/* What stands at this byte of the JSON, or begins last before it. */
struct config_mark config_document_mark(const struct config_document *document,
                                        size_t offset);
