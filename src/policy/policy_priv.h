/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of this folder share. */
#pragma once

#include "policy/rights.h"

/* ERR_INVALID, with the static text in *ret_why where somebody wants it. */
static inline enum err refuse(const char *why, const char **ret_why)
{
    if (ret_why)
        *ret_why = why;
    return ERR_INVALID;
}

/* What stands in a record, by who said it. */
struct rights_usage {
    size_t grants;
    size_t strikes;
    size_t bytes;
};

struct rights_record {
    struct rights_key key; /* both in `text` */
    struct str name;       /* the key of the map: topic, slash, id */
    struct link grants;
    struct link strikes;
    struct rights_usage usage[RIGHTS_ORIGINS];
    uint64_t version; /* another one after every change, never one that was */
    char text[];
};

struct rights {
    struct map records;
    struct link expiring; /* grants, by when they expire */
    uint64_t order;       /* of the last change */
    size_t topics_bytes[RIGHTS_ORIGINS];
    const struct rights_credentials *credentials; /* NULL: none are known */
};

/* What was said with exactly this holder, or NULL. */
struct rights_record *rights_record_find(const struct rights *rights,
                                         struct rights_key key);

/* Does the strike take this away, if it came later? */
bool strike_takes(const struct strike *strike, struct str text,
                  const struct capability *capability);

/* strike.c: takes what is struck from the grants of the record, and keeps the strike for
 * the credentials. */
void strike_apply(struct rights *rights, struct rights_record *record,
                  struct strike *strike);

/* Makes room where a record has too many strikes of that origin. */
void strikes_prune(struct rights *rights, struct rights_record *record,
                   enum rights_origin origin);

/* rights.c, for strike.c; the first is called for everything that comes or goes. */
void rights_count(struct rights *rights, struct rights_record *record,
                  enum rights_origin origin, ptrdiff_t bytes);
void rights_free_grant(struct rights *rights, struct grant *grant);
void rights_free_strike(struct rights *rights, struct rights_record *record,
                        struct strike *strike);
void rights_settle(struct rights *rights, struct rights_record *record);

/* A record of the participant in any topic, all of them included; or NULL. */
struct rights_record *rights_record_next(const struct rights *rights, struct str id,
                                         size_t *at);

/* All of a list, into an array of that size. On failure nothing is left in it. */
enum err capabilities_compile(struct str_list list, struct capability **ret);
void capabilities_free(struct capability **compiled, size_t count);
