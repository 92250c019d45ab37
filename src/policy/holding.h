/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the records of rights.h: who may do what now, and what may be passed on. A
 * topic is meant together with what holds in all topics.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "policy/rights.h"

/* Was anything said about this participant that holds here? */
bool rights_knows(const struct rights *rights, struct rights_key who);

/* What a credential with these capabilities may do here and now. The array is in the
 * arena, texts are borrowed from `own` and from the grants. Never more than a capset may
 * have: what is over is not in force. ERR_TOO_BIG: the arena is full. */
enum err rights_in_force(const struct rights *rights, struct rights_key who,
                         struct str_list own, uint64_t now_ms, struct arena *arena,
                         struct str_list *ret);

/* The same without what participants granted to each other, which is the first to be left
 * out where there is too much. */
enum err rights_in_force_by_admin(const struct rights *rights, struct rights_key who,
                                  struct str_list own, uint64_t now_ms,
                                  struct arena *arena, struct str_list *ret);

/* Stays the same as long as nothing is said about the participant that holds here. */
struct rights_version {
    uint64_t everywhere;
    uint64_t here;
};
struct rights_version rights_version(const struct rights *rights, struct rights_key who);

/* When the first grant that is in force expires; UINT64_MAX: none does. */
uint64_t rights_lasts_until(const struct rights *rights, struct rights_key who,
                            uint64_t now_ms);

/* A credential at work: what it has of its own, when, and how long it lasts (0: for
 * ever). */
struct rights_bearer {
    struct rights_key who;
    struct str_list own;
    uint64_t now_ms;
    uint64_t lasts_ms;
};

/* Attenuation: the first of these that the bearer may not pass on until then (0: for
 * ever), or an empty str. It may what one capability that is held covers for as long, and
 * nothing for longer than the credential lasts; those that may be used only so often do
 * not count. */
enum { RIGHTS_NOW = 1 }; /* until: whatever is held now will do */
struct str rights_not_held(const struct rights *rights,
                           const struct rights_bearer *bearer, struct str_list wanted,
                           uint64_t until_ms);

/* An envelope in search of a grant, and the capability that was found. */
struct rights_use {
    struct str kind;
    struct json_span payload;
    struct arena *scratch;
    const struct capability *by;
};

/* A grant that may be used only so often and allows this; or NULL. One that does so
 * whatever the payload goes before those that look into it, as in sets. A use counts when
 * the caller says so: rights_use(). */
struct grant *rights_limited(const struct rights *rights, struct rights_key who,
                             struct rights_use *use, uint64_t now_ms);

/* The capabilities of all such grants that have uses left, in the order in which they are
 * asked; as rights_in_force(). */
enum err rights_limited_in_force(const struct rights *rights, struct rights_key who,
                                 uint64_t now_ms, struct arena *arena,
                                 struct str_list *ret);
