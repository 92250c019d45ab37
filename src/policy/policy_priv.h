/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of this folder share. */
#pragma once

#include "policy/keeping.h"
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
    uint64_t version;     /* of the record that changed last */
    size_t topics_bytes[RIGHTS_ORIGINS];
    const struct rights_credentials *credentials; /* NULL: none are known */
    const struct rights_keeper *keeper;           /* NULL: nobody keeps anything */
};

/* What was said with exactly this holder, or NULL. */
struct rights_record *rights_record_find(const struct rights *rights,
                                         struct rights_key key);

/* The record, made where there is none. */
struct rights_record *rights_record_of(struct rights *rights, struct rights_key key);

/* Makes one of the terms, which belongs nowhere yet. */
enum err grant_new(const struct grant_terms *terms, struct grant **ret);
enum err strike_new(const struct strike_terms *terms, struct str text,
                    struct strike **ret);

/* Puts it into its record, behind the others; it has its order. */
void rights_add_grant(struct rights *rights, struct rights_record *record,
                      struct grant *grant);
void rights_add_strike(struct rights *rights, struct rights_record *record,
                       struct strike *strike);

/* keeping.c: tells the keeper, if there is one. */
void grant_keep(const struct rights *rights, const struct grant *grant,
                enum keeping what);
void strike_keep(const struct rights *rights, const struct rights_record *record,
                 const struct strike *strike, enum keeping what);

/* strike.c: takes what is struck from a grant, which ends when nothing is left. */
void strike_from_grant(struct rights *rights, struct grant *grant,
                       const struct strike *strike);

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
