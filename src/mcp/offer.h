/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thing that is offered to MCP clients, as whoever offers it describes it.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum offer_type { OFFER_TOOL, OFFER_RESOURCE, OFFER_TEMPLATE, OFFER_PROMPT };
enum { OFFER_TYPES = OFFER_PROMPT + 1 };

enum {
    OFFER_MAX_NAME = 128, /* bytes of the name of a tool or prompt */
    OFFER_MAX_URI = 1024,
    OFFER_MAX_BYTES = 256 << 10, /* of everything that is said of it */
};

/* All but `type` and `key` may be "". */
struct offer {
    enum offer_type type;
    struct str key;  /* the name; of resources the URI, of templates the template */
    struct str name; /* resources and templates; "": the URI itself */
    struct str title, description;
    struct str mime_type;                                /* resources and templates */
    struct str input_schema, output_schema, annotations; /* tools: JSON objects */
    struct str arguments; /* prompts: a JSON array of { name, description, required } */
};

/* Writes it as it stands in a list. ERR_INVALID: *ret_why, static, says what is wrong
 * with it; ERR_TOO_BIG. `scratch` holds what is only looked at. */
enum err offer_write(const struct offer *offer, struct arena *scratch, struct buf *out,
                     const char **ret_why);
