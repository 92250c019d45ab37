/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of this folder share. */
#pragma once

#include "base/map.h"
#include "policy/rights.h"

/* ERR_INVALID, with the static text in *ret_why where somebody wants it. */
static inline enum err refuse(const char *why, const char **ret_why)
{
    if (ret_why)
        *ret_why = why;
    return ERR_INVALID;
}

/* Rights: rights.c changes the records, holding.c asks them. */
struct rights_record {
    struct rights_key key; /* both in `text` */
    struct str name;       /* the key of the map: topic, slash, id */
    struct link grants;
    struct link strikes;
    size_t grant_count;
    size_t strike_count;
    size_t bytes;
    char text[];
};

struct rights {
    struct map records;
    struct link expiring; /* grants, by when they expire */
    uint64_t order;       /* of the last change */
    size_t topics_bytes;
};

/* What was said with exactly this holder, or NULL. */
struct rights_record *rights_record_find(const struct rights *rights,
                                         struct rights_key key);

/* Does the strike take this away, if it came later? */
bool strike_takes(const struct strike *strike, struct str text,
                  const struct capability *capability);

/* All of a list, into an array of that size. On failure nothing is left in it. */
enum err capabilities_compile(struct str_list list, struct capability **ret);
void capabilities_free(struct capability **compiled, size_t count);
